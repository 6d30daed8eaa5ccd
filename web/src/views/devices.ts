// Devices that the model was placed on: predicted latency, throughput and memory.
import { figure, tabulate } from "../charts";
import type { Shown } from "../envelope";
import * as f from "../format";
import { frame, itemTip, legend, logAxis, tickMs, tip } from "../plot";
import type { DeviceMap, MappingHardware, MappingRow, Profile } from "../types";
import { chip, column, longTable, numbers, prose, section, soft, table, type Column } from "../ui";

const energy = (d: MappingRow): string =>
    f.isNumber(d.energy_j_per_sample) ? f.si(d.energy_j_per_sample * 1000) + " mJ" : f.DASH;
const columns: Column<MappingRow>[] = [
    column("Device", (d) => [d.name, d.pareto && chip("good", "Pareto")]),
    column("Precision", (d) => d.precision ?? ""),
    numbers("Batch", (d) => f.whole(d.batch)),
    numbers("Latency", (d) => f.ms(d.latency_ms)),
    numbers("Samples/s", (d) => f.rate(d.throughput)),
    numbers("Memory", (d) => f.bytes(d.memory_bytes)),
    numbers("Energy", energy),
    numbers("Of peak", (d) => f.percent(d.percent_of_peak)),
    column("Bound", (d) => d.bound ?? ""),
    column("Verdict", (d) => d.verdict ?? ""),
    column("Training", (d) => d.training_verdict ?? ""),
];

const peaks = (d: MappingHardware): string =>
    (d.precisions ?? [])
        .filter((q) => q.precision && f.isNumber(q.peak_ops_per_s))
        .map((q) => `${q.precision} ${f.si(q.peak_ops_per_s)}`)
        .join(", ");
const hardwareColumns: Column<MappingHardware>[] = [
    column("Hardware", (d) => d.name ?? d.id),
    numbers("Memory", (d) => f.bytes(d.memory_bytes)),
    numbers("Bandwidth", (d) => f.si(d.bandwidth_bytes_per_s, "B/s")),
    numbers("Power", (d) => (f.isNumber(d.tdp_w) ? `${d.tdp_w} W` : f.DASH)),
    prose("Peaks", peaks),
    column("How sure", (d) => d.certainty ?? ""),
];

// A line for each device and precision, with a point for each batch size.
type Line = [name: string, rows: MappingRow[]];
function linesOf(list: MappingRow[]): Line[] {
    const lines = new Map<string, MappingRow[]>();
    for (const d of list) {
        if (d.fits === false || !f.isNumber(d.latency_ms)) continue;
        const name = `${d.name} ${d.precision ?? ""}`;
        lines.set(name, [...(lines.get(name) ?? []), d]);
    }
    return [...lines];
}

function pointTip(d: MappingRow): HTMLElement {
    return tip(`${d.name}, ${d.precision}, batch ${d.batch}`, [
        ["Latency", f.ms(d.latency_ms)],
        ["Samples/s", f.rate(d.throughput)],
        ["Memory", f.bytes(d.memory_bytes)],
        ["Bound", d.bound ?? ""],
        ["Verdict", d.verdict ?? ""],
        ["Training", d.training_verdict ?? ""],
    ]);
}

function tradeoff(lines: Line[], list: MappingRow[]): HTMLElement {
    return figure({
        id: "device-chart",
        title: "Throughput against latency",
        height: 400,
        note:
            "A line per device and precision, a point per batch size; " +
            "diamonds are on the Pareto front.",
        about: "Lines of throughput over latency, one per device and precision.",
        option: () => ({
            grid: frame(24, 8 + 24 * Math.ceil(lines.length / 3), 28),
            legend: legend({ type: lines.length > 9 ? "scroll" : "plain" }),
            xAxis: logAxis({
                name: "latency of a batch",
                nameGap: 26,
                axisLabel: { formatter: tickMs },
            }),
            yAxis: logAxis({ axisLabel: { formatter: (v) => f.si(v) + "/s" } }),
            tooltip: itemTip((m) => pointTip(lines[m.seriesIndex][1][m.index])),
            series: lines.map(([name, rows]) => ({
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
        table: () =>
            tabulate(list, [
                ["Device", (d) => d.name],
                ["Precision", (d) => d.precision],
                ["Batch", (d) => d.batch],
                ["Latency", (d) => f.ms(d.latency_ms)],
                ["Samples/s", (d) => f.rate(d.throughput)],
                ["Memory", (d) => f.bytes(d.memory_bytes)],
                ["Energy", (d) => f.fixed(d.energy_j_per_sample, 4)],
                ["Of peak", (d) => f.percent(d.percent_of_peak)],
                ["Bound", (d) => d.bound],
                ["Verdict", (d) => d.verdict],
            ]),
    });
}

// What the predictions are worth.
function prediction(map: DeviceMap | undefined, lines: number, drawn: number): string {
    const { median_error: error, device } = map?.calibration ?? {};
    const measured =
        f.isNumber(error) &&
        `Times of ${device ?? "this machine"} come from measured kernels, whose median error is ` +
            `${f.percent(100 * error, 0)}. `;
    const left = lines > drawn && `The chart has the first ${drawn} of ${lines} combinations.`;
    const by = map?.prediction ?? "a roofline of each layer";
    return `Predicted: ${by}. ${measured || ""}${left || ""}`;
}

const MOST_LINES = 24;
export function devicesView(p: Profile, shown: Shown): HTMLElement | null {
    const list = p.devices ?? [];
    if (!list.length) return null;
    const all = linesOf(list);
    const lines = all.slice(0, MOST_LINES);
    const hardware = p.map?.hardware ?? [];
    const rowClass = (d: MappingRow) => (d.fits === false ? "failed" : undefined);
    return section(
        "devices",
        "Devices",
        soft(prediction(p.map, all.length, lines.length)),
        shown.graphs && lines.length > 0 && tradeoff(lines, list),
        shown.details && longTable("Devices", columns, list, { first: 12, what: "rows", rowClass }),
        shown.details && hardware.length > 0 && table("Hardware", hardwareColumns, hardware),
    );
}
