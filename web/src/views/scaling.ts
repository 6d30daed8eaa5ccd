// A scaling: a figure over a size, with a line per combination of the other sizes.
import { chart, tabulate, type Chart } from "../charts";
import { rowsOf } from "../documents";
import { h } from "../dom";
import * as f from "../format";
import {
    frame,
    itemTip,
    legend,
    logAxis,
    tickSi,
    tip,
    valueAxis,
    type LineSeriesOption,
} from "../plot";
import { palette } from "../theme";
import type { Scaling, ScalingPoint } from "../types";
import { choice, section } from "../ui";

interface Figure {
    id: Exclude<keyof ScalingPoint, "sizes" | "refused">;
    text: string;
    bytes?: boolean;
}
const figures: Figure[] = [
    { id: "macs", text: "MACs" },
    { id: "flops", text: "FLOPs" },
    { id: "parameters", text: "Parameters" },
    { id: "traffic_bytes", text: "Bytes moved", bytes: true },
    { id: "activations_peak_bytes", text: "Activations at the peak", bytes: true },
    { id: "peak_bytes", text: "Peak memory", bytes: true },
    { id: "training_bytes", text: "Training", bytes: true },
];
const show = (figure: Figure, v: number): string => (figure.bytes ? f.bytes(v) : f.si(v));

interface Line {
    name: string;
    points: [size: number, value: number][];
}

function linesOf(points: ScalingPoint[], over: string, figure: Figure): Line[] {
    const all = new Map<string, Line>();
    for (const p of points) {
        const size = p.sizes?.[over];
        const value = p[figure.id];
        if (!f.isNumber(value) || !f.isNumber(size)) continue;
        const others = Object.entries(p.sizes).filter(([k]) => k !== over);
        const name = others.map(([k, v]) => `${k} ${v}`).join(", ");
        const line = all.get(name) ?? { name, points: [] };
        line.points.push([size, value]);
        all.set(name, line);
    }
    all.forEach((l) => l.points.sort((a, b) => a[0] - b[0]));
    return [...all.values()];
}

const lineSeries = (l: Line, color: string): LineSeriesOption => ({
    type: "line",
    name: l.name,
    symbolSize: 8,
    lineStyle: { width: 2, color },
    itemStyle: { color },
    data: l.points,
});

// Axes of which more than one size was tried.
function axesOf(d: Scaling, points: ScalingPoint[]): string[] {
    const names = rowsOf(d.axes).map((a) => String(a.name));
    return names.filter((a) => new Set(points.map((p) => p.sizes?.[a])).size > 1);
}

function sizeAxis(d: Scaling, figure: Figure, over: string) {
    const exponent = d.forms?.[figure.id]?.exponents?.[over]?.fitted;
    const said = f.isNumber(exponent) ? `; exponent ${f.fixed(exponent, 2)}` : "";
    return logAxis({
        logBase: 2,
        name: `${figure.text} over ${over}${said}`,
        nameGap: 28,
        min: "dataMin",
        max: "dataMax",
        axisLabel: { formatter: (v) => (v < 1e5 ? String(v) : tickSi(v)) },
    });
}

function figureAxis(figure: Figure, lines: Line[]) {
    const values = lines.flatMap((l) => l.points.map((p) => p[1]));
    const look = { axisLabel: { formatter: (v: number) => show(figure, v) } };
    const positive = values.length > 0 && values.every((v) => v > 0);
    return positive ? logAxis(look) : valueAxis(look);
}

const MOST_LINES = 10;
function overSizes(d: Scaling, points: ScalingPoint[], axes: string[], there: Figure[]): Chart {
    let over = axes[0];
    let now = there[0];
    const pickFigure = choice("Figure", there, now.id, (id) => {
        now = there.find((g) => g.id === id) ?? now;
        made.redraw();
    });
    const options = axes.map((a) => ({ id: a, text: a }));
    const pickAxis = () =>
        choice("Over", options, over, (id) => {
            over = id;
            made.redraw();
        });
    const made: Chart = chart({
        id: "scaling-chart",
        title: "Cost over sizes",
        height: 400,
        about: "Lines of a figure over a size; both axes are logarithmic.",
        note:
            "Both axes are logarithmic: a straight line is a power of the size, " +
            "and its slope the exponent.",
        controls: h("div", { class: "controls" }, pickFigure, axes.length > 1 && pickAxis()),
        option: () => {
            const lines = linesOf(points, over, now).slice(0, MOST_LINES);
            return {
                grid: frame(28, 40, 30),
                legend: legend({ show: lines.length > 1, type: "scroll" }),
                xAxis: sizeAxis(d, now, over),
                yAxis: figureAxis(now, lines),
                tooltip: itemTip((m) =>
                    tip(`${over} ${m.x}${m.series ? `, ${m.series}` : ""}`, [
                        [now.text, show(now, m.value)],
                    ]),
                ),
                series: lines.map((l, i) => lineSeries(l, palette().series[i])),
            };
        },
        table: () => {
            const lines = linesOf(points, over, now);
            const rows = lines.flatMap((l) => l.points.map((p) => ({ name: l.name, p })));
            return tabulate(rows, [
                ["Others", (r) => r.name],
                [over, (r) => r.p[0]],
                [now.text, (r) => show(now, r.p[1])],
            ]);
        },
    });
    return made;
}

export function scalingSection(d: Scaling): HTMLElement | null {
    const points = rowsOf(d.points).filter((p) => !p.refused);
    const axes = axesOf(d, points);
    const there = figures.filter((g) => points.some((p) => f.isNumber(p[g.id])));
    if (!axes.length || !there.length) return null;
    return section("growth", "Scaling", overSizes(d, points, axes, there).element);
}
