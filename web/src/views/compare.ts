// Several profiles side by side. The first is what the others are measured against.
import { axis, byteAxis, chart, legend, tickSi, tip } from "../charts";
import { h, type Child } from "../dom";
import * as f from "../format";
import { grid } from "../grid";
import { palette } from "../theme";
import type { Document, Profile, Shown } from "../types";
import { choice, section, table } from "../ui";
import { runs } from "./latency";

interface Figure {
    name: string;
    of: (p: Profile) => number | null | undefined;
    show: (v: number | null | undefined) => string;
    more?: "better" | "worse";
}
const figures: Figure[] = [
    { name: "Parameters", of: (p) => p.total_parameters, show: (v) => f.si(v) },
    { name: "Model size", of: (p) => p.architecture?.weight_bytes, show: f.bytes, more: "worse" },
    { name: "Operators", of: (p) => p.total_operators, show: f.whole },
    { name: "MACs", of: (p) => p.total_macs, show: (v) => f.si(v), more: "worse" },
    { name: "FLOPs", of: (p) => p.total_flops, show: (v) => f.si(v), more: "worse" },
    { name: "Memory traffic", of: (p) => p.total_memory, show: f.bytes, more: "worse" },
    { name: "FLOPs per byte", of: (p) => p.arithmetic_intensity, show: f.intensity },
    {
        name: "Activations at the peak",
        of: (p) => p.memory_plan?.activations_peak_bytes,
        show: f.bytes,
        more: "worse",
    },
    {
        name: "Peak memory, planned",
        of: (p) => p.memory_plan?.peak_bytes,
        show: f.bytes,
        more: "worse",
    },
    { name: "Latency, median", of: (p) => p.latency?.p50, show: f.ms, more: "worse" },
    { name: "Latency, p95", of: (p) => p.latency?.p95, show: f.ms, more: "worse" },
    {
        name: "Samples per second",
        of: (p) => p.throughput?.samples_per_second,
        show: f.rate,
        more: "better",
    },
    { name: "Memory of the run", of: (p) => p.memory?.peak, show: f.bytes, more: "worse" },
];

// Two results of one model need more than its name.
export function labels(list: Profile[]): string[] {
    const names = list.map((p) => p.model);
    return list.map((p, i) => {
        if (names.filter((n) => n === names[i]).length === 1) return names[i];
        const same = list.every((o) => o.config?.precision === p.config?.precision);
        const more = [
            same ? null : p.config?.precision,
            p.context?.timestamp?.slice(0, 16)?.replace("T", " "),
        ]
            .filter(Boolean)
            .join(" ");
        return `${names[i]} #${i + 1}${more ? ` (${more})` : ""}`;
    });
}

function totals(list: Profile[], names: string[]): HTMLElement {
    const rows = figures.filter((g) => list.some((p) => f.isNumber(g.of(p))));
    const tone = (g: Figure, r: number): string =>
        !g.more || Math.abs(r - 1) < 0.005
            ? "plain"
            : r > 1 === (g.more === "better")
              ? "good"
              : "poor";
    return table(
        "Figures side by side",
        [
            { name: "", text: (g: Figure) => g.name },
            ...names.map((name, i) => ({
                name,
                number: true,
                text: (g: Figure): Child => {
                    const v = g.of(list[i]);
                    const first = g.of(list[0]);
                    const r =
                        i > 0 && f.isNumber(v) && f.isNumber(first) && first !== 0
                            ? v / first
                            : null;
                    return [
                        g.show(v),
                        r !== null && h("span", { class: `chip ${tone(g, r)}` }, f.ratio(r)),
                    ];
                },
            })),
        ],
        rows,
    );
}

function bars(list: Profile[], names: string[]): HTMLElement {
    const there = figures.filter(
        (g) => list.every((p) => f.isNumber(g.of(p))) && list.some((p) => g.of(p)),
    );
    return chart({
        id: "compare-ratios",
        title: `Relative to ${f.clip(names[0], 60)}`,
        height: 90 + there.length * (16 * (list.length - 1) + 14),
        note: "Right of 1 is more, left of it less; the scale is logarithmic.",
        about: "Bars of each figure relative to the first profile.",
        option: () => {
            const c = palette();
            const value = (g: Figure, p: Profile) => {
                const a = g.of(list[0]);
                return a ? (g.of(p) ?? 0) / a : 0;
            };
            return {
                grid: { left: 8, right: 60, top: 36, bottom: 24, containLabel: true },
                legend: legend({ type: names.length > 5 ? "scroll" : "plain" }),
                xAxis: axis({
                    type: "log",
                    logBase: 2,
                    axisLabel: { formatter: (v: number) => f.ratio(v) },
                }),
                yAxis: axis({
                    type: "category",
                    inverse: true,
                    data: there.map((g) => g.name),
                    axisLabel: { color: c.text },
                }),
                tooltip: {
                    trigger: "item",
                    formatter: (q: any) =>
                        tip(names[q.seriesIndex + 1], [
                            [
                                there[q.dataIndex].name,
                                there[q.dataIndex].show(
                                    there[q.dataIndex].of(list[q.seriesIndex + 1]),
                                ),
                            ],
                            ["Ratio", f.ratio(q.value)],
                        ]),
                },
                series: list.slice(1).map((p, i) => ({
                    type: "bar",
                    name: names[i + 1],
                    barMaxWidth: 14,
                    itemStyle: { color: c.series[(i + 1) % c.series.length] },
                    data: there.map((g) => ({
                        value: value(g, p) || null,
                        label: { position: value(g, p) < 1 ? "left" : "right" },
                    })),
                    label: {
                        show: true,
                        color: c.text,
                        fontSize: 11,
                        formatter: (q: any) => f.ratio(q.value),
                    },
                })),
            };
        },
        table: () => ({
            head: ["Figure", ...names],
            rows: there.map((g) => [g.name, ...list.map((p) => g.show(g.of(p)))]),
        }),
    }).element;
}

const MOST = 9; // of as many colours as stay apart
function operators(list: Profile[], names: string[]): HTMLElement | null {
    type Key = "flops" | "memory" | "count" | "parameters";
    const kinds: { id: Key; text: string; show: (v: number) => string }[] = [
        { id: "flops", text: "FLOPs", show: (v) => f.si(v) },
        { id: "parameters", text: "Parameters", show: (v) => f.si(v) },
        { id: "memory", text: "Bytes moved", show: (v) => f.bytes(v) },
        { id: "count", text: "Operators", show: (v) => f.whole(v) },
    ];
    if (!list.some((p) => p.operations?.length)) return null;
    let now: Key = "flops";
    const of = (p: Profile, type: string) => p.operations?.find((o) => o.type === type)?.[now] ?? 0;
    const types = () => {
        const all = [...new Set(list.flatMap((p) => (p.operations ?? []).map((o) => o.type)))];
        return all.sort(
            (a, b) =>
                Math.max(...list.map((p) => of(p, b))) - Math.max(...list.map((p) => of(p, a))),
        );
    };
    const show = (v: number) => kinds.find((k) => k.id === now)!.show(v);
    const made = chart({
        id: "compare-operators",
        title: "By operator type",
        height: 90 + 44 * list.length,
        about: "Stacked bars of each profile by operator type.",
        note: "The largest types; the table has all.",
        controls: choice("Show by", kinds, now, (id) => {
            now = id;
            made.redraw();
        }),
        option: () => ({
            grid: { left: 8, right: 24, top: 56, bottom: 8, containLabel: true },
            legend: legend({ type: "scroll" }),
            xAxis:
                now === "memory"
                    ? byteAxis(
                          Math.max(...list.map((p) => types().reduce((s, t) => s + of(p, t), 0))),
                      )
                    : axis({ type: "value", axisLabel: { formatter: tickSi } }),
            yAxis: axis({
                type: "category",
                inverse: true,
                data: names.map((n) => f.clip(n, 28)),
                axisLabel: { color: palette().text },
            }),
            tooltip: {
                trigger: "item",
                formatter: (q: any) => tip(names[q.dataIndex], [[q.seriesName, show(q.value)]]),
            },
            series: [
                ...types()
                    .slice(0, MOST)
                    .map((t, i) => ({
                        type: "bar",
                        name: t,
                        stack: "all",
                        barMaxWidth: 26,
                        itemStyle: { color: palette().series[i] },
                        data: list.map((p) => of(p, t)),
                    })),
                ...(types().length > MOST
                    ? [
                          {
                              type: "bar",
                              name: "others",
                              stack: "all",
                              barMaxWidth: 26,
                              itemStyle: { color: palette().line },
                              data: list.map((p) =>
                                  types()
                                      .slice(MOST)
                                      .reduce((s, t) => s + of(p, t), 0),
                              ),
                          },
                      ]
                    : []),
            ],
        }),
        table: () => ({
            head: ["Type", ...names],
            rows: types().map((t) => [t, ...list.map((p) => show(of(p, t)))]),
        }),
    });
    return made.element;
}

// Empirical distribution: the share of runs that took at most so long. It shows all of it, tails too.
function latencies(list: Profile[], names: string[]): HTMLElement | null {
    const all = list.flatMap((p, i) => {
        const r = runs(p)[0];
        return r
            ? [{ name: names[i], i, samples: [...r.latency.samples_ms!].sort((a, b) => a - b) }]
            : [];
    });
    if (all.length < 2) return null;
    return chart({
        id: "compare-latency",
        title: "Latency",
        height: 340,
        note: "Share of the runs that took at most so long; further left is faster.",
        about: "Cumulative distribution of the durations of runs, a line per profile.",
        option: () => {
            const c = palette();
            return {
                grid: { left: 8, right: 16, top: 40, bottom: 28, containLabel: true },
                legend: legend(),
                xAxis: axis({ type: "value", scale: true, name: "milliseconds", nameGap: 26 }),
                yAxis: axis({
                    type: "value",
                    max: 100,
                    axisLabel: { formatter: (v: number) => `${v} %` },
                }),
                tooltip: {
                    trigger: "item",
                    formatter: (q: any) =>
                        tip(q.seriesName, [
                            ["At most", f.ms(q.value[0])],
                            ["Runs", f.percent(q.value[1])],
                        ]),
                },
                series: all.map((r) => {
                    const step = Math.max(1, Math.floor(r.samples.length / 500));
                    return {
                        type: "line",
                        name: r.name,
                        step: "end",
                        symbolSize: 3,
                        lineStyle: { width: 2, color: c.series[r.i % c.series.length] },
                        itemStyle: { color: c.series[r.i % c.series.length] },
                        data: r.samples.flatMap((v, k) =>
                            k % step === 0 || k === r.samples.length - 1
                                ? [[v, (100 * (k + 1)) / r.samples.length]]
                                : [],
                        ),
                    };
                }),
            };
        },
        table: () => ({
            head: ["Profile", "Runs", "Median", "p95", "p99", "Max"],
            rows: list.flatMap((p, i) =>
                p.latency
                    ? [
                          [
                              names[i],
                              p.latency.runs,
                              f.ms(p.latency.p50),
                              f.ms(p.latency.p95),
                              f.ms(p.latency.p99),
                              f.ms(p.latency.max),
                          ],
                      ]
                    : [],
            ),
        }),
    }).element;
}

// What changed between two, by the comparison document that assay made.
export function changes(c: Document | undefined, shown: Shown): HTMLElement | null {
    const list = (c?.layers ?? []) as any[];
    if (!list.length || !shown.details) return null;
    const delta = (r: any, k: string): number =>
        ((r.after?.[k] ?? 0) as number) - ((r.before?.[k] ?? 0) as number);
    const shapes = (r: any): string => {
        const a = r.before?.output_shapes?.[0];
        const b = r.after?.output_shapes?.[0];
        return a && b && f.shape(a) !== f.shape(b)
            ? `${f.shape(a)} → ${f.shape(b)}`
            : a || b
              ? f.shape(b ?? a)
              : f.DASH;
    };
    const told = (v: unknown): string => (v === null ? "default" : JSON.stringify(v));
    const attributes = (r: any): string =>
        Object.entries((r.attributes ?? {}) as Record<string, any>)
            .map(([k, v]) => `${k} ${told(v.before)} → ${told(v.after)}`)
            .join(", ");
    const signed = (v: number, show: (v: number) => string) =>
        v === 0 ? f.DASH : (v > 0 ? "+" : "−") + show(Math.abs(v));
    return h(
        "div",
        null,
        h("h3", null, "Layers behind the difference"),
        h(
            "p",
            { class: "soft" },
            `${f.whole(c!.same_layers)} layers are the same${c!.renamed_layers ? `, ${f.whole(c!.renamed_layers)} under another name` : ""}.`,
        ),
        grid<any>({
            id: "compare-layers",
            what: "changes",
            rows: list,
            search: (r) => `${r.before?.name ?? ""} ${r.after?.name ?? ""} ${r.type} ${r.change}`,
            filters: [
                { name: "Change", value: (r) => r.change },
                { name: "Type", value: (r) => r.type ?? "" },
            ],
            columns: [
                {
                    id: "change",
                    name: "Change",
                    width: "90px",
                    value: (r) => r.change,
                    text: (r) => r.change,
                },
                {
                    id: "name",
                    name: "Layer",
                    width: "minmax(190px,3fr)",
                    value: (r) => r.after?.name ?? r.before?.name ?? "",
                    text: (r) =>
                        r.before && r.after && r.before.name !== r.after.name
                            ? `${r.before.name} → ${r.after.name}`
                            : (r.after?.name ?? r.before?.name),
                },
                {
                    id: "type",
                    name: "Type",
                    width: "minmax(90px,1fr)",
                    value: (r) => r.type ?? "",
                    text: (r) => r.type ?? "",
                },
                {
                    id: "shape",
                    name: "Output",
                    width: "minmax(130px,1.5fr)",
                    value: (r) => shapes(r),
                    text: (r) => shapes(r),
                },
                {
                    id: "flops",
                    name: "Δ FLOPs",
                    number: true,
                    width: "100px",
                    value: (r) => delta(r, "flops"),
                    text: (r) => signed(delta(r, "flops"), (v) => f.si(v)),
                },
                {
                    id: "parameters",
                    name: "Δ Params",
                    number: true,
                    width: "100px",
                    value: (r) => delta(r, "parameters"),
                    text: (r) => signed(delta(r, "parameters"), (v) => f.si(v)),
                },
                {
                    id: "memory",
                    name: "Δ Bytes",
                    number: true,
                    width: "110px",
                    value: (r) => delta(r, "memory"),
                    text: (r) => signed(delta(r, "memory"), (v) => f.bytes(v)),
                },
                ...(list.some((r) => delta(r, "peak_bytes"))
                    ? [
                          {
                              id: "peak",
                              name: "Δ Peak",
                              title: "What it adds to the memory at the peak",
                              number: true,
                              width: "110px",
                              value: (r: any) => delta(r, "peak_bytes"),
                              text: (r: any) => signed(delta(r, "peak_bytes"), (v) => f.bytes(v)),
                          },
                      ]
                    : []),
                ...(list.some((r) => r.attributes)
                    ? [
                          {
                              id: "attributes",
                              name: "Attributes",
                              title: "Those that are others",
                              width: "minmax(160px,2fr)",
                              value: (r: any) => attributes(r),
                              text: (r: any) => attributes(r) || f.DASH,
                          },
                      ]
                    : []),
                ...(list.some((r) => delta(r, "time_ms"))
                    ? [
                          {
                              id: "time",
                              name: "Δ Time",
                              number: true,
                              width: "100px",
                              value: (r: any) => delta(r, "time_ms"),
                              text: (r: any) => signed(delta(r, "time_ms"), (v) => f.ms(v)),
                          },
                      ]
                    : []),
            ],
        }),
    );
}

// The verdicts of runs that were compared, where the document has them.
const tones: Record<string, string> = {
    faster: "good",
    slower: "poor",
    "cannot tell": "fair",
    "not run": "fair",
};
export function verdicts(c: Document | undefined): HTMLElement | null {
    const list = (Array.isArray(c?.measured) ? c!.measured : []) as any[];
    if (!list.length) return null;
    return h(
        "ul",
        { class: "advice" },
        list.map((v) =>
            h(
                "li",
                { class: "card" },
                h(
                    "h3",
                    null,
                    String(v.model ?? ""),
                    h(
                        "span",
                        { class: `chip ${tones[v.verdict] ?? "plain"}` },
                        String(v.verdict ?? ""),
                    ),
                ),
                f.isNumber(v.ratio) &&
                    h(
                        "p",
                        null,
                        `${f.fixed(v.ratio, 3)} times as long as the first${f.isNumber(v.ratio_ci99_low) ? `; 99 %: ${f.fixed(v.ratio_ci99_low, 3)} to ${f.fixed(v.ratio_ci99_high, 3)}` : ""}`,
                    ),
                h(
                    "p",
                    { class: "soft" },
                    [
                        v.why,
                        f.isNumber(v.runs)
                            ? `${f.whole(v.runs)} runs${v.interleaved ? ", turn by turn" : ""}.`
                            : null,
                    ]
                        .filter(Boolean)
                        .join(" "),
                ),
            ),
        ),
    );
}

export function compareSections(
    list: Profile[],
    comparison: Document | undefined,
    shown: Shown,
): (HTMLElement | null)[] {
    const names = labels(list);
    return [
        section(
            "comparison",
            "Side by side",
            verdicts(comparison),
            totals(list, names),
            shown.graphs && bars(list, names),
        ),
        shown.graphs
            ? section(
                  "operators",
                  "What they are made of",
                  operators(list, names),
                  latencies(list, names),
              )
            : null,
        comparison && changes(comparison, shown)
            ? section("changes", "What changed", changes(comparison, shown))
            : null,
    ];
}
