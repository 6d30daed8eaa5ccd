// Where FLOPs, parameters, bytes and time go: by module (a treemap to walk into) and by operator type.
import { axis, chart, tip, type Chart } from "../charts";
import { h } from "../dom";
import * as f from "../format";
import { colorOf, palette } from "../theme";
import type { Layer, Profile, Shown } from "../types";
import { choice, section } from "../ui";

export type Metric = "flops" | "parameters" | "memory" | "time_ms";
const metrics: { id: Metric; text: string; show: (v: number) => string }[] = [
    { id: "flops", text: "FLOPs", show: (v) => f.si(v) },
    { id: "parameters", text: "Parameters", show: (v) => f.si(v) },
    { id: "memory", text: "Bytes moved", show: (v) => f.bytes(v) },
    { id: "time_ms", text: "Time", show: (v) => f.ms(v) },
];
const of = (l: Layer, m: Metric): number => (f.isNumber(l[m]) ? Math.max(0, l[m] as number) : 0);
const sum = (layers: Layer[], m: Metric): number => layers.reduce((s, l) => s + of(l, m), 0);

interface Node {
    name: string;
    path: string;
    value: number;
    layers: number;
    type?: string;
    children: Map<string, Node>;
}

// A node's own part of a name that repeats the path of its module: "Conv" of "/layer1/conv1/Conv".
function tail(name: string, module: string | undefined): string {
    const last = name.slice(name.lastIndexOf("/") + 1) || name;
    return module && last.startsWith(module + ".") ? last.slice(module.length + 1) : last;
}

// Modules are dotted paths; a layer that is a module by itself is its leaf, another one stands below it.
function tree(layers: Layer[], metric: Metric, model: string): Node {
    const root: Node = { name: model, path: "", value: 0, layers: 0, children: new Map() };
    for (const l of layers) {
        const v = of(l, metric);
        const path = l.module ? l.module.split(".") : [];
        const steps = path.map((part) => ({ key: part, name: part }));
        if (l.name !== l.module)
            steps.push({
                key: "\0" + l.name,
                name: tail(l.name || l.type || "?", path[path.length - 1]),
            });
        let at = root;
        root.value += v;
        root.layers++;
        for (const { key, name } of steps) {
            let next = at.children.get(key);
            if (!next)
                at.children.set(
                    key,
                    (next = {
                        name,
                        path: key[0] === "\0" ? l.name : at.path ? `${at.path}.${key}` : key,
                        value: 0,
                        layers: 0,
                        children: new Map(),
                    }),
                );
            next.value += v;
            next.layers++;
            next.type = l.type;
            at = next;
        }
    }
    return root;
}

const SMALLEST = 1e-3; // of the whole: about a pixel
// A module that is nearly all of its parent would be one large box: its children stand in its place.
const NEARLY_ALL = 0.85;
function spread(n: Node): Node[] {
    const sorted = (list: Iterable<Node>) =>
        [...list].filter((c) => c.value > 0).sort((a, b) => b.value - a.value);
    let list = sorted(n.children.values());
    while (list.length && list[0].children.size > 1 && list[0].value > NEARLY_ALL * n.value) {
        const [first, ...others] = list;
        list = sorted([
            ...[...first.children.values()].map((c) => ({
                ...c,
                name: /^\d+$/.test(c.name) ? `${first.name}.${c.name}` : c.name,
            })),
            ...others,
        ]);
    }
    return list;
}

// A module with one child says no more than the child; what is too small to see is put together.
function branches(n: Node, total: number, depth: number): any[] {
    const children = spread(n);
    const large = children.filter((c, i) => i < 60 && c.value >= total * SMALLEST);
    const rest = children.slice(large.length);
    const list = large.map((c) => {
        let inner = c;
        let name = /^\d+$/.test(c.name) && n.path ? `${n.name}.${c.name}` : c.name; // "layer1.0" says more than "0"
        while (inner.children.size === 1) {
            inner = [...inner.children.values()][0];
            name = inner.name.startsWith(name) ? inner.name : `${name}.${inner.name}`;
        }
        return {
            name,
            value: c.value,
            path: c.path,
            layers: c.layers,
            kind: inner.children.size ? "" : inner.type,
            children:
                depth < 12 && inner.children.size ? branches(inner, total, depth + 1) : undefined,
        };
    });
    if (rest.length)
        list.push({
            name: `${rest.length} more`,
            value: rest.reduce((s, c) => s + c.value, 0),
            path: n.path,
            layers: rest.reduce((s, c) => s + c.layers, 0),
            kind: "",
            children: undefined,
        });
    return list;
}

// Colours tell neighbours apart: the first level has them, or the second when the first is one or two large ones.
function coloured(list: any[]): any[] {
    const total = list.reduce((s, d) => s + d.value, 0);
    const deep = list[0]?.children?.length > 1 && list[0].value > 0.8 * total;
    const paint = (d: any, key: string) => ({
        ...d,
        itemStyle: { color: colorOf("module:" + key) },
    });
    return list.map((d, i) =>
        deep && i === 0
            ? { ...paint(d, d.name), children: d.children.map((c: any) => paint(c, c.name)) }
            : paint(d, d.name),
    );
}

function modules(p: Profile, now: () => Metric): Chart {
    const layers = p.layers!;
    let data: any[] = [];
    const show = (v: number) => metrics.find((m) => m.id === now())!.show(v);
    return chart({
        id: "by-module",
        title: "By module",
        height: 420,
        about: "Treemap of the modules of the model by their share; the table below it has the same figures.",
        note: "Area is the share. Choose a module to walk into it.",
        option: () => {
            const c = palette();
            const root = tree(layers, now(), p.model);
            data = coloured(branches(root, root.value, 0));
            return {
                tooltip: {
                    formatter: (q: any) =>
                        tip(q.data?.path || q.name, [
                            [metrics.find((m) => m.id === now())!.text, show(q.value)],
                            ["Share", f.percent((100 * q.value) / (root.value || 1))],
                            ["Layers", f.whole(q.data?.layers)],
                        ]),
                },
                series: [
                    {
                        type: "treemap",
                        data,
                        name: f.clip(p.model, 40),
                        left: 0,
                        right: 0,
                        top: 0,
                        bottom: 30,
                        roam: false,
                        leafDepth: 2,
                        nodeClick: "zoomToNode",
                        animation: false,
                        drillDownIcon: "",
                        breadcrumb: {
                            show: true,
                            bottom: 0,
                            left: 0,
                            height: 22,
                            itemStyle: {
                                color: c.faint,
                                borderColor: c.line,
                                textStyle: { color: c.text },
                            },
                            emphasis: { itemStyle: { color: c.line } },
                        },
                        label: {
                            show: true,
                            color: "#fff",
                            textShadowColor: "rgba(0,0,0,.55)",
                            textShadowBlur: 3,
                            fontSize: 12,
                            lineHeight: 15,
                            overflow: "truncate",
                            formatter: (q: any) => `${q.name}\n${show(q.value)}`,
                        },
                        upperLabel: {
                            show: true,
                            height: 20,
                            color: "#fff",
                            textShadowColor: "rgba(0,0,0,.55)",
                            textShadowBlur: 3,
                            fontSize: 12,
                            formatter: (q: any) =>
                                `${q.name}  ${f.percent((100 * q.value) / (root.value || 1))}`,
                        },
                        itemStyle: { borderColor: c.card, borderWidth: 1, gapWidth: 1 },
                        levels: [
                            {
                                itemStyle: { gapWidth: 3, borderWidth: 0 },
                                upperLabel: { show: false },
                            },
                            {
                                itemStyle: { gapWidth: 1, borderColorSaturation: 0.5 },
                                colorSaturation: [0.35, 0.6],
                            },
                            { itemStyle: { gapWidth: 1 } },
                        ],
                    },
                ],
            };
        },
        table: () => {
            const root = tree(layers, now(), p.model);
            const rows: (string | number)[][] = [];
            const walk = (n: Node, depth: number) =>
                [...n.children.values()]
                    .sort((a, b) => b.value - a.value)
                    .forEach((c) => {
                        rows.push([
                            c.path,
                            c.layers,
                            show(c.value),
                            f.percent((100 * c.value) / (root.value || 1)),
                        ]);
                        if (depth < 4) walk(c, depth + 1);
                    });
            walk(root, 1);
            return {
                head: ["Module", "Layers", metrics.find((m) => m.id === now())!.text, "Share"],
                rows,
            };
        },
    });
}

function types(p: Profile, metric: Metric): { type: string; value: number; count: number }[] {
    const by = new Map<string, { type: string; value: number; count: number }>();
    for (const l of p.layers!) {
        const t = l.type ?? l.op ?? "?";
        const at = by.get(t) ?? { type: t, value: 0, count: 0 };
        at.value += of(l, metric);
        at.count++;
        by.set(t, at);
    }
    return [...by.values()].sort((a, b) => b.value - a.value || b.count - a.count);
}

const BARS = 14;
function operators(p: Profile, now: () => Metric): Chart {
    const show = (v: number) => metrics.find((m) => m.id === now())!.show(v);
    return chart({
        id: "by-operator",
        title: "By operator type",
        height: 420,
        about: "Bars of the operator types by their share; the table below it has the same figures.",
        note: "Type, share, number of operators.",
        option: () => {
            const c = palette();
            const all = types(p, now());
            const total = all.reduce((s, t) => s + t.value, 0) || 1;
            const list = all.slice(0, BARS);
            return {
                grid: { left: 4, right: 96, top: 4, bottom: 4, containLabel: true },
                xAxis: axis({ type: "value", show: false }),
                yAxis: axis({
                    type: "category",
                    inverse: true,
                    data: list.map((t) => t.type),
                    axisLine: { show: false },
                    axisLabel: { color: c.text, width: 120, overflow: "truncate" },
                }),
                tooltip: {
                    trigger: "item",
                    formatter: (q: any) =>
                        tip(q.name, [
                            [metrics.find((m) => m.id === now())!.text, show(q.value)],
                            ["Share", f.percent((100 * q.value) / total)],
                            ["Operators", f.whole(list[q.dataIndex].count)],
                        ]),
                },
                series: [
                    {
                        type: "bar",
                        barMaxWidth: 18,
                        data: list.map((t) => ({
                            name: t.type,
                            value: t.value,
                            itemStyle: { color: colorOf("type:" + t.type), borderRadius: 2 },
                        })),
                        showBackground: true,
                        backgroundStyle: { color: c.faint },
                        label: {
                            show: true,
                            position: "right",
                            color: c.text,
                            formatter: (q: any) =>
                                `${f.percent((100 * q.value) / total)}  ×${list[q.dataIndex].count}`,
                        },
                    },
                ],
            };
        },
        table: () => {
            const all = types(p, now());
            const total = all.reduce((s, t) => s + t.value, 0) || 1;
            return {
                head: ["Type", "Operators", metrics.find((m) => m.id === now())!.text, "Share"],
                rows: all.map((t) => [
                    t.type,
                    t.count,
                    show(t.value),
                    f.percent((100 * t.value) / total),
                ]),
            };
        },
    });
}

export function workView(p: Profile, shown: Shown): HTMLElement | null {
    if (!p.layers?.length || !shown.graphs) return null;
    const there = metrics.filter((m) => sum(p.layers!, m.id) > 0);
    if (!there.length) return null;
    let now: Metric = there.some((m) => m.id === "time_ms") ? "time_ms" : there[0].id;
    const a = modules(p, () => now);
    const b = operators(p, () => now);
    const pick = (id: Metric) => {
        now = id;
        a.redraw();
        b.redraw();
    };
    return section(
        "work",
        "Where it goes",
        choice("Show by", there, now, pick),
        h("div", { class: "pair wide-left" }, a.element, b.element),
    );
}
