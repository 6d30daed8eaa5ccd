// What flows between layers: values with their shape and type, who makes and who reads them; and
// what of it is seen when some modules are open.
import type { Profile, ProfileLayer, Shape } from "../types";
import { ancestors, leavesOf, type TreeNode } from "./tree";

export interface Value {
    name: string;
    shape: Shape | undefined;
    dtype: string | undefined;
    from: number; // index of the layer; -1: an input of the model
    to: number[]; // that read it
    isOutput: boolean; // of the model
}

export interface Constant {
    name: string;
    shape: Shape | undefined;
}

export interface Flow {
    values: Value[];
    made: Value[][]; // by layer
    read: Value[][];
    constants: Constant[][]; // that a layer reads: weights and the like
    inputs: Value[];
    outputs: Value[];
}

interface Endpoint {
    name: string;
    dtype?: string | null;
    shape?: Shape;
}

const value = (name: string, from: number): Value => ({
    name,
    shape: undefined,
    dtype: undefined,
    from,
    to: [],
    isOutput: false,
});

function inputsOf(p: Profile, live: Map<string, Value>): Value[] {
    const list: Endpoint[] = p.config?.inputs ?? [];
    return list.map((x) => {
        const made = { ...value(x.name, -1), shape: x.shape, dtype: x.dtype ?? undefined };
        live.set(x.name, made);
        return made;
    });
}

// Names are those of the file; a body of a loop may use one again: the last one made is meant.
export function flowOf(p: Profile, layers: ProfileLayer[]): Flow {
    const live = new Map<string, Value>();
    const inputs = inputsOf(p, live);
    const flow: Flow = {
        values: [...inputs],
        made: [],
        read: [],
        constants: [],
        inputs,
        outputs: [],
    };
    layers.forEach((l, i) => addLayer(flow, l, i, live));
    for (const { name } of p.config?.outputs ?? []) {
        const made = live.get(name);
        if (!made) continue;
        made.isOutput = true;
        flow.outputs.push(made);
    }
    return flow;
}

function addLayer(flow: Flow, l: ProfileLayer, i: number, live: Map<string, Value>): void {
    const read: Value[] = [];
    const constants: Constant[] = [];
    (l.inputs ?? []).forEach((name, k) => {
        const known = live.get(name);
        if (!known) {
            constants.push({ name, shape: l.input_shapes?.[k] });
            return;
        }
        known.shape ??= l.input_shapes?.[k];
        if (known.to[known.to.length - 1] !== i) known.to.push(i);
        if (!read.includes(known)) read.push(known);
    });
    flow.read.push(read);
    flow.constants.push(constants);
    flow.made.push(
        (l.outputs ?? []).map((name, k) => {
            const made = value(name, i);
            made.shape = l.output_shapes?.[k];
            made.dtype = l.output_types?.[k] ?? undefined;
            live.set(name, made);
            flow.values.push(made);
            return made;
        }),
    );
}

// ---- what is seen ----

export const INPUT = "in:";
export const OUTPUT = "out:";

export interface SeenEdge {
    from: string; // id of a seen node
    to: string;
    values: Value[];
}
export interface Seen {
    nodes: TreeNode[]; // drawn as boxes
    frames: TreeNode[]; // open: drawn around their children
    inputs: Value[];
    outputs: Value[];
    edges: SeenEdge[];
}

// The nodes that are drawn: children of open ones, in order.
function boxes(root: TreeNode, open: Set<string>): { nodes: TreeNode[]; frames: TreeNode[] } {
    const nodes: TreeNode[] = [];
    const frames: TreeNode[] = [];
    const visit = (n: TreeNode): void => {
        if (n.kind !== "layer" && (n.parent === null || open.has(n.id))) {
            if (n.parent) frames.push(n);
            n.children.forEach(visit);
        } else nodes.push(n);
    };
    visit(root);
    return { nodes, frames };
}

export function seenOf(root: TreeNode, flow: Flow, open: Set<string>): Seen {
    const { nodes, frames } = boxes(root, open);
    const at = new Map<number, string>(); // box of a layer
    for (const n of nodes) for (const i of n.layers) at.set(i, n.id);
    const edges = new Map<string, SeenEdge>();
    const join = (from: string | undefined, to: string | undefined, v: Value): void => {
        if (!from || !to || from === to) return;
        const key = `${from}\n${to}`;
        const known = edges.get(key);
        if (!known) edges.set(key, { from, to, values: [v] });
        else if (!known.values.includes(v)) known.values.push(v);
    };
    const inputs = flow.inputs.filter((v) => v.to.length > 0 || v.isOutput);
    for (const v of flow.values) {
        const from = v.from < 0 ? INPUT + v.name : at.get(v.from);
        for (const i of v.to) join(from, at.get(i), v);
        if (v.isOutput) join(from, OUTPUT + v.name, v);
    }
    return { nodes, frames, inputs, outputs: flow.outputs, edges: [...edges.values()] };
}

// ---- opening ----

const FEW_BOXES = 8;
const MOST_AT_FIRST = 40;

// The top level; where that says little, the next one too.
export function openAtFirst(root: TreeNode): Set<string> {
    const open = new Set<string>();
    let level = root.children;
    for (let depth = 0; depth < 4 && level.length < FEW_BOXES; depth++) {
        const inner = level.filter((n) => n.kind !== "layer");
        const next = level.flatMap((n) => (n.kind === "layer" ? [n] : n.children));
        if (!inner.length || next.length > MOST_AT_FIRST) break;
        if (inner.every((n) => n.kind === "repeat" || n.kind === "group")) break;
        inner.forEach((n) => n.kind === "module" && open.add(n.id));
        level = level.flatMap((n) => (n.kind === "module" ? n.children : [n]));
    }
    return open;
}

export const MOST_BOXES = 400;

// Opens a node. What was open elsewhere is closed when more boxes would be drawn than a reader and
// a browser can take.
export function openNode(root: TreeNode, open: Set<string>, n: TreeNode): Set<string> {
    const wanted = new Set([n, ...ancestors(n)].map((x) => x.id));
    const next = new Set([...open, ...wanted]);
    for (const id of open) {
        if (boxes(root, next).nodes.length <= MOST_BOXES) break;
        if (!wanted.has(id)) next.delete(id);
    }
    return next;
}

// Opens whatever hides a layer.
export function reveal(root: TreeNode, open: Set<string>, layer: number): Set<string> {
    const leaf = leavesOf(root).get(layer);
    return leaf?.parent ? openNode(root, open, leaf.parent) : open;
}
