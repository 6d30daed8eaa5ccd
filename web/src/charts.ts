// A chart is a figure with a caption, a place of fixed height (nothing jumps when it is drawn), a
// description for screen readers and a table with the same numbers. It is drawn when it comes into
// view.
import { BarChart, CustomChart, LineChart, ScatterChart, TreemapChart } from "echarts/charts";
import {
    DataZoomComponent,
    GridComponent,
    LegendComponent,
    MarkAreaComponent,
    MarkLineComponent,
    MarkPointComponent,
    TooltipComponent,
} from "echarts/components";
import * as core from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { clear, csv, download, freshId, h, save, type Cell, type Child } from "./dom";
import { DASH } from "./format";
import type { PlotOption, Series } from "./plot";
import { palette, setPrinting, whileListening } from "./theme";

core.use([
    BarChart,
    CustomChart,
    DataZoomComponent,
    LineChart,
    ScatterChart,
    TreemapChart,
    GridComponent,
    LegendComponent,
    MarkAreaComponent,
    MarkLineComponent,
    MarkPointComponent,
    TooltipComponent,
    SVGRenderer,
]);

export interface TableData {
    head: string[];
    rows: Cell[][];
}
export interface ChartSpec {
    id: string;
    title: string;
    note?: Child;
    height: number;
    about: string; // for those who do not see it
    option: () => PlotOption;
    table: () => TableData;
    controls?: Child;
    click?: (index: number) => void; // of a mark
}
export interface Chart {
    element: HTMLElement;
    redraw: () => void;
}

// Rows as a table, by columns of name and text.
export function tabulate<T>(
    rows: T[],
    columns: [name: string, cell: (row: T) => Cell][],
): TableData {
    return {
        head: columns.map(([name]) => name),
        rows: rows.map((row) => columns.map(([, cell]) => cell(row))),
    };
}

// ---- drawing ----

// Tests reach the chart by its place.
interface Place extends HTMLDivElement {
    assayChart?: core.ECharts;
}
interface Drawn {
    place: Place;
    spec: ChartSpec;
    chart: core.ECharts | null;
}
const all = new Map<Element, Drawn>();
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const PRINT_HEIGHT = 250;
const PRINT_WIDTH = 660; // what A4 and Letter have between margins, in CSS pixels
let printed = false;

function common() {
    const p = palette();
    return {
        animation: !calm.matches && !printed,
        animationDuration: 250,
        color: p.series,
        textStyle: {
            fontFamily:
                'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
            color: p.text,
        },
        tooltip: {
            backgroundColor: p.card,
            borderColor: p.line,
            textStyle: { color: p.text, fontSize: 13 },
            confine: true,
            extraCssText:
                "max-width:min(420px,80vw);white-space:normal;overflow-wrap:anywhere;" +
                "box-shadow:0 4px 16px rgba(0,0,0,.18)",
        },
    };
}

// Lines of marks are where their values are: ECharts would round these to two decimals.
const withExactMarks = (series: Series): Series =>
    "markLine" in series && series.markLine
        ? { ...series, markLine: { precision: -1, ...series.markLine } }
        : series;

function draw(d: Drawn): void {
    const { place, spec } = d;
    d.chart?.dispose();
    place.style.height = `${printed ? Math.min(spec.height, PRINT_HEIGHT) : spec.height}px`;
    const width = printed ? PRINT_WIDTH : undefined;
    const made = core.init(place, null, { renderer: "svg", width });
    const base = common();
    const own = spec.option();
    const series = own.series.map(withExactMarks);
    made.setOption({ ...base, ...own, series, tooltip: { ...base.tooltip, ...own.tooltip } });
    // The description is the figure's; what is drawn needs no second one.
    place.firstElementChild?.setAttribute("aria-hidden", "true");
    const { click } = spec;
    if (click)
        made.on("click", (e) => {
            if (e.componentType === "series") click(e.dataIndex);
        });
    d.chart = made;
    place.assayChart = made;
}

const seen = new IntersectionObserver(
    (entries) => {
        for (const e of entries) {
            const d = all.get(e.target);
            if (d && e.isIntersecting && !d.chart) draw(d);
        }
    },
    { rootMargin: "120px" },
);

const sized = new ResizeObserver((entries) => {
    if (printed) return;
    for (const e of entries) all.get(e.target)?.chart?.resize();
});

// What is no longer in the page is let go.
function sweep(): void {
    for (const [place, d] of all)
        if (!place.isConnected) {
            d.chart?.dispose();
            seen.unobserve(place);
            sized.unobserve(place);
            all.delete(place);
        }
}

whileListening(() => {
    sweep();
    all.forEach((d) => d.chart && draw(d));
});

addEventListener("beforeprint", () => {
    printed = true;
    setPrinting(true); // draws those that are drawn; the others follow
    all.forEach((d) => d.place.isConnected && !d.chart && draw(d));
});
addEventListener("afterprint", () => {
    printed = false;
    setPrinting(false);
});

// ---- the same as a table ----

const isMissing = (v: Cell): v is null | undefined => v === null || v === undefined;
const looksNumeric = (v: Cell): boolean =>
    typeof v === "number" || isMissing(v) || /^[\d.,\s\u202f–+-]+\S{0,6}$/.test(String(v));

function tableOf({ head, rows }: TableData, caption: string): HTMLTableElement {
    const numeric = head.map((_, i) => rows.length > 0 && rows.every((r) => looksNumeric(r[i])));
    const cell = (v: Cell, i: number) =>
        h("td", { class: numeric[i] && "number" }, isMissing(v) ? DASH : v);
    return h(
        "table",
        { class: "plain" },
        h("caption", { class: "hidden" }, caption),
        h(
            "thead",
            null,
            h(
                "tr",
                null,
                head.map((t, i) => h("th", { scope: "col", class: numeric[i] && "number" }, t)),
            ),
        ),
        h(
            "tbody",
            null,
            rows.map((r) => h("tr", null, r.map(cell))),
        ),
    );
}

const TABLE_ROWS = 500;

function tableWithActions(d: Drawn): Child {
    const data = d.spec.table();
    const toCsv = () => save(`${d.spec.id}.csv`, "text/csv", csv([data.head, ...data.rows]));
    const left = `${TABLE_ROWS} of ${data.rows.length} rows; all are in the CSV`;
    return [
        h(
            "div",
            { class: "actions" },
            h("button", { type: "button", class: "small", onclick: toCsv }, "Save as CSV"),
            h(
                "button",
                { type: "button", class: "small", onclick: () => saveImage(d) },
                "Save the chart",
            ),
            data.rows.length > TABLE_ROWS && h("span", { class: "soft" }, left),
        ),
        tableOf({ head: data.head, rows: data.rows.slice(0, TABLE_ROWS) }, d.spec.title),
    ];
}

function alternative(d: Drawn): HTMLElement {
    const body = h("div", { class: "scroll" });
    const details = h("details", { class: "alternative" }, h("summary", null, "As a table"), body);
    details.addEventListener("toggle", () => {
        if (details.open) clear(body, tableWithActions(d));
    });
    return details;
}

function saveImage(d: Drawn): void {
    if (!d.chart) return;
    download(`${d.spec.id}.svg`, d.chart.getDataURL({ backgroundColor: palette().card }));
}

// ---- the figure ----

export function chart(spec: ChartSpec): Chart {
    const title = freshId("figure");
    const place = h("div", {
        class: "chart",
        style: `height:${spec.height}px`,
        role: "img",
        "aria-label": spec.about,
    });
    const drawn: Drawn = { place, spec, chart: null };
    all.set(place, drawn);
    const element = h(
        "figure",
        { class: "card figure", id: spec.id, "aria-labelledby": title },
        h(
            "figcaption",
            null,
            h("h3", { id: title }, spec.title),
            spec.note && h("p", { class: "soft" }, spec.note),
        ),
        spec.controls,
        place,
        alternative(drawn),
    );
    seen.observe(place);
    sized.observe(place);
    return {
        element,
        redraw: () => {
            place.setAttribute("aria-label", spec.about);
            if (drawn.chart) draw(drawn);
        },
    };
}

// A chart that is never redrawn.
export const figure = (spec: ChartSpec): HTMLElement => chart(spec).element;
