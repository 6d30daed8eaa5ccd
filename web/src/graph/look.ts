// How what is seen looks: titles, figures and colours of nodes, labels of edges, and the key that
// explains them.
import { h, type Child } from "../dom";
import { familiesOf, familyColor } from "../families";
import * as f from "../format";
import type { ProfileLayer } from "../types";
import type { BoxLook, EdgeLook, Picture } from "./canvas";
import { INPUT, OUTPUT, type Seen, type SeenEdge, type Value } from "./flow";
import type { Measure, MeasureId } from "./measures";
import { typeText } from "./panel";
import {
    changeNames,
    markOfChange,
    paintOf,
    paintOfChange,
    type Change,
    type Paint,
} from "./scale";
import type { TreeNode } from "./tree";

export type Colour = MeasureId | "change";

export interface Look {
    layers: ProfileLayer[];
    measure: Measure | null;
    colour: Colour;
    changes: Map<string, Change> | undefined; // of layers, by name
}

const MOST_LABELS = 120; // edges; beyond, the pointer and the panel tell

// ---- edges ----

const shortType = (dtype: string | undefined): string =>
    (dtype ?? "").replace("float", "f").replace("uint", "u").replace("int", "i");

function edgeLabel({ values }: SeenEdge): string {
    const [v] = values;
    const shape = v.shape ? f.shape(v.shape) : "";
    const one = [shape === f.DASH ? "" : f.clip(shape, 28), shortType(v.dtype)]
        .filter(Boolean)
        .join(" ");
    return values.length > 1 ? `${one} + ${values.length - 1}` : one;
}

const MOST_VALUES = 12;
function edgeText({ values }: SeenEdge): string {
    const lines = values.slice(0, MOST_VALUES).map((v) => `${v.name}  ${typeText(v)}`);
    const more = values.length - MOST_VALUES;
    return (more > 0 ? [...lines, `and ${more} more`] : lines).join("\n");
}

// ---- boxes ----

const layersOf = (look: Look, n: TreeNode): ProfileLayer[] => n.layers.map((i) => look.layers[i]);

// The highest figure that is drawn: the end of the scale.
function mostOf(look: Look, seen: Seen): number {
    const { measure } = look;
    if (!measure) return NaN;
    return measure.isShare ? 100 : f.most(seen.nodes.map((n) => measure.of(layersOf(look, n))));
}

function changeOf(look: Look, n: TreeNode): { change: Change; count: number } {
    const list = n.layers.map((i) => look.changes?.get(look.layers[i].name) ?? "same");
    const other = list.filter((c) => c !== "same");
    const one = new Set(other).size < 2;
    return { change: !other.length ? "same" : one ? other[0] : "changed", count: other.length };
}

interface NodePaint {
    paint: Paint;
    mark: string;
    told: string;
}

function nodePaint(look: Look, n: TreeNode, share: number): NodePaint {
    if (look.colour !== "change") return { paint: paintOf(share), mark: "", told: "" };
    const { change, count } = changeOf(look, n);
    const mark = markOfChange(change);
    const told = n.kind === "layer" ? change : count ? `${f.whole(count)} differ` : "same";
    return { paint: paintOfChange(change), mark: mark ? `${mark} ` : "", told };
}

export const titleOf = (n: TreeNode): string =>
    n.kind === "repeat" ? `${n.times} × ${n.name}` : n.name;

// How long the bar of a node is, of 1: its share of the model, or of the highest.
function barOf({ measure }: Look, v: number, most: number, total: number): number {
    if (measure?.isShare || measure?.id === "live_bytes") return v / most;
    return v / total;
}

const joined = (parts: string[], by: string): string => parts.filter(Boolean).join(by);

function boxOf(look: Look, n: TreeNode, most: number, total: number): BoxLook {
    const { measure, layers } = look;
    const isLayer = n.kind === "layer";
    const l = layers[n.layers[0]];
    const v = measure?.of(layersOf(look, n)) ?? NaN;
    const what = isLayer ? (l.type ?? l.op ?? "") : `${f.whole(n.layers.length)} layers`;
    const figure = measure && !Number.isNaN(v) ? measure.show(v) : "";
    const { paint, mark, told } = nodePaint(look, n, v / most);
    const title = mark + titleOf(n);
    return {
        id: n.id,
        title: isLayer ? title : `▸ ${title}`,
        note: joined([what, told || figure], " · "),
        about: joined([n.path || n.name, what, told, figure && `${figure} ${measure?.text}`], ", "),
        paint,
        edge: isLayer ? familyColor(l.type) : "",
        bar: barOf(look, v, most, total),
        opens: !isLayer,
        round: false,
        value: Number.isNaN(v) ? "" : String(v),
        layers: n.layers.length,
    };
}

// An input or output of the model.
function endOf(id: string, v: Value, what: string): BoxLook {
    const note = typeText(v) || what;
    return {
        id,
        title: v.name,
        note,
        about: `${what} ${v.name}, ${note}`,
        paint: paintOf(NaN),
        edge: "",
        bar: NaN,
        opens: false,
        round: true,
        value: "",
        layers: 0,
    };
}

export function pictureOf(look: Look, seen: Seen): Picture {
    const most = mostOf(look, seen);
    const total = look.measure?.of(look.layers) ?? NaN;
    const labelled = seen.edges.length <= MOST_LABELS;
    return {
        boxes: [
            ...seen.inputs.map((v) => endOf(INPUT + v.name, v, "input")),
            ...seen.nodes.map((n) => boxOf(look, n, most, total)),
            ...seen.outputs.map((v) => endOf(OUTPUT + v.name, v, "output")),
        ],
        frames: seen.frames.map((n) => ({ id: n.id, title: titleOf(n) })),
        edges: seen.edges.map((e): EdgeLook => ({
            from: e.from,
            to: e.to,
            label: labelled ? edgeLabel(e) : "",
            about: edgeText(e),
        })),
    };
}

// ---- the key ----

const key = (color: string, text: string): HTMLElement =>
    h("span", { class: "g-key" }, h("i", { style: `background:${color}` }), text);

export const familyKeys = (types: (string | null | undefined)[]): HTMLElement[] =>
    familiesOf(types).map(({ text, color }) => key(color, text));

function colourKeys(look: Look, seen: Seen): Child {
    if (look.colour === "change")
        return changeNames.map((c) => key(paintOfChange(c).fill, `${markOfChange(c)} ${c}`));
    const { measure } = look;
    if (!measure) return null;
    const steps = [0, 0.1, 0.3, 0.6, 1].map((x) =>
        h("i", { style: `background:${paintOf(x).fill}` }),
    );
    const end = measure.show(mostOf(look, seen));
    return h("span", { class: "g-key g-ramp" }, `${measure.text} 0`, steps, end);
}

export function keysOf(look: Look, seen: Seen): Child[] {
    const drawn = seen.nodes.filter((n) => n.kind === "layer");
    return [colourKeys(look, seen), familyKeys(drawn.map((n) => look.layers[n.layers[0]].type))];
}
