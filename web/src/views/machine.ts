// A machine: bandwidth over the working set.
import { figure, tabulate } from "../charts";
import { rowsOf } from "../documents";
import * as f from "../format";
import { frame, itemTip, legend, logAxis, tip, valueAxis, type LineSeriesOption } from "../plot";
import type { Machine, MachinePoint } from "../types";
import { section } from "../ui";

const rate = (v: number): string => f.si(v, "B/s");

function bandwidth(rows: MachinePoint[]): HTMLElement {
    const line = (name: "read" | "triad"): LineSeriesOption => ({
        type: "line",
        name,
        symbolSize: 6,
        data: rows.map((r) => [r.set_bytes, r[name]]),
    });
    return figure({
        id: "bandwidth-chart",
        title: "By working set, one thread",
        height: 340,
        about: "Lines of the bandwidth over the size of the working set.",
        note: "Each step down is a cache that the set no longer fits into.",
        option: () => ({
            grid: frame(28, 40, 30),
            legend: legend(),
            xAxis: logAxis({
                logBase: 2,
                name: "working set",
                nameGap: 28,
                min: "dataMin",
                max: "dataMax",
                axisLabel: { formatter: (v) => f.bytes(v) },
            }),
            yAxis: valueAxis({ axisLabel: { formatter: rate } }),
            tooltip: itemTip((m) => tip(f.bytes(m.x), [[m.series, rate(m.value)]])),
            series: [line("read"), line("triad")],
        }),
        table: () =>
            tabulate(rows, [
                ["Working set", (r) => f.bytes(r.set_bytes)],
                ["Read", (r) => rate(r.read)],
                ["Triad", (r) => rate(r.triad)],
            ]),
    });
}

export function machineSection(d: Machine): HTMLElement | null {
    const rows = rowsOf(d.bandwidth_by_set);
    return rows.length > 1 ? section("bandwidth", "Bandwidth", bandwidth(rows)) : null;
}
