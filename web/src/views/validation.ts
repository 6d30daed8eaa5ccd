// A validation: how far the counts are from those of other tools.
import { figure, tabulate } from "../charts";
import { rowsOf } from "../documents";
import * as f from "../format";
import { frame, itemTip, labelText, rowAxis, tip, valueAxis } from "../plot";
import { palette } from "../theme";
import type { Validation, ValidationRow } from "../types";
import { section } from "../ui";

const nameOf = (r: ValidationRow): string => `${r.model}, ${r.lens}`;

function differences(rows: ValidationRow[]): HTMLElement {
    return figure({
        id: "validation-chart",
        title: "Difference from the other tool's count",
        height: 80 + 28 * rows.length,
        about: "Bars of the difference in per cent, one for each model and tool.",
        note: "Per cent of the other tool's count.",
        option: () => ({
            grid: frame(64, 8, 24),
            xAxis: valueAxis({ axisLabel: { formatter: (v) => `${v} %` } }),
            yAxis: rowAxis(
                rows.map((r) => f.clip(nameOf(r), 34)),
                {
                    axisLine: { onZero: false },
                    axisLabel: { color: palette().text, width: 150, overflow: "truncate" },
                },
            ),
            tooltip: itemTip(({ index }) => {
                const r = rows[index];
                return tip(nameOf(r), [
                    ["Ours", f.si(r.ours)],
                    ["Theirs", f.si(r.theirs)],
                    ["Difference", f.percent(r.difference_percent, 3)],
                ]);
            }),
            series: [
                {
                    type: "bar",
                    barMaxWidth: 18,
                    itemStyle: { color: palette().series[0] },
                    data: rows.map((r) => r.difference_percent),
                    label: {
                        show: true,
                        position: "right",
                        color: palette().text,
                        formatter: labelText((m) => f.percent(m.value, 2)),
                    },
                },
            ],
        }),
        table: () =>
            tabulate(rows, [
                ["Model", (r) => r.model],
                ["Tool", (r) => r.lens],
                ["Ours", (r) => f.si(r.ours)],
                ["Theirs", (r) => f.si(r.theirs)],
                ["Difference", (r) => f.percent(r.difference_percent, 3)],
            ]),
    });
}

export function validationSection(d: Validation): HTMLElement | null {
    const rows = rowsOf(d.models).filter((r) => f.isNumber(r.difference_percent));
    return rows.length ? section("difference", "Differences", differences(rows)) : null;
}
