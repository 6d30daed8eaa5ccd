// Modules as an icicle: a row for each level, a box for each module as wide as its share, the
// model on top. Pressing a module makes it the whole.
import { chart, tabulate, type Chart } from "../charts";
import { nameOf } from "../documents";
import { familyColor } from "../families";
import * as f from "../format";
import { categoryAxis, frame, itemTip, tip, valueAxis, type Mark } from "../plot";
import { colorOf, inkOn, palette } from "../theme";
import type { Profile, ProfileLayer } from "../types";
import { button } from "../ui";
import { moduleTree, type ModuleNode } from "./modules";

export interface IcicleMetric {
    text: string;
    show: (v: number) => string;
    of: (l: ProfileLayer) => number;
}

interface Box {
    node: ModuleNode;
    depth: number;
    from: number;
    color: string;
}

const LEVELS = 7;
const ROW = 34;
const SMALLEST = 5e-4; // of the width

// A module with one child is drawn as the child, with both names.
function inner(n: ModuleNode): ModuleNode {
    let at = n;
    while (at.children.size === 1) {
        const [only] = at.children.values();
        const name = only.name.startsWith(at.name) ? only.name : `${at.name}.${only.name}`;
        at = { ...only, name };
    }
    return at;
}

function colourOf(n: ModuleNode, top: string): string {
    return n.children.size || !n.type ? colorOf(`module:${top}`) : familyColor(n.type);
}

function boxesOf(root: ModuleNode): Box[] {
    const list: Box[] = [];
    const walk = (n: ModuleNode, depth: number, from: number, top: string): void => {
        list.push({ node: n, depth, from, color: depth ? colourOf(n, top) : palette().series[7] });
        if (depth + 1 >= LEVELS) return;
        let at = from;
        for (const c of n.children.values()) {
            if (c.value >= root.value * SMALLEST)
                walk(inner(c), depth + 1, at, depth ? top : c.name);
            at += c.value;
        }
    };
    walk(root, 0, 0, "");
    return list;
}

const shareText = (v: number, total: number): string => f.percent((100 * v) / (total || 1));

export function icicle(p: Profile, layers: ProfileLayer[], now: () => IcicleMetric): Chart {
    let path = ""; // of what is the whole
    const tree = (): ModuleNode => moduleTree(layers, nameOf(p), (l) => now().of(l));
    const find = (root: ModuleNode): ModuleNode => {
        let at = root;
        for (;;) {
            const next = [...at.children.values()].find(
                (c) => c.path === path || path.startsWith(`${c.path}.`),
            );
            if (!next) return at;
            at = next;
            if (at.path === path) return inner(at);
        }
    };
    const depthOf = (n: ModuleNode, left: number): number => {
        let most = 0;
        if (left > 1)
            for (const c of n.children.values()) most = Math.max(most, depthOf(inner(c), left - 1));
        return 1 + most;
    };
    const levels = depthOf(tree(), LEVELS);
    let boxes: Box[] = [];
    const whole = button("Whole model", () => {
        path = "";
        made.redraw();
    });
    const made: Chart = chart({
        id: "icicle",
        title: "Modules, level by level",
        note: "Width is the share of what is shown. Press a module to make it the whole.",
        height: levels * ROW + 34,
        about: "Icicle of the modules, a row for each level; the table has the level below.",
        controls: whole,
        click: (i) => {
            const box = boxes[i];
            if (!box?.node.children.size) return;
            path = box.node.path;
            made.redraw();
        },
        option: () => {
            const all = tree();
            const root = find(all);
            boxes = boxesOf(root);
            const edge = palette().card;
            return {
                grid: frame(4, 4, 4, 4),
                xAxis: valueAxis({ max: 100, axisLabel: { formatter: (v) => `${v} %` } }),
                yAxis: categoryAxis(
                    Array.from({ length: levels }, (_, i) => String(i)),
                    { inverse: true, show: false },
                ),
                tooltip: itemTip((m: Mark) => {
                    const { node } = boxes[m.index];
                    return tip(node.path || node.name, [
                        [now().text, now().show(node.value)],
                        ["Of what is shown", shareText(node.value, root.value)],
                        ["Of the model", shareText(node.value, all.value)],
                        ["Layers", f.whole(node.layers)],
                    ]);
                }),
                series: [
                    {
                        type: "custom",
                        data: boxes.map((b) => [
                            (100 * b.from) / (root.value || 1),
                            b.depth,
                            (100 * (b.from + b.node.value)) / (root.value || 1),
                            b.node.value,
                        ]),
                        encode: { x: [0, 2], y: 1 },
                        renderItem: (_params, api) => {
                            const i = _params.dataIndex;
                            const [x0, y] = api.coord([api.value(0), api.value(1)]);
                            const [x1] = api.coord([api.value(2), api.value(1)]);
                            const width = Math.max(0.5, x1 - x0);
                            const { node, color } = boxes[i];
                            return {
                                type: "rect",
                                shape: { x: x0, y: y - ROW / 2, width, height: ROW - 2 },
                                style: { fill: color, stroke: edge, lineWidth: 1 },
                                textContent: {
                                    type: "text",
                                    style: {
                                        text: width > 34 ? node.name : "",
                                        fill: inkOn(color),
                                        fontSize: 12,
                                        width: width - 8,
                                        overflow: "truncate",
                                    },
                                },
                                textConfig: { position: "inside" },
                            };
                        },
                    },
                ],
            };
        },
        table: () => {
            const root = find(tree());
            const rows = [...root.children.values()].sort((a, b) => b.value - a.value);
            return tabulate(rows, [
                ["Module", (n) => n.path],
                ["Layers", (n) => n.layers],
                [now().text, (n) => now().show(n.value)],
                ["Share", (n) => shareText(n.value, root.value)],
            ]);
        },
    });
    return made;
}
