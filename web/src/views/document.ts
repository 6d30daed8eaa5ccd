// Documents that are no profile (scalings, validations, checks, plans of capacity, trends, lists of runs, machines): the
// figures and tables that assay made of them, and a chart where one says more. The view comes with the document
// (src/report/view.h); without it the fields are shown as they are.
import { axis, chart, legend, tickMs, tickSi, tip } from "../charts";
import { h } from "../dom";
import * as f from "../format";
import { palette } from "../theme";
import type { Document, Shown, View, ViewTable } from "../types";
import { cards, choice, limited, panel, section, table } from "../ui";
import { changes, verdicts } from "./compare";
import { genericSections } from "./generic";
import { series as trendChart } from "./trend";

type Row = Record<string, any>;
const rowsOf = (v: unknown): Row[] =>
    Array.isArray(v) ? v.filter((r): r is Row => r !== null && typeof r === "object") : [];

// ---- scaling: a line per combination of the other sizes ----

const scalingFigures: { id: string; text: string; bytes?: boolean }[] = [
    { id: "macs", text: "MACs" },
    { id: "flops", text: "FLOPs" },
    { id: "parameters", text: "Parameters" },
    { id: "traffic_bytes", text: "Bytes moved", bytes: true },
    { id: "activations_peak_bytes", text: "Activations at the peak", bytes: true },
    { id: "peak_bytes", text: "Peak memory", bytes: true },
    { id: "training_bytes", text: "Training", bytes: true },
];

interface Line {
    name: string;
    points: [number, number][];
}
function lines(points: Row[], over: string, figure: string): Line[] {
    const all = new Map<string, Line>();
    for (const p of points) {
        if (!f.isNumber(p[figure]) || !f.isNumber(p.sizes?.[over])) continue;
        const name = Object.entries(p.sizes as Row)
            .filter(([k]) => k !== over)
            .map(([k, v]) => `${k} ${v}`)
            .join(", ");
        const line = all.get(name) ?? { name, points: [] };
        line.points.push([p.sizes[over], p[figure]]);
        all.set(name, line);
    }
    all.forEach((l) => l.points.sort((a, b) => a[0] - b[0]));
    return [...all.values()];
}

const MOST_LINES = 10;
function scaling(d: Document): HTMLElement | null {
    const points = rowsOf(d.points).filter((p) => !p.refused);
    const axes = rowsOf(d.axes)
        .map((a) => String(a.name))
        .filter((a) => new Set(points.map((p) => p.sizes?.[a])).size > 1);
    const there = scalingFigures.filter((g) => points.some((p) => f.isNumber(p[g.id])));
    if (!axes.length || !there.length) return null;
    let over = axes[0];
    let figure = there[0];
    const show = (v: number) => (figure.bytes ? f.bytes(v) : f.si(v));
    const form = () => d.forms?.[figure.id];
    const made = chart({
        id: "scaling-chart",
        title: "Cost over sizes",
        height: 400,
        about: "Lines of a figure over a size; both axes are logarithmic.",
        note: "Both axes are logarithmic: a straight line is a power of the size, and its slope the exponent.",
        controls: h(
            "div",
            { class: "controls" },
            choice("Figure", there, figure.id, (id) => {
                figure = there.find((g) => g.id === id)!;
                made.redraw();
            }),
            axes.length > 1 &&
                choice(
                    "Over",
                    axes.map((a) => ({ id: a, text: a })),
                    over,
                    (id) => {
                        over = id;
                        made.redraw();
                    },
                ),
        ),
        option: () => {
            const list = lines(points, over, figure.id).slice(0, MOST_LINES);
            const c = palette();
            const e = form()?.exponents?.[over]?.fitted;
            const y = list.flatMap((l) => l.points.map((p) => p[1]));
            const positive = y.length > 0 && y.every((v) => v > 0);
            return {
                grid: { left: 8, right: 28, top: 40, bottom: 30, containLabel: true },
                legend: legend({ show: list.length > 1, type: "scroll" }),
                xAxis: axis({
                    type: "log",
                    logBase: 2,
                    name: `${figure.text} over ${over}${f.isNumber(e) ? `; exponent ${f.fixed(e, 2)}` : ""}`,
                    nameGap: 28,
                    min: "dataMin",
                    max: "dataMax",
                    axisLabel: { formatter: (v: number) => (v < 1e5 ? String(v) : tickSi(v)) },
                }),
                yAxis: axis({
                    type: positive ? "log" : "value",
                    axisLabel: { formatter: (v: number) => show(v) },
                }),
                tooltip: {
                    trigger: "item",
                    formatter: (q: any) =>
                        tip(`${over} ${q.value[0]}${q.seriesName ? `, ${q.seriesName}` : ""}`, [
                            [figure.text, show(q.value[1])],
                        ]),
                },
                series: list.map((l, i) => ({
                    type: "line",
                    name: l.name,
                    symbolSize: 8,
                    lineStyle: { width: 2, color: c.series[i] },
                    itemStyle: { color: c.series[i] },
                    data: l.points,
                })),
            };
        },
        table: () => ({
            head: ["Others", over, figure.text],
            rows: lines(points, over, figure.id).flatMap((l) =>
                l.points.map((p) => [l.name, p[0], show(p[1])]),
            ),
        }),
    });
    return section("growth", "How it grows", made.element);
}

// ---- capacity: what a request waits for ----

function capacity(d: Document): HTMLElement | null {
    const plans = rowsOf(d.plans).filter((p) => p.feasible);
    if (!plans.length) return null;
    const parts: [string, string][] = [
        ["waiting for its batch", "forming_mean_ms"],
        ["waiting for a machine", "waiting_mean_ms"],
        ["running", "service_mean_ms"],
    ];
    const name = (p: Row) => `batch ${p.batch}, ${p.concurrency} at once: ${f.whole(p.machines)}`;
    return section(
        "waiting",
        "What a request waits for",
        chart({
            id: "capacity-chart",
            title: "Mean time of a request",
            height: 100 + 34 * plans.length,
            about: "Stacked bars of the parts of a request's time, a bar for each configuration that can do it.",
            note: "By configuration, with the number of machines it takes.",
            option: () => ({
                grid: { left: 8, right: 28, top: 40, bottom: 24, containLabel: true },
                legend: legend(),
                xAxis: axis({ type: "value", axisLabel: { formatter: tickMs } }),
                yAxis: axis({
                    type: "category",
                    inverse: true,
                    data: plans.map(name),
                    axisLabel: { color: palette().text, width: 200, overflow: "truncate" },
                }),
                tooltip: {
                    trigger: "item",
                    formatter: (q: any) =>
                        tip(name(plans[q.dataIndex]), [
                            [q.seriesName, f.ms(q.value)],
                            ["Together", f.ms(plans[q.dataIndex].latency_mean_ms)],
                            ["Load", f.percent(100 * plans[q.dataIndex].utilization, 0)],
                        ]),
                },
                series: parts.map(([text, key]) => ({
                    type: "bar",
                    name: text,
                    stack: "all",
                    barMaxWidth: 22,
                    data: plans.map((p) => p[key]),
                })),
            }),
            table: () => ({
                head: ["Configuration", ...parts.map(([t]) => t), "Together"],
                rows: plans.map((p) => [
                    name(p),
                    ...parts.map(([, k]) => f.ms(p[k])),
                    f.ms(p.latency_mean_ms),
                ]),
            }),
        }).element,
    );
}

// ---- check: ratios to the baseline with their intervals ----

function check(d: Document): HTMLElement | null {
    const rows = rowsOf(d.checks).filter((r) => f.isNumber(r.ratio));
    if (!rows.length) return null;
    const interval = rows.map((r, i) =>
        f.isNumber(r.ratio_ci99_low)
            ? [
                  [r.ratio_ci99_low, i],
                  [r.ratio_ci99_high, i],
              ]
            : null,
    );
    return section(
        "moved",
        "Beside the baseline",
        chart({
            id: "check-chart",
            title: "Ratio to the baseline",
            height: 90 + 30 * rows.length,
            about: "A point for each metric: its ratio to the baseline, with the 99 % interval where runs were tested.",
            note: "1 is as before; bars are 99 % intervals of what was measured.",
            option: () => {
                const c = palette();
                const color = (r: Row) =>
                    r.verdict === "regression"
                        ? c.series[1]
                        : r.verdict === "improvement"
                          ? c.series[2]
                          : c.series[0];
                return {
                    grid: { left: 8, right: 28, top: 16, bottom: 24, containLabel: true },
                    xAxis: axis({
                        type: "value",
                        scale: true,
                        axisLabel: { formatter: (v: number) => f.ratio(v) },
                    }),
                    yAxis: axis({
                        type: "category",
                        inverse: true,
                        data: rows.map((r) => String(r.metric)),
                        axisLabel: { color: c.text },
                    }),
                    tooltip: {
                        trigger: "item",
                        formatter: (q: any) => {
                            const r = rows[q.value[1]];
                            return tip(String(r.metric), [
                                ["Ratio", f.fixed(r.ratio, 3)],
                                ["Verdict", String(r.verdict)],
                                ...(f.isNumber(r.ratio_ci99_low)
                                    ? ([
                                          [
                                              "99 %",
                                              `${f.fixed(r.ratio_ci99_low, 3)} to ${f.fixed(r.ratio_ci99_high, 3)}`,
                                          ],
                                      ] as [string, string][])
                                    : []),
                            ]);
                        },
                    },
                    series: [
                        {
                            type: "scatter",
                            symbolSize: 10,
                            data: rows.map((r, i) => ({
                                value: [r.ratio, i],
                                itemStyle: { color: color(r) },
                            })),
                            markLine: {
                                silent: true,
                                symbol: "none",
                                lineStyle: { type: "dashed", color: c.soft },
                                label: { show: false },
                                data: [{ xAxis: 1 }],
                            },
                        },
                        ...interval.flatMap((line, i) =>
                            line
                                ? [
                                      {
                                          type: "line",
                                          symbol: "none",
                                          silent: true,
                                          lineStyle: { width: 2, color: color(rows[i]) },
                                          data: line,
                                      },
                                  ]
                                : [],
                        ),
                    ],
                };
            },
            table: () => ({
                head: ["Metric", "Verdict", "Ratio", "99 % from", "to"],
                rows: rows.map((r) => [
                    r.metric,
                    r.verdict,
                    f.fixed(r.ratio, 3),
                    f.fixed(r.ratio_ci99_low, 3),
                    f.fixed(r.ratio_ci99_high, 3),
                ]),
            }),
        }).element,
    );
}

// ---- validation: how far the counts are apart ----

function validation(d: Document): HTMLElement | null {
    const rows = rowsOf(d.models).filter((r) => f.isNumber(r.difference_percent));
    if (!rows.length) return null;
    const name = (r: Row) => `${r.model}, ${r.lens}`;
    return section(
        "difference",
        "How far apart",
        chart({
            id: "validation-chart",
            title: "Difference from the other tool's count",
            height: 80 + 28 * rows.length,
            about: "Bars of the difference in per cent, one for each model and tool.",
            note: "Per cent of the other tool's count.",
            option: () => ({
                grid: { left: 8, right: 64, top: 8, bottom: 24, containLabel: true },
                xAxis: axis({ type: "value", axisLabel: { formatter: (v: number) => `${v} %` } }),
                yAxis: axis({
                    type: "category",
                    inverse: true,
                    data: rows.map((r) => f.clip(name(r), 34)),
                    axisLine: { onZero: false },
                    axisLabel: { color: palette().text, width: 150, overflow: "truncate" },
                }),
                tooltip: {
                    trigger: "item",
                    formatter: (q: any) => {
                        const r = rows[q.dataIndex];
                        return tip(name(r), [
                            ["Ours", f.si(r.ours)],
                            ["Theirs", f.si(r.theirs)],
                            ["Difference", f.percent(r.difference_percent, 3)],
                        ]);
                    },
                },
                series: [
                    {
                        type: "bar",
                        barMaxWidth: 18,
                        itemStyle: { color: palette().series[0] },
                        data: rows.map((r) => r.difference_percent),
                        label: {
                            show: true,
                            position: "right",
                            color: palette().text,
                            formatter: (q: any) => f.percent(q.value, 2),
                        },
                    },
                ],
            }),
            table: () => ({
                head: ["Model", "Tool", "Ours", "Theirs", "Difference"],
                rows: rows.map((r) => [
                    r.model,
                    r.lens,
                    f.si(r.ours),
                    f.si(r.theirs),
                    f.percent(r.difference_percent, 3),
                ]),
            }),
        }).element,
    );
}

// ---- a machine: bandwidth over the working set ----

function machine(d: Document): HTMLElement | null {
    const rows = rowsOf(d.bandwidth_by_set);
    if (rows.length < 2) return null;
    const kinds: [string, string][] = [
        ["read", "read"],
        ["triad", "triad"],
    ];
    return section(
        "bandwidth",
        "Bandwidth",
        chart({
            id: "bandwidth-chart",
            title: "By working set, one thread",
            height: 340,
            about: "Lines of the bandwidth over the size of the working set.",
            note: "Each step down is a cache that the set no longer fits into.",
            option: () => ({
                grid: { left: 8, right: 28, top: 40, bottom: 30, containLabel: true },
                legend: legend(),
                xAxis: axis({
                    type: "log",
                    logBase: 2,
                    name: "working set",
                    nameGap: 28,
                    min: "dataMin",
                    max: "dataMax",
                    axisLabel: { formatter: (v: number) => f.bytes(v) },
                }),
                yAxis: axis({
                    type: "value",
                    axisLabel: { formatter: (v: number) => f.si(v, "B/s") },
                }),
                tooltip: {
                    trigger: "item",
                    formatter: (q: any) =>
                        tip(f.bytes(q.value[0]), [[q.seriesName, f.si(q.value[1], "B/s")]]),
                },
                series: kinds.map(([name, key]) => ({
                    type: "line",
                    name,
                    symbolSize: 6,
                    data: rows.map((r) => [r.set_bytes, r[key]]),
                })),
            }),
            table: () => ({
                head: ["Working set", "Read", "Triad"],
                rows: rows.map((r) => [
                    f.bytes(r.set_bytes),
                    f.si(r.read, "B/s"),
                    f.si(r.triad, "B/s"),
                ]),
            }),
        }).element,
    );
}

// A comparison whose profiles are not there: verdicts and the layers that differ.
function comparison(d: Document, shown: Shown): HTMLElement | null {
    const said = verdicts(d);
    const list = changes(d, shown);
    return said || list ? section("changes", "What changed", said, list) : null;
}

const charts: Record<string, (d: Document, shown: Shown) => HTMLElement | null> = {
    "assay.scaling": scaling,
    "assay.capacity": capacity,
    "assay.check": check,
    "assay.validation": validation,
    "assay.machine": machine,
    "assay.trend": (d) =>
        rowsOf(d.points).length
            ? section("over-time", "Over time", trendChart(d as any, false))
            : null,
};

// ---- the view ----

const LONG = 40;
function tableOf(t: ViewTable): HTMLElement {
    const rows = t.rows.map((cells, i) => ({ cells, mark: t.marks?.[i] ?? "plain" }));
    const mark: Record<string, string> = { good: "best", fair: "unsure", poor: "worse" };
    const long = t.columns.map((c, i) => !c.number && t.rows.some((r) => (r[i] ?? "").length > 36));
    return limited(
        rows,
        LONG,
        (some) =>
            table(
                t.title,
                t.columns.map((c, i) => ({
                    name: c.name,
                    number: c.number,
                    class: long[i] ? "prose" : "",
                    text: (r: { cells: string[] }) => r.cells[i] ?? "",
                })),
                some,
                (r) => mark[r.mark],
            ),
        "rows",
    );
}

const titled = (t: ViewTable): HTMLElement =>
    h("div", null, h("h3", { class: "over" }, t.title), tableOf(t));
const folded = (t: ViewTable): HTMLElement =>
    h("details", { class: "fold" }, h("summary", null, t.title), tableOf(t));
const FEW = 4;
addEventListener("beforeprint", () =>
    document.querySelectorAll<HTMLDetailsElement>("details.fold").forEach((d) => {
        d.open = true;
    }),
);

export function documentSections(
    d: Document,
    view: View | null | undefined,
    shown: Shown,
): (HTMLElement | null)[] {
    const schema = String(d.schema ?? "").split("/")[0];
    if (!view)
        return [shown.graphs ? (charts[schema]?.(d, shown) ?? null) : null, ...genericSections(d)]; // of the dashboard
    const first = view.tables.filter((t) => t.first);
    const rest = view.tables.filter(
        (t) => !t.first && !(schema === "assay.comparison" && t.title.startsWith("Layers")),
    );
    const drawn = shown.graphs ? (charts[schema]?.(d, shown) ?? null) : null;
    return [
        section(
            "summary",
            "Summary",
            view.banners.map((b) =>
                h(
                    "p",
                    { class: `banner ${b.tone}` },
                    h("span", { "aria-hidden": "true" }, b.tone === "good" ? "✓ " : "! "),
                    b.text,
                ),
            ),
            view.groups.map((g) => [
                g.title && h("h3", { class: "over" }, g.title),
                cards(g.facts),
            ]),
            first.map(titled),
            view.remarks.length > 0 &&
                panel(
                    "What this rests on",
                    view.remarks.map((r) => h("p", { class: "soft" }, r)),
                ),
        ),
        drawn,
        schema === "assay.comparison" ? comparison(d, shown) : null,
        shown.details && rest.length
            ? section("tables", "Details", rest.map(rest.length > FEW ? folded : titled))
            : null,
    ];
}
