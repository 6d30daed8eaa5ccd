// The sweep over batch sizes: what more throughput costs in latency and memory.
import { axis, byteAxis, chart, legend, tickMs, tickSi, tip } from "../charts";
import { h } from "../dom";
import * as f from "../format";
import { palette } from "../theme";
import type { Configuration, Profile, Shown } from "../types";
import { section, table } from "../ui";

function configurations(p: Profile): Configuration[] {
    if (p.configurations?.length) return p.configurations;
    return Object.entries(p.batch_profiling ?? {}).map(([batch, b]: [string, any]) => ({
        batch: Number(batch),
        error: b.error,
        code: b.code,
        mean_ms: b.timing?.mean_ms,
        std_ms: b.timing?.std_ms,
        median_ms: b.timing?.median_ms,
        samples_per_second: b.throughput,
        peak_bytes: f.isNumber(b.memory?.peak_mb) ? b.memory.peak_mb * 2 ** 20 : null,
    }));
}

function tradeoff(p: Profile, ran: Configuration[]): HTMLElement {
    const byPrecision = new Map<string, Configuration[]>();
    ran.forEach((c) =>
        byPrecision.set(c.precision ?? "", [...(byPrecision.get(c.precision ?? "") ?? []), c]),
    );
    const best = p.recommended_batch;
    return chart({
        id: "batch-sweep",
        title: "Throughput against latency",
        height: 340,
        note: f.isNumber(best)
            ? `Batch ${best} is recommended. ${p.batch_choice?.why ?? "It has the most throughput within four fifths of the memory."}`
            : "Up is more work done, right is longer to wait.",
        about: "Line of throughput over latency with a point per batch size; the recommended one is marked.",
        option: () => {
            const c = palette();
            const lines = [...byPrecision.values()];
            return {
                grid: { left: 8, right: 32, top: 40, bottom: 28, containLabel: true },
                legend: legend({ show: byPrecision.size > 1 }),
                xAxis: axis({
                    type: "value",
                    scale: true,
                    name: "latency, median of a batch",
                    nameGap: 26,
                    axisLabel: { formatter: tickMs },
                }),
                yAxis: axis({
                    type: "value",
                    axisLabel: { formatter: (v: number) => tickSi(v) + "/s" },
                }),
                tooltip: {
                    trigger: "item",
                    formatter: (q: any) => {
                        const k = lines[q.seriesIndex][q.dataIndex];
                        return tip(
                            `Batch ${k.batch}${k.precision ? ", " + k.precision : ""}`,
                            [
                                ["Throughput", `${f.rate(k.samples_per_second)} samples/s`],
                                ["Median", f.ms(k.median_ms)],
                                ["p95", f.ms(k.p95_ms)],
                                ["Memory", f.bytes(k.peak_bytes)],
                            ],
                            k.batch === best ? "recommended" : undefined,
                        );
                    },
                },
                series: [...byPrecision].map(([precision, list], i) => ({
                    type: "line",
                    name: precision,
                    symbol: "circle",
                    symbolSize: 9,
                    lineStyle: { width: 2, color: c.series[i] },
                    itemStyle: { color: c.series[i] },
                    data: list.map((k) => ({
                        value: [k.median_ms ?? k.mean_ms, k.samples_per_second],
                        symbol: k.batch === best ? "diamond" : "circle",
                        symbolSize: k.batch === best ? 18 : 9,
                        itemStyle: k.batch === best ? { color: c.series[1] } : undefined,
                    })),
                    label: {
                        show: true,
                        position: "top",
                        color: c.text,
                        formatter: (q: any) => `batch ${lines[q.seriesIndex][q.dataIndex].batch}`,
                    },
                })),
            };
        },
        table: () => rows(p, ran),
    }).element;
}

function rows(p: Profile, ran: Configuration[]) {
    return {
        head: ["Batch", "Precision", "Median", "p95", "Samples/s", "Memory", "Recommended"],
        rows: ran.map((k) => [
            k.batch,
            k.precision ?? "",
            f.ms(k.median_ms),
            f.ms(k.p95_ms),
            f.rate(k.samples_per_second),
            f.bytes(k.peak_bytes),
            k.batch === p.recommended_batch ? "yes" : "",
        ]),
    };
}

function memory(p: Profile, ran: Configuration[]): HTMLElement {
    return chart({
        id: "batch-memory",
        title: "Memory by batch",
        height: 340,
        note: "Peak above what was there before the session.",
        about: "Bars of the peak memory of each batch size.",
        option: () => {
            const c = palette();
            return {
                grid: { left: 8, right: 16, top: 24, bottom: 28, containLabel: true },
                xAxis: axis({
                    type: "category",
                    data: ran.map((k) =>
                        ran.some((o) => o !== k && o.batch === k.batch)
                            ? `${k.batch} ${k.precision ?? ""}`
                            : String(k.batch),
                    ),
                    name: "batch",
                    nameGap: 26,
                    splitLine: { show: false },
                }),
                yAxis: byteAxis(ran.reduce((a, k) => Math.max(a, k.peak_bytes ?? 0), 0)),
                tooltip: {
                    trigger: "item",
                    formatter: (q: any) => tip(`Batch ${q.name}`, [["Peak", f.bytes(q.value)]]),
                },
                series: [
                    {
                        type: "bar",
                        barMaxWidth: 42,
                        itemStyle: { color: c.series[2] },
                        data: ran.map((k) => k.peak_bytes ?? 0),
                    },
                ],
            };
        },
        table: () => rows(p, ran),
    }).element;
}

export function batchesView(p: Profile, shown: Shown): HTMLElement | null {
    const all = configurations(p);
    const ran = all.filter((c) => !c.error && f.isNumber(c.samples_per_second));
    if (all.length < 2) return null;
    return section(
        "batches",
        "Batch sizes",
        p.stopped && h("p", { class: "banner fair" }, p.stopped),
        shown.graphs &&
            ran.length > 1 &&
            h("div", { class: "pair" }, tradeoff(p, ran), memory(p, ran)),
        table(
            "Configurations",
            [
                { name: "Batch", text: (c) => f.whole(c.batch), number: true },
                { name: "Precision", text: (c) => c.precision ?? f.DASH },
                { name: "Mean", text: (c) => (c.error ? f.DASH : f.ms(c.mean_ms)), number: true },
                { name: "± std", text: (c) => (c.error ? f.DASH : f.ms(c.std_ms)), number: true },
                { name: "Median", text: (c) => f.ms(c.median_ms), number: true },
                { name: "p95", text: (c) => f.ms(c.p95_ms), number: true },
                { name: "Samples/s", text: (c) => f.rate(c.samples_per_second), number: true },
                { name: "Memory", text: (c) => f.bytes(c.peak_bytes), number: true },
                {
                    name: "",
                    text: (c) => c.error ?? (c.batch === p.recommended_batch ? "recommended" : ""),
                },
            ],
            all,
            (c) => (c.error ? "failed" : c.batch === p.recommended_batch ? "best" : undefined),
        ),
    );
}
