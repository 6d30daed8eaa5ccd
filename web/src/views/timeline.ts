// One measured run on its time axis: kernels with the gaps between them, and below on the same axis
// the memory that is live. An engine runs several layers as one kernel: those that begin and end at
// the same time in its trace.
import { figure, tabulate } from "../charts";
import { familyColor, familyOf } from "../families";
import * as f from "../format";
import { byteAxis, categoryAxis, itemTip, tickMs, tip, valueAxis } from "../plot";
import { palette } from "../theme";
import type { Profile } from "../types";

export interface Kernel {
    start: number; // in the trace, since the run began
    end: number;
    layers: string[];
    types: string[];
    time: number; // of its layers, without the profiler's cost
    gap: number; // before it; below 0: it overlaps
}

export function kernelsOf(p: Profile): Kernel[] {
    const by = new Map<string, Kernel>();
    for (const w of p.blocking?.layers ?? []) {
        const key = `${w.start_ms} ${w.end_ms}`;
        const known = by.get(key);
        if (known) {
            known.layers.push(w.layer);
            known.types.push(w.type);
            known.time += w.time_ms;
        } else
            by.set(key, {
                start: w.start_ms,
                end: w.end_ms,
                layers: [w.layer],
                types: [w.type],
                time: w.time_ms,
                gap: 0,
            });
    }
    const list = [...by.values()].sort((a, b) => a.start - b.start || a.end - b.end);
    let last = 0;
    for (const k of list) {
        k.gap = k.start - last;
        last = Math.max(last, k.end);
    }
    return list;
}

// The type that says most of a fused kernel: its first layer's, which the others are fused into.
const typeOf = (k: Kernel): string => k.types[0] ?? "";
const nameOfKernel = (k: Kernel): string =>
    k.layers.length > 1 ? `${k.layers[0]} + ${k.layers.length - 1}` : (k.layers[0] ?? "");

// Live memory at the times that layers begin.
function memoryOf(p: Profile, kernels: Kernel[], end: number): [number, number][] {
    const live = new Map((p.layers ?? []).map((l) => [l.name, l.live_bytes]));
    const points: [number, number][] = [];
    for (const k of kernels) {
        const known = k.layers.map((n) => live.get(n)).filter(f.isNumber);
        if (known.length) points.push([k.start, f.most(known)]);
    }
    if (points.length) points.push([end, points[points.length - 1][1]]);
    return points;
}

function runText(p: Profile, kernels: Kernel[], end: number): string {
    const busy = kernels.reduce((s, k) => s + (k.end - k.start), 0);
    const idle = kernels.reduce((s, k) => s + Math.max(0, k.gap), 0);
    const layers = p.ledger?.layers_ms;
    const sum = f.isNumber(layers)
        ? ` Without the profiler's cost the layers take ${f.ms(layers)}.`
        : "";
    return (
        `${f.whole(kernels.length)} kernels in ${f.ms(end)}: ${f.ms(busy)} in kernels, ` +
        `${f.ms(idle)} between them.${sum} Ctrl and the wheel, or the slider, zoom.`
    );
}

function kernelTip(k: Kernel): HTMLElement {
    const more = k.layers.length - 6;
    const layers = k.layers.slice(0, 6).join(", ") + (more > 0 ? ` and ${more} more` : "");
    return tip(nameOfKernel(k), [
        ["Begins", f.ms(k.start)],
        ["Takes", f.ms(k.end - k.start)],
        ["Without profiler", f.ms(k.time)],
        ["Gap before", k.gap > 0 ? f.ms(k.gap) : f.DASH],
        ["Family", familyOf(typeOf(k)).text],
        ["Layers", layers],
    ]);
}

const TOP = 8;
const LANE = 54;
const MEMORY = 110;

export function timelineView(p: Profile): HTMLElement | null {
    const kernels = kernelsOf(p);
    if (!kernels.length) return null;
    const end = f.most(kernels.map((k) => k.end));
    const memory = memoryOf(p, kernels, end);
    const most = f.most(memory.map(([, v]) => v));
    const xAxis = (grid: number, show: boolean) => ({
        ...valueAxis({ min: 0, max: end, axisLabel: { formatter: tickMs } }),
        gridIndex: grid,
        axisLabel: {
            show,
            formatter: tickMs,
            color: palette().soft,
            hideOverlap: true,
            showMaxLabel: false,
        },
    });
    // Both charts have the same edges: labels do not move them.
    const sides = { left: 70, right: 24, outerBoundsMode: "none" as const };
    return figure({
        id: "timeline",
        title: "Timeline of one run",
        note: runText(p, kernels, end),
        height: TOP + LANE + MEMORY + 96,
        about: "Kernels of one run over time and live memory; the table has every kernel.",
        option: () => ({
            grid: [
                { ...sides, top: TOP, height: LANE },
                { ...sides, top: TOP + LANE + 14, height: MEMORY },
            ],
            xAxis: [xAxis(0, false), xAxis(1, true)],
            yAxis: [
                { ...categoryAxis(["kernels"], { axisLine: { show: false } }), gridIndex: 0 },
                { ...byteAxis(most), gridIndex: 1 },
            ],
            dataZoom: [
                {
                    type: "inside",
                    xAxisIndex: [0, 1],
                    filterMode: "none",
                    zoomOnMouseWheel: "ctrl",
                },
                {
                    type: "slider",
                    xAxisIndex: [0, 1],
                    filterMode: "none",
                    height: 22,
                    bottom: 6,
                    labelFormatter: (v: number) => tickMs(v),
                    textStyle: { color: palette().soft },
                    showDataShadow: false,
                },
            ],
            tooltip: itemTip((m) =>
                m.seriesIndex === 0
                    ? kernelTip(kernels[m.index])
                    : tip("Live memory", [
                          ["At", f.ms(m.x)],
                          ["Live", f.bytes(m.value)],
                      ]),
            ),
            series: [
                {
                    type: "custom",
                    name: "kernels",
                    xAxisIndex: 0,
                    yAxisIndex: 0,
                    data: kernels.map((k) => [k.start, 0, k.end]),
                    encode: { x: [0, 2], y: 1 },
                    clip: true,
                    renderItem: (params, api) => {
                        const k = kernels[params.dataIndex];
                        const [x0, y] = api.coord([api.value(0), 0]);
                        const [x1] = api.coord([api.value(2), 0]);
                        const width = x1 - x0;
                        if (width < 0.3 && kernels.length > 2000) return undefined;
                        return {
                            type: "rect",
                            shape: {
                                x: x0,
                                y: y - 18,
                                width: Math.max(0.6, width - 0.4),
                                height: 36,
                            },
                            style: { fill: familyColor(typeOf(k)) },
                        };
                    },
                },
                {
                    type: "line",
                    name: "live memory",
                    xAxisIndex: 1,
                    yAxisIndex: 1,
                    step: "end",
                    symbol: "none",
                    sampling: "lttb",
                    areaStyle: { opacity: 0.18 },
                    lineStyle: { width: 1.5, color: palette().accent },
                    itemStyle: { color: palette().accent },
                    data: memory,
                },
            ],
        }),
        table: () =>
            tabulate(kernels, [
                ["Kernel", nameOfKernel],
                ["Layers", (k) => k.layers.join(", ")],
                ["Begins", (k) => f.ms(k.start)],
                ["Takes", (k) => f.ms(k.end - k.start)],
                ["Without profiler", (k) => f.ms(k.time)],
                ["Gap before", (k) => (k.gap > 0 ? f.ms(k.gap) : f.DASH)],
            ]),
    });
}
