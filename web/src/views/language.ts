// Language models: prefill, decode, the cache and the memory to serve.
import { figure, tabulate } from "../charts";
import type { Shown } from "../envelope";
import { rowsOf } from "../documents";
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
import type {
    ClosedForms,
    Decode,
    LanguageDevice,
    LanguagePipeline,
    MeasuredGeneration,
    Phase,
    ServeMemory,
    WeightFormat,
} from "../view_types";
import {
    cards,
    code,
    column,
    facts,
    numbers,
    pair,
    panel,
    section,
    soft,
    table,
    type Column,
    type Fact,
    type Optional,
} from "../ui";
import { pipelineWarnings } from "./warnings";

export const languageUnder = (d: LanguagePipeline): string =>
    `${d.family ?? ""} · ${d.prompt_tokens} prompt tokens, ` +
    `${d.generate} generated, batch ${d.batch}`;

// ---- the summary ----

function counted(d: LanguagePipeline): Fact[] {
    const pre = d.prefill ?? {};
    const step = d.decode?.average ?? {};
    const perByte = (p: { arithmetic_intensity?: number }) =>
        `${f.intensity(p.arithmetic_intensity)} FLOPs per byte`;
    return [
        {
            name: "Parameters",
            value: f.si(d.total_params),
            exact: f.whole(d.total_params),
            note: `${f.si(d.active_params)} active per token, ${d.weight_dtype ?? f.DASH}`,
        },
        {
            name: "Prefill",
            value: f.si(pre.macs),
            note: `MACs for ${f.whole(pre.tokens_per_sequence)} tokens; ${perByte(pre)}`,
        },
        { name: "Decode, per token", value: f.si(step.macs), note: `MACs; ${perByte(step)}` },
        {
            name: "Total",
            value: f.si(d.total_macs),
            note: `MACs; ${f.si(d.total_flops)} FLOPs`,
        },
        {
            name: "Cache",
            value: f.bytes(d.kv_cache?.bytes),
            note: `${f.bytes(d.kv_cache?.bytes_per_token)} per token`,
        },
        {
            name: "Memory to serve",
            value: f.bytes(d.memory?.serve_bytes),
            note: `batch ${d.batch ?? 1}`,
        },
    ];
}

function measured(m: MeasuredGeneration): Optional<Fact>[] {
    return [
        f.isNumber(m.time_to_first_token_ms) && {
            name: "Time to first token",
            value: f.ms(m.time_to_first_token_ms),
            note: "measured",
        },
        f.isNumber(m.time_per_token_ms) && {
            name: "Time per token",
            value: f.ms(m.time_per_token_ms),
            note: `measured; ${f.rate(m.tokens_per_second)} tokens per second`,
        },
    ];
}

// ---- prefill and decode ----

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

function phaseSection(d: LanguagePipeline): HTMLElement {
    const macs = phaseMacs(d.prefill ?? {}, d.decode ?? {});
    return section("phases", "Prefill and decode", pair(macs, serveMemory(d.memory ?? {})));
}

// ---- on devices: by the roofline, not measured ----

const deviceColumns: Column<LanguageDevice>[] = [
    column("Device", (v) => String(v.title ?? v.name ?? "")),
    numbers("First token", (v) => f.ms(v.time_to_first_token_ms)),
    numbers("Per token", (v) => f.ms(v.time_per_token_ms)),
    numbers("Tokens/s", (v) => f.rate(v.tokens_per_second)),
    column("Prefill bound", (v) => v.prefill_bound ?? f.DASH),
    column("Decode bound", (v) => v.decode_bound ?? f.DASH),
    numbers("Largest context", (v) => f.whole(v.largest_context)),
    numbers("Largest batch", (v) => f.whole(v.largest_batch)),
    column("", (v) => (v.fits === false ? "does not fit" : "")),
];

function deviceSection(d: LanguagePipeline): HTMLElement | null {
    const list = rowsOf(d.devices);
    if (!list.length) return null;
    const rowClass = (v: LanguageDevice) => (v.fits === false ? "failed" : undefined);
    return section(
        "devices",
        "On devices",
        soft("Predicted by the roofline of prefill and of each step."),
        table("Devices", deviceColumns, list, rowClass),
    );
}

// ---- formats and formulas ----

const formatColumns: Column<WeightFormat>[] = [
    column("Format", (w) => w.format),
    numbers("Bits", (w) => f.fixed(w.bits_per_weight, 2)),
    numbers("Size", (w) => f.bytes(w.bytes)),
];

function closedForms(forms: ClosedForms): HTMLElement {
    const crossing = forms.crossing_tokens;
    return panel(
        "Closed forms",
        soft(forms.variables),
        facts([
            ["Prefill MACs", code(forms.prefill_macs ?? "")],
            ["Decode MACs", code(forms.decode_macs ?? "")],
            ["Cache bytes", code(forms.cache_bytes ?? "")],
            [
                "Attention equals the rest at",
                f.isNumber(crossing) ? `${f.whole(crossing)} tokens` : null,
            ],
        ]),
    );
}

function formatSection(d: LanguagePipeline): HTMLElement | null {
    const weights = d.weights ?? [];
    const forms = d.closed_forms;
    const known = !!forms?.prefill_macs;
    if (!weights.length && !known) return null;
    const name = "Weights by format";
    return section(
        "formats",
        "Formats and formulas",
        pair(
            weights.length > 0 && panel(name, table(name, formatColumns, weights)),
            known && closedForms(forms),
        ),
    );
}

// ---- the sections ----

export function languageSections(d: LanguagePipeline, shown: Shown): (HTMLElement | null)[] {
    const figures = cards([...counted(d), ...measured(d.measured ?? {})]);
    return [
        section("summary", "Summary", figures, pipelineWarnings(d.warnings)),
        shown.graphs ? phaseSection(d) : null,
        deviceSection(d),
        formatSection(d),
    ];
}
