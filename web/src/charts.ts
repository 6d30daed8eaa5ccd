// Charts: what all of them share. A chart is a figure with a caption, a place of fixed height (nothing jumps
// when it is drawn), a description for screen readers and a table with the same numbers. It is drawn when it
// comes into view. Tooltips are elements made by dom.ts, labels are text: no markup out of data.
import { BarChart, LineChart, ScatterChart, TreemapChart } from "echarts/charts";
import {
    GridComponent,
    LegendComponent,
    MarkAreaComponent,
    MarkLineComponent,
    MarkPointComponent,
    TooltipComponent,
} from "echarts/components";
import * as core from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { clear, csv, freshId, h, save, type Child } from "./dom";
import { bytes, DASH, ms, si } from "./format";
import { palette, setPrinting, whileListening } from "./theme";

core.use([
    BarChart,
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

export type Option = Record<string, any>;
export interface TableData {
    head: string[];
    rows: (string | number | null | undefined)[][];
}
export interface ChartSpec {
    id: string;
    title: string;
    note?: Child;
    height: number;
    about: string; // for those who do not see it
    option: () => Option;
    table: () => TableData;
    controls?: Child;
    click?: (event: any) => void;
}

export interface Chart {
    element: HTMLElement;
    redraw: () => void;
}
interface Drawn {
    place: HTMLElement;
    spec: ChartSpec;
    chart: core.ECharts | null;
}
const all = new Set<Drawn>();

const calm = matchMedia("(prefers-reduced-motion: reduce)");

function base(): Option {
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
                "max-width:min(420px,80vw);white-space:normal;overflow-wrap:anywhere;box-shadow:0 4px 16px rgba(0,0,0,.18)",
        },
    };
}

// Axis with the page's colours; more goes over it.
export function axis(more: Option): Option {
    const p = palette();
    const { axisLabel, splitLine, ...rest } = more;
    return {
        nameLocation: "middle",
        nameTextStyle: { color: p.soft },
        axisLine: { lineStyle: { color: p.line } },
        axisTick: { show: false },
        axisLabel: { color: p.soft, hideOverlap: true, ...axisLabel },
        splitLine: { lineStyle: { color: p.faint }, ...splitLine },
        ...rest,
    };
}

// An axis of bytes: its ticks are whole KiB, MiB, GiB.
export function byteAxis(most: number, more: Option = {}): Option {
    const unit =
        1024 ** Math.max(0, Math.min(5, Math.floor(Math.log(Math.max(most, 1)) / Math.log(1024))));
    const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].map((k) => k * unit);
    const interval = steps.find((k) => most / k <= 5.5) ?? unit * 1000;
    return axis({
        type: "value",
        min: 0,
        max: Math.max(interval, Math.ceil((most * 1.02) / interval) * interval),
        interval,
        axisLabel: { formatter: (v: number) => trim(bytes(v)) },
        ...more,
    });
}

// Ticks of milliseconds, without zeros that say nothing.
const trim = (s: string): string =>
    s.replace(/(\.\d*?)0+(?=\u202f|$)/, "$1").replace(/\.(?=\u202f|$)/, "");
export const tickMs = (v: number): string => trim(ms(v));
export const tickSi = (v: number): string => trim(si(v));

export function legend(more: Option = {}): Option {
    const p = palette();
    return {
        top: 0,
        left: 0,
        type: "plain",
        itemWidth: 14,
        itemHeight: 10,
        textStyle: { color: p.text },
        inactiveColor: p.line,
        ...more,
    };
}

// A tooltip: a title and lines of name and value.
export function tip(title: string, lines: [string, string][], after?: string): HTMLElement {
    return h(
        "div",
        { class: "tip" },
        h("strong", null, title),
        h(
            "dl",
            null,
            lines.map(([k, v]) => [h("dt", null, k), h("dd", null, v)]),
        ),
        after ? h("p", null, after) : null,
    );
}

let printed = false;

function draw(d: Drawn): void {
    d.chart?.dispose();
    d.place.style.height = `${printed ? Math.min(d.spec.height, PRINT_HEIGHT) : d.spec.height}px`;
    d.chart = core.init(d.place, null, {
        renderer: "svg",
        width: printed ? PRINT_WIDTH : undefined,
    });
    const common = base();
    const own = d.spec.option();
    d.chart.setOption({ ...common, ...own, tooltip: { ...common.tooltip, ...own.tooltip } });
    // The description is the figure's; what is drawn needs no second one.
    d.place.firstElementChild?.setAttribute("aria-hidden", "true");
    if (d.spec.click) d.chart.on("click", d.spec.click);
    (d.place as any).assayChart = d.chart;
}

const seen = new IntersectionObserver(
    (entries) => {
        for (const e of entries) {
            const d = (e.target as any).assayDrawn as Drawn;
            if (e.isIntersecting && !d.chart) draw(d);
        }
    },
    { rootMargin: "120px" },
);

const sized = new ResizeObserver((entries) => {
    if (printed) return;
    for (const e of entries) ((e.target as any).assayDrawn as Drawn).chart?.resize();
});

// What is no longer in the page is let go.
function sweep(): void {
    for (const d of all)
        if (!d.place.isConnected) {
            d.chart?.dispose();
            seen.unobserve(d.place);
            sized.unobserve(d.place);
            all.delete(d);
        }
}

whileListening(() => {
    sweep();
    all.forEach((d) => d.chart && draw(d));
});

const PRINT_HEIGHT = 250;
const PRINT_WIDTH = 660; // what A4 and Letter have between margins, in CSS pixels
addEventListener("beforeprint", () => {
    printed = true;
    setPrinting(true); // draws those that are drawn; the others follow
    all.forEach((d) => d.place.isConnected && !d.chart && draw(d));
});
addEventListener("afterprint", () => {
    printed = false;
    setPrinting(false);
});

export function tableOf(data: TableData, caption: string): HTMLTableElement {
    const numeric = data.head.map(
        (_, i) =>
            data.rows.length > 0 &&
            data.rows.every(
                (r) =>
                    typeof r[i] === "number" ||
                    r[i] === null ||
                    r[i] === undefined ||
                    /^[\d.,\s\u202f–+-]+\S{0,6}$/.test(String(r[i])),
            ),
    );
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
                data.head.map((t, i) =>
                    h("th", { scope: "col", class: numeric[i] && "number" }, t),
                ),
            ),
        ),
        h(
            "tbody",
            null,
            data.rows.map((r) =>
                h(
                    "tr",
                    null,
                    r.map((v, i) =>
                        h(
                            "td",
                            { class: numeric[i] && "number" },
                            v === null || v === undefined ? DASH : v,
                        ),
                    ),
                ),
            ),
        ),
    );
}

const TABLE_ROWS = 500;
function alternative(spec: ChartSpec): HTMLElement {
    const body = h("div", { class: "scroll" });
    const details = h("details", { class: "alternative" }, h("summary", null, "As a table"), body);
    details.addEventListener("toggle", () => {
        if (!details.open) return;
        const data = spec.table();
        const shown = { head: data.head, rows: data.rows.slice(0, TABLE_ROWS) };
        clear(
            body,
            h(
                "div",
                { class: "actions" },
                h(
                    "button",
                    {
                        type: "button",
                        class: "small",
                        onclick: () =>
                            save(`${spec.id}.csv`, "text/csv", csv([data.head, ...data.rows])),
                    },
                    "Save as CSV",
                ),
                h(
                    "button",
                    { type: "button", class: "small", onclick: () => saveImage(details) },
                    "Save the chart",
                ),
                data.rows.length > TABLE_ROWS &&
                    h(
                        "span",
                        { class: "soft" },
                        `${TABLE_ROWS} of ${data.rows.length} rows; all are in the CSV`,
                    ),
            ),
            tableOf(shown, spec.title),
        );
    });
    return details;
}

function saveImage(inside: Element): void {
    const place = inside.closest("figure")?.querySelector(".chart") as any;
    const chart = place?.assayChart as core.ECharts | undefined;
    if (!chart) return;
    const a = h("a", {
        href: chart.getDataURL({ backgroundColor: palette().card }),
        download: `${place.closest("figure").id}.svg`,
    });
    document.body.append(a);
    a.click();
    a.remove();
}

export function chart(spec: ChartSpec): Chart {
    const title = freshId("figure");
    const place = h("div", {
        class: "chart",
        style: `height:${spec.height}px`,
        role: "img",
        "aria-label": spec.about,
    });
    const drawn: Drawn = { place, spec, chart: null };
    (place as any).assayDrawn = drawn;
    all.add(drawn);
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
        alternative(spec),
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
