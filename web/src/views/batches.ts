// The sweep over batch sizes: what more throughput costs in latency and memory.
import { figure, tabulate, type TableData } from "../charts";
import type { Shown } from "../envelope";
import * as f from "../format";
import {
    byteAxis,
    categoryAxis,
    frame,
    itemTip,
    labelText,
    legend,
    tickMs,
    tickSi,
    tip,
    valueAxis,
    type LineSeriesOption,
} from "../plot";
import { palette } from "../theme";
import type { BatchProfile, Profile, ProfileConfig } from "../types";
import { banner, column, numbers, pair, section, table, type Column } from "../ui";

const MIB = 2 ** 20;
function configurationOf([batch, b]: [string, BatchProfile]): ProfileConfig {
    const m = b.memory;
    const used = m && m.peak_mb - m.before_mb;
    return {
        batch: Number(batch),
        precision: "",
        error: b.error,
        code: b.code,
        mean_ms: b.timing?.mean_ms,
        std_ms: b.timing?.std_ms,
        median_ms: b.timing?.median_ms,
        samples_per_second: b.throughput,
        peak_bytes: f.isNumber(used) ? used * MIB : undefined,
    };
}

function configurationsOf(p: Profile): ProfileConfig[] {
    if (p.configurations?.length) return p.configurations;
    return Object.entries(p.batch_profiling ?? {}).map(configurationOf);
}

// The one to run: of several precisions at its batch size only the chosen one.
function isChosen(p: Profile, c: ProfileConfig): boolean {
    if (c.error || !f.isNumber(p.recommended_batch) || c.batch !== p.recommended_batch)
        return false;
    return !p.batch_choice?.precision || !c.precision || p.batch_choice.precision === c.precision;
}

// Against the model as it is stored.
const errorOf = (c: ProfileConfig): string =>
    f.isNumber(c.output_error?.relative) ? f.percent(100 * c.output_error.relative, 2) : f.DASH;

function asTable(p: Profile, ran: ProfileConfig[]): TableData {
    return tabulate(ran, [
        ["Batch", (k) => k.batch],
        ["Precision", (k) => k.precision ?? ""],
        ["Median", (k) => f.ms(k.median_ms)],
        ["p95", (k) => f.ms(k.p95_ms)],
        ["Samples/s", (k) => f.rate(k.samples_per_second)],
        ["Memory", (k) => f.bytes(k.peak_bytes)],
        ["Output error", errorOf],
        ["Recommended", (k) => (isChosen(p, k) ? "yes" : "")],
    ]);
}

// ---- throughput against latency ----

function byPrecision(ran: ProfileConfig[]): Map<string, ProfileConfig[]> {
    const lines = new Map<string, ProfileConfig[]>();
    for (const c of ran) {
        const precision = c.precision ?? "";
        lines.set(precision, [...(lines.get(precision) ?? []), c]);
    }
    return lines;
}

function pointTip(p: Profile, k: ProfileConfig): HTMLElement {
    return tip(
        `Batch ${k.batch}${k.precision ? ", " + k.precision : ""}`,
        [
            ["Throughput", `${f.rate(k.samples_per_second)} samples/s`],
            ["Median", f.ms(k.median_ms)],
            ["p95", f.ms(k.p95_ms)],
            ["Memory", f.bytes(k.peak_bytes)],
            ["Output error", errorOf(k)],
        ],
        isChosen(p, k) ? "recommended" : undefined,
    );
}

function precisionLine(
    precision: string,
    list: ProfileConfig[],
    color: string,
    chosen: (k: ProfileConfig) => boolean,
): LineSeriesOption {
    const c = palette();
    const point = (k: ProfileConfig) => ({
        value: [k.median_ms ?? k.mean_ms, k.samples_per_second],
        symbol: chosen(k) ? "diamond" : "circle",
        symbolSize: chosen(k) ? 18 : 9,
        itemStyle: chosen(k) ? { color: c.series[1] } : undefined,
    });
    return {
        type: "line",
        name: precision,
        symbol: "circle",
        symbolSize: 9,
        lineStyle: { width: 2, color },
        itemStyle: { color },
        data: list.map(point),
        label: {
            show: true,
            position: "top",
            color: c.text,
            formatter: labelText((m) => `batch ${list[m.index].batch}`),
        },
    };
}

function recommendation(p: Profile): string {
    if (!f.isNumber(p.recommended_batch)) return "Up is more work done, right is longer to wait.";
    const usual = "It has the most throughput within four fifths of the memory.";
    return `Batch ${p.recommended_batch} is recommended. ${p.batch_choice?.why ?? usual}`;
}

function tradeoff(p: Profile, ran: ProfileConfig[]): HTMLElement {
    const lines = [...byPrecision(ran)];
    const chosen = (k: ProfileConfig) => isChosen(p, k);
    return figure({
        id: "batch-sweep",
        title: "Throughput against latency",
        height: 340,
        note: recommendation(p),
        about:
            "Line of throughput over latency with a point per batch size; " +
            "the recommended one is marked.",
        option: () => ({
            grid: frame(32, 40, 28),
            legend: legend({ show: lines.length > 1 }),
            xAxis: valueAxis({
                scale: true,
                name: "latency, median of a batch",
                nameGap: 26,
                axisLabel: { formatter: tickMs },
            }),
            yAxis: valueAxis({ axisLabel: { formatter: (v) => tickSi(v) + "/s" } }),
            tooltip: itemTip((m) => pointTip(p, lines[m.seriesIndex][1][m.index])),
            series: lines.map(([precision, list], i) =>
                precisionLine(precision, list, palette().series[i], chosen),
            ),
        }),
        table: () => asTable(p, ran),
    });
}

// ---- memory ----

function memoryByBatch(p: Profile, ran: ProfileConfig[]): HTMLElement {
    const isAmbiguous = (k: ProfileConfig) => ran.some((o) => o !== k && o.batch === k.batch);
    const name = (k: ProfileConfig) =>
        isAmbiguous(k) ? `${k.batch} ${k.precision ?? ""}` : String(k.batch);
    return figure({
        id: "batch-memory",
        title: "Memory by batch",
        height: 340,
        note: "Peak above what was there before the session; the engine is loaded by then.",
        about: "Bars of the peak memory of each batch size.",
        option: () => ({
            grid: frame(16, 24, 28),
            xAxis: categoryAxis(ran.map(name), {
                name: "batch",
                nameGap: 26,
                splitLine: { show: false },
            }),
            yAxis: byteAxis(f.most(ran.map((k) => k.peak_bytes))),
            tooltip: itemTip((m) => tip(`Batch ${m.name}`, [["Peak", f.bytes(m.value)]])),
            series: [
                {
                    type: "bar",
                    barMaxWidth: 42,
                    itemStyle: { color: palette().series[2] },
                    data: ran.map((k) => k.peak_bytes ?? 0),
                },
            ],
        }),
        table: () => asTable(p, ran),
    });
}

// ---- the section ----

function columnsOf(p: Profile, all: ProfileConfig[]): Column<ProfileConfig>[] {
    const has = all.some((c) => f.isNumber(c.output_error?.relative));
    const withError = has ? [numbers<ProfileConfig>("Output error", errorOf)] : [];
    const remark = (c: ProfileConfig) => c.error ?? (isChosen(p, c) ? "recommended" : "");
    return [
        numbers("Batch", (c) => f.whole(c.batch)),
        column("Precision", (c) => c.precision ?? f.DASH),
        numbers("Mean", (c) => (c.error ? f.DASH : f.ms(c.mean_ms))),
        numbers("± std", (c) => (c.error ? f.DASH : f.ms(c.std_ms))),
        numbers("Median", (c) => f.ms(c.median_ms)),
        numbers("p95", (c) => f.ms(c.p95_ms)),
        numbers("Samples/s", (c) => f.rate(c.samples_per_second)),
        ...withError,
        numbers("Memory", (c) => f.bytes(c.peak_bytes)),
        column("", remark),
    ];
}

export function batchesView(p: Profile, shown: Shown): HTMLElement | null {
    const all = configurationsOf(p);
    if (all.length < 2) return null;
    const ran = all.filter((c) => !c.error && f.isNumber(c.samples_per_second));
    const rowClass = (c: ProfileConfig) =>
        c.error ? "failed" : isChosen(p, c) ? "best" : undefined;
    return section(
        "batches",
        "Batch sizes",
        p.stopped && banner("fair", p.stopped),
        shown.graphs && ran.length > 1 && pair(tradeoff(p, ran), memoryByBatch(p, ran)),
        table("Configurations", columnsOf(p, all), all, rowClass),
    );
}
