// Layers under ceilings: those of a device that the model was placed on (map), and those that were measured on the
// machine that ran it. Measured layers stand where they ran (FLOPs over time); predicted ones where the roofline
// puts them. Without either there is no speed to show: then a layer's FLOPs over its intensity, with the line
// between memory-bound and compute-bound.
import { axis, chart, legend, tip } from "../charts";
import { h } from "../dom";
import * as f from "../format";
import { colorOf, palette } from "../theme";
import type { Layer, Profile, Shown } from "../types";
import { section, select } from "../ui";

// `faster`: caches above the memory that `bandwidth` is of.
interface Ceiling {
    id: string;
    text: string;
    peak: number;
    bandwidth: number;
    faster: { name: string; bandwidth: number }[];
}

function measuredCeiling(p: Profile): Ceiling[] {
    const c = p.ceilings;
    const levels = (c?.levels ?? []).filter((l) => f.isNumber(l.bytes_per_s) && l.bytes_per_s > 0);
    const last = levels[levels.length - 1];
    if (!c || !last || !f.isNumber(c.operations_per_s) || c.operations_per_s <= 0) return [];
    const threads =
        f.isNumber(c.threads) && c.threads > 0
            ? `, ${c.threads} thread${c.threads === 1 ? "" : "s"}`
            : "";
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

function ceilings(p: Profile): Ceiling[] {
    const list: Ceiling[] = measuredCeiling(p);
    for (const d of p.map?.hardware ?? [])
        for (const q of d.precisions ?? [])
            if (f.isNumber(q.peak_ops_per_s) && f.isNumber(d.bandwidth_bytes_per_s))
                list.push({
                    id: `${d.id} ${q.precision}`,
                    text: `${d.name ?? d.id}, ${q.precision}`,
                    peak: q.peak_ops_per_s,
                    bandwidth: d.bandwidth_bytes_per_s,
                    faster: [],
                });
    return list;
}

const ai = (l: Layer): number => (f.isNumber(l.arithmetic_intensity) ? l.arithmetic_intensity : 0);

interface Point {
    layer: Layer;
    x: number;
    y: number;
    like?: number;
} // like: how many layers stand there

// Thousands of layers repeat a few blocks: those of one type that stand within half a per cent are one mark.
const EACH = 1500;
function gather(list: Point[]): Point[] {
    if (list.length <= EACH) return list;
    const at = new Map<string, Point>();
    for (const q of list) {
        const key = `${q.layer.type} ${Math.round(Math.log(q.x) * 200)} ${Math.round(Math.log(q.y) * 200)}`;
        const seen = at.get(key);
        if (seen) seen.like!++;
        else at.set(key, { ...q, like: 1 });
    }
    return [...at.values()];
}

function measuredPoints(layers: Layer[]): Point[] {
    return layers.flatMap((layer) =>
        ai(layer) > 0 && f.isNumber(layer.gflops_per_s) && layer.gflops_per_s > 0
            ? [{ layer, x: ai(layer), y: layer.gflops_per_s * 1e9 }]
            : [],
    );
}

// By the map's own times when it gives them for the layers, else the ceiling itself.
function predictedPoints(p: Profile, c: Ceiling | undefined): Point[] {
    if (!c) return [];
    // Times of layers are those of a device's first row: its first precision and batch.
    const first = (p.devices ?? []).find((d) => `${d.name} ${d.precision}` === c.id);
    const own = first !== undefined && p.devices!.find((d) => d.name === first.name) === first;
    const times = new Map(
        own
            ? (p.map?.layers ?? [])
                  .filter((l) => (l.device ?? first.name) === first.name)
                  .map((l) => [l.name, l.time_ms])
            : [],
    );
    return p.layers!.flatMap((layer) => {
        const x = ai(layer);
        if (!(x > 0)) return [];
        const t = times.get(layer.name);
        const y =
            f.isNumber(t) && t > 0 && layer.flops
                ? layer.flops / (t / 1e3)
                : Math.min(c.peak, x * c.bandwidth);
        return [{ layer, x, y }];
    });
}

function pointTip(q: Point, rated: boolean): HTMLElement {
    return tip(
        q.layer.name,
        [
            ["Type", q.layer.type ?? "?"],
            ["Intensity", `${f.intensity(q.x)} FLOPs per byte`],
            [rated ? "Speed" : "FLOPs", f.si(q.y, rated ? "FLOP/s" : "")],
            ...(rated ? ([["FLOPs", f.si(q.layer.flops)]] as [string, string][]) : []),
            ["Bytes", f.bytes(q.layer.memory)],
            ...(f.isNumber(q.layer.percent_of_roof)
                ? ([["Of the roof", f.percent(q.layer.percent_of_roof)]] as [string, string][])
                : []),
            ...(f.isNumber(q.layer.time_ms)
                ? ([["Time", f.ms(q.layer.time_ms)]] as [string, string][])
                : []),
        ],
        (q.like ?? 1) > 1 ? `and ${f.whole(q.like! - 1)} layers like it` : undefined,
    );
}

function points(
    name: string,
    all: Point[],
    rated: boolean,
    more: Record<string, any>,
): Record<string, any> {
    const list = gather(all);
    const most = list.reduce((m, q) => Math.max(m, q.layer.flops ?? 0), 1);
    return {
        type: "scatter",
        name,
        progressive: 4000,
        ...more,
        // Points are bare numbers: what the chart is given it copies, and a layer is large.
        data: list.map((q) => [q.x, q.y]),
        symbolSize: (_: unknown, e: any) =>
            5 + 11 * Math.sqrt((list[e.dataIndex]?.layer.flops ?? 0) / most),
        itemStyle: {
            opacity: 0.75,
            color: (e: any) => colorOf("type:" + (list[e.dataIndex]?.layer.type ?? "?")),
        },
        tooltip: { formatter: (e: any) => pointTip(list[e.dataIndex], rated) },
    };
}

const floor10 = (v: number): number => 10 ** Math.floor(Math.log10(v));
const ceil10 = (v: number): number => 10 ** Math.ceil(Math.log10(v));
const low = (list: number[], d: number): number => list.reduce((a, b) => Math.min(a, b), d);
const high = (list: number[], d: number): number => list.reduce((a, b) => Math.max(a, b), d);

function ceilingLine(c: Ceiling, from: number, to: number, color: string): Record<string, any> {
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
            data: [{ coord: [ridge, c.peak] }],
            label: {
                show: true,
                position: "top",
                color: palette().soft,
                formatter: `ridge ${f.intensity(ridge)}`,
            },
        },
    };
}

// The slopes of caches, up to where arithmetic is the limit.
function cacheLines(c: Ceiling, from: number, colors: string[]): Record<string, any>[] {
    return c.faster.map((l, i) => ({
        type: "line",
        name: `${l.name}, ${f.si(l.bandwidth, "B/s")}`,
        symbol: "none",
        silent: true,
        z: 1,
        lineStyle: { color: colors[(i + 5) % colors.length], width: 1.5, type: "dashed" },
        itemStyle: { color: colors[(i + 5) % colors.length] },
        data: [
            [from, from * l.bandwidth],
            [c.peak / l.bandwidth, c.peak],
        ].filter(([x]) => x >= from),
    }));
}

export function rooflineView(p: Profile, shown: Shown): HTMLElement | null {
    const layers = p.layers ?? [];
    if (!shown.graphs || !layers.some((l) => ai(l) > 0)) return null;
    const limits = ceilings(p);
    let now = limits[0]?.id ?? "";
    const ran = measuredPoints(layers);
    const rated = ran.length > 0 || limits.length > 0;
    const plain = rated
        ? []
        : layers.flatMap((layer) =>
              ai(layer) > 0 && layer.flops ? [{ layer, x: ai(layer), y: layer.flops }] : [],
          );
    const line = p.bottlenecks?.threshold as number | undefined;
    const current = () => limits.find((c) => c.id === now);
    const shape = () => {
        const c = current();
        const guess = predictedPoints(p, c);
        const every = [...ran, ...guess, ...plain];
        const xs = every.map((q) => q.x);
        const from = floor10(low(xs, f.isNumber(line) ? line : 1));
        const to = ceil10(high(xs, c ? c.peak / c.bandwidth : (line ?? 1)) * 1.01);
        const ys = every.map((q) => q.y);
        return {
            c,
            guess,
            from,
            to,
            bottom: floor10(low(ys, high(ys, 1))),
            top: ceil10(high(ys, c?.peak ?? 1) * 1.01),
        };
    };
    const made = chart({
        id: "roofline",
        title: rated ? "Roofline" : "Intensity of the layers",
        height: 460,
        note: rated
            ? [
                  ran.length ? "Filled: measured. " : "",
                  limits.length
                      ? "Hollow: predicted, on the ceilings or where the device's own times put them. "
                      : "No ceilings are known here: assay machine measures those of this machine once, assay map --hardware has those of a device. ",
                  "Size is the layer's FLOPs, colour its type.",
              ]
            : "FLOPs of each layer over its FLOPs per byte; right of the line it is compute-bound. Measured times (assay layers) or a device (assay map) turn this into a roofline.",
        about: "Scatter of the layers by arithmetic intensity; both axes are logarithmic.",
        option: () => {
            const s = shape();
            const colors = palette();
            const series: Record<string, any>[] = [];
            if (s.c)
                series.push(
                    ceilingLine(s.c, s.from, s.to, colors.soft),
                    ...cacheLines(s.c, s.from, colors.series),
                );
            if (s.guess.length)
                series.push(points("predicted", s.guess, true, { symbol: "emptyCircle" }));
            if (ran.length) series.push(points("measured", ran, true, { symbol: "circle" }));
            if (plain.length) series.push(points("layers", plain, false, { symbol: "circle" }));
            if (!s.c && f.isNumber(line) && series.length)
                series[0].markLine = {
                    silent: true,
                    symbol: "none",
                    lineStyle: { color: colors.soft, type: "dashed" },
                    label: {
                        color: colors.soft,
                        position: "end",
                        formatter: `${f.intensity(line)} FLOPs per byte`,
                    },
                    data: [{ xAxis: line }],
                };
            return {
                grid: { left: 8, right: 24, top: 40, bottom: 28, containLabel: true },
                legend: legend({ show: rated, type: "scroll", data: series.map((q) => q.name) }),
                xAxis: axis({
                    type: "log",
                    min: s.from,
                    max: s.to,
                    name: "FLOPs per byte",
                    nameGap: 28,
                    axisLabel: { formatter: (v: number) => f.si(v) },
                }),
                yAxis: axis({
                    type: "log",
                    min: s.bottom,
                    max: s.top,
                    axisLabel: { formatter: (v: number) => f.si(v, rated ? "FLOP/s" : "") },
                }),
                tooltip: { trigger: "item" },
                series,
            };
        },
        table: () => {
            const s = shape();
            const guess = new Map(s.guess.map((q) => [q.layer, q.y]));
            return {
                head: [
                    "Layer",
                    "Type",
                    "FLOPs per byte",
                    "FLOPs",
                    "Bytes",
                    "Measured FLOP/s",
                    ...(layers.some((l) => f.isNumber(l.percent_of_roof)) ? ["Of the roof"] : []),
                    ...(s.c ? [`Predicted on ${s.c.text}`] : []),
                    "Bound",
                ],
                rows: layers.map((l) => [
                    l.name,
                    l.type ?? "",
                    f.intensity(l.arithmetic_intensity),
                    f.si(l.flops),
                    f.bytes(l.memory),
                    f.isNumber(l.gflops_per_s) ? f.si(l.gflops_per_s * 1e9) : f.DASH,
                    ...(layers.some((k) => f.isNumber(k.percent_of_roof))
                        ? [f.percent(l.percent_of_roof)]
                        : []),
                    ...(s.c ? [f.si(guess.get(l))] : []),
                    l.bottleneck ?? "",
                ]),
            };
        },
    });
    const pickDevice =
        limits.length > 1
            ? select(
                  "Ceilings",
                  limits.map((c) => ({ id: c.id, text: c.text })),
                  now,
                  (id) => {
                      now = id;
                      made.redraw();
                  },
              )
            : null;
    const b = p.bottlenecks;
    const split =
        b && f.isNumber(b.compute_bound_percent)
            ? h(
                  "p",
                  { class: "soft" },
                  `${f.percent(b.compute_bound_percent)} of the FLOPs and ${f.percent(b.compute_bound_layers_percent)} of the layers are compute-bound (${f.intensity(b.threshold)} FLOPs per byte or more${b.hardware ? `, the ridge of ${b.hardware}` : ""}).`,
              )
            : null;
    return section(
        "roofline-section",
        rated ? "Roofline" : "What limits it",
        split,
        pickDevice,
        made.element,
    );
}
