// A process that was watched.
import { figure, tabulate } from "../charts";
import type { Shown } from "../envelope";
import * as f from "../format";
import { axisTip, byteAxis, frame, legend, tip, valueAxis } from "../plot";
import { thin } from "../thin";
import type { Profile, ProfileWatch, ProfileWatchSample } from "../types";
import { cards, code, pair, section, soft } from "../ui";

interface Curves {
    id: string;
    title: string;
    lines: [name: string, of: (s: ProfileWatchSample) => f.Maybe][];
    axis: (most: number) => ReturnType<typeof valueAxis>;
    show: (v: f.Maybe) => string;
}

const processor: Curves = {
    id: "watch-cpu",
    title: "CPU, per cent of a core",
    lines: [["processor", (s) => s.cpu_percent]],
    axis: () => valueAxis({ min: 0 }),
    show: (v) => f.percent(v, 0),
};
const memory: Curves = {
    id: "watch-memory",
    title: "Memory",
    lines: [
        ["resident", (s) => s.resident],
        ["anonymous", (s) => s.anonymous],
        ["file-backed", (s) => s.file_backed],
    ],
    axis: byteAxis,
    show: f.bytes,
};

function overTime(
    { id, title, lines, axis, show }: Curves,
    list: ProfileWatchSample[],
): HTMLElement {
    const some = thin(list, (s) => s.resident ?? 0, 1000).map(([, s]) => s);
    return figure({
        id,
        title,
        height: 280,
        about: `Lines over time: ${title}.`,
        option: () => ({
            grid: frame(16, 36, 28),
            legend: legend({ show: lines.length > 1 }),
            xAxis: valueAxis({
                name: "seconds",
                nameGap: 26,
                max: "dataMax",
                splitLine: { show: false },
            }),
            yAxis: axis(f.most(some.flatMap((s) => lines.map(([, of]) => of(s))))),
            tooltip: axisTip((marks) =>
                tip(
                    `${f.fixed(marks[0].x, 1)} s`,
                    marks.map((m) => [m.series, show(m.value)]),
                ),
            ),
            series: lines.map(([name, of]) => ({
                type: "line",
                name,
                symbol: "none",
                connectNulls: true, // CPU time is read less often than memory
                lineStyle: { width: 1.5 },
                data: some.map((s) => [s.time_s, of(s) ?? null]),
            })),
        }),
        table: () =>
            tabulate<ProfileWatchSample>(list, [
                ["Seconds", (s) => f.fixed(s.time_s, 2)],
                ...lines.map(([name, of]): [string, (s: ProfileWatchSample) => string] => [
                    name,
                    (s) => show(of(s)),
                ]),
            ]),
    });
}

function totals(t: ProfileWatch): HTMLElement {
    return cards([
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
    ]);
}

export function watchView(p: Profile, shown: Shown): HTMLElement | null {
    const t = p.watch;
    if (!t) return null;
    const list = t.samples ?? [];
    const ended = f.isNumber(t.exit_code) ? ` ended with exit code ${t.exit_code}.` : "";
    return section(
        "watch",
        "Process",
        totals(t),
        soft(t.command && code(String(t.command)), ended),
        shown.graphs && list.length > 1 && pair(overTime(processor, list), overTime(memory, list)),
    );
}
