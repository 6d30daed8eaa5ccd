// What happens before the first result: cold starts in new processes, and work on constants when a
// model is loaded.
import { figure, tabulate } from "../charts";
import type { Shown } from "../envelope";
import * as f from "../format";
import { categoryAxis, frame, itemTip, legend, rowAxis, tickMs, tip, valueAxis } from "../plot";
import { palette } from "../theme";
import type { Profile, ProfileCold, ProfileLoadTime } from "../types";
import { cards, section } from "../ui";

function coldChart(c: ProfileCold): HTMLElement {
    const parts = c.parts.filter((x) => x.part !== "total" && x.samples_ms?.length);
    const starts = parts[0]?.samples_ms?.map((_, i) => String(i + 1)) ?? [];
    return figure({
        id: "cold-starts",
        title: "Cold starts",
        note: `${f.whole(c.starts)} new processes, batch ${f.whole(c.batch)}, ${c.precision}.`,
        height: 280,
        about: "A bar for each start, divided into engine, session and first run.",
        option: () => ({
            grid: frame(16, 34, 4, 4),
            legend: legend(),
            xAxis: categoryAxis(starts, { name: "start", nameGap: 24 }),
            yAxis: valueAxis({ axisLabel: { formatter: tickMs } }),
            tooltip: itemTip((m) => tip(`Start ${m.name}`, [[m.series, f.ms(m.value)]])),
            series: parts.map((x, i) => ({
                type: "bar",
                name: x.part,
                stack: "start",
                barMaxWidth: 34,
                itemStyle: { color: palette().series[[0, 4, 2][i] ?? i] },
                data: x.samples_ms ?? [],
            })),
        }),
        table: () =>
            tabulate(c.parts, [
                ["Part", (x) => x.part],
                ["Mean", (x) => f.ms(x.mean_ms)],
                ["±", (x) => f.ms(x.std_ms)],
                ["Fastest", (x) => f.ms(x.min_ms)],
                ["Median", (x) => f.ms(x.median_ms)],
                ["P95", (x) => f.ms(x.p95_ms)],
                ["Slowest", (x) => f.ms(x.max_ms)],
            ]),
    });
}

// Of the FLOPs, bytes and operators of a model, what is done once.
function loadChart(p: Profile, l: ProfileLoadTime): HTMLElement {
    const rows = [
        { name: "Operators", once: l.operators, every: p.total_operators, show: f.whole },
        { name: "FLOPs", once: l.flops, every: p.total_flops, show: (v: f.Maybe) => f.si(v) },
        { name: "Bytes moved", once: l.memory, every: p.total_memory, show: f.bytes },
    ];
    const share = (a: number, b: number) => (100 * a) / (a + b || 1);
    return figure({
        id: "load-time",
        title: "Once, when the model is loaded",
        note: `Work on constants alone; its results keep ${f.bytes(l.kept_bytes)}.`,
        height: 150,
        about: "Operators, FLOPs and bytes: share that is done once, of 100 %.",
        option: () => ({
            grid: frame(16, 30, 4, 4),
            legend: legend(),
            xAxis: valueAxis({ max: 100, axisLabel: { formatter: (v) => `${v} %` } }),
            yAxis: rowAxis(rows.map((r) => r.name)),
            tooltip: itemTip((m) => {
                const row = rows[m.index];
                return tip(row.name, [
                    ["Once", row.show(row.once)],
                    ["Every run", row.show(row.every)],
                ]);
            }),
            series: [
                {
                    type: "bar",
                    name: "once",
                    stack: "all",
                    barWidth: 16,
                    itemStyle: { color: palette().series[4] },
                    data: rows.map((r) => share(r.once, r.every)),
                },
                {
                    type: "bar",
                    name: "every run",
                    stack: "all",
                    barWidth: 16,
                    itemStyle: { color: palette().series[0] },
                    data: rows.map((r) => share(r.every, r.once)),
                },
            ],
        }),
        table: () =>
            tabulate(rows, [
                ["", (r) => r.name],
                ["Once", (r) => r.show(r.once)],
                ["Every run", (r) => r.show(r.every)],
            ]),
    });
}

export function startingView(p: Profile, shown: Shown): HTMLElement | null {
    const cold = p.cold_starts?.parts?.length ? p.cold_starts : null;
    const load = p.load_time && p.load_time.operators > 0 ? p.load_time : null;
    if (!cold && !load) return null;
    return section(
        "starting",
        "Start",
        cold &&
            cards(
                cold.parts.map((x) => ({
                    name: x.part,
                    value: f.ms(x.median_ms),
                    note: `median; ${f.ms(x.min_ms)} to ${f.ms(x.max_ms)}`,
                })),
            ),
        shown.graphs && cold && coldChart(cold),
        shown.graphs && load && loadChart(p, load),
    );
}
