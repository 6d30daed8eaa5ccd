// Memory: activations alive while each layer runs, who makes the peak, and what a run really took.
import { figure, tabulate } from "../charts";
import type { Shown } from "../envelope";
import * as f from "../format";
import {
    axisTip,
    byteAxis,
    frame,
    legend,
    tickMs,
    tip,
    valueAxis,
    type LineSeriesOption,
} from "../plot";
import { palette } from "../theme";
import { thin } from "../thin";
import type {
    Memory,
    PlanLedgerRow,
    Profile,
    ProfileEvent,
    ProfileMemoryPlan,
    ProfileMemorySample,
    ProfileMoment,
    ProfilePlanCheck,
    ProfileSnapshot,
    ProfileWitness,
} from "../types";
import {
    cards,
    code,
    codeOrDash,
    column,
    longTable,
    numbers,
    panel,
    section,
    soft,
    table,
    type Column,
} from "../ui";

// ---- the plan over the execution ----

type Step = [index: number, bytes: number];

// What the engine had, at the step of the node of that name.
function asRun(plan: ProfileMoment[], check: ProfilePlanCheck | undefined): Step[] {
    const at = new Map(plan.map((t, i) => [t.node, i]));
    const found = (check?.timeline ?? []).flatMap((t): Step[] => {
        const i = at.get(t.node);
        return i === undefined ? [] : [[i, t.live_bytes]];
    });
    return found.sort((a, b) => a[0] - b[0]);
}

function lowerBound(bytes: f.Maybe): LineSeriesOption["markLine"] {
    if (!f.isNumber(bytes)) return undefined;
    const { soft } = palette();
    return {
        silent: true,
        symbol: "none",
        lineStyle: { type: "dashed", color: soft },
        label: { formatter: "lower bound of any plan", position: "insideEndTop", color: soft },
        data: [{ yAxis: bytes }],
    };
}

function plannedLine(line: ProfileMoment[], top: number, m: ProfileMemoryPlan): LineSeriesOption {
    return {
        type: "line",
        name: "planned",
        step: "middle",
        symbol: "none",
        areaStyle: { opacity: 0.25 },
        lineStyle: { width: 1.5 },
        data: thin(line, (t) => t.live_bytes, 2000).map(([i, t]) => [i, t.live_bytes]),
        markPoint: {
            symbol: "pin",
            symbolSize: 34,
            label: { show: true, formatter: "peak", fontSize: 10, color: "#fff" },
            data: [{ name: "peak", coord: [top, line[top].live_bytes] }],
            itemStyle: { color: palette().series[1] },
        },
        markLine: lowerBound(m.lower_bound_bytes),
    };
}

const asRunLine = (data: Step[]): LineSeriesOption => ({
    type: "line",
    name: "as the engine had it",
    step: "middle",
    symbol: "none",
    lineStyle: { width: 1.5 },
    data,
});

function overExecution(
    m: ProfileMemoryPlan,
    check: ProfilePlanCheck | undefined,
): HTMLElement | null {
    const line = m.timeline ?? [];
    if (line.length < 2) return null;
    const top = line.reduce((best, t, i) => (t.live_bytes > line[best].live_bytes ? i : best), 0);
    const peak = line[top].live_bytes;
    const ran = asRun(line, check);
    return figure({
        id: "memory-plan",
        title: "Activations over the execution",
        height: 300,
        note: `The highest is ${f.bytes(peak)} while ${f.clip(line[top].node, 80)} runs.`,
        about:
            `Area of the bytes that are alive while each of ${line.length} layers runs; ` +
            `the peak is ${f.bytes(peak)}.`,
        option: () => ({
            grid: frame(16, ran.length ? 36 : 16, 28),
            legend: legend({ show: ran.length > 0 }),
            xAxis: valueAxis({
                min: 0,
                max: line.length - 1,
                name: "layer, in the order they run",
                nameGap: 26,
                minInterval: 1,
                splitLine: { show: false },
            }),
            yAxis: byteAxis(f.most([peak, ...ran.map(([, bytes]) => bytes)])),
            tooltip: axisTip((marks) =>
                tip(line[marks[0].x]?.node ?? "", [
                    ["Layer", f.whole(marks[0].x + 1)],
                    ...marks.map((m): [string, string] => [m.series, f.bytes(m.value)]),
                ]),
            ),
            series: [plannedLine(line, top, m), ...(ran.length ? [asRunLine(ran)] : [])],
        }),
        table: () =>
            tabulate(
                [...line.entries()],
                [
                    ["Step", ([i]) => i + 1],
                    ["Layer", ([, t]) => t.node],
                    ["Alive", ([, t]) => f.bytes(t.live_bytes)],
                ],
            ),
    });
}

// ---- tables of the plan ----

function atPeak(m: ProfileMemoryPlan): HTMLElement | null {
    const list = m.witnesses ?? [];
    if (!list.length) return null;
    const whole = m.activations_peak_bytes || 1;
    const node = m.peak_node ?? "the costliest layer";
    const columns: Column<ProfileWitness>[] = [
        column("Value", (w) => code(w.value)),
        column("Made by", (w) => w.producer ?? f.DASH),
        numbers("Size", (w) => f.bytes(w.bytes)),
        numbers("Share", (w) => f.percent((100 * w.bytes) / whole)),
    ];
    return panel(
        "Alive at the peak",
        soft(`While ${node} runs; weights take ${f.bytes(m.weights_bytes)} beside it.`),
        longTable("Values alive at the peak", columns, list, { first: 8, what: "values" }),
    );
}

const eventColumns: Column<ProfileEvent>[] = [
    numbers("Step", (e) => f.whole(e.step)),
    column("What", (e) => e.kind),
    column("Value", (e) => codeOrDash(e.value)),
    column("In the place of", (e) => codeOrDash(e.of)),
    column("While", (e) => codeOrDash(e.node)),
    numbers("Size", (e) => f.bytes(e.bytes)),
    numbers("At", (e) => f.bytes(e.offset)),
    numbers("Alive then", (e) => f.bytes(e.live_bytes)),
];

function eventList(m: ProfileMemoryPlan): HTMLElement | null {
    const list = m.events ?? [];
    if (!list.length) return null;
    const count = (kind: ProfileEvent["kind"]) =>
        f.whole(list.filter((e) => e.kind === kind).length);
    const said =
        `Allocated ${count("allocate")}, freed ${count("free")}, ` +
        `written over an input ${count("reuse")}, views ${count("alias")}.`;
    return panel(
        "Allocations and frees, in order",
        soft(said),
        longTable("Allocations and frees", eventColumns, list, { first: 10, what: "events" }),
    );
}

const largestOf = (s: ProfileSnapshot): string =>
    (s.values ?? [])
        .slice(0, 3)
        .map((v) => `${f.clip(v.value, 40)} ${f.bytes(v.bytes)}`)
        .join(", ") || f.DASH;
const snapshotColumns: Column<ProfileSnapshot>[] = [
    numbers("Step", (s) => f.whole(s.step)),
    column("Moment", (s) => s.kind),
    column("While", (s) => codeOrDash(s.node)),
    numbers("Alive", (s) => f.bytes(s.live_bytes)),
    numbers("Values", (s) => f.whole((s.values ?? []).length + (s.values_left_out ?? 0))),
    column("Largest", largestOf),
];

function snapshotList(m: ProfileMemoryPlan): HTMLElement | null {
    const list = m.snapshots ?? [];
    if (!list.length) return null;
    return panel(
        "Snapshots",
        soft("What is alive while a layer runs, the largest first."),
        longTable("Snapshots", snapshotColumns, list, { first: 16, what: "snapshots" }),
    );
}

// ---- from the plan to the run ----

const causes: Record<PlanLedgerRow["cause"], string> = {
    planned: "Planned",
    expanded_operators: "Operators that the engine has only in parts",
    engine_order: "The engine's order of branches",
    in_place: "Kernels in place, or not",
    kept_buffers: "Dead buffers kept for later tensors",
    unexplained: "Unexplained",
    measured: "Measured",
    kernel_workspace: "Kernel workspace and rounding, at most",
};
const isEnd = (s: PlanLedgerRow): boolean => s.cause === "planned" || s.cause === "measured";
const signedBytes = (v: number): string => (v < 0 ? "−" : "+") + f.bytes(Math.abs(v));
const stepColumns: Column<PlanLedgerRow>[] = [
    column("Cause", (s) => causes[s.cause] ?? s.cause),
    numbers("Step", (s) => (isEnd(s) ? "" : signedBytes(s.bytes))),
    numbers("In all", (s) => f.bytes(s.total_bytes)),
];

// Steps that change nothing are left out.
function stepList(check: ProfilePlanCheck | undefined): HTMLElement | null {
    const list = (check?.ledger ?? []).filter((s) => isEnd(s) || s.bytes !== 0);
    if (list.length < 2) return null;
    const said =
        "Peak of activations, engine without optimisations: " +
        "what each cause adds or saves, and the sum.";
    return panel(
        "From the plan to the run",
        soft(said),
        table("From the planned peak to the measured one", stepColumns, list),
    );
}

// ---- what the process had ----

const curves: [name: string, of: (s: ProfileMemorySample) => f.Maybe][] = [
    ["resident", (s) => s.resident],
    ["anonymous", (s) => s.anonymous],
    ["file-backed", (s) => s.file_backed],
];

function residentCurve(run: Partial<Memory>): HTMLElement | null {
    const list = run.curve ?? [];
    if (list.length < 2) return null;
    const some = thin(list, (s) => s.resident, 1000).map(([, s]) => s);
    return figure({
        id: "memory-curve",
        title: "Resident memory of the process",
        height: 300,
        note: "From before the session is made to the last run.",
        about: "Lines of resident, anonymous and file-backed memory over time.",
        option: () => ({
            grid: frame(16, 36, 28),
            legend: legend(),
            xAxis: valueAxis({
                name: "time",
                nameGap: 26,
                splitLine: { show: false },
                max: "dataMax",
                axisLabel: { formatter: tickMs, showMaxLabel: false },
            }),
            yAxis: byteAxis(f.most(some.map((s) => s.resident))),
            tooltip: axisTip((marks) =>
                tip(
                    f.ms(marks[0].x),
                    marks.map((m) => [m.series, f.bytes(m.value)]),
                ),
            ),
            series: curves
                .filter(([, of]) => f.isNumber(of(some[0])))
                .map(([name, of]) => ({
                    type: "line",
                    name,
                    symbol: "none",
                    lineStyle: { width: 1.5 },
                    data: some.map((s) => [s.ms, of(s)]),
                })),
        }),
        table: () =>
            tabulate(list, [
                ["Time", (s) => f.ms(s.ms)],
                ["Resident", (s) => f.bytes(s.resident)],
                ["Anonymous", (s) => f.bytes(s.anonymous)],
                ["File-backed", (s) => f.bytes(s.file_backed)],
            ]),
    });
}

// ---- the section ----

function figures(
    m: ProfileMemoryPlan,
    run: Partial<Memory>,
    check: ProfilePlanCheck | undefined,
): HTMLElement {
    const agree =
        `planned ${f.bytes(check?.planned_peak)}; ` +
        `${f.whole(check?.shapes_equal)} of ${f.whole(check?.shapes_checked)} sizes agree`;
    return cards([
        !!m.peak_bytes && { name: "Weights", value: f.bytes(m.weights_bytes), note: "fixed" },
        !!m.peak_bytes && {
            name: "Activations at the peak",
            value: f.bytes(m.activations_peak_bytes),
            note: `${f.bytes(m.lower_bound_bytes)} is the least that any plan needs`,
        },
        !!m.planned_bytes && {
            name: "Planned block",
            value: f.bytes(m.planned_bytes),
            note: `${f.percent(100 * (m.fragmentation ?? 0))} of it idle at the peak`,
        },
        check && { name: "Peak as measured", value: f.bytes(check.measured_peak), note: agree },
        f.isNumber(run.peak) && {
            name: "Peak of the run",
            value: f.bytes(run.peak),
            note: `average ${f.bytes(run.average)}; ${f.bytes(run.per_sample)} per sample`,
        },
        f.isNumber(run.fragmentation) && {
            name: "Fragmentation",
            value: f.percent(100 * run.fragmentation),
            note: "of the engine's arena",
        },
    ]);
}

export function memoryView(p: Profile, shown: Shown): HTMLElement | null {
    const m = p.memory_plan ?? {};
    const run: Partial<Memory> = p.memory ?? {};
    if (!m.peak_bytes && !f.isNumber(run.peak)) return null;
    return section(
        "memory",
        "Memory",
        figures(m, run, p.plan_check),
        shown.graphs && [overExecution(m, p.plan_check), residentCurve(run)],
        shown.details && [stepList(p.plan_check), atPeak(m), snapshotList(m), eventList(m)],
    );
}
