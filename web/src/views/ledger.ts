// Where the time of a run went: layers, kernels of the engine's own, what lies between them.
import { figure, tabulate } from "../charts";
import { h, type Child } from "../dom";
import type { Shown } from "../envelope";
import * as f from "../format";
import { categoryAxis, frame, itemTip, legend, tickMs, tip, valueAxis } from "../plot";
import type { Profile, ProfileKernel, ProfileLedger, ProfileTimeGroup } from "../types";
import { timelineView } from "./timeline";
import { waitingView } from "./waiting";
import { code, column, longTable, numbers, section, soft, type Column } from "../ui";

const spread = (g: ProfileTimeGroup): string =>
    f.isNumber(g.time_std_ms) ? ` ± ${f.ms(g.time_std_ms)}` : "";
const groupColumns: Column<ProfileTimeGroup>[] = [
    column("Layers of", (g) => code(g.name)),
    numbers("Layers", (g) => f.whole(g.layers)),
    numbers("Time", (g) => f.ms(g.time_ms) + spread(g)),
    numbers("Share", (g) => f.percent(g.percent)),
    numbers("FLOPs", (g) => f.si(g.flops)),
    numbers("GFLOP/s", (g) => f.fixed(g.gflops_per_s, 1)),
    numbers("GB/s", (g) => f.fixed(g.gbytes_per_s, 1)),
    column("Bound", (g) => g.bottleneck ?? ""),
];
const kernelColumns: Column<ProfileKernel>[] = [
    column("Kernel", (k) => code(k.name)),
    column("Operator", (k) => k.op ?? ""),
    numbers("Time", (k) => f.ms(k.time_ms)),
];

function runBar(l: ProfileLedger, run: number): HTMLElement {
    const parts: [name: string, ms: f.Maybe][] = [
        ["layers of the model", l.layers_ms],
        ["kernels of the engine's own", l.engine_ms],
        ["between kernels", l.dispatch_ms],
        ["unexplained", l.unexplained_ms],
    ];
    const share = (ms: f.Maybe) => f.percent((100 * (ms ?? NaN)) / run);
    return figure({
        id: "ledger-chart",
        title: "One run",
        height: 110,
        about: "One bar, divided into the parts of a run's time.",
        option: () => ({
            grid: frame(8, 34, 22, 4),
            legend: legend({ type: "scroll" }),
            xAxis: valueAxis({
                max: run,
                axisLabel: { formatter: tickMs, showMaxLabel: false },
                splitLine: { show: false },
            }),
            yAxis: categoryAxis([""], { axisLine: { show: false } }),
            tooltip: itemTip((m) =>
                tip(m.series, [
                    ["Time", f.ms(m.value)],
                    ["Share", share(m.value)],
                ]),
            ),
            series: parts.map(([name, ms]) => ({
                type: "bar",
                name,
                stack: "run",
                barWidth: 22,
                data: [ms],
            })),
        }),
        table: () =>
            tabulate(parts, [
                ["Part", ([name]) => name],
                ["Time", ([, ms]) => f.ms(ms)],
                ["Share", ([, ms]) => share(ms)],
            ]),
    });
}

// Modules: a table for each of the first two levels, so that shares of one table never hold each
// other.
const groupTables: [title: string, is: (g: ProfileTimeGroup) => boolean][] = [
    ["Time by pattern", (g) => g.by === "pattern"],
    ["Time by type", (g) => g.by === "type"],
    ["Time by module", (g) => g.by === "module" && g.name.split(".").length === 1],
    ["Time by module, second level", (g) => g.by === "module" && g.name.split(".").length === 2],
];

function timeGroups(groups: ProfileTimeGroup[]): Child {
    return groupTables.map(([title, is]) => {
        const list = groups.filter(is);
        if (!list.length) return null;
        const rows = longTable(title, groupColumns, list, { first: 12, what: "rows" });
        return [h("h3", null, title), rows];
    });
}

const engineKernels = (list: ProfileKernel[]): HTMLElement =>
    longTable("Kernels of the engine's own", kernelColumns, list, { first: 10, what: "kernels" });

export function ledgerView(p: Profile, shown: Shown): HTMLElement | null {
    const l = p.ledger;
    if (!l || !f.isNumber(l.run_ms)) return null;
    const kernels = l.engine_kernels ?? [];
    const said =
        `A profiled run takes ${f.ms(l.run_ms)}; without the profiler the median is ` +
        `${f.ms(l.latency_ms)}. ${f.whole(l.kernels)} kernels, ${f.whole(l.fused_kernels)} of ` +
        `them fused.`;
    return section(
        "ledger",
        "Time of a run",
        soft(said),
        shown.graphs && runBar(l, l.run_ms),
        shown.graphs && timelineView(p),
        waitingView(p, shown.details, shown.graphs),
        shown.details && timeGroups(l.groups ?? []),
        shown.details && kernels.length > 0 && engineKernels(kernels),
    );
}
