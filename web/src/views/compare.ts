// Several profiles side by side. The first is what the others are measured against.
import { chart, figure, tabulate, type Chart } from "../charts";
import { nameOf } from "../documents";
import { h, type Cell, type Child } from "../dom";
import type { Shown, Tone } from "../envelope";
import { familyColor } from "../families";
import * as f from "../format";
import {
    byteAxis,
    frame,
    itemTip,
    labelText,
    legend,
    logAxis,
    rowAxis,
    tickSi,
    tip,
    valueAxis,
    type BarSeriesOption,
    type LineSeriesOption,
} from "../plot";
import { palette } from "../theme";
import type { Profile, ProfileOperation } from "../types";
import type { Comparison } from "../view_types";
import { chip, choice, column, numbers, section, select, table, type Column } from "../ui";
import { changedLayers, verdicts } from "./comparison";
import { differenceView } from "./difference";
import { measuredSeries } from "./latency";

// Two results of one model need more than its name.
export function labels(list: Profile[]): string[] {
    const names = list.map(nameOf);
    return list.map((p, i) => {
        if (names.filter((n) => n === names[i]).length === 1) return names[i];
        const same = list.every((o) => o.config?.precision === p.config?.precision);
        const time = p.context?.timestamp?.slice(0, 16)?.replace("T", " ");
        const more = [same ? null : p.config?.precision, time].filter(Boolean).join(" ");
        return `${names[i]} #${i + 1}${more ? ` (${more})` : ""}`;
    });
}

// A column for each profile.
const perProfile = <T>(
    names: string[],
    cell: (row: T, i: number) => Cell,
): [string, (row: T) => Cell][] => names.map((name, i) => [name, (row) => cell(row, i)]);

// ---- figures ----

interface Figure {
    name: string;
    of: (p: Profile) => f.Maybe;
    show: (v: f.Maybe) => string;
    more?: "better" | "worse";
}
const si = (v: f.Maybe): string => f.si(v);
const figures: Figure[] = [
    { name: "Parameters", of: (p) => p.total_parameters, show: si },
    { name: "Model size", of: (p) => p.architecture?.weight_bytes, show: f.bytes, more: "worse" },
    { name: "Operators", of: (p) => p.total_operators, show: f.whole },
    { name: "MACs", of: (p) => p.total_macs, show: si, more: "worse" },
    { name: "FLOPs", of: (p) => p.total_flops, show: si, more: "worse" },
    { name: "Memory traffic", of: (p) => p.total_memory, show: f.bytes, more: "worse" },
    { name: "FLOPs per byte", of: (p) => p.arithmetic_intensity, show: f.intensity },
    {
        name: "Activations at the peak",
        of: (p) => p.memory_plan?.activations_peak_bytes,
        show: f.bytes,
        more: "worse",
    },
    {
        name: "Peak memory, planned",
        of: (p) => p.memory_plan?.peak_bytes,
        show: f.bytes,
        more: "worse",
    },
    { name: "Latency, median", of: (p) => p.latency?.p50, show: f.ms, more: "worse" },
    { name: "Latency, p95", of: (p) => p.latency?.p95, show: f.ms, more: "worse" },
    {
        name: "Samples per second",
        of: (p) => p.throughput?.samples_per_second,
        show: f.rate,
        more: "better",
    },
    { name: "Memory of the run", of: (p) => p.memory?.peak, show: f.bytes, more: "worse" },
];

function toneOf(g: Figure, ratio: number): Tone {
    if (!g.more || Math.abs(ratio - 1) < 0.005) return "plain";
    return ratio > 1 === (g.more === "better") ? "good" : "poor";
}

// The figure, and its ratio to that of the first profile.
function withRatio(g: Figure, p: Profile, first: Profile): Child {
    const v = g.of(p);
    const base = g.of(first);
    const ratio = p !== first && f.isNumber(v) && f.isNumber(base) && base !== 0 ? v / base : null;
    return [g.show(v), ratio !== null && chip(toneOf(g, ratio), f.ratio(ratio))];
}

// Many models are rows, few are columns: either way the names stay in view.
const MANY = 4;

function totalsOfMany(list: Profile[], names: string[], there: Figure[]): HTMLElement {
    const columns: Column<Profile>[] = [
        column("Model", (p) => names[list.indexOf(p)]),
        ...there.map((g) => numbers<Profile>(g.name, (p) => withRatio(g, p, list[0]))),
    ];
    return table("Figures side by side", columns, list);
}

function totals(list: Profile[], names: string[]): HTMLElement {
    const rows = figures.filter((g) => list.some((p) => f.isNumber(g.of(p))));
    if (list.length > MANY) return totalsOfMany(list, names, rows);
    const columns: Column<Figure>[] = [
        column("", (g) => g.name),
        ...names.map((name, i) => numbers<Figure>(name, (g) => withRatio(g, list[i], list[0]))),
    ];
    return table("Figures side by side", columns, rows);
}

// ---- ratios ----

function ratioBars(
    there: Figure[],
    p: Profile,
    first: Profile,
    look: { name: string; color: string },
) {
    const ratio = (g: Figure) => {
        const base = g.of(first);
        return base ? (g.of(p) ?? 0) / base : 0;
    };
    const series: BarSeriesOption = {
        type: "bar",
        name: look.name,
        barMaxWidth: 14,
        itemStyle: { color: look.color },
        data: there.map((g) => ratio(g) || null),
        label: {
            show: true,
            position: "right", // also of a bar to the left, whose end may reach the names
            color: palette().text,
            fontSize: 11,
            formatter: labelText((m) => f.ratio(m.value)),
        },
    };
    return series;
}

// One figure at a time, a bar for each model.
function ratiosOfMany(list: Profile[], names: string[], there: Figure[]): HTMLElement {
    let now = there.find((g) => g.name === "FLOPs") ?? there[0];
    const ratio = (p: Profile) => {
        const base = now.of(list[0]);
        return base ? (now.of(p) ?? 0) / base : 0;
    };
    const made: Chart = chart({
        id: "compare-ratios",
        title: `Relative to ${f.clip(names[0], 60)}`,
        height: 70 + 26 * list.length,
        note: "Right of 1 is more, left of it less; the scale is logarithmic.",
        about: "A bar for each model: the figure relative to the first.",
        controls: select(
            "Figure",
            there.map((g) => ({ id: g.name, text: g.name })),
            now.name,
            (id) => {
                now = there.find((g) => g.name === id) ?? now;
                made.redraw();
            },
        ),
        option: () => ({
            grid: frame(64, 8, 8),
            xAxis: logAxis({ logBase: 2, axisLabel: { formatter: (v) => f.ratio(v) } }),
            yAxis: rowAxis(names, {
                axisLabel: { color: palette().text, width: 150, overflow: "truncate" },
            }),
            tooltip: itemTip((m) =>
                tip(names[m.index], [
                    [now.name, now.show(now.of(list[m.index]))],
                    ["Ratio", f.ratio(m.value)],
                ]),
            ),
            series: [
                {
                    type: "bar",
                    barMaxWidth: 16,
                    itemStyle: { color: palette().series[0] },
                    data: list.map((p) => ratio(p) || null),
                    label: {
                        show: true,
                        position: "right",
                        color: palette().text,
                        formatter: labelText((m) => f.ratio(m.value)),
                    },
                },
            ],
        }),
        table: () =>
            tabulate(list, [
                ["Model", (p) => names[list.indexOf(p)]],
                ...there.map((g): [string, (p: Profile) => Cell] => [
                    g.name,
                    (p) => g.show(g.of(p)),
                ]),
            ]),
    });
    return made.element;
}

function ratios(list: Profile[], names: string[]): HTMLElement {
    const [first, ...others] = list;
    const there = figures.filter(
        (g) => list.every((p) => f.isNumber(g.of(p))) && list.some((p) => g.of(p)),
    );
    if (list.length > MANY && there.length) return ratiosOfMany(list, names, there);
    return figure({
        id: "compare-ratios",
        title: `Relative to ${f.clip(names[0], 60)}`,
        height: 90 + there.length * (16 * others.length + 14),
        note: "Right of 1 is more, left of it less; the scale is logarithmic.",
        about: "Bars of each figure relative to the first profile.",
        option: () => {
            const { series: colors, text } = palette();
            const look = (i: number) => ({
                name: names[i + 1],
                color: colors[(i + 1) % colors.length],
            });
            return {
                grid: frame(60, 36, 24),
                legend: legend({ type: names.length > 5 ? "scroll" : "plain" }),
                xAxis: logAxis({ logBase: 2, axisLabel: { formatter: (v) => f.ratio(v) } }),
                yAxis: rowAxis(
                    there.map((g) => g.name),
                    { axisLabel: { color: text } },
                ),
                tooltip: itemTip((m) => {
                    const g = there[m.index];
                    return tip(names[m.seriesIndex + 1], [
                        [g.name, g.show(g.of(others[m.seriesIndex]))],
                        ["Ratio", f.ratio(m.value)],
                    ]);
                }),
                series: others.map((p, i) => ratioBars(there, p, first, look(i))),
            };
        },
        table: () =>
            tabulate<Figure>(there, [
                ["Figure", (g) => g.name],
                ...perProfile<Figure>(names, (g, i) => g.show(g.of(list[i]))),
            ]),
    });
}

// ---- operators ----

interface OperatorMetric {
    id: "flops" | "parameters" | "memory" | "count";
    text: string;
    show: (v: number) => string;
}
const operatorMetrics: OperatorMetric[] = [
    { id: "flops", text: "FLOPs", show: si },
    { id: "parameters", text: "Parameters", show: si },
    { id: "memory", text: "Bytes moved", show: f.bytes },
    { id: "count", text: "Operators", show: f.whole },
];

const typeValue = (p: Profile, type: string, key: OperatorMetric["id"]): number =>
    p.operations?.find((o) => o.type === type)?.[key] ?? 0;

// The types of all profiles, the one that is largest anywhere first.
function typesBy(list: Profile[], key: OperatorMetric["id"]): string[] {
    const all = new Set(
        list.flatMap((p) => (p.operations ?? []).map((o: ProfileOperation) => o.type)),
    );
    const largest = (type: string) => Math.max(...list.map((p) => typeValue(p, type, key)));
    return [...all].sort((a, b) => largest(b) - largest(a));
}

const MOST = 9; // of as many colours as stay apart
function typeStacks(list: Profile[], key: OperatorMetric["id"]): BarSeriesOption[] {
    const { line, card } = palette();
    const stack = (name: string, color: string, types: string[]): BarSeriesOption => ({
        type: "bar",
        name,
        stack: "all",
        barMaxWidth: 26,
        itemStyle: { color, borderColor: card, borderWidth: 0.5 },
        data: list.map((p) => types.reduce((s, t) => s + typeValue(p, t, key), 0)),
    });
    const types = typesBy(list, key);
    const first = types.slice(0, MOST).map((t) => stack(t, familyColor(t), [t]));
    return types.length > MOST ? [...first, stack("others", line, types.slice(MOST))] : first;
}

function operatorAxis(list: Profile[], key: OperatorMetric["id"]) {
    if (key !== "memory") return valueAxis({ axisLabel: { formatter: tickSi } });
    const types = typesBy(list, key);
    const sum = (p: Profile) => types.reduce((s, t) => s + typeValue(p, t, key), 0);
    return byteAxis(Math.max(...list.map(sum)));
}

function operatorChart(list: Profile[], names: string[]): HTMLElement | null {
    if (!list.some((p) => p.operations?.length)) return null;
    let now = operatorMetrics[0];
    const made: Chart = chart({
        id: "compare-operators",
        title: "By operator type",
        height: 90 + 44 * list.length,
        about: "Stacked bars of each profile by operator type.",
        note: "The largest types; the table has all.",
        controls: choice("Show by", operatorMetrics, now.id, (id) => {
            now = operatorMetrics.find((m) => m.id === id) ?? now;
            made.redraw();
        }),
        option: () => ({
            grid: frame(24, 56, 8),
            legend: legend({ type: "scroll" }),
            xAxis: operatorAxis(list, now.id),
            yAxis: rowAxis(
                names.map((n) => f.clip(n, 28)),
                { axisLabel: { color: palette().text } },
            ),
            tooltip: itemTip((m) => tip(names[m.index], [[m.series, now.show(m.value)]])),
            series: typeStacks(list, now.id),
        }),
        table: () =>
            tabulate<string>(typesBy(list, now.id), [
                ["Type", (t) => t],
                ...perProfile<string>(names, (t, i) => now.show(typeValue(list[i], t, now.id))),
            ]),
    });
    return made.element;
}

// ---- latencies ----

interface Measured {
    name: string;
    index: number;
    samples: number[]; // sorted
}

function measuredOf(list: Profile[], names: string[]): Measured[] {
    return list.flatMap((p, index) => {
        const [first] = measuredSeries(p);
        if (!first) return [];
        return [{ name: names[index], index, samples: [...first.samples].sort((a, b) => a - b) }];
    });
}

// Empirical distribution: the share of runs that took at most so long. It shows all of it, tails
// too.
const POINTS = 500;
function distributionLine({ name, index, samples }: Measured): LineSeriesOption {
    const colors = palette().series;
    const color = colors[index % colors.length];
    const n = samples.length;
    const step = Math.max(1, Math.floor(n / POINTS));
    const some = samples.flatMap((v, k) =>
        k % step === 0 || k === n - 1 ? [[v, (100 * (k + 1)) / n]] : [],
    );
    return {
        type: "line",
        name,
        step: "end",
        symbolSize: 3,
        lineStyle: { width: 2, color },
        itemStyle: { color },
        data: some,
    };
}

function latencyChart(list: Profile[], names: string[]): HTMLElement | null {
    const all = measuredOf(list, names);
    if (all.length < 2) return null;
    const rows = list.flatMap((p, i) => (p.latency ? [{ name: names[i], l: p.latency }] : []));
    return figure({
        id: "compare-latency",
        title: "Latency",
        height: 340,
        note: "Share of the runs that took at most so long; further left is faster.",
        about: "Cumulative distribution of the durations of runs, a line per profile.",
        option: () => ({
            grid: frame(16, 40, 28),
            legend: legend(),
            xAxis: valueAxis({ scale: true, name: "milliseconds", nameGap: 26 }),
            yAxis: valueAxis({ max: 100, axisLabel: { formatter: (v) => `${v} %` } }),
            tooltip: itemTip((m) =>
                tip(m.series, [
                    ["At most", f.ms(m.x)],
                    ["Runs", f.percent(m.value)],
                ]),
            ),
            series: all.map(distributionLine),
        }),
        table: () =>
            tabulate(rows, [
                ["Profile", (r) => r.name],
                ["Runs", (r) => r.l.runs],
                ["Median", (r) => f.ms(r.l.p50)],
                ["p95", (r) => f.ms(r.l.p95)],
                ["p99", (r) => f.ms(r.l.p99)],
                ["Max", (r) => f.ms(r.l.max)],
            ]),
    });
}

// ---- the sections ----

export function compareSections(
    list: Profile[],
    comparison: Comparison | undefined,
    shown: Shown,
): (HTMLElement | null)[] {
    const names = labels(list);
    const changes = comparison ? changedLayers(comparison, shown) : null;
    return [
        section(
            "comparison",
            "Side by side",
            comparison?.conclusion && h("p", { class: "conclusion" }, comparison.conclusion),
            comparison && verdicts(comparison),
            totals(list, names),
            shown.graphs && ratios(list, names),
        ),
        shown.graphs
            ? section(
                  "operators",
                  "Operator types",
                  operatorChart(list, names),
                  latencyChart(list, names),
              )
            : null,
        differenceView(list, names, comparison, shown),
        changes && section("changes", "Changes", changes),
    ];
}
