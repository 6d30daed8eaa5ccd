// A model's metric over time, with the points where it changed.
import { api, modelNames, type Trend } from "../api";
import { axis, chart, tip } from "../charts";
import { h } from "../dom";
import * as f from "../format";
import type { Page } from "../shell";
import { palette } from "../theme";
import { cards, section, select, table } from "../ui";

const metrics = [
    { id: "p50", text: "latency, median" },
    { id: "p95", text: "latency, p95" },
    { id: "mean", text: "latency, mean" },
    { id: "throughput", text: "throughput" },
    { id: "memory", text: "memory" },
    { id: "macs", text: "MACs" },
    { id: "params", text: "parameters" },
];

function shower(unit: string | undefined): (v: number | null | undefined) => string {
    if (unit === "ms") return f.ms;
    if (unit === "bytes") return f.bytes;
    if (unit === "percent") return (v) => f.percent(v);
    if (unit === "1/s") return (v) => f.rate(v) + "/s";
    return (v) => f.si(v);
}

// A change point names its first point by index, run or time; whichever it gives.
function indexOf(t: Trend, c: Record<string, any>): number {
    if (Number.isInteger(c.index)) return c.index;
    const id = c.id ?? c.run ?? c.at;
    const by = t.points.findIndex((p) => p.id === id);
    return by >= 0 ? by : t.points.findIndex((p) => p.created === (c.created ?? c.at ?? c.when));
}

export function series(t: Trend, linked = true): HTMLElement {
    const show = shower(t.unit);
    const changes = (t.change_points ?? [])
        .map((c) => ({ c, i: indexOf(t, c) }))
        .filter((x) => x.i >= 0 && x.i < t.points.length);
    return chart({
        id: "trend",
        title: `${metrics.find((m) => m.id === t.metric)?.text ?? t.metric} of ${f.clip(t.model, 60)}`,
        height: 380,
        note: changes.length
            ? `${changes.length} change${changes.length === 1 ? "" : "s"} found; dashed lines mark where a new level begins.`
            : "No change of level was found.",
        about: `Line of ${t.metric} over ${t.points.length} runs.`,
        option: () => {
            const c = palette();
            return {
                grid: { left: 8, right: 24, top: 24, bottom: 16, containLabel: true },
                xAxis: axis({ type: "time", splitLine: { show: false } }),
                yAxis: axis({
                    type: "value",
                    scale: true,
                    axisLabel: { formatter: (v: number) => show(v) },
                }),
                tooltip: {
                    trigger: "item",
                    formatter: (q: any) => {
                        const p = t.points[q.dataIndex];
                        return p
                            ? tip(`Run #${p.id}`, [
                                  ["When", f.day(p.created)],
                                  ["Value", show(p.value)],
                              ])
                            : "";
                    },
                },
                series: [
                    {
                        type: "line",
                        name: t.metric,
                        symbolSize: 7,
                        lineStyle: { width: 2 },
                        data: t.points.map((p) => [p.created, p.value]),
                        markLine: {
                            silent: true,
                            symbol: "none",
                            data: [
                                ...(f.isNumber(t.median)
                                    ? [
                                          {
                                              yAxis: t.median,
                                              lineStyle: { color: c.soft, type: "dotted" },
                                              label: {
                                                  formatter: "median",
                                                  position: "insideEndTop",
                                                  color: c.soft,
                                              },
                                          },
                                      ]
                                    : []),
                                ...changes.map(({ i }) => ({
                                    xAxis: t.points[i].created,
                                    lineStyle: { color: c.series[1], type: "dashed", width: 2 },
                                    label: { formatter: "change", color: c.series[1] },
                                })),
                            ],
                        },
                    },
                ],
            };
        },
        table: () => ({
            head: ["Run", "When", "Value"],
            rows: t.points.map((p) => [p.id, f.day(p.created), show(p.value)]),
        }),
        click: (e) => {
            if (!linked) return;
            const p = t.points[e.dataIndex];
            if (p && e.componentType === "series") location.hash = `#/run/${p.id}`;
        },
    }).element;
}

function changesTable(t: Trend): HTMLElement | null {
    const show = shower(t.unit);
    const list = (t.change_points ?? []).map((c) => ({ ...c, i: indexOf(t, c) })) as Record<
        string,
        any
    >[];
    if (!list.length) return null;
    const level = (c: Record<string, any>, keys: string[]) =>
        keys.map((k) => c[k]).find((v) => f.isNumber(v));
    return table(
        "Changes",
        [
            {
                name: "Run",
                text: (c) =>
                    t.points[c.i]
                        ? h("a", { href: `#/run/${t.points[c.i].id}` }, `#${t.points[c.i].id}`)
                        : f.DASH,
            },
            { name: "When", text: (c) => f.day(t.points[c.i]?.created) },
            {
                name: "Before",
                text: (c) => show(level(c, ["before", "from", "before_median"])),
                number: true,
            },
            {
                name: "After",
                text: (c) => show(level(c, ["after", "to", "after_median"])),
                number: true,
            },
            {
                name: "Ratio",
                text: (c) =>
                    f.ratio(
                        c.ratio ??
                            (level(c, ["after", "to", "after_median"]) ?? NaN) /
                                (level(c, ["before", "from", "before_median"]) ?? NaN),
                    ),
                number: true,
            },
            {
                name: "p",
                text: (c) => (f.isNumber(c.p) ? c.p.toPrecision(2) : f.DASH),
                number: true,
            },
        ],
        list,
    );
}

export async function trendPage(model: string, metric: string): Promise<Page> {
    const names = modelNames(await api.models());
    const now = model || names[0] || "";
    const go = (m: string, k: string) => {
        location.hash = `#/trend/${encodeURIComponent(m)}/${encodeURIComponent(k)}`;
    };
    const kinds = metrics.some((m) => m.id === metric)
        ? metrics
        : [...metrics, { id: metric, text: metric }];
    const controls = h(
        "div",
        { class: "controls card" },
        select(
            "Model",
            [...new Set([now, ...names])]
                .filter(Boolean)
                .map((n) => ({ id: n, text: f.clip(n, 50) })),
            now,
            (m) => go(m, metric),
        ),
        select("Metric", kinds, metric, (k) => go(now, k)),
    );
    if (!now)
        return {
            title: "Trends",
            nav: false,
            sections: [
                h(
                    "div",
                    { class: "empty" },
                    h("h2", null, "Nothing has been saved yet"),
                    h(
                        "p",
                        null,
                        "A trend needs runs of a model: ",
                        h("code", null, "assay bench resnet18 --save"),
                    ),
                ),
            ],
        };
    const t = await api.trend(now, metric);
    const show = shower(t.unit);
    const last = t.points[t.points.length - 1];
    return {
        title: "Trends",
        under: "A metric over the runs of a model",
        nav: false,
        sections: [
            controls,
            t.points.length
                ? section(
                      "trend-section",
                      now,
                      cards([
                          { name: "Runs", value: f.whole(t.points.length) },
                          { name: "Median", value: show(t.median) },
                          {
                              name: "Latest",
                              value: show(last.value),
                              note:
                                  f.isNumber(t.median) && t.median
                                      ? `${f.ratio(last.value / t.median)} the median`
                                      : undefined,
                          },
                          { name: "Changes", value: f.whole(t.change_points?.length ?? 0) },
                      ]),
                      series(t),
                      changesTable(t),
                  )
                : h(
                      "div",
                      { class: "empty" },
                      h("h2", null, "No runs with this figure"),
                      h("p", null, "Choose another metric or model."),
                  ),
        ],
    };
}
