// The figure that colours a node: of a layer as the result has it, of a module the sum of its
// layers, the highest of them (memory) or their mean by time (share of the roofline).
import * as f from "../format";
import type { ProfileLayer } from "../types";

export type MeasureId =
    "flops" | "memory" | "parameters" | "time_ms" | "percent_of_roof" | "live_bytes";

export interface Measure {
    id: MeasureId;
    text: string;
    about: string;
    show: (v: number) => string;
    of: (layers: ProfileLayer[]) => number; // NaN: unknown
    isShare: boolean; // its scale ends at 100
}

const known = (v: number | null | undefined): v is number => f.isNumber(v);

function sum(key: "flops" | "memory" | "parameters" | "time_ms") {
    return (layers: ProfileLayer[]): number => {
        let total = NaN;
        for (const l of layers) {
            const v = l[key];
            if (known(v)) total = (Number.isNaN(total) ? 0 : total) + v;
        }
        return total;
    };
}

function highest(layers: ProfileLayer[]): number {
    let most = NaN;
    for (const l of layers)
        if (known(l.live_bytes))
            most = Number.isNaN(most) ? l.live_bytes : Math.max(most, l.live_bytes);
    return most;
}

// Weighted by time: a module at 50 % takes twice the time that its roofline allows.
function roofShare(layers: ProfileLayer[]): number {
    let time = 0;
    let ideal = 0;
    for (const l of layers)
        if (known(l.percent_of_roof) && known(l.time_ms)) {
            time += l.time_ms;
            ideal += (l.time_ms * l.percent_of_roof) / 100;
        }
    return time > 0 ? (100 * ideal) / time : NaN;
}

export const measures: Measure[] = [
    {
        id: "flops",
        text: "FLOPs",
        about: "FLOPs",
        show: (v) => f.si(v),
        of: sum("flops"),
        isShare: false,
    },
    {
        id: "memory",
        text: "Bytes",
        about: "bytes read and written",
        show: (v) => f.bytes(v),
        of: sum("memory"),
        isShare: false,
    },
    {
        id: "parameters",
        text: "Parameters",
        about: "parameters",
        show: (v) => f.si(v),
        of: sum("parameters"),
        isShare: false,
    },
    {
        id: "time_ms",
        text: "Time",
        about: "measured time of one run",
        show: (v) => f.ms(v),
        of: sum("time_ms"),
        isShare: false,
    },
    {
        id: "percent_of_roof",
        text: "Of roof",
        about: "share of the roofline that was reached",
        show: (v) => f.percent(v),
        of: roofShare,
        isShare: true,
    },
    {
        id: "live_bytes",
        text: "Memory",
        about: "live activations while it runs, the highest",
        show: (v) => f.bytes(v),
        of: highest,
        isShare: false,
    },
];

export const measuresOf = (layers: ProfileLayer[]): Measure[] =>
    measures.filter((m) => {
        const v = m.of(layers);
        return !Number.isNaN(v) && v > 0;
    });
