// Options of charts: axes, legends, tooltips and labels in the page's colours. Tooltips are
// elements made by dom.ts, labels are text: no markup out of data.
import type {
    DefaultLabelFormatterCallbackParams as Params,
    TooltipComponentFormatterCallbackParams as TipParams,
} from "echarts";
import type {
    BarSeriesOption,
    CustomSeriesOption,
    LineSeriesOption,
    ScatterSeriesOption,
    TreemapSeriesOption,
} from "echarts/charts";
import type {
    DataZoomComponentOption,
    GridComponentOption,
    LegendComponentOption,
    MarkAreaComponentOption,
    MarkLineComponentOption,
    MarkPointComponentOption,
    TooltipComponentOption,
} from "echarts/components";
import type { ComposeOption } from "echarts/core";
import { h } from "./dom";
import { bytes, ms, si } from "./format";
import { palette } from "./theme";

export type Series =
    | BarSeriesOption
    | CustomSeriesOption
    | LineSeriesOption
    | ScatterSeriesOption
    | TreemapSeriesOption;
export type { BarSeriesOption, LineSeriesOption, ScatterSeriesOption, TreemapSeriesOption };
type Everything = ComposeOption<
    | Series
    | DataZoomComponentOption
    | GridComponentOption
    | LegendComponentOption
    | MarkAreaComponentOption
    | MarkLineComponentOption
    | MarkPointComponentOption
    | TooltipComponentOption
>;
export interface PlotOption extends Omit<Everything, "tooltip" | "series"> {
    tooltip: TooltipComponentOption;
    series: Series[];
}

// ---- the frame ----

// The place between the labels.
export function frame(right: number, top: number, bottom: number, left = 8): GridComponentOption {
    return { left, right, top, bottom, containLabel: true };
}

export function legend(more: LegendComponentOption = {}): LegendComponentOption {
    const p = palette();
    return {
        top: 0,
        left: 0,
        type: "plain",
        itemWidth: 14,
        itemHeight: 10,
        textStyle: { color: p.text },
        inactiveColor: p.line,
        ...more,
    };
}

// ---- axes ----

interface TickLabels {
    formatter?: (value: number) => string;
    color?: string;
    width?: number;
    overflow?: "truncate";
    showMinLabel?: boolean;
    showMaxLabel?: boolean;
}
export interface AxisLook {
    name?: string;
    nameGap?: number;
    show?: boolean;
    inverse?: boolean;
    min?: number | "dataMin";
    max?: number | "dataMax";
    interval?: number;
    minInterval?: number;
    axisLine?: { show?: boolean; onZero?: boolean };
    axisLabel?: TickLabels;
    splitLine?: { show: boolean };
}

const dressed = (look: AxisLook) => {
    const p = palette();
    const { axisLabel, splitLine, ...rest } = look;
    return {
        nameLocation: "middle" as const,
        nameTextStyle: { color: p.soft },
        axisLine: { lineStyle: { color: p.line } },
        axisTick: { show: false },
        axisLabel: { color: p.soft, hideOverlap: true, ...axisLabel },
        splitLine: { lineStyle: { color: p.faint }, ...splitLine },
        ...rest,
    };
};

// An axis that need not begin at zero has `scale`.
export const valueAxis = (look: AxisLook & { scale?: boolean } = {}) => ({
    type: "value" as const,
    ...dressed(look),
});

export const logAxis = (look: AxisLook & { logBase?: number } = {}) => ({
    type: "log" as const,
    ...dressed(look),
});

export const timeAxis = (look: AxisLook = {}) => ({ type: "time" as const, ...dressed(look) });

export const categoryAxis = (
    data: string[],
    {
        axisLabel,
        ...look
    }: Omit<AxisLook, "axisLabel"> & { axisLabel?: Omit<TickLabels, "formatter"> } = {},
) => {
    const { axisLabel: labels, ...rest } = dressed(look);
    return { type: "category" as const, data, axisLabel: { ...labels, ...axisLabel }, ...rest };
};

// The rows of a chart of bars that lie.
export const rowAxis = (names: string[], look: Parameters<typeof categoryAxis>[1] = {}) =>
    categoryAxis(names, { inverse: true, ...look });

// An axis of bytes: its ticks are whole KiB, MiB, GiB.
export function byteAxis(most: number) {
    const power = Math.floor(Math.log(Math.max(most, 1)) / Math.log(1024));
    const large = 1024 ** Math.max(0, Math.min(5, power));
    // Below 2.5 MiB the ticks are whole KiB.
    const unit = power > 0 && most < 2.5 * large ? large / 1024 : large;
    const sizes = [1, 2, 5, 10, 20, 50, 100, 128, 256, 512, 1024];
    const interval = sizes.map((k) => k * unit).find((k) => most / k <= 5.5) ?? unit * 1024;
    return valueAxis({
        min: 0,
        max: Math.max(interval, Math.ceil((most * 1.02) / interval) * interval),
        interval,
        axisLabel: { formatter: (v) => withoutZeros(bytes(v)) },
    });
}

// Ticks without zeros that say nothing.
const withoutZeros = (s: string): string =>
    s.replace(/(\.\d*?)0+(?=\u202f|$)/, "$1").replace(/\.(?=\u202f|$)/, "");
export const tickMs = (v: number): string => withoutZeros(ms(v));
export const tickSi = (v: number): string => withoutZeros(si(v));

// ---- what tooltips and labels are told ----

// A mark of a chart. `value` is what it shows; `x` is where it stands on an axis of numbers. Both
// are NaN when there is none, which is shown as a dash.
export interface Mark {
    name: string;
    series: string;
    seriesIndex: number;
    index: number;
    x: number;
    value: number;
    data: unknown;
}

const numberOr = (v: unknown): number => (typeof v === "number" ? v : NaN);

export function markOf(q: Params): Mark {
    const pair: unknown[] | null = Array.isArray(q.value) ? q.value : null;
    return {
        name: q.name,
        series: q.seriesName ?? "",
        seriesIndex: q.seriesIndex ?? 0,
        index: q.dataIndex,
        x: numberOr(pair?.[0]),
        value: numberOr(pair ? pair[1] : q.value),
        data: q.data,
    };
}

type Tip = HTMLElement | string;
const listOf = (q: TipParams): Params[] => (Array.isArray(q) ? q : [q]);

// The tooltip of one mark, and that of all marks at a place of the x axis.
export const itemTip = (show: (m: Mark) => Tip): TooltipComponentOption => ({
    trigger: "item",
    formatter: (q) => show(markOf(listOf(q)[0])),
});
export const axisTip = (show: (marks: Mark[]) => Tip): TooltipComponentOption => ({
    trigger: "axis",
    formatter: (q) => show(listOf(q).map(markOf)),
});

export const labelText =
    (show: (m: Mark) => string) =>
    (q: Params): string =>
        show(markOf(q));

// A tooltip's content: a title and lines of name and value.
export type TipLine = [name: string, value: string];
export function tip(title: string, lines: (TipLine | false)[], after?: string): HTMLElement {
    const there = lines.filter((line): line is TipLine => line !== false);
    return h(
        "div",
        { class: "tip" },
        h("strong", null, title),
        h(
            "dl",
            null,
            there.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
        ),
        after ? h("p", null, after) : null,
    );
}
