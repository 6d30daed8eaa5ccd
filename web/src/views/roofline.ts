// Layers under ceilings: those of a device that the model was placed on (map), and those that were
// measured on the machine that ran it. Measured layers stand where they ran (FLOPs over time);
// predicted ones where the roofline puts them. Without either there is no speed to show: then a
// layer's FLOPs over its intensity, with the line between memory-bound and compute-bound.
import { chart, tabulate, type TableData } from "../charts";
import { h, type Cell, type Child } from "../dom";
import type { Shown } from "../envelope";
import * as f from "../format";
import {
    frame,
    legend,
    logAxis,
    markOf,
    tip,
    type LineSeriesOption,
    type PlotOption,
    type ScatterSeriesOption,
} from "../plot";
import { familyColor } from "../families";
import { familyKeys } from "../graph/look";
import { palette } from "../theme";
import type { Profile, ProfileBottlenecks, ProfileLayer } from "../types";
import { section, select, soft } from "../ui";

// ---- ceilings ----

interface Ceiling {
    id: string;
    text: string;
    peak: number;
    bandwidth: number;
    faster: { name: string; bandwidth: number }[]; // caches above the memory that `bandwidth` is of
}

function measuredCeiling(p: Profile): Ceiling[] {
    const c = p.ceilings;
    const levels = (c?.levels ?? []).filter((l) => f.isNumber(l.bytes_per_s) && l.bytes_per_s > 0);
    const last = levels[levels.length - 1];
    if (!c || !last || !f.isNumber(c.operations_per_s) || c.operations_per_s <= 0) return [];
    const n = c.threads;
    const threads = f.isNumber(n) && n > 0 ? `, ${n} thread${n === 1 ? "" : "s"}` : "";
    return [
        {
            id: "measured",
            text: `${c.name || "this machine"}, ${c.dtype ?? "float32"}${threads}, measured`,
            peak: c.operations_per_s,
            bandwidth: last.bytes_per_s,
            faster: levels.slice(0, -1).map((l) => ({ name: l.name, bandwidth: l.bytes_per_s })),
        },
    ];
}

function deviceCeilings(p: Profile): Ceiling[] {
    return (p.map?.hardware ?? []).flatMap((d) =>
        (d.precisions ?? []).flatMap((q): Ceiling[] => {
            const peak = q.peak_ops_per_s;
            const bandwidth = d.bandwidth_bytes_per_s;
            if (!f.isNumber(peak) || !f.isNumber(bandwidth)) return [];
            const text = `${d.name ?? d.id}, ${q.precision}`;
            return [{ id: `${d.id} ${q.precision}`, text, peak, bandwidth, faster: [] }];
        }),
    );
}

// ---- points ----

interface Point {
    layer: ProfileLayer;
    x: number;
    y: number;
    like?: number; // how many layers stand there
}

const intensityOf = (l: ProfileLayer): number =>
    f.isNumber(l.arithmetic_intensity) ? l.arithmetic_intensity : 0;

// The layers that have an intensity and a height.
function pointsOf(
    layers: ProfileLayer[],
    height: (l: ProfileLayer, x: number) => number | undefined,
): Point[] {
    return layers.flatMap((layer) => {
        const x = intensityOf(layer);
        const y = x > 0 ? height(layer, x) : undefined;
        return y === undefined ? [] : [{ layer, x, y }];
    });
}

const measuredPoints = (layers: ProfileLayer[]): Point[] =>
    pointsOf(layers, ({ gflops_per_s: speed }) =>
        f.isNumber(speed) && speed > 0 ? speed * 1e9 : undefined,
    );

const countedPoints = (layers: ProfileLayer[]): Point[] =>
    pointsOf(layers, (l) => l.flops || undefined);

// The map's own times of layers are those of a device's first row: its first precision and batch.
function mappedTimes(p: Profile, c: Ceiling): Map<string, f.Maybe> {
    const devices = p.devices ?? [];
    const row = devices.find((d) => `${d.name} ${d.precision}` === c.id);
    if (!row || devices.find((d) => d.name === row.name) !== row) return new Map();
    const own = (p.map?.layers ?? []).filter((l) => (l.device ?? row.name) === row.name);
    return new Map(own.map((l) => [l.name, l.time_ms]));
}

// By the map's own times when it gives them for the layers, else the ceiling itself.
function predictedPoints(p: Profile, layers: ProfileLayer[], c: Ceiling | undefined): Point[] {
    if (!c) return [];
    const times = mappedTimes(p, c);
    return pointsOf(layers, (l, x) => {
        const t = times.get(l.name);
        if (f.isNumber(t) && t > 0 && l.flops) return l.flops / (t / 1e3);
        return Math.min(c.peak, x * c.bandwidth);
    });
}

// Thousands of layers repeat a few blocks: those of one type that stand within half a per cent are
// one mark.
const EACH = 1500;
function gather(list: Point[]): Point[] {
    if (list.length <= EACH) return list;
    const at = new Map<string, Point>();
    for (const q of list) {
        const place = [q.x, q.y].map((v) => Math.round(Math.log(v) * 200)).join(" ");
        const key = `${q.layer.type} ${place}`;
        const like = (at.get(key)?.like ?? 0) + 1;
        at.set(key, { ...(at.get(key) ?? q), like });
    }
    return [...at.values()];
}

// ---- series ----

function pointTip(q: Point, rated: boolean): HTMLElement {
    const l = q.layer;
    const more = (q.like ?? 1) - 1;
    return tip(
        l.name,
        [
            ["Type", l.type ?? "?"],
            ["Intensity", `${f.intensity(q.x)} FLOPs per byte`],
            rated ? ["Speed", f.si(q.y, "FLOP/s")] : ["FLOPs", f.si(q.y)],
            rated && ["FLOPs", f.si(l.flops)],
            ["Bytes", f.bytes(l.memory)],
            f.isNumber(l.percent_of_roof) && ["Of the roof", f.percent(l.percent_of_roof)],
            f.isNumber(l.time_ms) && ["Time", f.ms(l.time_ms)],
        ],
        more > 0 ? `and ${f.whole(more)} layers like it` : undefined,
    );
}

// Points are bare numbers: what the chart is given it copies, and a layer is large.
function scatter(name: string, all: Point[], rated: boolean): ScatterSeriesOption {
    const list = gather(all);
    const most = f.most([1, ...list.map((q) => q.layer.flops)]);
    const size = (q: Point | undefined) => 5 + 11 * Math.sqrt((q?.layer.flops ?? 0) / most);
    const color = (q: Point | undefined) => familyColor(q?.layer.type);
    return {
        type: "scatter",
        name,
        progressive: 4000,
        symbol: name === "predicted" ? "emptyCircle" : "circle",
        data: list.map((q) => [q.x, q.y]),
        symbolSize: (_: unknown, e) => size(list[e.dataIndex]),
        itemStyle: { opacity: 0.75, color: (e) => color(list[e.dataIndex]) },
        tooltip: { formatter: (e) => pointTip(list[markOf(e).index], rated) },
    };
}

function ceilingLine(c: Ceiling, from: number, to: number): LineSeriesOption {
    const color = palette().soft;
    const ridge = c.peak / c.bandwidth;
    return {
        type: "line",
        name: c.text,
        symbol: "none",
        silent: true,
        lineStyle: { color, width: 2 },
        itemStyle: { color },
        z: 1,
        data: [
            [from, from * c.bandwidth],
            [ridge, c.peak],
            [Math.max(to, ridge * 2), c.peak],
        ],
        markPoint: {
            silent: true,
            symbol: "circle",
            symbolSize: 6,
            data: [{ name: "ridge", coord: [ridge, c.peak] }],
            label: {
                show: true,
                position: "top",
                color,
                formatter: `ridge ${f.intensity(ridge)}`,
            },
        },
    };
}

// The slopes of caches, up to where arithmetic is the limit.
function cacheLines(c: Ceiling, from: number): LineSeriesOption[] {
    const colors = palette().series;
    return c.faster.map((l, i) => {
        const color = colors[(i + 5) % colors.length];
        const slope = [
            [from, from * l.bandwidth],
            [c.peak / l.bandwidth, c.peak],
        ];
        return {
            type: "line",
            name: `${l.name}, ${f.si(l.bandwidth, "B/s")}`,
            symbol: "none",
            silent: true,
            z: 1,
            lineStyle: { color, width: 1.5, type: "dashed" },
            itemStyle: { color },
            data: slope.filter(([x]) => x >= from),
        };
    });
}

// Between memory-bound and compute-bound.
function thresholdLine(intensity: number): ScatterSeriesOption["markLine"] {
    const color = palette().soft;
    return {
        silent: true,
        symbol: "none",
        lineStyle: { color, type: "dashed" },
        label: {
            color,
            position: "end",
            formatter: `${f.intensity(intensity)} FLOPs per byte`,
        },
        data: [{ xAxis: intensity }],
    };
}

// ---- the chart ----

interface Roofline {
    layers: ProfileLayer[];
    rated: boolean; // heights are speeds, not counts
    ceiling: Ceiling | undefined;
    threshold: f.Maybe;
    measured: Point[];
    predicted: Point[];
    counted: Point[];
}

const floor10 = (v: number): number => 10 ** Math.floor(Math.log10(v));
const ceil10 = (v: number): number => 10 ** Math.ceil(Math.log10(v));
const low = (list: number[], d: number): number => list.reduce((a, b) => Math.min(a, b), d);
const high = (list: number[], d: number): number => list.reduce((a, b) => Math.max(a, b), d);

// Whole decades around the points, the ridge and the threshold.
function extent({ ceiling: c, threshold, measured, predicted, counted }: Roofline) {
    const every = [...measured, ...predicted, ...counted];
    const xs = every.map((q) => q.x);
    const ys = every.map((q) => q.y);
    return {
        from: floor10(low(xs, f.isNumber(threshold) ? threshold : 1)),
        to: ceil10(high(xs, c ? c.peak / c.bandwidth : (threshold ?? 1)) * 1.01),
        bottom: floor10(low(ys, high(ys, 1))),
        top: ceil10(high(ys, c?.peak ?? 1) * 1.01),
    };
}

function scatters(r: Roofline): ScatterSeriesOption[] {
    const some = (name: string, list: Point[], rated: boolean) =>
        list.length ? [scatter(name, list, rated)] : [];
    const list = [
        ...some("predicted", r.predicted, true),
        ...some("measured", r.measured, true),
        ...some("layers", r.counted, false),
    ];
    if (!r.ceiling && f.isNumber(r.threshold) && list.length)
        list[0].markLine = thresholdLine(r.threshold);
    return list;
}

function optionOf(r: Roofline): PlotOption {
    const { from, to, bottom, top } = extent(r);
    const c = r.ceiling;
    const roofs = c ? [ceilingLine(c, from, to), ...cacheLines(c, from)] : [];
    const series = [...roofs, ...scatters(r)];
    const names = series.map((s) => String(s.name));
    return {
        grid: frame(24, 40, 28),
        legend: legend({ show: r.rated, type: "scroll", data: names }),
        xAxis: logAxis({
            min: from,
            max: to,
            name: "FLOPs per byte",
            nameGap: 28,
            axisLabel: { formatter: (v) => f.si(v) },
        }),
        yAxis: logAxis({
            min: bottom,
            max: top,
            axisLabel: { formatter: (v) => f.si(v, r.rated ? "FLOP/s" : "") },
        }),
        tooltip: { trigger: "item" },
        series,
    };
}

function tableOf(r: Roofline): TableData {
    const guess = new Map(r.predicted.map((q) => [q.layer, q.y]));
    const speed = (l: ProfileLayer) =>
        f.isNumber(l.gflops_per_s) ? f.si(l.gflops_per_s * 1e9) : f.DASH;
    const roofed = r.layers.some((l) => f.isNumber(l.percent_of_roof));
    const columns: ([string, (l: ProfileLayer) => Cell] | false)[] = [
        ["Layer", (l) => l.name],
        ["Type", (l) => l.type ?? ""],
        ["FLOPs per byte", (l) => f.intensity(l.arithmetic_intensity)],
        ["FLOPs", (l) => f.si(l.flops)],
        ["Bytes", (l) => f.bytes(l.memory)],
        ["Measured FLOP/s", speed],
        roofed && ["Of the roof", (l) => f.percent(l.percent_of_roof)],
        r.ceiling ? [`Predicted on ${r.ceiling.text}`, (l) => f.si(guess.get(l))] : false,
        ["Bound", (l) => l.bottleneck ?? ""],
    ];
    return tabulate(
        r.layers,
        columns.filter((c) => c !== false),
    );
}

function noteOf(rated: boolean, ran: boolean, limited: boolean): Child {
    if (!rated)
        return (
            "FLOPs of each layer over its FLOPs per byte; right of the line it is compute-bound. " +
            "Measured times (assay layers) or a device (assay map) turn this into a roofline."
        );
    return [
        ran && "Filled: measured. ",
        limited
            ? "Hollow: predicted, on the ceilings or where the device's own times put them. "
            : "No ceilings are known here: assay machine measures those of this machine once, " +
              "assay map --hardware has those of a device. ",
        "Size is the layer's FLOPs, colour its family.",
    ];
}

// ---- the section ----

function split(b: ProfileBottlenecks | undefined): HTMLElement | null {
    if (!b || !f.isNumber(b.compute_bound_percent)) return null;
    const ridge = b.hardware ? `, the ridge of ${b.hardware}` : "";
    return soft(
        `${f.percent(b.compute_bound_percent)} of the FLOPs and ` +
            `${f.percent(b.compute_bound_layers_percent)} of the layers are compute-bound ` +
            `(${f.intensity(b.threshold)} FLOPs per byte or more${ridge}).`,
    );
}

export function rooflineView(p: Profile, shown: Shown): HTMLElement | null {
    const layers = p.layers ?? [];
    if (!shown.graphs || !layers.some((l) => intensityOf(l) > 0)) return null;
    const limits = [...measuredCeiling(p), ...deviceCeilings(p)];
    let ceiling: Ceiling | undefined = limits[0];
    const measured = measuredPoints(layers);
    const rated = measured.length > 0 || limits.length > 0;
    const counted = rated ? [] : countedPoints(layers);
    const threshold = p.bottlenecks?.threshold;
    const now = (): Roofline => {
        const predicted = predictedPoints(p, layers, ceiling);
        return { layers, rated, ceiling, threshold, measured, predicted, counted };
    };
    const made = chart({
        id: "roofline",
        title: rated ? "Roofline" : "Intensity of the layers",
        height: 460,
        note: noteOf(rated, measured.length > 0, limits.length > 0),
        about: "Scatter of the layers by arithmetic intensity; both axes are logarithmic.",
        option: () => optionOf(now()),
        table: () => tableOf(now()),
    });
    const pick = select("Ceilings", limits, ceiling?.id ?? "", (id) => {
        ceiling = limits.find((c) => c.id === id);
        made.redraw();
    });
    const title = rated ? "Roofline" : "What limits it";
    return section(
        "roofline-section",
        title,
        split(p.bottlenecks),
        limits.length > 1 && pick,
        made.element,
        h("p", { class: "g-scale" }, familyKeys(layers.map((l) => l.type))),
    );
}
