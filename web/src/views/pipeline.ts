// Pipelines: diffusion by component, step and size; language models by phase and memory. One, or several side
// by side.
import { axis, byteAxis, chart, legend, tickSi, tip } from "../charts";
import { h } from "../dom";
import * as f from "../format";
import { palette } from "../theme";
import type { Document, Shown } from "../types";
import { cards, facts, panel, section, table } from "../ui";

type Component = Record<string, any>;
const nice = (s: string): string => s.replace(/_/g, " ");

function components(d: Document, shown: Shown): HTMLElement {
    const list = (d.components ?? []) as Component[];
    const counted = list.filter((c) => !c.error);
    return section(
        "components",
        "Components",
        shown.graphs &&
            counted.length > 0 &&
            h(
                "div",
                { class: "pair" },
                chart({
                    id: "component-macs",
                    title: "Where the MACs go",
                    height: 70 + 52 * counted.length,
                    note: "All calls of one generation.",
                    about: "Bars of the MACs of each component.",
                    option: () => {
                        const c = palette();
                        return {
                            grid: { left: 8, right: 130, top: 8, bottom: 8, containLabel: true },
                            xAxis: axis({ type: "value", show: false }),
                            yAxis: axis({
                                type: "category",
                                inverse: true,
                                data: counted.map((k) => nice(k.name)),
                                axisLabel: { color: c.text },
                            }),
                            tooltip: {
                                trigger: "item",
                                formatter: (q: any) => {
                                    const k = counted[q.dataIndex];
                                    return tip(nice(k.name), [
                                        ["MACs", f.si(k.macs)],
                                        ["Share", f.percent(k.percent, 2)],
                                        ["Calls", f.whole(k.calls)],
                                        ["Of one call", f.si(k.macs_per_call)],
                                    ]);
                                },
                            },
                            series: [
                                {
                                    type: "bar",
                                    barMaxWidth: 26,
                                    data: counted.map((k, i) => ({
                                        value: k.macs || null,
                                        itemStyle: { color: c.series[i] },
                                    })),
                                    label: {
                                        show: true,
                                        position: "right",
                                        color: c.text,
                                        formatter: (q: any) =>
                                            `${f.si(q.value)}  ${f.percent(counted[q.dataIndex].percent, 2)}`,
                                    },
                                },
                            ],
                        };
                    },
                    table: () => ({
                        head: ["Component", "Calls", "MACs of a call", "MACs", "Share"],
                        rows: counted.map((k) => [
                            k.name,
                            k.calls,
                            f.si(k.macs_per_call),
                            f.si(k.macs),
                            f.percent(k.percent, 2),
                        ]),
                    }),
                }).element,
                chart({
                    id: "component-attention",
                    title: "Attention within a call",
                    height: 70 + 52 * counted.length,
                    note: "QKᵀ and attention × V beside everything else.",
                    about: "Stacked bars of attention and other MACs in one call of each component.",
                    option: () => ({
                        grid: { left: 8, right: 24, top: 36, bottom: 8, containLabel: true },
                        legend: legend(),
                        xAxis: axis({
                            type: "value",
                            max: 100,
                            axisLabel: { formatter: (v: number) => `${v} %` },
                        }),
                        yAxis: axis({
                            type: "category",
                            inverse: true,
                            data: counted.map((k) => nice(k.name)),
                            axisLabel: { color: palette().text },
                        }),
                        tooltip: {
                            trigger: "item",
                            formatter: (q: any) =>
                                tip(nice(counted[q.dataIndex].name), [
                                    [
                                        q.seriesName,
                                        f.si((q.value / 100) * counted[q.dataIndex].macs_per_call),
                                    ],
                                    ["Share", f.percent(q.value)],
                                ]),
                        },
                        series: (["QKᵀ", "attention × V", "everything else"] as const).map(
                            (name, s) => ({
                                type: "bar",
                                name,
                                stack: "a",
                                barMaxWidth: 26,
                                data: counted.map((k) => {
                                    const whole = k.macs_per_call || 1;
                                    const qk = k.attention?.qk_macs ?? 0;
                                    const av = k.attention?.av_macs ?? 0;
                                    return (100 * [qk, av, whole - qk - av][s]) / whole;
                                }),
                            }),
                        ),
                    }),
                    table: () => ({
                        head: [
                            "Component",
                            "QK",
                            "AV",
                            "Softmax elements",
                            "Projections",
                            "Self layers",
                            "Cross layers",
                        ],
                        rows: counted.map((k) => [
                            k.name,
                            f.si(k.attention?.qk_macs),
                            f.si(k.attention?.av_macs),
                            f.si(k.attention?.softmax_elements),
                            f.si(k.attention?.projection_macs),
                            k.attention?.self?.layers,
                            k.attention?.cross?.layers,
                        ]),
                    }),
                }).element,
            ),
        table(
            "Components",
            [
                {
                    name: "Component",
                    text: (c: Component) => [
                        nice(c.name),
                        c.model && h("span", { class: "soft" }, " " + c.model),
                    ],
                },
                { name: "Parameters", text: (c) => f.si(c.parameters), number: true },
                { name: "Weights", text: (c) => f.bytes(c.weight_bytes), number: true },
                {
                    name: "Activations",
                    text: (c) => f.bytes(c.activations_peak_bytes),
                    number: true,
                },
                { name: "Calls", text: (c) => f.whole(c.calls), number: true },
                { name: "MACs of a call", text: (c) => f.si(c.macs_per_call), number: true },
                { name: "MACs", text: (c) => f.si(c.macs), number: true },
                { name: "Share", text: (c) => f.percent(c.percent, 2), number: true },
                {
                    name: "",
                    text: (c) => c.error ?? (f.isNumber(c.time_ms) ? f.ms(c.time_ms) : ""),
                },
            ],
            list,
            (c) => (c.error ? "failed" : undefined),
        ),
    );
}

function sweeps(d: Document): HTMLElement | null {
    const list = (d.sweeps ?? []) as {
        over: string;
        points: Record<string, any>[];
        exponents?: Record<string, any>;
    }[];
    if (!list.length) return null;
    const at = (over: string, q: Record<string, any>) =>
        over === "resolution" ? `${q.width}×${q.height}` : String(q.value);
    return section(
        "sweeps",
        "How it grows",
        h(
            "div",
            { class: "pair" },
            list.map(
                (s, i) =>
                    chart({
                        id: `sweep-${i}`,
                        title: `Over ${nice(s.over)}`,
                        height: 300,
                        note: s.exponents
                            ? `Cost grows as ${nice(String(s.exponents.of ?? s.over))} to the power of ${f.fixed(s.exponents.total, 2)}.`
                            : undefined,
                        about: `Lines of the cost over ${s.over}.`,
                        option: () => ({
                            grid: { left: 8, right: 24, top: 40, bottom: 28, containLabel: true },
                            legend: legend(),
                            xAxis: axis({
                                type: "category",
                                data: s.points.map((q) => at(s.over, q)),
                                name: nice(s.over),
                                nameGap: 26,
                                splitLine: { show: false },
                            }),
                            yAxis: axis({ type: "value", axisLabel: { formatter: tickSi } }),
                            tooltip: {
                                trigger: "axis",
                                formatter: (q: any) =>
                                    tip(`${nice(s.over)} ${q[0].axisValue}`, [
                                        ...q.map(
                                            (x: any) =>
                                                [x.seriesName, f.si(x.value)] as [string, string],
                                        ),
                                        ["Relative", f.ratio(s.points[q[0].dataIndex].relative)],
                                    ]),
                            },
                            series: [
                                {
                                    type: "line",
                                    name: "total MACs",
                                    symbolSize: 8,
                                    data: s.points.map((q) => q.total_macs),
                                },
                                {
                                    type: "line",
                                    name: "MACs of a step",
                                    symbolSize: 8,
                                    data: s.points.map((q) => q.macs_per_step),
                                },
                            ],
                        }),
                        table: () => ({
                            head: [
                                nice(s.over),
                                "MACs of a pass",
                                "MACs of a step",
                                "VAE",
                                "Text encoder",
                                "Total MACs",
                                "Relative",
                            ],
                            rows: s.points.map((q) => [
                                at(s.over, q),
                                f.si(q.macs_per_pass),
                                f.si(q.macs_per_step),
                                f.si(q.vae_macs),
                                f.si(q.text_encoder_macs),
                                f.si(q.total_macs),
                                f.ratio(q.relative),
                            ]),
                        }),
                    }).element,
            ),
        ),
    );
}

function diffusion(d: Document, shown: Shown): (HTMLElement | null)[] {
    return [
        section(
            "summary",
            "Summary",
            cards([
                {
                    name: "Total",
                    value: f.si(d.total_macs),
                    exact: f.whole(d.total_macs),
                    note: `MACs; ${f.si(d.total_flops)} FLOPs`,
                },
                {
                    name: "A step of the denoiser",
                    value: f.si(d.macs_per_step),
                    note: `MACs, ${f.whole(d.passes_per_step)} × ${f.si(d.macs_per_pass)}`,
                },
                {
                    name: "Everything, per step",
                    value: f.si(d.amortised_macs_per_step),
                    note: "MACs, total divided by steps",
                },
                {
                    name: "Denoiser",
                    value: f.si(d.total_params),
                    exact: f.whole(d.total_params),
                    note: `parameters of the ${d.model_component ?? "denoiser"}`,
                },
                {
                    name: "Pipeline",
                    value: f.si(d.pipeline_params),
                    exact: f.whole(d.pipeline_params),
                    note: "parameters",
                },
                {
                    name: "Steps",
                    value: f.whole(d.num_inference_steps),
                    note: `guidance ${f.fixed(d.guidance_scale, 1)}, ${d.width}×${d.height}, batch ${d.batch ?? 1}`,
                },
                ...(f.isNumber(d.inference_time_seconds)
                    ? [
                          {
                              name: "Inference time",
                              value: f.ms(d.inference_time_seconds * 1000),
                              note: "measured, call by call",
                          },
                      ]
                    : []),
            ]),
            notes(d),
        ),
        components(d, shown),
        shown.graphs ? sweeps(d) : null,
    ];
}

function notes(d: Document): HTMLElement | null {
    const list = (d.warnings ?? []) as { text: string; node?: string; advice?: string }[];
    return list.length
        ? h(
              "div",
              { class: "card warnings" },
              h("h3", null, `${list.length} warning${list.length === 1 ? "" : "s"}`),
              h(
                  "ul",
                  null,
                  list.map((w) =>
                      h(
                          "li",
                          null,
                          w.text,
                          w.advice && h("span", { class: "soft" }, " ", w.advice),
                      ),
                  ),
              ),
          )
        : null;
}

// A language model on devices: by the roofline, not measured.
function devices(d: Document): HTMLElement | null {
    const list = (Array.isArray(d.devices) ? d.devices : []) as Component[];
    return list.length
        ? section(
              "devices",
              "On devices",
              h("p", { class: "soft" }, "Predicted by the roofline of prefill and of each step."),
              table(
                  "Devices",
                  [
                      { name: "Device", text: (v) => String(v.title ?? v.name ?? "") },
                      {
                          name: "First token",
                          text: (v) => f.ms(v.time_to_first_token_ms),
                          number: true,
                      },
                      { name: "Per token", text: (v) => f.ms(v.time_per_token_ms), number: true },
                      { name: "Tokens/s", text: (v) => f.rate(v.tokens_per_second), number: true },
                      { name: "Prefill bound", text: (v) => v.prefill_bound ?? f.DASH },
                      { name: "Decode bound", text: (v) => v.decode_bound ?? f.DASH },
                      {
                          name: "Largest context",
                          text: (v) => f.whole(v.largest_context),
                          number: true,
                      },
                      {
                          name: "Largest batch",
                          text: (v) => f.whole(v.largest_batch),
                          number: true,
                      },
                      { name: "", text: (v) => (v.fits === false ? "does not fit" : "") },
                  ],
                  list,
                  (v) => (v.fits === false ? "failed" : undefined),
              ),
          )
        : null;
}

function language(d: Document, shown: Shown): (HTMLElement | null)[] {
    const pre = d.prefill ?? {};
    const dec = d.decode ?? {};
    const mem = d.memory ?? {};
    const parts: [string, number][] = (
        [
            ["weights", mem.weight_bytes],
            ["cache", mem.cache_bytes],
            ["activations", mem.activation_peak_bytes],
        ] as [string, number][]
    ).filter(([, v]) => f.isNumber(v));
    const weights = (d.weights ?? []) as Record<string, any>[];
    const forms = d.closed_forms ?? {};
    return [
        section(
            "summary",
            "Summary",
            cards([
                {
                    name: "Parameters",
                    value: f.si(d.total_params),
                    exact: f.whole(d.total_params),
                    note: `${f.si(d.active_params)} active per token, ${d.weight_dtype ?? f.DASH}`,
                },
                {
                    name: "Prefill",
                    value: f.si(pre.macs),
                    note: `MACs for ${f.whole(pre.tokens_per_sequence)} tokens; ${f.intensity(pre.arithmetic_intensity)} FLOPs per byte`,
                },
                {
                    name: "Decode, per token",
                    value: f.si(dec.average?.macs),
                    note: `MACs; ${f.intensity(dec.average?.arithmetic_intensity)} FLOPs per byte`,
                },
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
                    value: f.bytes(mem.serve_bytes),
                    note: `batch ${d.batch ?? 1}`,
                },
                ...(f.isNumber(d.measured?.time_to_first_token_ms)
                    ? [
                          {
                              name: "Time to first token",
                              value: f.ms(d.measured.time_to_first_token_ms),
                              note: "measured",
                          },
                      ]
                    : []),
                ...(f.isNumber(d.measured?.time_per_token_ms)
                    ? [
                          {
                              name: "Time per token",
                              value: f.ms(d.measured.time_per_token_ms),
                              note: `measured; ${f.rate(d.measured.tokens_per_second)} tokens per second`,
                          },
                      ]
                    : []),
            ]),
            notes(d),
        ),
        shown.graphs
            ? section(
                  "phases",
                  "Prefill and decode",
                  h(
                      "div",
                      { class: "pair" },
                      chart({
                          id: "phase-macs",
                          title: "MACs",
                          height: 220,
                          about: "Stacked bars of linear and attention MACs of prefill and decode.",
                          option: () => ({
                              grid: { left: 8, right: 24, top: 36, bottom: 8, containLabel: true },
                              legend: legend(),
                              xAxis: axis({ type: "value", axisLabel: { formatter: tickSi } }),
                              yAxis: axis({
                                  type: "category",
                                  inverse: true,
                                  data: ["prefill", `decode, ${dec.steps ?? ""} tokens`],
                              }),
                              tooltip: {
                                  trigger: "item",
                                  formatter: (q: any) =>
                                      tip(q.name, [[q.seriesName, f.si(q.value)]]),
                              },
                              series: [
                                  {
                                      type: "bar",
                                      name: "linear",
                                      stack: "a",
                                      barMaxWidth: 26,
                                      data: [
                                          pre.linear_macs,
                                          (dec.first?.linear_macs ?? 0) * (dec.steps ?? 0),
                                      ],
                                  },
                                  {
                                      type: "bar",
                                      name: "attention",
                                      stack: "a",
                                      barMaxWidth: 26,
                                      data: [
                                          pre.attention_macs,
                                          Math.max(
                                              0,
                                              (dec.macs ?? 0) -
                                                  (dec.first?.linear_macs ?? 0) * (dec.steps ?? 0),
                                          ),
                                      ],
                                  },
                              ],
                          }),
                          table: () => ({
                              head: ["Phase", "MACs", "FLOPs", "Bytes", "FLOPs per byte"],
                              rows: [
                                  [
                                      "prefill",
                                      f.si(pre.macs),
                                      f.si(pre.flops),
                                      f.bytes(pre.bytes),
                                      f.intensity(pre.arithmetic_intensity),
                                  ],
                                  [
                                      "decode",
                                      f.si(dec.macs),
                                      f.si(dec.flops),
                                      f.bytes(dec.bytes),
                                      f.intensity(dec.average?.arithmetic_intensity),
                                  ],
                              ],
                          }),
                      }).element,
                      parts.length
                          ? chart({
                                id: "serve-memory",
                                title: "Memory to serve",
                                height: 220,
                                about: "One bar of weights, cache and activations.",
                                option: () => ({
                                    grid: {
                                        left: 8,
                                        right: 24,
                                        top: 36,
                                        bottom: 8,
                                        containLabel: true,
                                    },
                                    legend: legend(),
                                    xAxis: byteAxis(parts.reduce((a, [, v]) => a + v, 0)),
                                    yAxis: axis({ type: "category", data: [""] }),
                                    tooltip: {
                                        trigger: "item",
                                        formatter: (q: any) =>
                                            tip(q.seriesName, [["Bytes", f.bytes(q.value)]]),
                                    },
                                    series: parts.map(([name, v]) => ({
                                        type: "bar",
                                        name,
                                        stack: "a",
                                        barMaxWidth: 40,
                                        data: [v],
                                    })),
                                }),
                                table: () => ({
                                    head: ["Part", "Bytes"],
                                    rows: parts.map(([n, v]) => [n, f.bytes(v)]),
                                }),
                            }).element
                          : null,
                  ),
              )
            : null,
        devices(d),
        weights.length || forms.prefill_macs
            ? section(
                  "formats",
                  "Formats and formulas",
                  h(
                      "div",
                      { class: "pair" },
                      weights.length
                          ? panel(
                                "Weights by format",
                                table(
                                    "Weights by format",
                                    [
                                        { name: "Format", text: (w) => w.format },
                                        {
                                            name: "Bits",
                                            text: (w) => f.fixed(w.bits_per_weight, 2),
                                            number: true,
                                        },
                                        {
                                            name: "Size",
                                            text: (w) => f.bytes(w.bytes),
                                            number: true,
                                        },
                                    ],
                                    weights,
                                ),
                            )
                          : null,
                      forms.prefill_macs
                          ? panel(
                                "Closed forms",
                                h("p", { class: "soft" }, forms.variables),
                                facts([
                                    ["Prefill MACs", h("code", null, forms.prefill_macs)],
                                    ["Decode MACs", h("code", null, forms.decode_macs)],
                                    ["Cache bytes", h("code", null, forms.cache_bytes)],
                                    [
                                        "Attention equals the rest at",
                                        f.isNumber(forms.crossing_tokens)
                                            ? `${f.whole(forms.crossing_tokens)} tokens`
                                            : null,
                                    ],
                                ]),
                            )
                          : null,
                  ),
              )
            : null,
    ];
}

export function pipelineSections(d: Document, shown: Shown): (HTMLElement | null)[] {
    if (d.enabled === false)
        return [
            section(
                "summary",
                "Summary",
                h(
                    "p",
                    { class: "banner fair" },
                    "Profiling was switched off for this pipeline: there is nothing to show.",
                ),
            ),
        ];
    return d.kind === "language" ? language(d, shown) : diffusion(d, shown);
}

// Pipelines side by side.
export function pipelinesSections(list: Document[], shown: Shown): (HTMLElement | null)[] {
    const rows: [string, (d: Document) => string][] = [
        ["Parameters", (d) => f.si(d.total_params)],
        ["MACs of a pass", (d) => f.si(d.macs_per_pass)],
        ["MACs of a step", (d) => f.si(d.macs_per_step)],
        ["Steps", (d) => f.whole(d.num_inference_steps)],
        ["VAE MACs", (d) => f.si(d.vae_macs)],
        ["Text encoder MACs", (d) => f.si(d.text_encoder_macs)],
        ["Prefill MACs", (d) => f.si(d.prefill?.macs)],
        ["Decode MACs", (d) => f.si(d.decode?.macs)],
        ["Total MACs", (d) => f.si(d.total_macs)],
        ["Total FLOPs", (d) => f.si(d.total_flops)],
        ["Cache", (d) => f.bytes(d.kv_cache?.bytes)],
        ["Memory to serve", (d) => f.bytes(d.memory?.serve_bytes)],
    ];
    const there = rows.filter(([, of]) => list.some((d) => of(d) !== f.DASH));
    return [
        section(
            "comparison",
            "Side by side",
            table(
                "Pipelines side by side",
                [
                    { name: "", text: (r) => r[0] },
                    ...list.map((d) => ({
                        name: String(d.title ?? d.model),
                        number: true,
                        text: (r: (typeof rows)[0]) => r[1](d),
                    })),
                ],
                there,
            ),
            shown.graphs &&
                chart({
                    id: "pipelines-total",
                    title: "Total MACs",
                    height: 70 + 40 * list.length,
                    about: "Bars of the total MACs of each pipeline.",
                    option: () => ({
                        grid: { left: 8, right: 90, top: 8, bottom: 8, containLabel: true },
                        xAxis: axis({ type: "value", show: false }),
                        yAxis: axis({
                            type: "category",
                            inverse: true,
                            data: list.map((d) => f.clip(String(d.title ?? d.model), 28)),
                            axisLabel: { color: palette().text },
                        }),
                        tooltip: {
                            trigger: "item",
                            formatter: (q: any) => tip(q.name, [["MACs", f.si(q.value)]]),
                        },
                        series: [
                            {
                                type: "bar",
                                barMaxWidth: 24,
                                data: list.map((d, i) => ({
                                    value: d.total_macs,
                                    itemStyle: { color: palette().series[i % 10] },
                                })),
                                label: {
                                    show: true,
                                    position: "right",
                                    color: palette().text,
                                    formatter: (q: any) => f.si(q.value),
                                },
                            },
                        ],
                    }),
                    table: () => ({
                        head: ["Pipeline", "Total MACs", "Total FLOPs"],
                        rows: list.map((d) => [
                            d.title ?? d.model,
                            f.si(d.total_macs),
                            f.si(d.total_flops),
                        ]),
                    }),
                }).element,
        ),
    ];
}
