// A load on a live endpoint: its curve, distributions, and the run over time with the server
// beside it.
import { figure, tabulate } from "../charts";
import { rowsOf } from "../documents";
import * as f from "../format";
import { axisTip, byteAxis, frame, legend, tickMs, tip, valueAxis } from "../plot";
import type { Load, LoadCurveStep, LoadMoment, LoadShare, ProfileWatchSample } from "../types";
import { section } from "../ui";

type Line<T> = [name: string, of: (row: T) => f.Maybe];

interface Plot<T> {
    id: string;
    title: string;
    about: string;
    note?: string;
    rows: T[];
    x: (row: T) => number;
    xName: string;
    xText: (x: number) => string;
    lines: Line<T>[];
    show: (v: f.Maybe) => string;
    axis: () => ReturnType<typeof valueAxis>;
    dots?: boolean;
    joined?: boolean; // over values that are missing
}

// Lines over one number; those without a value are left out.
function plot<T>(p: Plot<T>): HTMLElement | null {
    const lines = p.lines.filter(([, of]) => p.rows.some((r) => f.isNumber(of(r))));
    if (p.rows.length < 2 || !lines.length) return null;
    return figure({
        id: p.id,
        title: p.title,
        height: 300,
        about: p.about,
        note: p.note,
        option: () => ({
            grid: frame(16, 40, 32),
            legend: legend({ show: lines.length > 1 }),
            xAxis: valueAxis({
                name: p.xName,
                nameGap: 26,
                splitLine: { show: false },
            }),
            yAxis: p.axis(),
            tooltip: axisTip((marks) =>
                tip(
                    p.xText(marks[0].x),
                    marks.map((m) => [m.series, p.show(m.value)]),
                ),
            ),
            series: lines.map(([name, of]) => ({
                type: "line",
                name,
                symbol: p.dots ? "circle" : "none",
                symbolSize: 6,
                connectNulls: p.joined,
                lineStyle: { width: 1.5 },
                data: p.rows.map((r) => [p.x(r), of(r) ?? null]),
            })),
        }),
        table: () =>
            tabulate<T>(p.rows, [
                [p.xName, (r) => p.xText(p.x(r))],
                ...lines.map(([name, of]): [string, (r: T) => string] => [
                    name,
                    (r) => p.show(of(r)),
                ]),
            ]),
    });
}

const msAxis = (): ReturnType<typeof valueAxis> =>
    valueAxis({ min: 0, axisLabel: { formatter: tickMs } });
const countAxis = (): ReturnType<typeof valueAxis> => valueAxis({ min: 0 });

// ---- the curve ----

const curveChart = (steps: LoadCurveStep[]): HTMLElement | null =>
    plot<LoadCurveStep>({
        id: "load-curve",
        title: "Latency over throughput",
        about: "Lines of latency percentiles over the throughput of each step of the curve.",
        note: "A point for each rate, from light load to saturation.",
        rows: steps,
        x: (s) => s.requests_per_second,
        xName: "requests per second",
        xText: (x) => `${f.fixed(x, 1)} requests/s`,
        lines: [
            ["P50", (s) => s.p50],
            ["P95", (s) => s.p95],
            ["P99", (s) => s.p99],
            ["first token, P99", (s) => s.ttft_p99],
        ],
        show: f.ms,
        axis: msAxis,
        dots: true,
    });

const rateChart = (steps: LoadCurveStep[]): HTMLElement | null =>
    plot<LoadCurveStep>({
        id: "load-rates",
        title: "Achieved over offered",
        about: "Lines of achieved throughput and goodput over the rate that was offered.",
        note: "Where achieved stays behind offered, the server is saturated.",
        rows: steps,
        x: (s) => s.rate,
        xName: "requests per second offered",
        xText: (x) => `${f.fixed(x, 1)} offered`,
        lines: [
            ["achieved", (s) => s.requests_per_second],
            ["goodput", (s) => s.goodput],
        ],
        show: (v) => f.fixed(v, 1),
        axis: countAxis,
        dots: true,
    });

// ---- distributions ----

const cdfChart = (rows: LoadShare[]): HTMLElement | null =>
    plot<LoadShare>({
        id: "load-cdf",
        title: "Distribution",
        about: "Lines of latency, time to first token and token gaps over the share of values.",
        note: "Failed requests count as slower than every good one.",
        rows,
        x: (r) => r.percent,
        xName: "per cent of the values at or below",
        xText: (x) => `${x} %`,
        lines: [
            ["latency", (r) => r.latency],
            ["first token", (r) => r.ttft],
            ["token gap", (r) => r.itl],
        ],
        show: f.ms,
        axis: msAxis,
    });

// ---- over time ----

const timeOf = { x: (m: LoadMoment) => m.time_s, xName: "seconds" };
const seconds = (x: number): string => `${f.fixed(x, 2)} s`;

const latencyChart = (rows: LoadMoment[]): HTMLElement | null =>
    plot<LoadMoment>({
        id: "load-latency",
        title: "Latency over time",
        about: "Lines of the median and P99 of latency over time.",
        rows,
        ...timeOf,
        xText: seconds,
        lines: [
            ["P50", (m) => m.p50],
            ["P99", (m) => m.p99],
        ],
        show: f.ms,
        axis: msAxis,
    });

const throughputChart = (rows: LoadMoment[]): HTMLElement | null =>
    plot<LoadMoment>({
        id: "load-throughput",
        title: "Throughput over time",
        about: "Lines of requests, tokens and errors over time.",
        rows,
        ...timeOf,
        xText: seconds,
        lines: [
            ["requests/s", (m) => m.requests_per_second],
            ["tokens/s", (m) => m.tokens_per_second],
            ["errors", (m) => m.errors],
        ],
        show: (v) => f.fixed(v, 1),
        axis: countAxis,
    });

const serverChart = (
    rows: ProfileWatchSample[],
    id: string,
    title: string,
    of: (s: ProfileWatchSample) => f.Maybe,
    bytes: boolean,
): HTMLElement | null =>
    plot<ProfileWatchSample>({
        id,
        title,
        about: `A line over time: ${title}.`,
        rows,
        x: (s) => s.time_s,
        xName: "seconds",
        xText: seconds,
        lines: [[title, of]],
        joined: true, // CPU time is read less often than memory
        show: bytes ? f.bytes : (v) => f.percent(v, 0),
        axis: bytes ? () => byteAxis(f.most(rows.map(of))) : countAxis,
    });

export function loadSection(d: Load): HTMLElement | null {
    const steps = rowsOf(d.curve);
    const moments = rowsOf(d.timeline);
    const samples = rowsOf(d.server?.samples);
    const charts = [
        curveChart(steps),
        rateChart(steps),
        cdfChart(rowsOf(d.cdf)),
        latencyChart(moments),
        throughputChart(moments),
        serverChart(samples, "load-cpu", "Server CPU", (s) => s.cpu_percent, false),
        serverChart(samples, "load-memory", "Server memory", (s) => s.resident, true),
    ].filter((c): c is HTMLElement => c !== null);
    return charts.length ? section("load", "Charts", ...charts) : null;
}
