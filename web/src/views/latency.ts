// The runs: how they are distributed, and one after the other with what was unusual.
import { chart, tabulate, type Chart } from "../charts";
import { clear, h, type Cell, type Child } from "../dom";
import type { Shown } from "../envelope";
import * as f from "../format";
import {
    frame,
    itemTip,
    labelText,
    tickMs,
    tip,
    valueAxis,
    type BarSeriesOption,
    type LineSeriesOption,
    type ScatterSeriesOption,
} from "../plot";
import { palette } from "../theme";
import type { Latency, Profile, ProfileConfig, ProfileOutlier } from "../types";
import { cards, column, numbers, pair, plural, section, select, table, type Column } from "../ui";

// ---- what was measured ----

export interface Series {
    name: string;
    latency: Latency;
    samples: number[];
    first: f.Maybe; // the first run of the process, which warmed up
}

const nameOf = (c: ProfileConfig): string =>
    `batch ${c.batch}${c.precision ? `, ${c.precision}` : ""}`;

function seriesOf(name: string, latency: Latency | undefined, first: f.Maybe): Series[] {
    const samples = latency?.samples_ms;
    return latency && samples?.length ? [{ name, latency, samples, first }] : [];
}

// The top of a profile is its smallest configuration; the others bring their own.
export function measuredSeries(p: Profile): Series[] {
    const list = p.configurations ?? [];
    const top = list.find((c) => !c.error && !c.latency);
    return [
        ...seriesOf(top ? nameOf(top) : "as measured", p.latency, p.cold_start?.first_run_ms),
        ...list.flatMap((c) => seriesOf(nameOf(c), c.latency, c.cold_start?.first_run_ms)),
    ];
}

// ---- the distribution ----

interface Bin {
    from: number;
    to: number;
    count: number;
}

// Freedman and Diaconis: width = 2 IQR / n^(1/3); at least 8 bars, at most 60.
function histogram(samples: number[]): Bin[] {
    const s = samples.filter((v) => Number.isFinite(v)).sort((a, b) => a - b);
    const at = (q: number) => s[Math.min(s.length - 1, Math.floor(q * s.length))];
    const span = s[s.length - 1] - s[0];
    const width = (2 * (at(0.75) - at(0.25))) / Math.cbrt(s.length);
    const wanted = Math.ceil(span / (width || span)) || 8;
    const n = span > 0 ? Math.max(8, Math.min(60, wanted)) : 1;
    const edge = (i: number) => s[0] + (span * i) / n;
    const bins = Array.from({ length: n }, (_, i) => ({
        from: edge(i),
        to: edge(i + 1),
        count: 0,
    }));
    const binOf = (v: number) => Math.min(n - 1, Math.floor(((v - s[0]) / span) * n));
    for (const v of s) bins[span > 0 ? binOf(v) : 0].count++;
    return bins;
}

function quantileMarks(l: Latency): { name: string; xAxis: number }[] {
    const marks: [string, f.Maybe][] = [
        ["median", l.p50],
        ["p95", l.p95],
        ["p99", l.p99],
    ];
    return marks.flatMap(([name, v]) => (f.isNumber(v) ? [{ name, xAxis: v }] : []));
}

// A mark with the share of the width that it is at. Labels grow away from the nearer side, so that
// none leaves the chart or covers the axis.
type Placed = { name: string; xAxis: number; at: number };
const alignment = (m: Placed) => (m.at < 0.5 ? ("left" as const) : ("right" as const));
const LETTER = 0.03; // of the width, on a phone
const labelEnds = (m: Placed): [number, number] => {
    const width = LETTER * m.name.length;
    return alignment(m) === "left" ? [m.at, m.at + width] : [m.at - width, m.at];
};

// Marks whose labels would collide share one: "median, p95".
function shareLabels(marks: Placed[]): Placed[] {
    const named = marks.filter((m) => m.name);
    const collides = (m: Placed, i: number) =>
        i > 0 && labelEnds(m)[0] < labelEnds(named[i - 1])[1] + LETTER;
    const i = named.findIndex(collides);
    if (i < 0) return marks;
    const [first, second] = [named[i - 1], named[i]];
    const rest = marks.map((m) =>
        m === first
            ? { ...m, name: `${m.name}, ${second.name}` }
            : m === second
              ? { ...m, name: "" }
              : m,
    );
    return shareLabels(rest);
}

function labelledMarks(l: Latency, from: number, to: number) {
    const at = (x: number) => (to > from ? (x - from) / (to - from) : 0);
    const marks = quantileMarks(l).map((m) => ({ ...m, at: at(m.xAxis) }));
    return shareLabels(marks).map((m) => ({ ...m, label: { align: alignment(m) } }));
}

function bars(bins: Bin[], l: Latency): BarSeriesOption {
    const c = palette();
    return {
        type: "bar",
        barWidth: "99%",
        barCategoryGap: 0,
        data: bins.map((b) => [(b.from + b.to) / 2, b.count]),
        itemStyle: { color: c.series[0], opacity: 0.8 },
        markLine: {
            symbol: "none",
            silent: true,
            lineStyle: { color: c.series[1], type: "solid", width: 1.5 },
            label: { color: c.text, formatter: labelText((m) => m.name) },
            data: labelledMarks(l, bins[0].from, bins[bins.length - 1].to),
        },
    };
}

function distribution(now: () => Series): Chart {
    return chart({
        id: "latency-distribution",
        title: "Distribution",
        height: 300,
        note: "Runs by their duration, with median, p95 and p99.",
        about: "Histogram of the durations of single runs.",
        option: () => {
            const bins = histogram(now().samples);
            return {
                grid: frame(24, 36, 28),
                xAxis: valueAxis({
                    min: bins[0].from,
                    max: bins[bins.length - 1].to,
                    name: "duration",
                    nameGap: 26,
                    splitLine: { show: false },
                    axisLabel: {
                        formatter: tickMs,
                        showMinLabel: false,
                        showMaxLabel: false,
                    },
                }),
                yAxis: valueAxis({ minInterval: 1 }),
                tooltip: itemTip(({ index }) => {
                    const b = bins[index];
                    if (!b) return "";
                    return tip(`${f.ms(b.from)} to ${f.ms(b.to)}`, [["Runs", f.whole(b.count)]]);
                }),
                series: [bars(bins, now().latency)],
            };
        },
        table: () =>
            tabulate(histogram(now().samples), [
                ["From", (b) => f.ms(b.from)],
                ["To", (b) => f.ms(b.to)],
                ["Runs", (b) => b.count],
            ]),
    });
}

// ---- run by run ----

// A series as it is drawn: runs count from 1, the warm-up up to 0.
interface Course {
    latency: Latency;
    samples: number[];
    numbered: [run: number, ms: number][];
    warm: number[];
    before: number; // warm-up runs
    settled: number | null; // where timings became steady
    outliers: ProfileOutlier[];
}

function warmUp(l: Latency, first: f.Maybe): number[] {
    if (l.warmup_ms?.length) return l.warmup_ms;
    return f.isNumber(first) && (l.warmup_runs ?? 0) > 0 ? [first] : [];
}

// Thinned results keep fewer samples than runs: every run is then at its share of the way, and the
// samples are as far apart as that takes.
function numberedRuns(l: Latency, samples: number[]): [run: number, ms: number][] {
    const thinned = f.isNumber(l.runs) && l.runs > samples.length;
    const apart = thinned ? (l.runs ?? 0) / samples.length : 1;
    return samples.map((v, i) => [1 + Math.floor(i * apart), v]);
}

function courseOf({ latency: l, samples, first }: Series): Course {
    const warm = warmUp(l, first);
    const before = Math.max(l.warmup_runs ?? 0, warm.length);
    const known = f.isNumber(l.steady_after) && l.steady_after > 0;
    const settled = known ? (l.steady_after ?? 0) - before + 1 : l.steady ? 1 : null;
    const numbered = numberedRuns(l, samples);
    const outliers = l.outliers ?? [];
    return { latency: l, samples, numbered, warm, before, settled, outliers };
}

const MANY = 400;
function runLine({ latency, samples, numbered, before }: Course): LineSeriesOption {
    const c = palette();
    return {
        type: "line",
        name: "runs",
        data: numbered,
        showSymbol: samples.length <= MANY,
        symbolSize: 4,
        lineStyle: { width: samples.length > MANY ? 1 : 1.5, color: c.series[0] },
        itemStyle: { color: c.series[0] },
        sampling: samples.length > 4000 ? "minmax" : undefined,
        markLine: {
            symbol: "none",
            silent: true,
            lineStyle: { color: c.soft, type: "dashed" },
            label: { formatter: "median", position: "insideEndTop", color: c.soft },
            data: f.isNumber(latency.p50) ? [{ yAxis: latency.p50 }] : [],
        },
        markArea: before ? warmUpArea(before) : undefined,
    };
}

function warmUpArea(before: number): LineSeriesOption["markArea"] {
    const c = palette();
    return {
        silent: true,
        itemStyle: { color: c.series[4], opacity: 0.15 },
        label: { color: c.soft, position: "insideTopLeft", formatter: `warm-up, ${before} runs` },
        data: [[{ xAxis: 1 - before }, { xAxis: 1 }]],
    };
}

function warmUpPoints({ warm, before, settled }: Course): ScatterSeriesOption {
    const c = palette();
    const name = settled === null ? "not steady" : "steady";
    return {
        type: "scatter",
        name: "warm-up",
        symbolSize: 5,
        itemStyle: { color: c.series[4] },
        data: warm.map((v, i) => [i + 1 - before, v]),
        markLine: before
            ? {
                  symbol: "none",
                  silent: true,
                  lineStyle: { color: c.series[2], type: "solid", width: 1.5 },
                  label: { formatter: labelText((m) => m.name), position: "end", color: c.soft },
                  data: [{ name, xAxis: settled ?? 1 }],
              }
            : undefined,
    };
}

const outlierPoints = ({ outliers }: Course): ScatterSeriesOption => ({
    type: "scatter",
    name: "outliers",
    symbol: "diamond",
    symbolSize: 12,
    itemStyle: { color: palette().series[1] },
    data: outliers.map((o) => [o.run, o.ms]),
});

function courseTip(course: Course) {
    const odd = new Map(course.outliers.map((o) => [o.run, o]));
    return itemTip((m) => {
        const warm = m.x < 1;
        const cause = m.series === "outliers" && odd.get(m.x)?.cause;
        return tip(warm ? `Warm-up run ${m.x + course.before}` : `Run ${m.x}`, [
            ["Duration", f.ms(m.value)],
            cause ? ["Cause", cause] : false,
        ]);
    });
}

function courseRows({ latency, samples, outliers }: Course): Cell[][] {
    const odd = new Map(outliers.map((o) => [o.run, o.cause ?? "unknown"]));
    const warm = (latency.warmup_ms ?? []).map((v, i): Cell[] => [`warm-up ${i + 1}`, v, ""]);
    return [...warm, ...samples.map((v, i): Cell[] => [i + 1, v, odd.get(i + 1) ?? ""])];
}

function runByRun(now: () => Series): Chart {
    return chart({
        id: "latency-series",
        title: "Latency of each run",
        height: 300,
        note:
            "Shaded: warm-up, which does not count; the line in it: from where timings were " +
            "steady. Diamonds: outliers, with their cause.",
        about:
            "Durations of the runs in the order they were made; " +
            "outliers and warm-up are marked.",
        option: () => {
            const course = courseOf(now());
            const [last] = course.numbered[course.numbered.length - 1];
            return {
                grid: frame(16, 24, 28),
                xAxis: valueAxis({
                    min: 1 - course.before,
                    max: Math.max(2, last),
                    name: "run; warm-up up to 0",
                    nameGap: 26,
                    minInterval: 1,
                    splitLine: { show: false },
                }),
                yAxis: valueAxis({ scale: true, axisLabel: { formatter: tickMs } }),
                tooltip: courseTip(course),
                series: [runLine(course), warmUpPoints(course), outlierPoints(course)],
            };
        },
        table: () => ({
            head: ["Run", "Milliseconds", "Outlier"],
            rows: courseRows(courseOf(now())),
        }),
    });
}

// ---- the section ----

function figures(l: Latency): HTMLElement {
    const needed = l.p99_runs_needed;
    const short = f.isNumber(needed) && f.isNumber(l.runs) && l.runs < needed;
    const never = l.steady === false ? ", never steady" : "";
    return cards([
        {
            name: "Mean",
            value: f.ms(l.mean),
            note: f.isNumber(l.ci95_low) && `95 %: ${f.ms(l.ci95_low)} to ${f.ms(l.ci95_high)}`,
        },
        { name: "Median", value: f.ms(l.p50), note: `min ${f.ms(l.min)}, max ${f.ms(l.max)}` },
        { name: "p90", value: f.ms(l.p90) },
        { name: "p95", value: f.ms(l.p95) },
        {
            name: "p99",
            value: f.ms(l.p99),
            note: short && `${f.whole(needed)} runs would make it sure`,
        },
        {
            name: "Runs",
            value: f.whole(l.runs),
            note: `${f.whole(l.warmup_runs)} before as warm-up${never}`,
        },
    ]);
}

const MOST_OUTLIERS = 20;
function outlierList(l: Latency): Child {
    const list = l.outliers ?? [];
    if (!list.length) return null;
    const columns: Column<ProfileOutlier>[] = [
        numbers("Run", (o) => f.whole(o.run)),
        numbers("Duration", (o) => f.ms(o.ms)),
        numbers("Over the median", (o) => f.ratio(o.ms / (l.p50 || 1))),
        column("Cause", (o) => o.cause ?? "unknown"),
    ];
    return [
        h("h3", null, plural(list.length, "outlier")),
        table("Outliers", columns, list.slice(0, MOST_OUTLIERS)),
    ];
}

// Figures and charts of one series, which can be chosen when there are several.
function seriesSection(all: Series[], shown: Shown): HTMLElement {
    let now = all[0];
    const charts = [distribution(() => now), runByRun(() => now)];
    const numbersOf = h("div");
    const outliers = h("div");
    const fill = () => {
        numbersOf.replaceChildren(figures(now.latency));
        clear(outliers, shown.details && outlierList(now.latency));
    };
    fill();
    const options = all.map((s, i) => ({ id: String(i), text: s.name }));
    const pick = select("Configuration", options, "0", (id) => {
        now = all[Number(id)];
        fill();
        charts.forEach((c) => c.redraw());
    });
    return section(
        "latency",
        "Latency",
        all.length > 1 && pick,
        numbersOf,
        shown.graphs && pair(charts.map((c) => c.element)),
        outliers,
    );
}

export function latencyView(p: Profile, shown: Shown): HTMLElement | null {
    const all = measuredSeries(p);
    if (all.length) return seriesSection(all, shown);
    if (!p.latency || !f.isNumber(p.latency.mean)) return null;
    return section("latency", "Latency", h("div", null, figures(p.latency)));
}
