// Where FLOPs, parameters, bytes and time go: by module (a treemap to walk into) and by operator
// type.
import { chart, tabulate, type Chart, type TableData } from "../charts";
import { nameOf } from "../documents";
import { h, type Cell } from "../dom";
import type { Shown } from "../envelope";
import * as f from "../format";
import {
    frame,
    itemTip,
    labelText,
    rowAxis,
    tip,
    valueAxis,
    type BarSeriesOption,
    type Mark,
    type TreemapSeriesOption,
} from "../plot";
import { familyColor } from "../families";
import { colorOf, inkOn, palette } from "../theme";
import type { Profile, ProfileLayer } from "../types";
import { choice, section } from "../ui";
import { icicle } from "./icicle";
import { branchesOf, isBranch, moduleTree, type Branch, type ModuleNode } from "./modules";

interface Metric {
    id: "flops" | "parameters" | "memory" | "time_ms";
    text: string;
    show: (v: number) => string;
}
const metrics: Metric[] = [
    { id: "flops", text: "FLOPs", show: (v) => f.si(v) },
    { id: "parameters", text: "Parameters", show: (v) => f.si(v) },
    { id: "memory", text: "Bytes moved", show: (v) => f.bytes(v) },
    { id: "time_ms", text: "Time", show: (v) => f.ms(v) },
];

function valueOf(l: ProfileLayer, { id }: Metric): number {
    const v = l[id];
    return f.isNumber(v) ? Math.max(0, v) : 0;
}

const shareOf = (v: number, total: number): string => f.percent((100 * v) / (total || 1));

// ---- by module ----

// A module has one colour with all that is in it; a layer that stands alone has its family's.
function coloured(list: Branch[]): Branch[] {
    const inside = (d: Branch, color: string): Branch => ({
        ...d,
        itemStyle: d.children ? { color, borderColor: color } : { color },
        label: { color: inkOn(color) },
        upperLabel: { color: inkOn(color) },
        children: d.children?.map((c) => inside(c, color)),
    });
    const paint = (d: Branch): Branch =>
        inside(d, d.children || !d.kind ? colorOf("module:" + d.name) : familyColor(d.kind));
    const total = list.reduce((sum, d) => sum + d.value, 0);
    const inner = list[0]?.children ?? [];
    const deep = inner.length > 1 && list[0].value > 0.8 * total;
    return list.map((d, i) =>
        deep && i === 0 ? { ...paint(d), children: inner.map(paint) } : paint(d),
    );
}

const LARGE = 0.03; // of the whole: a value fits into the box without being cut

function breadcrumb(): TreemapSeriesOption["breadcrumb"] {
    const c = palette();
    return {
        show: true,
        bottom: 0,
        left: 0,
        height: 22,
        itemStyle: { color: c.faint, borderColor: c.line, textStyle: { color: c.text } },
        emphasis: { itemStyle: { color: c.line } },
    };
}

function treemap(name: string, root: ModuleNode, metric: Metric): TreemapSeriesOption {
    return {
        type: "treemap",
        data: coloured(branchesOf(root)),
        name: f.clip(name, 40),
        left: 0,
        right: 0,
        top: 0,
        bottom: 30,
        roam: false,
        leafDepth: 2,
        nodeClick: "zoomToNode",
        animation: false,
        drillDownIcon: "",
        breadcrumb: breadcrumb(),
        label: {
            show: true,
            fontSize: 12,
            lineHeight: 15,
            overflow: "truncate",
            formatter: labelText((m) =>
                m.value > LARGE * root.value ? `${m.name}\n${metric.show(m.value)}` : m.name,
            ),
        },
        upperLabel: {
            show: true,
            height: 20,
            fontSize: 12,
            overflow: "truncate",
            formatter: labelText((m) => `${m.name}  ${shareOf(m.value, root.value)}`),
        },
        itemStyle: { borderColor: palette().card, borderWidth: 1, gapWidth: 1 },
        levels: [
            { itemStyle: { gapWidth: 3, borderWidth: 0 }, upperLabel: { show: false } },
            { itemStyle: { gapWidth: 1 } },
            { itemStyle: { gapWidth: 1 } },
        ],
    };
}

function branchTip(m: Mark, root: ModuleNode, metric: Metric): HTMLElement {
    const branch = isBranch(m.data) ? m.data : undefined;
    return tip(branch?.path || m.name, [
        [metric.text, metric.show(m.value)],
        ["Share", shareOf(m.value, root.value)],
        ["Layers", f.whole(branch?.layers)],
    ]);
}

// One level: shares of a table never hold each other.
function moduleRows(root: ModuleNode, metric: Metric): TableData {
    let top = root;
    while (top.children.size === 1) [top] = top.children.values();
    const children = [...top.children.values()].sort((a, b) => b.value - a.value);
    const row = (c: ModuleNode): Cell[] => [
        c.path,
        c.layers,
        metric.show(c.value),
        shareOf(c.value, root.value),
    ];
    return { head: ["Module", "Layers", metric.text, "Share"], rows: children.map(row) };
}

function byModule(p: Profile, layers: ProfileLayer[], now: () => Metric): Chart {
    const name = nameOf(p);
    const tree = () => moduleTree(layers, name, (l) => valueOf(l, now()));
    return chart({
        id: "by-module",
        title: "By module",
        height: 420,
        about:
            "Treemap of the modules of the model by their share; " +
            "the table below it has the same figures.",
        note: "Area is the share. Choose a module to walk into it.",
        option: () => {
            const root = tree();
            return {
                tooltip: itemTip((m) => branchTip(m, root, now())),
                series: [treemap(name, root, now())],
            };
        },
        table: () => moduleRows(tree(), now()),
    });
}

// ---- by operator type ----

interface TypeTotal {
    type: string;
    value: number;
    count: number;
}

function typeTotals(layers: ProfileLayer[], metric: Metric): TypeTotal[] {
    const by = new Map<string, TypeTotal>();
    for (const l of layers) {
        const type = l.type ?? l.op ?? "?";
        const at = by.get(type) ?? { type, value: 0, count: 0 };
        at.value += valueOf(l, metric);
        at.count++;
        by.set(type, at);
    }
    return [...by.values()].sort((a, b) => b.value - a.value || b.count - a.count);
}

function typeBars(list: TypeTotal[]): BarSeriesOption {
    const c = palette();
    const bar = (t: TypeTotal) => ({
        name: t.type,
        value: t.value,
        itemStyle: { color: familyColor(t.type), borderRadius: 2 },
    });
    return {
        type: "bar",
        barMaxWidth: 18,
        data: list.map(bar),
        showBackground: true,
        backgroundStyle: { color: c.faint },
    };
}

const sumOf = (list: TypeTotal[]): number => list.reduce((s, t) => s + t.value, 0);

const BARS = 14;
function byOperator(layers: ProfileLayer[], now: () => Metric): Chart {
    return chart({
        id: "by-operator",
        title: "By operator type",
        height: 420,
        about:
            "Bars of the operator types by their share; " +
            "the table below it has the same figures.",
        note: "Type, share, number of operators.",
        option: () => {
            const all = typeTotals(layers, now());
            const total = sumOf(all);
            const list = all.slice(0, BARS);
            return {
                grid: frame(8, 4, 4, 4),
                xAxis: valueAxis({ show: false, max: total || 1 }), // the ground is 100 %
                // Names on the left, shares on the right: no label lies on a bar.
                yAxis: [
                    rowAxis(
                        list.map((t) => t.type),
                        {
                            axisLine: { show: false },
                            axisLabel: { color: palette().text, width: 120, overflow: "truncate" },
                        },
                    ),
                    {
                        ...rowAxis(
                            list.map((t) => `${shareOf(t.value, total)}  ×${t.count}`),
                            { axisLine: { show: false }, axisLabel: { color: palette().text } },
                        ),
                        position: "right" as const,
                    },
                ],
                tooltip: itemTip((m) =>
                    tip(m.name, [
                        [now().text, now().show(m.value)],
                        ["Share", shareOf(m.value, total)],
                        ["Operators", f.whole(list[m.index].count)],
                    ]),
                ),
                series: [typeBars(list)],
            };
        },
        table: () => {
            const all = typeTotals(layers, now());
            const total = sumOf(all);
            return tabulate(all, [
                ["Type", (t) => t.type],
                ["Operators", (t) => t.count],
                [now().text, (t) => now().show(t.value)],
                ["Share", (t) => shareOf(t.value, total)],
            ]);
        },
    });
}

// ---- the section ----

export function workView(p: Profile, shown: Shown): HTMLElement | null {
    const { layers } = p;
    if (!layers?.length || !shown.graphs) return null;
    const there = metrics.filter((m) => layers.some((l) => valueOf(l, m) > 0));
    if (!there.length) return null;
    let now = there.find((m) => m.id === "time_ms") ?? there[0];
    const figures = () => ({
        text: now.text,
        show: now.show,
        of: (l: ProfileLayer) => valueOf(l, now),
    });
    const charts = [
        byModule(p, layers, () => now),
        byOperator(layers, () => now),
        icicle(p, layers, figures),
    ];
    const pick = (id: Metric["id"]) => {
        now = there.find((m) => m.id === id) ?? now;
        charts.forEach((c) => c.redraw());
    };
    const pairOf = h(
        "div",
        { class: "pair wide-left" },
        charts.slice(0, 2).map((c) => c.element),
    );
    const pickers = choice("Show by", there, now.id, pick);
    return section("work", "Cost breakdown", pickers, pairOf, charts[2].element);
}
