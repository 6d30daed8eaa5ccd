// The smaller sections of a profile.
import { axis, byteAxis, chart, legend, tickMs, tip } from "../charts";
import { h, type Child } from "../dom";
import * as f from "../format";
import { palette } from "../theme";
import { thin } from "./memory";
import type { DeviceRow, Group, Profile, Shown } from "../types";
import { cards, facts, limited, panel, section, table, type Column } from "../ui";

// ---- accounting: what the counts rest on ----

export function accountingView(p: Profile, shown: Shown): HTMLElement | null {
    const a = p.accounting;
    if (!a || !f.isNumber(a.nodes)) return null;
    const items = a.items ?? [];
    return section(
        "accounting",
        "What the counts rest on",
        cards([
            {
                name: "Operators that run",
                value: f.whole(a.nodes),
                note: `${f.whole(a.folded)} more are known in advance`,
            },
            { name: "Exact", value: f.whole(a.exact) },
            {
                name: "Under an assumption",
                value: f.whole(a.assumed),
                verdict: a.assumed ? "assumed" : undefined,
                tone: "fair",
            },
            {
                name: "Unknown",
                value: f.whole(a.unknown),
                verdict: a.unknown ? "not in the totals" : undefined,
                tone: "poor",
            },
        ]),
        a.weights_differ &&
            h(
                "p",
                { class: "banner fair" },
                "The weights on disk are not those that the configuration asks for.",
            ),
        shown.details &&
            items.length > 0 &&
            limited(
                items,
                25,
                (some) =>
                    table(
                        "Assumed and unknown",
                        [
                            { name: "Node", text: (i) => h("code", null, i.node) },
                            { name: "Operator", text: (i) => i.op ?? "" },
                            { name: "", text: (i) => i.certainty ?? "" },
                            { name: "Why", text: (i) => i.reason ?? "", class: "prose" },
                        ],
                        some,
                    ),
                "lines",
            ),
    );
}

// ---- recommendations ----

export function adviceView(p: Profile): HTMLElement | null {
    const list = p.recommendations ?? [];
    if (!list.length) return null;
    return section(
        "advice",
        "Recommendations",
        h(
            "ul",
            { class: "advice" },
            list.map((r) =>
                h(
                    "li",
                    { class: "card" },
                    h("h3", null, r.title),
                    r.why && h("p", null, r.why),
                    r.expected && h("p", { class: "soft" }, r.expected),
                ),
            ),
        ),
    );
}

// ---- training ----

export function trainingView(p: Profile, shown: Shown): HTMLElement | null {
    const t = p.training;
    const list = (t?.optimizers ?? []) as Record<string, any>[];
    if (!t) return null;
    const parts: [string, (o: Record<string, any>) => number][] = [
        ["weights", (o) => o.weights_bytes],
        ["gradients", (o) => o.gradients_bytes],
        ["optimiser states", (o) => o.states_bytes],
        ["saved activations", () => t.saved_activation_bytes],
    ];
    return section(
        "training",
        "Training",
        cards([
            { name: "Forward", value: f.si(t.forward_flops), note: "FLOPs" },
            {
                name: "Backward",
                value: f.si(t.backward_flops),
                note: `FLOPs, ${f.ratio(t.backward_flops / (t.forward_flops || 1))} the forward pass`,
            },
            {
                name: "Kept for the backward pass",
                value: f.bytes(t.saved_activation_bytes),
                note: "of activations",
            },
        ]),
        shown.graphs &&
            list.length > 0 &&
            chart({
                id: "training-memory",
                title: "Memory by optimiser",
                height: 280,
                about: "Stacked bars of weights, gradients, optimiser states and saved activations.",
                option: () => ({
                    grid: { left: 8, right: 24, top: 40, bottom: 8, containLabel: true },
                    legend: legend(),
                    xAxis: byteAxis(list.reduce((a, o) => Math.max(a, o.total_bytes ?? 0), 0)),
                    yAxis: axis({ type: "category", inverse: true, data: list.map((o) => o.name) }),
                    tooltip: {
                        trigger: "item",
                        formatter: (q: any) =>
                            tip(q.name, [
                                [q.seriesName, f.bytes(q.value)],
                                ["Together", f.bytes(list[q.dataIndex].total_bytes)],
                            ]),
                    },
                    series: parts.map(([name, of]) => ({
                        type: "bar",
                        name,
                        stack: "all",
                        barMaxWidth: 22,
                        data: list.map(of),
                    })),
                }),
                table: () => ({
                    head: [
                        "Optimiser",
                        "Bytes per parameter",
                        "Weights",
                        "Gradients",
                        "States",
                        "With activations",
                    ],
                    rows: list.map((o) => [
                        o.name,
                        o.bytes_per_param,
                        f.bytes(o.weights_bytes),
                        f.bytes(o.gradients_bytes),
                        f.bytes(o.states_bytes),
                        f.bytes(o.total_bytes),
                    ]),
                }),
            }).element,
        !shown.graphs &&
            table(
                "Optimisers",
                [
                    { name: "Optimiser", text: (o) => o.name },
                    { name: "With activations", text: (o) => f.bytes(o.total_bytes), number: true },
                ],
                list,
            ),
    );
}

// ---- where the time of a run went ----

interface TimeGroup {
    by: string;
    name: string;
    layers: number;
    time_ms: number;
    time_std_ms?: number;
    percent: number;
    flops: number;
    gflops_per_s?: number;
    gbytes_per_s?: number;
    bottleneck?: string;
}
const groupKinds: [string, string][] = [
    ["pattern", "Time by pattern"],
    ["type", "Time by type"],
    ["module", "Time by module"],
];
const groupColumns: Column<TimeGroup>[] = [
    { name: "Layers of", text: (g) => h("code", null, g.name) },
    { name: "Layers", text: (g) => f.whole(g.layers), number: true },
    {
        name: "Time",
        text: (g) =>
            `${f.ms(g.time_ms)}${f.isNumber(g.time_std_ms) ? ` ± ${f.ms(g.time_std_ms)}` : ""}`,
        number: true,
    },
    { name: "Share", text: (g) => f.percent(g.percent), number: true },
    { name: "FLOPs", text: (g) => f.si(g.flops), number: true },
    { name: "GFLOP/s", text: (g) => f.fixed(g.gflops_per_s, 1), number: true },
    { name: "GB/s", text: (g) => f.fixed(g.gbytes_per_s, 1), number: true },
    { name: "Bound", text: (g) => g.bottleneck ?? "" },
];

export function ledgerView(p: Profile, shown: Shown): HTMLElement | null {
    const l = p.ledger;
    if (!l || !f.isNumber(l.run_ms)) return null;
    const parts: [string, number][] = [
        ["layers of the model", l.layers_ms],
        ["kernels of the engine's own", l.engine_ms],
        ["between kernels", l.dispatch_ms],
        ["unexplained", l.unexplained_ms],
    ];
    const groups = (l.groups ?? []) as TimeGroup[];
    const kernels = (l.engine_kernels ?? []) as { name: string; op?: string; time_ms: number }[];
    return section(
        "ledger",
        "Where the time of a run goes",
        h(
            "p",
            { class: "soft" },
            `A profiled run takes ${f.ms(l.run_ms)}; without the profiler the median is ${f.ms(l.latency_ms)}. ${f.whole(l.kernels)} kernels, ${f.whole(l.fused_kernels)} of them fused.`,
        ),
        shown.graphs &&
            chart({
                id: "ledger-chart",
                title: "One run",
                height: 110,
                about: "One bar, divided into the parts of a run's time.",
                option: () => ({
                    grid: { left: 4, right: 8, top: 34, bottom: 22, containLabel: true },
                    legend: legend(),
                    xAxis: axis({
                        type: "value",
                        max: l.run_ms,
                        axisLabel: { formatter: tickMs, showMaxLabel: false },
                        splitLine: { show: false },
                    }),
                    yAxis: axis({ type: "category", data: [""], axisLine: { show: false } }),
                    tooltip: {
                        trigger: "item",
                        formatter: (q: any) =>
                            tip(q.seriesName, [
                                ["Time", f.ms(q.value)],
                                ["Share", f.percent((100 * q.value) / l.run_ms)],
                            ]),
                    },
                    series: parts.map(([name, v]) => ({
                        type: "bar",
                        name,
                        stack: "run",
                        barWidth: 22,
                        data: [v],
                    })),
                }),
                table: () => ({
                    head: ["Part", "Time", "Share"],
                    rows: parts.map(([name, v]) => [
                        name,
                        f.ms(v),
                        f.percent((100 * v) / l.run_ms),
                    ]),
                }),
            }).element,
        shown.details &&
            groupKinds.flatMap(([by, title]) => {
                const list = groups.filter(
                    (g) => g.by === by && (by !== "module" || g.name.split(".").length <= 2),
                );
                return list.length
                    ? [
                          h("h3", null, title),
                          limited(list, 12, (some) => table(title, groupColumns, some), "rows"),
                      ]
                    : [];
            }),
        shown.details &&
            kernels.length > 0 &&
            limited(
                kernels,
                10,
                (some) =>
                    table(
                        "Kernels of the engine's own",
                        [
                            { name: "Kernel", text: (k) => h("code", null, k.name) },
                            { name: "Operator", text: (k) => k.op ?? "" },
                            { name: "Time", text: (k) => f.ms(k.time_ms), number: true },
                        ],
                        some,
                    ),
                "kernels",
            ),
    );
}

// ---- devices ----

const deviceColumns: Column<DeviceRow>[] = [
    {
        name: "Device",
        text: (d) => [d.name, d.pareto && h("span", { class: "chip good" }, "Pareto")],
    },
    { name: "Precision", text: (d) => d.precision ?? "" },
    { name: "Batch", text: (d) => f.whole(d.batch), number: true },
    { name: "Latency", text: (d) => f.ms(d.latency_ms), number: true },
    { name: "Samples/s", text: (d) => f.rate(d.throughput), number: true },
    { name: "Memory", text: (d) => f.bytes(d.memory_bytes), number: true },
    {
        name: "Energy",
        text: (d) =>
            f.isNumber(d.energy_j_per_sample) ? f.si(d.energy_j_per_sample * 1000) + " mJ" : f.DASH,
        number: true,
    },
    { name: "Of peak", text: (d) => f.percent(d.percent_of_peak), number: true },
    { name: "Bound", text: (d) => d.bound ?? "" },
    { name: "Verdict", text: (d) => d.verdict ?? "" },
];

export function devicesView(p: Profile, shown: Shown): HTMLElement | null {
    const list = p.devices ?? [];
    if (!list.length) return null;
    const lines = new Map<string, DeviceRow[]>();
    list.filter((d) => d.fits !== false && f.isNumber(d.latency_ms)).forEach((d) =>
        lines.set(`${d.name} ${d.precision ?? ""}`, [
            ...(lines.get(`${d.name} ${d.precision ?? ""}`) ?? []),
            d,
        ]),
    );
    const shownLines = [...lines].slice(0, 24);
    const hardware = p.map?.hardware ?? [];
    return section(
        "devices",
        "On devices",
        h(
            "p",
            { class: "soft" },
            `Predicted: ${p.map?.prediction ?? "a roofline of each layer"}. ${f.isNumber(p.map?.calibration?.median_error) ? `Times of ${p.map!.calibration!.device ?? "this machine"} come from measured kernels, whose median error is ${f.percent(100 * p.map!.calibration!.median_error!, 0)}. ` : ""}${lines.size > shownLines.length ? `The chart has the first ${shownLines.length} of ${lines.size} combinations.` : ""}`,
        ),
        shown.graphs &&
            shownLines.length > 0 &&
            chart({
                id: "device-chart",
                title: "Throughput against latency",
                height: 400,
                note: "A line per device and precision, a point per batch size; diamonds are on the Pareto front.",
                about: "Lines of throughput over latency, one per device and precision.",
                option: () => ({
                    grid: {
                        left: 8,
                        right: 24,
                        top: 8 + 24 * Math.ceil(shownLines.length / 3),
                        bottom: 28,
                        containLabel: true,
                    },
                    legend: legend({ type: shownLines.length > 9 ? "scroll" : "plain" }),
                    xAxis: axis({
                        type: "log",
                        name: "latency of a batch",
                        nameGap: 26,
                        axisLabel: { formatter: tickMs },
                    }),
                    yAxis: axis({
                        type: "log",
                        axisLabel: { formatter: (v: number) => f.si(v) + "/s" },
                    }),
                    tooltip: {
                        trigger: "item",
                        formatter: (q: any) => {
                            const d = shownLines[q.seriesIndex][1][q.dataIndex];
                            return tip(`${d.name}, ${d.precision}, batch ${d.batch}`, [
                                ["Latency", f.ms(d.latency_ms)],
                                ["Samples/s", f.rate(d.throughput)],
                                ["Memory", f.bytes(d.memory_bytes)],
                                ["Bound", d.bound ?? ""],
                                ["Verdict", d.verdict ?? ""],
                            ]);
                        },
                    },
                    series: shownLines.map(([name, rows]) => ({
                        type: "line",
                        name,
                        lineStyle: { width: 1.5 },
                        symbolSize: 7,
                        data: rows.map((d) => ({
                            value: [d.latency_ms, d.throughput],
                            symbol: d.pareto ? "diamond" : "circle",
                            symbolSize: d.pareto ? 14 : 7,
                        })),
                    })),
                }),
                table: () => ({
                    head: deviceColumns.map((c) => c.name),
                    rows: list.map((d) => [
                        d.name,
                        d.precision,
                        d.batch,
                        f.ms(d.latency_ms),
                        f.rate(d.throughput),
                        f.bytes(d.memory_bytes),
                        f.fixed(d.energy_j_per_sample, 4),
                        f.percent(d.percent_of_peak),
                        d.bound,
                        d.verdict,
                    ]),
                }),
            }).element,
        shown.details &&
            limited(
                list,
                12,
                (some) =>
                    table("Devices", deviceColumns, some, (d) =>
                        d.fits === false ? "failed" : undefined,
                    ),
                "rows",
            ),
        shown.details &&
            hardware.length > 0 &&
            table(
                "Hardware",
                [
                    { name: "Hardware", text: (d) => d.name ?? d.id },
                    { name: "Memory", text: (d) => f.bytes(d.memory_bytes), number: true },
                    {
                        name: "Bandwidth",
                        text: (d) => f.si(d.bandwidth_bytes_per_s, "B/s"),
                        number: true,
                    },
                    {
                        name: "Power",
                        text: (d) => (f.isNumber(d.tdp_w) ? `${d.tdp_w} W` : f.DASH),
                        number: true,
                    },
                    {
                        name: "Peaks",
                        text: (d) =>
                            (d.precisions ?? [])
                                .filter((q) => q.precision && f.isNumber(q.peak_ops_per_s))
                                .map((q) => `${q.precision} ${f.si(q.peak_ops_per_s)}`)
                                .join(", "),
                        class: "prose",
                    },
                    { name: "How sure", text: (d) => d.certainty ?? "" },
                ],
                hardware,
            ),
    );
}

// ---- fusion ----

export function groupsView(p: Profile, shown: Shown): HTMLElement | null {
    const list = p.groups ?? [];
    if (!list.length) return null;
    const t = p.fusion ?? {};
    const nodes = list.reduce((s, g) => s + (g.nodes?.length ?? 0), 0);
    const after = t.bytes_after ?? list.reduce((s, g) => s + (g.boundary_bytes ?? 0), 0);
    const before = t.bytes_before ?? p.total_memory;
    const kinds = new Map<
        string,
        { kind: string; groups: number; nodes: number; bytes: number; before: number }
    >();
    for (const g of list) {
        const k = kinds.get(g.kind ?? "?") ?? {
            kind: g.kind ?? "?",
            groups: 0,
            nodes: 0,
            bytes: 0,
            before: 0,
        };
        k.groups++;
        k.nodes += g.nodes?.length ?? 0;
        k.bytes += g.boundary_bytes ?? 0;
        k.before += g.memory ?? 0;
        kinds.set(k.kind, k);
    }
    const rows = [...kinds.values()].sort((a, b) => b.before - a.before || b.bytes - a.bytes);
    const largest = [...list].sort(
        (a, b) => (b.memory ?? b.boundary_bytes ?? 0) - (a.memory ?? a.boundary_bytes ?? 0),
    );
    const patterns = (p.patterns ?? []) as {
        name: string;
        form?: string;
        output?: string;
        nodes?: string[];
        flops?: number;
    }[];
    return section(
        "fusion",
        "Fused",
        cards([
            {
                name: "Groups",
                value: f.whole(list.length),
                note: `of ${f.whole(nodes)} operators${t.strategy ? `, strategy ${t.strategy}` : ""}`,
            },
            {
                name: "Bytes moved",
                value: f.bytes(after),
                note: before
                    ? `${f.bytes(before)} unfused, ${f.percent(100 * (1 - after / before))} saved`
                    : undefined,
            },
            {
                name: "Intensity",
                value: f.intensity(t.intensity_after ?? (p.total_flops ?? 0) / (after || 1)),
                note: `FLOPs per byte; ${f.intensity(t.intensity_before ?? p.arithmetic_intensity)} unfused`,
            },
            ...(f.isNumber(t.launches_after)
                ? [
                      {
                          name: "Launches",
                          value: f.whole(t.launches_after),
                          note: `${f.whole(t.launches_before)} unfused`,
                      },
                  ]
                : []),
            ...(f.isNumber(t.concurrency)
                ? [
                      {
                          name: "Concurrency",
                          value: f.fixed(t.concurrency, 2),
                          note: `${f.whole(t.critical_groups)} groups on the critical path`,
                      },
                  ]
                : []),
        ]),
        shown.graphs &&
            chart({
                id: "fusion-chart",
                title: "By kind of group",
                height: 70 + 34 * Math.max(rows.length, 3),
                note: "Bytes that its operators move one by one, and fused.",
                about: "Bars of the bytes moved before and after fusing, by kind of group.",
                option: () => ({
                    grid: { left: 8, right: 24, top: 36, bottom: 8, containLabel: true },
                    legend: legend(),
                    xAxis: byteAxis(rows.reduce((a, k) => Math.max(a, k.bytes, k.before), 0)),
                    yAxis: axis({
                        type: "category",
                        inverse: true,
                        data: rows.map((k) => k.kind),
                        axisLabel: { width: 190, overflow: "truncate", color: palette().text },
                    }),
                    tooltip: {
                        trigger: "item",
                        formatter: (q: any) =>
                            tip(q.name, [
                                ["Groups", f.whole(rows[q.dataIndex].groups)],
                                ["Operators", f.whole(rows[q.dataIndex].nodes)],
                                [q.seriesName, f.bytes(q.value)],
                            ]),
                    },
                    series: [
                        ...(rows.some((k) => k.before)
                            ? [
                                  {
                                      type: "bar",
                                      name: "one by one",
                                      barMaxWidth: 12,
                                      itemStyle: { color: palette().series[7] },
                                      data: rows.map((k) => k.before),
                                  },
                              ]
                            : []),
                        {
                            type: "bar",
                            name: "fused",
                            barMaxWidth: 12,
                            itemStyle: { color: palette().series[0] },
                            data: rows.map((k) => k.bytes),
                        },
                    ],
                }),
                table: () => ({
                    head: ["Kind", "Groups", "Operators", "Bytes one by one", "Bytes fused"],
                    rows: rows.map((k) => [
                        k.kind,
                        k.groups,
                        k.nodes,
                        f.bytes(k.before),
                        f.bytes(k.bytes),
                    ]),
                }),
            }).element,
        shown.details &&
            limited(
                largest,
                15,
                (some) =>
                    table<Group>(
                        "Groups",
                        [
                            {
                                name: "Group",
                                text: (g) => [
                                    `#${g.id ?? ""} ${g.kind ?? ""}`,
                                    g.critical && h("span", { class: "chip fair" }, "critical"),
                                ],
                            },
                            {
                                name: "Operators",
                                text: (g) => f.clip((g.nodes ?? []).join(", "), 120),
                                class: "prose",
                            },
                            { name: "FLOPs", text: (g) => f.si(g.flops), number: true },
                            { name: "Bytes", text: (g) => f.bytes(g.boundary_bytes), number: true },
                            {
                                name: "F/B",
                                text: (g) => f.intensity(g.arithmetic_intensity),
                                number: true,
                            },
                            { name: "Level", text: (g) => f.whole(g.level), number: true },
                        ],
                        some,
                    ),
                "groups",
            ),
        shown.details &&
            patterns.length > 0 &&
            limited(
                patterns,
                10,
                (some) =>
                    table(
                        "Patterns",
                        [
                            { name: "Pattern", text: (k) => k.name },
                            { name: "Form", text: (k) => k.form ?? "" },
                            { name: "Output", text: (k) => h("code", null, k.output ?? "") },
                            {
                                name: "Operators",
                                text: (k) => f.whole(k.nodes?.length),
                                number: true,
                            },
                            { name: "FLOPs", text: (k) => f.si(k.flops), number: true },
                        ],
                        some,
                    ),
                "patterns",
            ),
    );
}

// ---- a process that was watched ----

export function watchView(p: Profile, shown: Shown): HTMLElement | null {
    const t = p.watch as Record<string, any> | undefined;
    if (!t) return null;
    const list = (t.samples ?? []) as Record<string, any>[];
    const pick = thin(
        list.map((s) => s.resident ?? 0),
        1000,
    ).map(([i]) => list[i]);
    const figure = (
        id: string,
        title: string,
        lines: [string, string][],
        y: (most: number) => Record<string, any>,
        show: (v: number) => string,
    ): HTMLElement =>
        chart({
            id,
            title,
            height: 280,
            about: `Lines over time: ${title}.`,
            option: () => ({
                grid: { left: 8, right: 16, top: 36, bottom: 28, containLabel: true },
                legend: legend({ show: lines.length > 1 }),
                xAxis: axis({
                    type: "value",
                    name: "seconds",
                    nameGap: 26,
                    max: "dataMax",
                    splitLine: { show: false },
                }),
                yAxis: y(pick.reduce((m, s) => Math.max(m, ...lines.map(([, k]) => s[k] ?? 0)), 0)),
                tooltip: {
                    trigger: "axis",
                    formatter: (q: any) =>
                        tip(
                            `${f.fixed(q[0].value[0], 1)} s`,
                            q.map((s: any) => [s.seriesName, show(s.value[1])]),
                        ),
                },
                series: lines.map(([name, k]) => ({
                    type: "line",
                    name,
                    symbol: "none",
                    lineStyle: { width: 1.5 },
                    data: pick.map((s) => [s.time_s, s[k] ?? null]),
                })),
            }),
            table: () => ({
                head: ["Seconds", ...lines.map(([n]) => n)],
                rows: list.map((s) => [f.fixed(s.time_s, 2), ...lines.map(([, k]) => show(s[k]))]),
            }),
        }).element;
    return section(
        "watch",
        "Watched",
        cards([
            {
                name: "Processor",
                value: f.percent(t.cpu_percent, 0),
                note: `${f.fixed(t.cpu_s, 1)} s in ${f.fixed(t.wall_s, 1)} s`,
            },
            {
                name: "Peak memory",
                value: f.bytes(t.peak_resident),
                note: `average ${f.bytes(t.average_resident)}`,
            },
            {
                name: "Processes",
                value: f.whole(t.peak_processes),
                note: `${f.whole(t.peak_threads)} threads at most`,
            },
            {
                name: "Disk",
                value: f.bytes(t.read_bytes),
                note: `read; ${f.bytes(t.written_bytes)} written`,
            },
            {
                name: "Major faults",
                value: f.whole(t.major_faults),
                note: `${f.whole(t.involuntary_switches)} involuntary switches`,
            },
        ]),
        h(
            "p",
            { class: "soft" },
            t.command && h("code", null, String(t.command)),
            f.isNumber(t.exit_code) ? ` ended with exit code ${t.exit_code}.` : "",
        ),
        shown.graphs &&
            list.length > 1 &&
            h(
                "div",
                { class: "pair" },
                figure(
                    "watch-cpu",
                    "Processor, per cent of a core",
                    [["processor", "cpu_percent"]],
                    () => axis({ type: "value", min: 0 }),
                    (v) => f.percent(v, 0),
                ),
                figure(
                    "watch-memory",
                    "Memory",
                    [
                        ["resident", "resident"],
                        ["anonymous", "anonymous"],
                        ["file-backed", "file_backed"],
                    ],
                    (most) => byteAxis(most),
                    f.bytes,
                ),
            ),
    );
}

// ---- weights without a graph ----

export function inventoryView(p: Profile, shown: Shown): HTMLElement | null {
    const i = p.inventory;
    if (!i) return null;
    return section(
        "inventory",
        "Weights",
        cards([
            { name: "Tensors", value: f.whole(i.tensors) },
            { name: "Elements", value: f.si(i.elements), exact: f.whole(i.elements) },
            { name: "Size", value: f.bytes(i.bytes) },
        ]),
        shown.details &&
            limited(
                i.largest ?? [],
                20,
                (some) =>
                    table(
                        "Largest tensors",
                        [
                            { name: "Tensor", text: (w) => h("code", null, w.name) },
                            { name: "Type", text: (w) => w.dtype ?? "" },
                            { name: "Shape", text: (w) => f.shape(w.shape) },
                            { name: "Elements", text: (w) => f.si(w.elements), number: true },
                            { name: "Size", text: (w) => f.bytes(w.bytes), number: true },
                        ],
                        some,
                    ),
                "tensors",
            ),
    );
}

// ---- context ----

export function contextView(p: Profile): HTMLElement {
    const c = p.context ?? {};
    const k = p.config ?? {};
    const host = c.host ?? {};
    const e = c.engine;
    const cold = p.cold_start;
    const u = p.utilization;
    const tensors = (list: any[] | undefined): Child =>
        list?.length
            ? h(
                  "ul",
                  { class: "values" },
                  list.map((t) =>
                      h(
                          "li",
                          null,
                          h("code", null, t.name),
                          " ",
                          h("span", { class: "soft" }, `${f.shape(t.shape)} ${t.dtype ?? ""}`),
                      ),
                  ),
              )
            : null;
    const types = Object.entries((p.architecture?.weights_by_dtype ?? {}) as Record<string, any>);
    return section(
        "context",
        "Context",
        h(
            "div",
            { class: "pair" },
            panel(
                "Model",
                facts([
                    ["Name", p.model],
                    ["Format", k.format],
                    ["Opset", k.opset ? `${k.opset}, IR ${k.ir_version ?? "?"}` : null],
                    ["Producer", k.producer],
                    ["Precision", k.precision],
                    ["Configuration", k.config_file],
                    ["SHA-256", c.model_sha256 && h("code", { class: "break" }, c.model_sha256)],
                    ["Inputs", tensors(k.inputs)],
                    ["Outputs", tensors(k.outputs)],
                    [
                        "Weights",
                        types.length
                            ? types.map(([t, w]) => `${t} ${f.bytes(w.bytes)}`).join(", ")
                            : null,
                    ],
                    ["Counted as", p.lens && p.lens !== "assay" ? `${p.lens} does` : null],
                ]),
            ),
            panel(
                "Where and when",
                facts([
                    ["Made", f.day(c.timestamp)],
                    ["By", c.tool_version ? `assay ${c.tool_version}` : null],
                    ["Command", c.command && h("code", { class: "break" }, c.command)],
                    [
                        "Host",
                        host.cpu
                            ? `${host.cpu}, ${host.cores ?? "?"} cores, ${f.bytes(host.memory_bytes)}`
                            : null,
                    ],
                    ["System", host.os ? `${host.os} ${host.machine ?? ""}` : null],
                    ["Clock governor", c.governor],
                    [
                        "Engine",
                        e && `${e.title ?? e.name} ${e.version ?? ""} on ${e.device ?? "?"}`,
                    ],
                    ["Threads", e && (e.threads ? String(e.threads) : "the engine's choice")],
                    [
                        "Load",
                        e &&
                            (f.isNumber(e.rate)
                                ? `${e.rate} requests per second`
                                : `closed loop, ${e.concurrency ?? 1} at once`),
                    ],
                    [
                        "Cold start",
                        cold &&
                            `engine ${f.ms(cold.engine_ms)}, session ${f.ms(cold.session_ms)}, first run ${f.ms(cold.first_run_ms)}`,
                    ],
                    [
                        "Resources",
                        u &&
                            `${f.percent(u.cpu_percent, 0)} of a core, ${f.whole(u.involuntary_switches)} switches, ${f.whole(u.major_faults)} major faults${f.isNumber(u.steal_percent) ? `, ${f.percent(u.steal_percent)} stolen` : ""}${f.isNumber(u.energy_j) ? `, ${f.fixed(u.energy_j, 1)} J` : ""}`,
                    ],
                    [
                        "Disk",
                        p.io && f.isNumber(p.io.read_bytes)
                            ? `${f.bytes(p.io.read_bytes)} read, ${f.bytes(p.io.written_bytes)} written`
                            : null,
                    ],
                ]),
            ),
        ),
    );
}
