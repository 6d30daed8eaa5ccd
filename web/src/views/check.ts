// A check: ratios to the baseline with their intervals.
import { figure, tabulate } from "../charts";
import { rowsOf } from "../documents";
import * as f from "../format";
import {
    frame,
    itemTip,
    rowAxis,
    tip,
    valueAxis,
    type LineSeriesOption,
    type Series,
} from "../plot";
import { palette } from "../theme";
import type { Check, VerdictRow } from "../types";
import { section } from "../ui";

function colorOf(r: VerdictRow): string {
    const { series } = palette();
    if (r.verdict === "regression") return series[1];
    return r.verdict === "improvement" ? series[2] : series[0];
}

function rowTip(r: VerdictRow): HTMLElement {
    const interval = `${f.fixed(r.ratio_ci99_low, 3)} to ${f.fixed(r.ratio_ci99_high, 3)}`;
    return tip(String(r.metric), [
        ["Ratio", f.fixed(r.ratio, 3)],
        ["Verdict", String(r.verdict)],
        f.isNumber(r.ratio_ci99_low) && ["99 %", interval],
    ]);
}

function points(rows: VerdictRow[]): Series {
    return {
        type: "scatter",
        symbolSize: 10,
        data: rows.map((r, i) => ({ value: [r.ratio, i], itemStyle: { color: colorOf(r) } })),
        markLine: {
            silent: true,
            symbol: "none",
            lineStyle: { type: "dashed", color: palette().soft },
            label: { show: false },
            data: [{ xAxis: 1 }],
        },
    };
}

function intervalLine(r: VerdictRow, i: number): LineSeriesOption[] {
    if (!f.isNumber(r.ratio_ci99_low)) return [];
    return [
        {
            type: "line",
            symbol: "none",
            silent: true,
            lineStyle: { width: 2, color: colorOf(r) },
            data: [
                [r.ratio_ci99_low, i],
                [r.ratio_ci99_high, i],
            ],
        },
    ];
}

function ratios(rows: VerdictRow[]): HTMLElement {
    return figure({
        id: "check-chart",
        title: "Ratio to the baseline",
        height: 90 + 30 * rows.length,
        about:
            "A point for each metric: its ratio to the baseline, " +
            "with the 99 % interval where runs were tested.",
        note: "1 is as before; bars are 99 % intervals of what was measured.",
        option: () => ({
            grid: frame(28, 16, 24),
            xAxis: valueAxis({ scale: true, axisLabel: { formatter: (v) => f.ratio(v) } }),
            yAxis: rowAxis(
                rows.map((r) => String(r.metric)),
                { axisLabel: { color: palette().text } },
            ),
            tooltip: itemTip((m) => rowTip(rows[m.value])),
            series: [points(rows), ...rows.flatMap(intervalLine)],
        }),
        table: () =>
            tabulate(rows, [
                ["Metric", (r) => r.metric],
                ["Verdict", (r) => r.verdict],
                ["Ratio", (r) => f.fixed(r.ratio, 3)],
                ["99 % from", (r) => f.fixed(r.ratio_ci99_low, 3)],
                ["to", (r) => f.fixed(r.ratio_ci99_high, 3)],
            ]),
    });
}

export function checkSection(d: Check): HTMLElement | null {
    const rows = rowsOf(d.checks).filter((r) => f.isNumber(r.ratio));
    return rows.length ? section("moved", "Compared with the baseline", ratios(rows)) : null;
}
