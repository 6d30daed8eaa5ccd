// Charts of a language model: prefill and decode, and the memory to serve.
import { figure, tabulate } from "../charts";
import * as f from "../format";
import {
    byteAxis,
    categoryAxis,
    frame,
    itemTip,
    legend,
    rowAxis,
    tickSi,
    tip,
    valueAxis,
    type BarSeriesOption,
} from "../plot";
import type { Decode, LanguagePipeline, Phase, ServeMemory } from "../view_types";
import { pair } from "../ui";

const stack = (name: string, data: f.Maybe[], barMaxWidth: number): BarSeriesOption => ({
    type: "bar",
    name,
    stack: "a",
    barMaxWidth,
    data,
});

function phaseMacs(pre: Phase, dec: Decode): HTMLElement {
    const steps = dec.steps ?? 0;
    const linear = (dec.first?.linear_macs ?? 0) * steps;
    const attention = Math.max(0, (dec.macs ?? 0) - linear);
    const phases = [
        { name: "prefill", cost: pre, intensity: pre.arithmetic_intensity },
        { name: "decode", cost: dec, intensity: dec.average?.arithmetic_intensity },
    ];
    return figure({
        id: "phase-macs",
        title: "MACs",
        height: 220,
        about: "Stacked bars of linear and attention MACs of prefill and decode.",
        option: () => ({
            grid: frame(24, 36, 8),
            legend: legend(),
            xAxis: valueAxis({ axisLabel: { formatter: tickSi } }),
            yAxis: rowAxis(["prefill", `decode, ${dec.steps ?? ""} tokens`]),
            tooltip: itemTip((m) => tip(m.name, [[m.series, f.si(m.value)]])),
            series: [
                stack("linear", [pre.linear_macs, linear], 26),
                stack("attention", [pre.attention_macs, attention], 26),
            ],
        }),
        table: () =>
            tabulate(phases, [
                ["Phase", (p) => p.name],
                ["MACs", (p) => f.si(p.cost.macs)],
                ["FLOPs", (p) => f.si(p.cost.flops)],
                ["Bytes", (p) => f.bytes(p.cost.bytes)],
                ["FLOPs per byte", (p) => f.intensity(p.intensity)],
            ]),
    });
}

function memoryParts(m: ServeMemory): [name: string, bytes: number][] {
    const parts: [string, f.Maybe][] = [
        ["weights", m.weight_bytes],
        ["cache", m.cache_bytes],
        ["activations", m.activation_peak_bytes],
    ];
    return parts.filter((p): p is [string, number] => f.isNumber(p[1]));
}

function serveMemory(m: ServeMemory): HTMLElement | null {
    const parts = memoryParts(m);
    if (!parts.length) return null;
    return figure({
        id: "serve-memory",
        title: "Memory to serve",
        height: 220,
        about: "One bar of weights, cache and activations.",
        option: () => ({
            grid: frame(24, 36, 8),
            legend: legend(),
            xAxis: byteAxis(parts.reduce((a, [, v]) => a + v, 0)),
            yAxis: categoryAxis([""]),
            tooltip: itemTip((m) => tip(m.series, [["Bytes", f.bytes(m.value)]])),
            series: parts.map(([name, v]) => stack(name, [v], 40)),
        }),
        table: () =>
            tabulate(parts, [
                ["Part", ([name]) => name],
                ["Bytes", ([, v]) => f.bytes(v)],
            ]),
    });
}

export const languageCharts = (d: LanguagePipeline): HTMLElement =>
    pair(phaseMacs(d.prefill ?? {}, d.decode ?? {}), serveMemory(d.memory ?? {}));
