// The first screen: how sure it is, what was warned of, the figures with their verdicts.
import * as f from "../format";
import type {
    Band,
    Latency,
    Memory,
    Profile,
    ProfileArchitecture,
    ProfileMemoryPlan,
    Throughput,
} from "../types";
import { banner, cards, markedBanner, over, section, type Fact, type Optional } from "../ui";
import { profileWarnings } from "./warnings";

// What the result says of a figure.
const verdict = (b: Band | null | undefined): Pick<Fact, "verdict" | "tone"> => ({
    verdict: b?.word,
    tone: b?.tone,
});

const exactBytes = (v: f.Maybe): string => `${f.whole(v)} bytes`;

// ---- counted ----

const parameters = (p: Profile, a: ProfileArchitecture): Fact => ({
    name: "Parameters",
    value: f.si(p.total_parameters),
    exact: f.whole(p.total_parameters),
    note: a.buffers ? `${f.si(a.buffers)} more in buffers` : f.whole(p.total_parameters),
});

const modelSize = (p: Profile, a: ProfileArchitecture): Fact => ({
    name: "Model size",
    value: f.bytes(a.weight_bytes),
    exact: exactBytes(a.weight_bytes),
    note: a.file_size_bytes ? `${f.bytes(a.file_size_bytes)} on disk` : p.config?.precision,
});

function flopCount(p: Profile, flops: f.Maybe): Fact {
    const ours = !p.lens || p.lens === "assay";
    return {
        name: ours ? "FLOPs" : `FLOPs as ${p.lens} counts`,
        value: f.si(flops),
        exact: f.whole(flops),
        ...verdict(p.bands?.work),
        note: `${f.si(p.total_macs)} MACs`,
    };
}

const traffic = (p: Profile): Fact => ({
    name: "Memory traffic",
    value: f.bytes(p.total_memory),
    exact: exactBytes(p.total_memory),
    note: "every tensor of a layer once",
});

const intensity = (p: Profile): Fact => ({
    name: "Arithmetic intensity",
    value: f.intensity(p.arithmetic_intensity),
    ...verdict(p.bands?.intensity),
    note: "FLOPs per byte",
});

const plannedPeak = (p: Profile, m: ProfileMemoryPlan): Fact => ({
    name: "Planned peak memory",
    value: f.bytes(m.peak_bytes),
    exact: exactBytes(m.peak_bytes),
    ...verdict(p.bands?.memory),
    note: `${f.bytes(m.activations_peak_bytes)} of activations`,
});

function counted(p: Profile): Optional<Fact>[] {
    const a = p.architecture ?? {};
    const m = p.memory_plan;
    const flops = p.total_flops ?? a.flops;
    return [
        (!p.watch || !!p.total_parameters) && parameters(p, a),
        !!a.weight_bytes && modelSize(p, a),
        (!!p.layers?.length || !!flops) && flopCount(p, flops),
        !!p.total_memory && traffic(p),
        !!p.total_memory && intensity(p),
        m && f.isNumber(m.peak_bytes) && m.peak_bytes > 0 && plannedPeak(p, m),
    ];
}

// ---- measured ----

const median = (p: Profile, l: Latency): Fact => ({
    name: "Latency, median",
    value: f.ms(l.p50),
    ...verdict(p.bands?.speed),
    note: `mean ${f.ms(l.mean)} ± ${f.ms(l.std)}`,
});

const p95 = (l: Latency): Fact => ({
    name: "Latency, p95",
    value: f.ms(l.p95),
    note: `p99 ${f.ms(l.p99)} of ${f.whole(l.runs)} runs`,
});

function throughput(p: Profile): Optional<Fact> {
    const t: Partial<Throughput> = p.throughput ?? {};
    const units = t.units_per_sample ?? 1;
    if (!f.isNumber(t.samples_per_second) || !(units > 0)) return null;
    return {
        name: "Throughput",
        value: f.rate(t.samples_per_second * units),
        note: `${t.unit ?? "samples"} per second`,
    };
}

function recommendedBatch(p: Profile): Optional<Fact> {
    if (!f.isNumber(p.recommended_batch) || !((p.configurations?.length ?? 0) > 1)) return null;
    return {
        name: "Recommended batch",
        value: f.whole(p.recommended_batch),
        note: p.batch_choice?.why ?? "most throughput within four fifths of memory",
    };
}

// What the engine itself takes is there before the session, and no part of the peak.
function memory(p: Profile, m: Memory): Fact {
    const before = p.single_image?.memory?.before_mb;
    const engine = m.engine_bytes;
    const there = f.isNumber(before) ? `; ${f.bytes(before * 2 ** 20)} before` : "";
    const own = f.isNumber(engine) ? `, ${f.bytes(engine)} of it the engine` : "";
    return { name: "Memory of the run", value: f.bytes(m.peak), note: "peak" + there + own };
}

function measured(p: Profile): Optional<Fact>[] {
    const l = p.latency;
    const cpu = p.utilization?.cpu_percent;
    return [
        l && f.isNumber(l.p50) && median(p, l),
        l && f.isNumber(l.p95) && p95(l),
        throughput(p),
        f.isNumber(p.memory?.peak) && memory(p, p.memory),
        f.isNumber(cpu) && { name: "Processor", value: f.percent(cpu, 0), note: "of one core" },
        recommendedBatch(p),
    ];
}

// ---- the section ----

// How sure the counts are, in a sentence.
function certainty(p: Profile): { exact: boolean; text: string } | null {
    const a = p.accounting;
    if (!a || !f.isNumber(a.nodes) || a.nodes === 0) return null;
    const n = (v: number | undefined) => (v ?? 0).toLocaleString("en-US");
    if (!a.assumed && !a.unknown && !a.anything_assumed)
        return {
            exact: true,
            text: `Exact: ${n(a.exact)} of ${n(a.nodes)} operators counted, nothing assumed.`,
        };
    const parts = [
        a.assumed && `${n(a.assumed)} under an assumption`,
        a.unknown && `${n(a.unknown)} unknown and not in the totals`,
        a.weights_differ && "the weights are not those of the configuration",
        a.architecture_changed && "the input size changes the architecture",
        a.anything_assumed &&
            !a.assumed &&
            !a.unknown &&
            !a.weights_differ &&
            !a.architecture_changed &&
            "sizes of inputs were assumed",
    ].filter(Boolean);
    return {
        exact: false,
        text: `${n(a.exact)} of ${n(a.nodes)} operators are exact; ${parts.join(", ")}.`,
    };
}

export function summaryView(p: Profile): HTMLElement {
    const sure = certainty(p);
    const run = measured(p).filter(Boolean);
    const known = counted(p).filter(Boolean);
    const cut = "The measurement was interrupted; what follows is what was there by then.";
    return section(
        "summary",
        "Summary",
        p.interrupted && banner("fair", cut),
        sure && markedBanner(sure.exact ? "good" : "fair", sure.text),
        p.stopped && banner("fair", p.stopped),
        run.length > 0 && [over("Measured"), cards(run)],
        run.length > 0 && known.length > 0 && over("Counted"),
        known.length > 0 && cards(known),
        profileWarnings(p),
    );
}
