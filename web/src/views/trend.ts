// A model's metric over time, with the points where it changed.
import { figure, tabulate } from "../charts";
import { nameOf, rowsOf } from "../documents";
import { h } from "../dom";
import * as f from "../format";
import { frame, itemTip, timeAxis, tip, valueAxis, type LineSeriesOption } from "../plot";
import { palette } from "../theme";
import type { HistoryChange, HistoryPoint, Trend } from "../types";
import { column, numbers, plural, section, table, type Choice, type Column } from "../ui";

export const metrics: Choice[] = [
    { id: "p50", text: "latency, median" },
    { id: "p95", text: "latency, p95" },
    { id: "mean", text: "latency, mean" },
    { id: "throughput", text: "throughput" },
    { id: "memory", text: "memory" },
    { id: "macs", text: "MACs" },
    { id: "params", text: "parameters" },
];

// How values of the trend's unit are shown.
export function formatOf({ unit }: Trend): (v: f.Maybe) => string {
    if (unit === "ms") return f.ms;
    if (unit === "bytes") return f.bytes;
    if (unit === "percent") return (v) => f.percent(v);
    if (unit === "1/s") return (v) => f.rate(v) + "/s";
    return (v) => f.si(v);
}

type MarkLine = NonNullable<NonNullable<LineSeriesOption["markLine"]>["data"]>;

function medianMark(median: f.Maybe): MarkLine {
    if (!f.isNumber(median)) return [];
    const { soft } = palette();
    return [
        {
            yAxis: median,
            lineStyle: { color: soft, type: "dotted" },
            label: { formatter: "median", position: "insideEndTop", color: soft },
        },
    ];
}

function changeMark(point: HistoryPoint): MarkLine[number] {
    const color = palette().series[1];
    return {
        xAxis: point.created,
        lineStyle: { color, type: "dashed", width: 2 },
        label: { formatter: "change", color },
    };
}

function noteOf(changes: number): string {
    if (!changes) return "No change of level was found.";
    return `${plural(changes, "change")} found; dashed lines mark where a new level begins.`;
}

// Points link to their records if a server has them.
export function trendChart(t: Trend, open?: (id: number) => void): HTMLElement {
    const show = formatOf(t);
    const points = rowsOf(t.points);
    const changes = (t.change_points ?? []).flatMap((c) => points[c.index] ?? []);
    const metric = metrics.find((m) => m.id === t.metric)?.text ?? String(t.metric);
    return figure({
        id: "trend",
        title: `${metric} of ${f.clip(nameOf(t), 60)}`,
        height: 380,
        note: noteOf(changes.length),
        about: `Line of ${t.metric} over ${points.length} records.`,
        option: () => ({
            grid: frame(24, 24, 16),
            xAxis: timeAxis({ splitLine: { show: false } }),
            yAxis: valueAxis({ scale: true, axisLabel: { formatter: (v) => show(v) } }),
            tooltip: itemTip(({ index }) => {
                const p = points[index];
                if (!p) return "";
                return tip(`Record #${p.id}`, [
                    ["When", f.day(p.created)],
                    ["Value", show(p.value)],
                ]);
            }),
            series: [
                {
                    type: "line",
                    name: t.metric,
                    symbolSize: 7,
                    lineStyle: { width: 2 },
                    data: points.map((p) => [p.created, p.value]),
                    markLine: {
                        silent: true,
                        symbol: "none",
                        data: [...medianMark(t.median), ...changes.map(changeMark)],
                    },
                },
            ],
        }),
        table: () =>
            tabulate(points, [
                ["Record", (p) => p.id],
                ["When", (p) => f.day(p.created)],
                ["Value", (p) => show(p.value)],
            ]),
        click: (index) => open?.(points[index].id),
    });
}

export function changesTable(t: Trend): HTMLElement | null {
    const list = t.change_points ?? [];
    if (!list.length) return null;
    const show = formatOf(t);
    const point = (c: HistoryChange): HistoryPoint | undefined => t.points?.[c.index];
    const link = (p: HistoryPoint) => h("a", { href: `#/record/${p.id}` }, `#${p.id}`);
    const columns: Column<HistoryChange>[] = [
        column("Record", (c) => {
            const p = point(c);
            return p ? link(p) : f.DASH;
        }),
        column("When", (c) => f.day(point(c)?.created)),
        numbers("Before", (c) => show(c.before)),
        numbers("After", (c) => show(c.after)),
        numbers("Ratio", (c) => f.ratio(c.ratio)),
        numbers("p", (c) => (f.isNumber(c.p) ? c.p.toPrecision(2) : f.DASH)),
    ];
    return table("Changes", columns, list);
}

// A trend that was saved.
export function trendSection(t: Trend): HTMLElement | null {
    return rowsOf(t.points).length ? section("over-time", "Over time", trendChart(t)) : null;
}
