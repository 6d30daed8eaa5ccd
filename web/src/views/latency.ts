// The runs: how they are distributed, and one after the other with what was unusual.
import { axis, chart, tickMs, tip } from "../charts";
import { h } from "../dom";
import * as f from "../format";
import { palette } from "../theme";
import type { Configuration, Latency, Profile, Shown } from "../types";
import { cards, section, select, table } from "../ui";

export interface Run {
    name: string;
    latency: Latency;
    first?: number | null;
}

// The top of a profile is its smallest configuration; the others bring their own.
export function runs(p: Profile): Run[] {
    const list: Run[] = [];
    const name = (c: Configuration) => `batch ${c.batch}${c.precision ? `, ${c.precision}` : ""}`;
    for (const c of p.configurations ?? [])
        if (c.latency?.samples_ms?.length)
            list.push({ name: name(c), latency: c.latency, first: c.cold_start?.first_run_ms });
    if (p.latency?.samples_ms?.length) {
        const top = (p.configurations ?? []).find((c) => !c.error && !c.latency);
        list.unshift({
            name: top ? name(top) : "as measured",
            latency: p.latency,
            first: p.cold_start?.first_run_ms,
        });
    }
    return list;
}

// Freedman and Diaconis: width = 2 IQR / n^(1/3); at least 8 bars, at most 60.
export function histogram(samples: number[]): { from: number; to: number; count: number }[] {
    const s = samples.filter((v) => Number.isFinite(v)).sort((a, b) => a - b);
    const at = (q: number) => s[Math.min(s.length - 1, Math.floor(q * s.length))];
    const span = s[s.length - 1] - s[0];
    const width = (2 * (at(0.75) - at(0.25))) / Math.cbrt(s.length);
    const n = span > 0 ? Math.max(8, Math.min(60, Math.ceil(span / (width || span)) || 8)) : 1;
    const bars = Array.from({ length: n }, (_, i) => ({
        from: s[0] + (span * i) / n,
        to: s[0] + (span * (i + 1)) / n,
        count: 0,
    }));
    for (const v of s)
        bars[span > 0 ? Math.min(n - 1, Math.floor(((v - s[0]) / span) * n)) : 0].count++;
    return bars;
}

const marks: [keyof Latency, string][] = [
    ["p50", "median"],
    ["p95", "p95"],
    ["p99", "p99"],
];

function distribution(now: () => Run) {
    return chart({
        id: "latency-distribution",
        title: "Distribution",
        height: 300,
        note: "Runs by their duration, with median, p95 and p99.",
        about: "Histogram of the durations of single runs.",
        option: () => {
            const c = palette();
            const l = now().latency;
            const bars = histogram(l.samples_ms!);
            return {
                grid: { left: 8, right: 24, top: 36, bottom: 28, containLabel: true },
                xAxis: axis({
                    type: "value",
                    min: bars[0].from,
                    max: bars[bars.length - 1].to,
                    name: "milliseconds",
                    nameGap: 26,
                    splitLine: { show: false },
                    axisLabel: {
                        formatter: (v: number) => f.fixed(v, v < 10 ? 2 : v < 100 ? 1 : 0),
                        showMinLabel: false,
                        showMaxLabel: false,
                    },
                }),
                yAxis: axis({ type: "value", minInterval: 1 }),
                tooltip: {
                    trigger: "item",
                    formatter: (q: any) => {
                        const b = bars[q.dataIndex];
                        return b
                            ? tip(`${f.ms(b.from)} to ${f.ms(b.to)}`, [["Runs", f.whole(b.count)]])
                            : "";
                    },
                },
                series: [
                    {
                        type: "bar",
                        barWidth: "99%",
                        barCategoryGap: 0,
                        data: bars.map((b) => [(b.from + b.to) / 2, b.count]),
                        itemStyle: { color: c.series[0], opacity: 0.8 },
                        markLine: {
                            symbol: "none",
                            silent: true,
                            lineStyle: { color: c.series[1], type: "solid", width: 1.5 },
                            label: { color: c.text, formatter: (q: any) => q.name },
                            data: marks
                                .filter(([k]) => f.isNumber(l[k]))
                                .map(([k, name]) => ({ name, xAxis: l[k] as number })),
                        },
                    },
                ],
            };
        },
        table: () => ({
            head: ["From", "To", "Runs"],
            rows: histogram(now().latency.samples_ms!).map((b) => [
                f.ms(b.from),
                f.ms(b.to),
                b.count,
            ]),
        }),
    });
}

function series(now: () => Run) {
    return chart({
        id: "latency-series",
        title: "Run by run",
        height: 300,
        note: "Shaded: warm-up, which does not count; the line in it: from where timings were steady. Diamonds: outliers, with their cause.",
        about: "Durations of the runs in the order they were made; outliers and warm-up are marked.",
        option: () => {
            const c = palette();
            const { latency: l, first } = now();
            const samples = l.samples_ms!;
            const warm = l.warmup_ms?.length
                ? l.warmup_ms
                : f.isNumber(first) && (l.warmup_runs ?? 0) > 0
                  ? [first]
                  : [];
            const before = Math.max(l.warmup_runs ?? 0, warm.length);
            const settled =
                f.isNumber(l.steady_after) && l.steady_after > 0
                    ? l.steady_after - before + 1
                    : l.steady
                      ? 1
                      : null;
            const odd = new Map((l.outliers ?? []).map((o) => [o.run, o]));
            // Runs count from 1, the warm-up up to 0. Thinned results keep fewer samples than runs: every run is
            // then at its share of the way, and the samples are as far apart as that takes.
            const apart =
                f.isNumber(l.runs) && l.runs > samples.length ? l.runs / samples.length : 1;
            const numbered = samples.map((v, i) => [1 + Math.floor(i * apart), v]);
            return {
                grid: { left: 8, right: 16, top: 24, bottom: 28, containLabel: true },
                xAxis: axis({
                    type: "value",
                    min: 1 - before,
                    max: Math.max(2, numbered[numbered.length - 1][0]),
                    name: "run; warm-up up to 0",
                    nameGap: 26,
                    minInterval: 1,
                    splitLine: { show: false },
                }),
                yAxis: axis({ type: "value", scale: true, axisLabel: { formatter: tickMs } }),
                tooltip: {
                    trigger: "item",
                    formatter: (q: any) => {
                        const run = q.value[0];
                        const o = odd.get(run);
                        return tip(run < 1 ? `Warm-up run ${run + before}` : `Run ${run}`, [
                            ["Duration", f.ms(q.value[1])],
                            ...(o?.cause && q.seriesName === "outliers"
                                ? ([["Cause", o.cause]] as [string, string][])
                                : []),
                        ]);
                    },
                },
                series: [
                    {
                        type: "line",
                        name: "runs",
                        data: numbered,
                        showSymbol: samples.length <= 400,
                        symbolSize: 4,
                        lineStyle: { width: samples.length > 400 ? 1 : 1.5, color: c.series[0] },
                        itemStyle: { color: c.series[0] },
                        sampling: samples.length > 4000 ? "minmax" : undefined,
                        markLine: {
                            symbol: "none",
                            silent: true,
                            lineStyle: { color: c.soft, type: "dashed" },
                            label: {
                                formatter: "median",
                                position: "insideStartTop",
                                color: c.soft,
                            },
                            data: f.isNumber(l.p50) ? [{ yAxis: l.p50 }] : [],
                        },
                        markArea: before
                            ? {
                                  silent: true,
                                  itemStyle: { color: c.series[4], opacity: 0.15 },
                                  label: {
                                      color: c.soft,
                                      position: "insideTop",
                                      formatter: `warm-up, ${before} runs`,
                                  },
                                  data: [[{ xAxis: 1 - before }, { xAxis: 1 }]],
                              }
                            : undefined,
                    },
                    {
                        type: "scatter",
                        name: "warm-up",
                        symbolSize: 5,
                        itemStyle: { color: c.series[4] },
                        data: warm.map((v, i) => [i + 1 - before, v]),
                        markLine: before
                            ? {
                                  symbol: "none",
                                  silent: true,
                                  lineStyle: { color: c.series[2], type: "solid", width: 1.5 },
                                  label: {
                                      formatter: (q: any) => q.name,
                                      position: "end",
                                      color: c.soft,
                                  },
                                  data: [
                                      {
                                          name: settled === null ? "not steady" : "steady",
                                          xAxis: settled ?? 1,
                                      },
                                  ],
                              }
                            : undefined,
                    },
                    {
                        type: "scatter",
                        name: "outliers",
                        symbol: "diamond",
                        symbolSize: 12,
                        itemStyle: { color: c.series[1] },
                        data: (l.outliers ?? []).map((o) => [o.run, o.ms]),
                    },
                ],
            };
        },
        table: () => {
            const odd = new Map(
                (now().latency.outliers ?? []).map((o) => [o.run, o.cause ?? "unknown"]),
            );
            const l = now().latency;
            const warm = (l.warmup_ms ?? []).map(
                (v, i) => [`warm-up ${i + 1}`, v, ""] as (string | number)[],
            );
            return {
                head: ["Run", "Milliseconds", "Outlier"],
                rows: [...warm, ...l.samples_ms!.map((v, i) => [i + 1, v, odd.get(i + 1) ?? ""])],
            };
        },
    });
}

function figures(l: Latency): HTMLElement {
    return cards([
        {
            name: "Mean",
            value: f.ms(l.mean),
            note: f.isNumber(l.ci95_low)
                ? `95 %: ${f.ms(l.ci95_low)} to ${f.ms(l.ci95_high)}`
                : undefined,
        },
        { name: "Median", value: f.ms(l.p50), note: `min ${f.ms(l.min)}, max ${f.ms(l.max)}` },
        { name: "p90", value: f.ms(l.p90) },
        { name: "p95", value: f.ms(l.p95) },
        {
            name: "p99",
            value: f.ms(l.p99),
            note:
                f.isNumber(l.p99_runs_needed) && f.isNumber(l.runs) && l.runs < l.p99_runs_needed
                    ? `${f.whole(l.p99_runs_needed)} runs would make it sure`
                    : undefined,
        },
        {
            name: "Runs",
            value: f.whole(l.runs),
            note: `${f.whole(l.warmup_runs)} before as warm-up${l.steady === false ? ", never steady" : ""}`,
        },
    ]);
}

export function latencyView(p: Profile, shown: Shown): HTMLElement | null {
    const all = runs(p);
    const top = p.latency;
    if (!all.length && !(top && f.isNumber(top.mean))) return null;
    let now = all[0];
    const place = h("div", null, figures(now?.latency ?? top!));
    if (!all.length) return section("latency", "Latency", place);
    const a = distribution(() => now);
    const b = series(() => now);
    const outliers = h("div");
    const fill = () => {
        place.replaceChildren(figures(now.latency));
        const list = now.latency.outliers ?? [];
        outliers.replaceChildren(
            ...(list.length && shown.details
                ? [
                      h("h3", null, `${list.length} outlier${list.length === 1 ? "" : "s"}`),
                      table(
                          "Outliers",
                          [
                              { name: "Run", text: (o) => f.whole(o.run), number: true },
                              { name: "Duration", text: (o) => f.ms(o.ms), number: true },
                              {
                                  name: "Over the median",
                                  text: (o) => f.ratio(o.ms / (now.latency.p50 || 1)),
                                  number: true,
                              },
                              { name: "Cause", text: (o) => o.cause ?? "unknown" },
                          ],
                          list.slice(0, 20),
                      ),
                  ]
                : []),
        );
    };
    fill();
    const pick =
        all.length > 1
            ? select(
                  "Configuration",
                  all.map((r, i) => ({ id: String(i), text: r.name })),
                  "0",
                  (id) => {
                      now = all[Number(id)];
                      fill();
                      a.redraw();
                      b.redraw();
                  },
              )
            : null;
    return section(
        "latency",
        "Latency",
        pick,
        place,
        shown.graphs && h("div", { class: "pair" }, a.element, b.element),
        outliers,
    );
}
