// The bands that figures are judged by; the same as on the console.
import type { Profile } from "./types";
import { isNumber } from "./format";

export interface Verdict {
    text: string;
    tone: "good" | "fair" | "poor";
}

export function work(flops: number | null | undefined): Verdict | null {
    if (!isNumber(flops)) return null;
    const g = flops / 1e9;
    return g < 10
        ? { text: "light", tone: "good" }
        : g <= 50
          ? { text: "medium", tone: "fair" }
          : { text: "heavy", tone: "poor" };
}

export function speed(latencyMs: number | null | undefined): Verdict | null {
    if (!isNumber(latencyMs)) return null;
    return latencyMs < 50
        ? { text: "real time", tone: "good" }
        : latencyMs <= 200
          ? { text: "near real time", tone: "fair" }
          : { text: "for batch work", tone: "poor" };
}

export function space(bytes: number | null | undefined): Verdict | null {
    if (!isNumber(bytes)) return null;
    const gb = bytes / 1e9;
    return gb < 2
        ? { text: "small device", tone: "good" }
        : gb <= 8
          ? { text: "medium device", tone: "fair" }
          : { text: "high-end device", tone: "poor" };
}

export function band(ai: number | null | undefined): Verdict | null {
    if (!isNumber(ai)) return null;
    if (ai > 100) return { text: "strongly compute-bound", tone: "good" };
    if (ai >= 50) return { text: "compute-bound", tone: "good" };
    return ai >= 10 ? { text: "balanced", tone: "fair" } : { text: "memory-bound", tone: "poor" };
}

// How sure the counts are, in a sentence.
export function certainty(p: Profile): { exact: boolean; text: string } | null {
    const a = p.accounting;
    if (!a || !isNumber(a.nodes) || a.nodes === 0) return null;
    const n = (v: number | undefined) => (v ?? 0).toLocaleString("en-US");
    if (!a.assumed && !a.unknown && !a.anything_assumed)
        return {
            exact: true,
            text: `Exact: ${n(a.exact)} of ${n(a.nodes)} operators counted, nothing assumed.`,
        };
    const parts = [
        a.assumed && `${n(a.assumed)} under an assumption`,
        a.unknown && `${n(a.unknown)} unknown and not in the totals`,
        a.architecture_changed && "the input size changes the architecture",
        a.anything_assumed &&
            !a.assumed &&
            !a.unknown &&
            !a.architecture_changed &&
            "sizes of inputs were assumed",
    ].filter(Boolean);
    return {
        exact: false,
        text: `${n(a.exact)} of ${n(a.nodes)} operators are exact; ${parts.join(", ")}.`,
    };
}
