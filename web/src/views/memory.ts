// Memory: activations alive while each layer runs, who makes the peak, and what a run really took.
import { axis, byteAxis, chart, legend, tickMs, tip } from "../charts";
import { h, type Child } from "../dom";
import * as f from "../format";
import { palette } from "../theme";
import type { MemoryEvent, Moment, PlanStep, Profile, Shown, Snapshot } from "../types";
import { cards, limited, panel, section, table } from "../ui";

// Thousands of steps are put together by their highest: a peak is never lost.
export function thin(values: number[], buckets: number): [number, number][] {
    if (values.length <= buckets) return values.map((v, i) => [i, v]);
    const out: [number, number][] = [];
    for (let b = 0; b < buckets; b++) {
        const from = Math.floor((b * values.length) / buckets);
        const to = Math.floor(((b + 1) * values.length) / buckets);
        let best = from;
        for (let i = from; i < to; i++) if (values[i] > values[best]) best = i;
        out.push([best, values[best]]);
    }
    return out;
}

function plan(p: Profile): HTMLElement | null {
    const m = p.memory_plan!;
    const line = m.timeline ?? [];
    if (line.length < 2) return null;
    const live = line.map((t) => t.live_bytes);
    const top = live.reduce((best, v, i) => (v > live[best] ? i : best), 0);
    const seen = p.plan_check?.timeline;
    // What the engine had, at the step of the node of that name.
    const at = new Map<string, number>(line.map((t, i) => [t.node, i]));
    const ran = (seen ?? [])
        .flatMap((t: Moment) => (at.has(t.node) ? [[at.get(t.node)!, t.live_bytes]] : []))
        .sort((a, b) => a[0] - b[0]);
    return chart({
        id: "memory-plan",
        title: "Activations over the execution",
        height: 300,
        note: `The highest is ${f.bytes(live[top])} while ${f.clip(line[top].node, 80)} runs.`,
        about: `Area of the bytes that are alive while each of ${line.length} layers runs; the peak is ${f.bytes(live[top])}.`,
        option: () => {
            const c = palette();
            return {
                grid: {
                    left: 8,
                    right: 16,
                    top: ran.length ? 36 : 16,
                    bottom: 28,
                    containLabel: true,
                },
                legend: legend({ show: ran.length > 0 }),
                xAxis: axis({
                    type: "value",
                    min: 0,
                    max: line.length - 1,
                    name: "layer, in the order they run",
                    nameGap: 26,
                    minInterval: 1,
                    splitLine: { show: false },
                }),
                yAxis: byteAxis(Math.max(live[top], ...ran.map((r) => r[1]))),
                tooltip: {
                    trigger: "axis",
                    formatter: (q: any) => {
                        const i = q[0].value[0];
                        return tip(line[i]?.node ?? "", [
                            ["Layer", f.whole(i + 1)],
                            ...q.map((s: any) => [s.seriesName, f.bytes(s.value[1])]),
                        ]);
                    },
                },
                series: [
                    {
                        type: "line",
                        name: "planned",
                        step: "middle",
                        symbol: "none",
                        areaStyle: { opacity: 0.25 },
                        lineStyle: { width: 1.5 },
                        data: thin(live, 2000),
                        markPoint: {
                            symbol: "pin",
                            symbolSize: 34,
                            label: { show: true, formatter: "peak", fontSize: 10, color: "#fff" },
                            data: [{ coord: [top, live[top]] }],
                            itemStyle: { color: c.series[1] },
                        },
                        ...(f.isNumber(m.lower_bound_bytes)
                            ? {
                                  markLine: {
                                      silent: true,
                                      symbol: "none",
                                      lineStyle: { type: "dashed", color: c.soft },
                                      label: {
                                          formatter: "no plan can do with less",
                                          position: "insideEndTop",
                                          color: c.soft,
                                      },
                                      data: [{ yAxis: m.lower_bound_bytes }],
                                  },
                              }
                            : {}),
                    },
                    ...(ran.length
                        ? [
                              {
                                  type: "line",
                                  name: "as the engine had it",
                                  step: "middle",
                                  symbol: "none",
                                  lineStyle: { width: 1.5 },
                                  data: ran,
                              },
                          ]
                        : []),
                ],
            };
        },
        table: () => ({
            head: ["Step", "Layer", "Alive"],
            rows: line.map((t, i) => [i + 1, t.node, f.bytes(t.live_bytes)]),
        }),
    }).element;
}

function witnesses(p: Profile): HTMLElement | null {
    const m = p.memory_plan!;
    const list = m.witnesses ?? [];
    const whole = m.activations_peak_bytes || 1;
    if (!list.length) return null;
    return panel(
        "Alive at the peak",
        h(
            "p",
            { class: "soft" },
            `While ${m.peak_node ?? "the costliest layer"} runs; weights take ${f.bytes(m.weights_bytes)} beside it.`,
        ),
        limited(
            list,
            8,
            (some) =>
                table(
                    "Values alive at the peak",
                    [
                        { name: "Value", text: (w) => h("code", null, w.value) },
                        { name: "Made by", text: (w) => w.producer ?? f.DASH },
                        { name: "Size", text: (w) => f.bytes(w.bytes), number: true },
                        {
                            name: "Share",
                            text: (w) => f.percent((100 * w.bytes) / whole),
                            number: true,
                        },
                    ],
                    some,
                ),
            "values",
        ),
    );
}

const name = (s?: string | null): Child => (s ? h("code", null, s) : f.DASH);

function events(p: Profile): HTMLElement | null {
    const list = p.memory_plan!.events ?? [];
    const count = (kind: string): string => f.whole(list.filter((e) => e.kind === kind).length);
    if (!list.length) return null;
    return panel(
        "Allocations and frees, in order",
        h(
            "p",
            { class: "soft" },
            `Allocated ${count("allocate")}, freed ${count("free")}, written over an input ${count("reuse")}, views ${count("alias")}.`,
        ),
        limited(
            list,
            10,
            (some) =>
                table(
                    "Allocations and frees",
                    [
                        { name: "Step", text: (e: MemoryEvent) => f.whole(e.step), number: true },
                        { name: "What", text: (e) => e.kind },
                        { name: "Value", text: (e) => name(e.value) },
                        { name: "In the place of", text: (e) => name(e.of) },
                        { name: "While", text: (e) => name(e.node) },
                        { name: "Size", text: (e) => f.bytes(e.bytes), number: true },
                        { name: "At", text: (e) => f.bytes(e.offset), number: true },
                        { name: "Alive then", text: (e) => f.bytes(e.live_bytes), number: true },
                    ],
                    some,
                ),
            "events",
        ),
    );
}

function snapshots(p: Profile): HTMLElement | null {
    const list = p.memory_plan!.snapshots ?? [];
    if (!list.length) return null;
    return panel(
        "Snapshots",
        h("p", { class: "soft" }, "What is alive while a layer runs, the largest first."),
        limited(
            list,
            16,
            (some) =>
                table(
                    "Snapshots",
                    [
                        { name: "Step", text: (s: Snapshot) => f.whole(s.step), number: true },
                        { name: "Moment", text: (s) => s.kind },
                        { name: "While", text: (s) => name(s.node) },
                        { name: "Alive", text: (s) => f.bytes(s.live_bytes), number: true },
                        {
                            name: "Values",
                            text: (s) =>
                                f.whole((s.values ?? []).length + (s.values_left_out ?? 0)),
                            number: true,
                        },
                        {
                            name: "Largest",
                            text: (s) =>
                                (s.values ?? [])
                                    .slice(0, 3)
                                    .map((v) => `${f.clip(v.value, 40)} ${f.bytes(v.bytes)}`)
                                    .join(", ") || f.DASH,
                        },
                    ],
                    some,
                ),
            "snapshots",
        ),
    );
}

const CAUSES: Record<string, string> = {
    planned: "Planned",
    expanded_operators: "Operators that the engine has only in parts",
    engine_order: "The engine's order of branches",
    in_place: "Kernels in place, or not",
    kept_buffers: "Dead buffers kept for later tensors",
    unexplained: "Unexplained",
    measured: "Measured",
    kernel_workspace: "Kernel workspace and rounding, at most",
};

// From the planned peak to the measured one: steps that change nothing are left out.
function steps(p: Profile): HTMLElement | null {
    const ends = (s: PlanStep) => s.cause === "planned" || s.cause === "measured";
    const list = (p.plan_check?.ledger ?? []).filter((s) => ends(s) || s.bytes !== 0);
    if (list.length < 2) return null;
    return panel(
        "From the plan to the run",
        h(
            "p",
            { class: "soft" },
            "Peak of activations, engine without optimisations: what each cause adds or saves, and the sum.",
        ),
        table(
            "From the planned peak to the measured one",
            [
                { name: "Cause", text: (s: PlanStep) => CAUSES[s.cause] ?? s.cause },
                {
                    name: "Step",
                    text: (s: PlanStep) =>
                        ends(s) ? "" : (s.bytes < 0 ? "−" : "+") + f.bytes(Math.abs(s.bytes)),
                    number: true,
                },
                { name: "In all", text: (s: PlanStep) => f.bytes(s.total_bytes), number: true },
            ],
            list,
        ),
    );
}

function curve(p: Profile): HTMLElement | null {
    const list = (p.memory?.curve ?? []) as {
        ms: number;
        resident: number;
        anonymous?: number;
        file_backed?: number;
    }[];
    if (list.length < 2) return null;
    const pick = thin(
        list.map((s) => s.resident),
        1000,
    ).map(([i]) => list[i]);
    const lines: [string, (s: (typeof list)[0]) => number | undefined][] = [
        ["resident", (s) => s.resident],
        ["anonymous", (s) => s.anonymous],
        ["file-backed", (s) => s.file_backed],
    ];
    return chart({
        id: "memory-curve",
        title: "Resident memory of the process",
        height: 300,
        note: "From before the session is made to the last run.",
        about: "Lines of resident, anonymous and file-backed memory over time.",
        option: () => ({
            grid: { left: 8, right: 16, top: 36, bottom: 28, containLabel: true },
            legend: legend(),
            xAxis: axis({
                type: "value",
                name: "time",
                nameGap: 26,
                splitLine: { show: false },
                max: "dataMax",
                axisLabel: { formatter: tickMs, showMaxLabel: false },
            }),
            yAxis: byteAxis(pick.reduce((a, s) => Math.max(a, s.resident), 0)),
            tooltip: {
                trigger: "axis",
                formatter: (q: any) =>
                    tip(
                        f.ms(q[0].value[0]),
                        q.map((s: any) => [s.seriesName, f.bytes(s.value[1])]),
                    ),
            },
            series: lines
                .filter(([, g]) => f.isNumber(g(pick[0])))
                .map(([name, g]) => ({
                    type: "line",
                    name,
                    symbol: "none",
                    lineStyle: { width: 1.5 },
                    data: pick.map((s) => [s.ms, g(s)]),
                })),
        }),
        table: () => ({
            head: ["Time", "Resident", "Anonymous", "File-backed"],
            rows: list.map((s) => [
                f.ms(s.ms),
                f.bytes(s.resident),
                f.bytes(s.anonymous),
                f.bytes(s.file_backed),
            ]),
        }),
    }).element;
}

export function memoryView(p: Profile, shown: Shown): HTMLElement | null {
    const m = p.memory_plan;
    const run = p.memory ?? {};
    if (!m?.peak_bytes && !f.isNumber(run.peak)) return null;
    const check = p.plan_check;
    return section(
        "memory",
        "Memory",
        cards([
            ...(m?.peak_bytes
                ? [
                      { name: "Weights", value: f.bytes(m.weights_bytes), note: "fixed" },
                      {
                          name: "Activations at the peak",
                          value: f.bytes(m.activations_peak_bytes),
                          note: `${f.bytes(m.lower_bound_bytes)} is the least that any plan needs`,
                      },
                  ]
                : []),
            ...(m?.planned_bytes
                ? [
                      {
                          name: "Planned block",
                          value: f.bytes(m.planned_bytes),
                          note: `${f.percent(100 * Number(m.fragmentation ?? 0))} of it idle at the peak`,
                      },
                  ]
                : []),
            ...(check
                ? [
                      {
                          name: "Peak as measured",
                          value: f.bytes(check.measured_peak),
                          note: `planned ${f.bytes(check.planned_peak)}; ${f.whole(check.shapes_equal)} of ${f.whole(check.shapes_checked)} sizes agree`,
                      },
                  ]
                : []),
            ...(f.isNumber(run.peak)
                ? [
                      {
                          name: "Peak of the run",
                          value: f.bytes(run.peak),
                          note: `average ${f.bytes(run.average)}; ${f.bytes(run.per_sample)} per sample`,
                      },
                  ]
                : []),
            ...(f.isNumber(run.fragmentation)
                ? [
                      {
                          name: "Fragmentation",
                          value: f.percent(100 * run.fragmentation),
                          note: "of the engine's arena",
                      },
                  ]
                : []),
        ]),
        shown.graphs && m?.timeline && plan(p),
        shown.graphs && curve(p),
        shown.details && steps(p),
        shown.details && m && witnesses(p),
        shown.details && m && snapshots(p),
        shown.details && m && events(p),
    );
}
