// Charts of an image pipeline: its components, and how the cost grows.
import { figure, tabulate, type TableData } from "../charts";
import * as f from "../format";
import {
    axisTip,
    categoryAxis,
    frame,
    itemTip,
    labelText,
    legend,
    rowAxis,
    tickSi,
    tip,
    valueAxis,
    type LineSeriesOption,
} from "../plot";
import { palette } from "../theme";
import type { Component, DiffusionPipeline, Sweep, SweepPoint } from "../view_types";
import { pair } from "../ui";

const spaced = (s: string): string => s.replace(/_/g, " ");

// ---- components ----

const componentHeight = (n: number): number => 70 + 52 * n;
const componentAxis = (list: Component[]) =>
    rowAxis(
        list.map((k) => spaced(k.name)),
        { axisLabel: { color: palette().text } },
    );

function componentMacs(list: Component[]): HTMLElement {
    return figure({
        id: "component-macs",
        title: "MACs by component",
        height: componentHeight(list.length),
        note: "All calls of one generation.",
        about: "Bars of the MACs of each component.",
        option: () => {
            const c = palette();
            const bar = (k: Component, i: number) => ({
                value: k.macs || null,
                itemStyle: { color: c.series[i] },
            });
            return {
                grid: frame(130, 8, 8),
                xAxis: valueAxis({ show: false }),
                yAxis: componentAxis(list),
                tooltip: itemTip(({ index }) => {
                    const k = list[index];
                    return tip(spaced(k.name), [
                        ["MACs", f.si(k.macs)],
                        ["Share", f.percent(k.percent, 2)],
                        ["Calls", f.whole(k.calls)],
                        ["Of one call", f.si(k.macs_per_call)],
                    ]);
                }),
                series: [
                    {
                        type: "bar",
                        barMaxWidth: 26,
                        data: list.map(bar),
                        label: {
                            show: true,
                            position: "right",
                            color: c.text,
                            formatter: labelText(
                                (m) => `${f.si(m.value)}  ${f.percent(list[m.index].percent, 2)}`,
                            ),
                        },
                    },
                ],
            };
        },
        table: () =>
            tabulate(list, [
                ["Component", (k) => k.name],
                ["Calls", (k) => k.calls],
                ["MACs of a call", (k) => f.si(k.macs_per_call)],
                ["MACs", (k) => f.si(k.macs)],
                ["Share", (k) => f.percent(k.percent, 2)],
            ]),
    });
}

// Per cent of a call: scores, their application, everything else.
function attentionShares(k: Component): [qk: number, av: number, rest: number] {
    const all = k.macs_per_call || 1;
    const qk = k.attention?.qk_macs ?? 0;
    const av = k.attention?.av_macs ?? 0;
    return [(100 * qk) / all, (100 * av) / all, (100 * (all - qk - av)) / all];
}

const attentionTable = (list: Component[]): TableData =>
    tabulate(list, [
        ["Component", (k) => k.name],
        ["QK", (k) => f.si(k.attention?.qk_macs)],
        ["AV", (k) => f.si(k.attention?.av_macs)],
        ["Softmax elements", (k) => f.si(k.attention?.softmax_elements)],
        ["Projections", (k) => f.si(k.attention?.projection_macs)],
        ["Self layers", (k) => k.attention?.self?.layers],
        ["Cross layers", (k) => k.attention?.cross?.layers],
    ]);

function componentAttention(list: Component[]): HTMLElement {
    return figure({
        id: "component-attention",
        title: "Attention within a call",
        height: componentHeight(list.length),
        note: "QKᵀ and attention × V beside everything else.",
        about: "Stacked bars of attention and other MACs in one call of each component.",
        option: () => ({
            grid: frame(24, 36, 8),
            legend: legend(),
            xAxis: valueAxis({ max: 100, axisLabel: { formatter: (v) => `${v} %` } }),
            yAxis: componentAxis(list),
            tooltip: itemTip((m) => {
                const k = list[m.index];
                return tip(spaced(k.name), [
                    [m.series, f.si((m.value / 100) * (k.macs_per_call ?? NaN))],
                    ["Share", f.percent(m.value)],
                ]);
            }),
            series: ["QKᵀ", "attention × V", "everything else"].map((name, part) => ({
                type: "bar",
                name,
                stack: "a",
                barMaxWidth: 26,
                data: list.map((k) => attentionShares(k)[part]),
            })),
        }),
        table: () => attentionTable(list),
    });
}

// ---- sweeps ----

function sweepNote({ exponents, over }: Sweep): string | undefined {
    if (!exponents) return undefined;
    const of = spaced(String(exponents.of ?? over));
    return `Cost grows as ${of} to the power of ${f.fixed(exponents.total, 2)}.`;
}

function sweepChart(s: Sweep, i: number): HTMLElement {
    const over = spaced(s.over);
    const sizeOf = (q: SweepPoint) =>
        s.over === "resolution" ? `${q.width}×${q.height}` : String(q.value);
    const line = (name: string, of: (q: SweepPoint) => f.Maybe): LineSeriesOption => ({
        type: "line",
        name,
        symbolSize: 8,
        data: s.points.map(of),
    });
    return figure({
        id: `sweep-${i}`,
        title: `Over ${over}`,
        height: 300,
        note: sweepNote(s),
        about: `Lines of the cost over ${s.over}.`,
        option: () => ({
            grid: frame(24, 40, 28),
            legend: legend(),
            xAxis: categoryAxis(s.points.map(sizeOf), {
                name: over,
                nameGap: 26,
                splitLine: { show: false },
            }),
            yAxis: valueAxis({ axisLabel: { formatter: tickSi } }),
            tooltip: axisTip((marks) => {
                const point = s.points[marks[0].index];
                return tip(`${over} ${sizeOf(point)}`, [
                    ...marks.map((m): [string, string] => [m.series, f.si(m.value)]),
                    ["Relative", f.ratio(point.relative)],
                ]);
            }),
            series: [
                line("total MACs", (q) => q.total_macs),
                line("MACs of a step", (q) => q.macs_per_step),
            ],
        }),
        table: () =>
            tabulate(s.points, [
                [over, sizeOf],
                ["MACs of a pass", (q) => f.si(q.macs_per_pass)],
                ["MACs of a step", (q) => f.si(q.macs_per_step)],
                ["VAE", (q) => f.si(q.vae_macs)],
                ["Text encoder", (q) => f.si(q.text_encoder_macs)],
                ["Total MACs", (q) => f.si(q.total_macs)],
                ["Relative", (q) => f.ratio(q.relative)],
            ]),
    });
}

// ---- all of them ----

export function diffusionCharts(d: DiffusionPipeline): HTMLElement[] {
    const counted = (d.components ?? []).filter((c) => !c.error);
    const components = [componentMacs(counted), componentAttention(counted)];
    const sweeps = (d.sweeps ?? []).map(sweepChart);
    return [
        ...(counted.length ? [pair(components)] : []),
        ...(sweeps.length ? [pair(sweeps)] : []),
    ];
}
