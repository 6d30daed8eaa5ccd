// What waits in a measured run: layers for their inputs and for the engine, threads for each other.
import { figure, tabulate } from "../charts";
import * as f from "../format";
import { frame, itemTip, labelText, legend, rowAxis, tip, valueAxis } from "../plot";
import { palette } from "../theme";
import type { Profile, ProfileBlocking, ProfileWait } from "../types";
import { cards, code, column, longTable, numbers, over, type Column } from "../ui";
import type { Child } from "../dom";

const waitColumns: Column<ProfileWait>[] = [
    column("Layer", (w) => code(w.layer)),
    column("Waits for", (w) => (w.waits_for ? code(w.waits_for) : "inputs")),
    numbers("Ready", (w) => f.ms(w.ready_ms)),
    numbers("Begins", (w) => f.ms(w.start_ms)),
    numbers("Queued", (w) => f.ms(w.queued_ms)),
    numbers("Time", (w) => f.ms(w.time_ms)),
    column("Critical path", (w) => (w.critical ? "yes" : "")),
];

function threadChart(b: ProfileBlocking): HTMLElement | null {
    const threads = b.threads ?? [];
    if (!threads.length) return null;
    const parts: [string, (percent: number) => number][] = [
        ["works", (percent) => Math.max(0, 100 - percent)],
        ["waits", (percent) => percent],
    ];
    return figure({
        id: "thread-waits",
        title: "Threads",
        note: "Share of a run; of a worker, the least that it waits.",
        height: 58 + 30 * threads.length,
        about: "A bar for each thread, divided into work and waiting, of 100 %.",
        option: () => ({
            grid: frame(16, 30, 4, 4),
            legend: legend(),
            xAxis: valueAxis({ max: 100, axisLabel: { formatter: (v) => `${v} %` } }),
            yAxis: rowAxis(threads.map((t) => t.thread)),
            tooltip: itemTip((m) =>
                tip(m.name, [
                    [m.series, f.percent(m.value)],
                    ["Waits", f.ms(threads[m.index]?.wait_ms)],
                ]),
            ),
            series: parts.map(([name, of], i) => ({
                type: "bar",
                name,
                stack: "run",
                barWidth: 18,
                itemStyle: { color: palette().series[i ? 4 : 0] },
                label: {
                    show: i === 1,
                    position: "inside",
                    color: "#101418",
                    formatter: labelText((m) => (m.value > 15 ? f.percent(m.value) : "")),
                },
                data: threads.map((t) => of(t.percent)),
            })),
        }),
        table: () =>
            tabulate(threads, [
                ["Thread", (t) => t.thread],
                ["Waits", (t) => f.ms(t.wait_ms)],
                ["Share", (t) => f.percent(t.percent)],
            ]),
    });
}

export function waitingView(p: Profile, details: boolean, graphs: boolean): Child {
    const b = p.blocking;
    if (!b || !f.isNumber(b.layers_ms)) return null;
    const longest = [...(b.layers ?? [])].sort((x, y) => y.queued_ms - x.queued_ms);
    return [
        over("What waits"),
        cards([
            { name: "All layers in turn", value: f.ms(b.layers_ms) },
            {
                name: "Critical path",
                value: f.ms(b.critical_path_ms),
                note: `${f.whole(b.critical_path_layers)} layers that wait for each other`,
            },
            {
                name: "Branches at once",
                value: f.ratio(b.parallelism),
                note: "the most that running them in parallel can gain",
            },
        ]),
        graphs && threadChart(b),
        details &&
            longest.length > 0 &&
            longTable("Layers by time in the queue", waitColumns, longest, {
                first: 10,
                what: "layers",
            }),
    ];
}
