// A plan of capacity: what a request waits for.
import { figure, tabulate } from "../charts";
import { rowsOf } from "../documents";
import type { Cell } from "../dom";
import * as f from "../format";
import { frame, itemTip, legend, rowAxis, tickMs, tip, valueAxis } from "../plot";
import { palette } from "../theme";
import type { Capacity, CapacityPlan } from "../types";
import { section } from "../ui";

const parts: [name: string, of: (p: CapacityPlan) => f.Maybe][] = [
    ["waiting for its batch", (p) => p.forming_mean_ms],
    ["waiting for a machine", (p) => p.waiting_mean_ms],
    ["running", (p) => p.service_mean_ms],
];
const nameOf = (p: CapacityPlan): string =>
    `batch ${p.batch}, ${p.concurrency} at once: ${f.whole(p.machines)}`;

function requestTime(plans: CapacityPlan[]): HTMLElement {
    return figure({
        id: "capacity-chart",
        title: "Mean time of a request",
        height: 100 + 34 * plans.length,
        about:
            "Stacked bars of the parts of a request's time, " +
            "a bar for each configuration that can do it.",
        note: "By configuration, with the number of machines it takes.",
        option: () => ({
            grid: frame(28, 40, 24),
            legend: legend(),
            xAxis: valueAxis({ axisLabel: { formatter: tickMs } }),
            yAxis: rowAxis(plans.map(nameOf), {
                axisLabel: { color: palette().text, width: 200, overflow: "truncate" },
            }),
            tooltip: itemTip((m) => {
                const p = plans[m.index];
                return tip(nameOf(p), [
                    [m.series, f.ms(m.value)],
                    ["Together", f.ms(p.latency_mean_ms)],
                    ["Load", f.percent(100 * (p.utilization ?? NaN), 0)],
                ]);
            }),
            series: parts.map(([name, of]) => ({
                type: "bar",
                name,
                stack: "all",
                barMaxWidth: 22,
                data: plans.map(of),
            })),
        }),
        table: () =>
            tabulate<CapacityPlan>(plans, [
                ["Configuration", nameOf],
                ...parts.map(([name, of]): [string, (p: CapacityPlan) => Cell] => [
                    name,
                    (p) => f.ms(of(p)),
                ]),
                ["Together", (p) => f.ms(p.latency_mean_ms)],
            ]),
    });
}

export function capacitySection(d: Capacity): HTMLElement | null {
    const plans = rowsOf(d.plans).filter((p) => p.feasible);
    if (!plans.length) return null;
    return section("waiting", "Latency of a request", requestTime(plans));
}
