// The first screen: how sure it is, what was warned of, the figures with their verdicts.
import { h } from "../dom";
import * as f from "../format";
import * as judge from "../judge";
import type { Profile } from "../types";
import { cards, limited, section, type Fact } from "../ui";

function counted(p: Profile): Fact[] {
    const a = p.architecture ?? {};
    const flops = p.total_flops ?? a.flops;
    const ours = !p.lens || p.lens === "assay";
    const memory = p.memory_plan;
    const list: (Fact | null)[] = [
        p.watch && !p.total_parameters
            ? null
            : {
                  name: "Parameters",
                  value: f.si(p.total_parameters),
                  exact: f.whole(p.total_parameters),
                  note: a.buffers
                      ? `${f.si(a.buffers)} more in buffers`
                      : f.whole(p.total_parameters),
              },
        a.weight_bytes
            ? {
                  name: "Model size",
                  value: f.bytes(a.weight_bytes),
                  exact: `${f.whole(a.weight_bytes)} bytes`,
                  note: a.file_size_bytes
                      ? `${f.bytes(a.file_size_bytes)} on disk`
                      : p.config?.precision,
              }
            : null,
        p.layers?.length || flops
            ? {
                  name: ours ? "FLOPs" : `FLOPs as ${p.lens} counts`,
                  value: f.si(flops),
                  exact: f.whole(flops),
                  verdict: ours ? judge.work(flops)?.text : undefined,
                  tone: judge.work(flops)?.tone,
                  note: `${f.si(p.total_macs)} MACs`,
              }
            : null,
        p.total_memory
            ? {
                  name: "Memory traffic",
                  value: f.bytes(p.total_memory),
                  exact: `${f.whole(p.total_memory)} bytes`,
                  note: "every tensor of a layer once",
              }
            : null,
        p.total_memory
            ? {
                  name: "Arithmetic intensity",
                  value: f.intensity(p.arithmetic_intensity),
                  verdict: judge.band(p.arithmetic_intensity)?.text,
                  tone: judge.band(p.arithmetic_intensity)?.tone,
                  note: "FLOPs per byte",
              }
            : null,
        memory && f.isNumber(memory.peak_bytes) && memory.peak_bytes > 0
            ? {
                  name: "Planned peak memory",
                  value: f.bytes(memory.peak_bytes),
                  exact: `${f.whole(memory.peak_bytes)} bytes`,
                  verdict: judge.space(memory.peak_bytes)?.text,
                  tone: judge.space(memory.peak_bytes)?.tone,
                  note: `${f.bytes(memory.activations_peak_bytes)} of activations`,
              }
            : null,
    ];
    return list.filter((x): x is Fact => x !== null);
}

function measured(p: Profile): Fact[] {
    const l = p.latency;
    const t = p.throughput ?? {};
    const list: (Fact | null)[] = [
        l && f.isNumber(l.p50)
            ? {
                  name: "Latency, median",
                  value: f.ms(l.p50),
                  verdict: judge.speed(l.mean ?? l.p50)?.text,
                  tone: judge.speed(l.mean ?? l.p50)?.tone,
                  note: `mean ${f.ms(l.mean)} ± ${f.ms(l.std)}`,
              }
            : null,
        l && f.isNumber(l.p95)
            ? {
                  name: "Latency, p95",
                  value: f.ms(l.p95),
                  note: `p99 ${f.ms(l.p99)} of ${f.whole(l.runs)} runs`,
              }
            : null,
        f.isNumber(t.samples_per_second) && (t.units_per_sample ?? 1) > 0
            ? {
                  name: "Throughput",
                  value: `${f.rate(t.samples_per_second * (t.units_per_sample ?? 1))}`,
                  note: `${t.unit ?? "samples"} per second`,
              }
            : null,
        p.memory && f.isNumber(p.memory.peak)
            ? {
                  name: "Memory of the run",
                  value: f.bytes(p.memory.peak),
                  note: "peak above the start",
              }
            : null,
        f.isNumber(p.utilization?.cpu_percent)
            ? {
                  name: "Processor",
                  value: f.percent(p.utilization!.cpu_percent, 0),
                  note: "of one core",
              }
            : null,
        f.isNumber(p.recommended_batch) && (p.configurations?.length ?? 0) > 1
            ? {
                  name: "Recommended batch",
                  value: f.whole(p.recommended_batch),
                  note: p.batch_choice?.why ?? "most throughput within four fifths of memory",
              }
            : null,
    ];
    return list.filter((x): x is Fact => x !== null);
}

function warnings(p: Profile): HTMLElement | null {
    const list = p.warnings ?? [];
    if (!list.length) return null;
    const dropped = p.warnings_dropped ?? 0;
    return h(
        "div",
        { class: "card warnings", role: "region", "aria-label": "Warnings" },
        h(
            "h3",
            null,
            `${f.whole(list.length + dropped)} warning${list.length + dropped === 1 ? "" : "s"}`,
        ),
        limited(
            list,
            5,
            (some) =>
                h(
                    "ul",
                    null,
                    some.map((w) =>
                        h(
                            "li",
                            null,
                            w.node && h("code", null, w.node),
                            w.node && " ",
                            w.text,
                            w.advice && h("span", { class: "soft" }, " ", w.advice),
                            w.code && h("span", { class: "code" }, w.code),
                        ),
                    ),
                ),
            "warnings",
        ),
    );
}

export function summary(p: Profile): HTMLElement {
    const sure = judge.certainty(p);
    const run = measured(p);
    const known = counted(p);
    return section(
        "summary",
        "Summary",
        p.interrupted &&
            h(
                "p",
                { class: "banner fair" },
                "The measurement was interrupted; what follows is what was there by then.",
            ),
        sure &&
            h(
                "p",
                { class: `banner ${sure.exact ? "good" : "fair"}` },
                h("span", { "aria-hidden": "true" }, sure.exact ? "✓ " : "! "),
                sure.text,
            ),
        p.stopped && h("p", { class: "banner fair" }, p.stopped),
        run.length > 0 && [h("h3", { class: "over" }, "Measured"), cards(run)],
        run.length > 0 && known.length > 0 && h("h3", { class: "over" }, "Counted"),
        known.length > 0 && cards(known),
        warnings(p),
    );
}
