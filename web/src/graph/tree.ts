// The modules of a model as a tree whose every level is small enough to draw.
//
// Modules are dotted paths, layers are their leaves. Neighbours of equal structure are one node,
// "32 ×", whose children are the blocks. A level that has more than WIDEST children (a file
// without module names) is cut into groups of neighbours. A module with one child stands for it.
import type { ProfileLayer } from "../types";

export type TreeKind = "model" | "module" | "repeat" | "group" | "layer";

export interface TreeNode {
    id: string; // unique: a path, and a mark of its kind
    kind: TreeKind;
    name: string; // shown in the node
    path: string; // in full
    parent: TreeNode | null;
    children: TreeNode[];
    layers: number[]; // all below it, by index, ascending
    times: number; // blocks of a repeat, else 1
}

export const WIDEST = 60;
const DEEPEST = 32; // levels of modules; what lies deeper stands in the last
const SHORTEST_REPEAT = 2; // blocks
const SMALLEST_BLOCK = 2; // layers; single layers are not called repeats

const node = (kind: TreeKind, id: string, name: string, path: string): TreeNode => ({
    id,
    kind,
    name,
    path,
    parent: null,
    children: [],
    layers: [],
    times: 1,
});

// ---- paths ----

// The part of a name that its module does not say.
export function ownName(name: string, module: string | undefined): string {
    const last = name.slice(name.lastIndexOf("/") + 1) || name;
    if (module && last.startsWith(`${module}.`)) return last.slice(module.length + 1);
    return last.slice(last.lastIndexOf(".") + 1) || last;
}

// ---- modules ----

// Which layers read what a layer makes, and the other way round: for each layer, those before it.
export type Before = number[][];

// A module that runs, waits for others and runs again (one activation used three times) would be a
// loop in the picture: it is drawn once for each time. The part of each layer: 0 where nothing
// outside of the module lies between.
function partsOf(list: number[], before: Before): number[] {
    const inside = new Map<number, number>(list.map((i) => [i, 0]));
    const outside = new Map<number, number>(); // the latest part that it waits for
    const last = list[list.length - 1];
    for (let i = list[0]; i <= last; i++) {
        let within = 0;
        let from = -1;
        for (const p of before[i] ?? []) {
            const part = inside.get(p);
            if (part !== undefined && p >= list[0]) within = Math.max(within, part);
            if (part !== undefined) from = Math.max(from, inside.has(i) ? -1 : part);
            const waits = outside.get(p);
            if (waits !== undefined) from = Math.max(from, waits);
        }
        if (inside.has(i)) inside.set(i, Math.max(within, from + 1));
        else if (from >= 0) outside.set(i, from);
    }
    return list.map((i) => inside.get(i) ?? 0);
}

// Steps that looking for such modules may take: a file of ten thousand modules that all span the
// whole is drawn as it is.
const MOST_STEPS = 20_000_000;

class Builder {
    private steps = 0;

    constructor(
        private readonly layers: ProfileLayer[],
        private readonly before: Before,
    ) {}

    fill(at: TreeNode, list: number[], depth: number): void {
        at.layers = list;
        const groups = new Map<string, number[]>();
        for (const i of list) {
            const part = this.pathOf(i)[depth];
            const key = part === undefined ? `l:${i}` : `m:${part}`;
            const known = groups.get(key);
            if (known) known.push(i);
            else groups.set(key, [i]);
        }
        const made: TreeNode[] = [];
        for (const [key, inner] of groups)
            if (key.startsWith("l:")) made.push(this.leaf(inner[0]));
            else made.push(...this.modules(at, key.slice(2), inner, depth));
        at.children = made.sort((a, b) => a.layers[0] - b.layers[0]);
        made.forEach((c) => (c.parent = at));
    }

    private pathOf(i: number): string[] {
        const { module } = this.layers[i];
        return module ? module.split(".", DEEPEST) : [];
    }

    private leaf(i: number): TreeNode {
        const l = this.layers[i];
        const made = node("layer", `l:${i}`, ownName(l.name || l.type || "?", l.module), l.name);
        made.layers = [i];
        return made;
    }

    private modules(at: TreeNode, name: string, list: number[], depth: number): TreeNode[] {
        const path = at.path ? `${at.path}.${name}` : name;
        const span = list[list.length - 1] - list[0] + 1;
        const dense = span === list.length || (this.steps += span) > MOST_STEPS;
        const parts = dense ? list.map(() => 0) : partsOf(list, this.before);
        const count = parts.reduce((a, b) => Math.max(a, b), 0) + 1;
        return Array.from({ length: count }, (_, k) => {
            const own = list.filter((__, i) => parts[i] === k);
            const more = k ? `#${k + 1}` : "";
            const made = node("module", `m:${path}${more}`, name, path);
            this.fill(made, own, depth + 1);
            return made;
        });
    }
}

function plainTree(layers: ProfileLayer[], model: string, before: Before): TreeNode {
    const root = node("model", "root", model, "");
    const all = layers.map((_, i) => i);
    new Builder(layers, before).fill(root, all, 0);
    return root;
}

// A module that holds one thing says no more than that thing.
function withoutChains(n: TreeNode): void {
    n.children.forEach((c, i) => {
        let at = c;
        while (at.children.length === 1 && at.kind === "module") {
            const [only] = at.children;
            if (only.kind === "layer" && only.path === at.path) only.name = at.name;
            else if (only.kind !== "layer") only.name = `${at.name}.${only.name}`;
            else only.name = at.name;
            at = only;
        }
        at.parent = n;
        n.children[i] = at;
        withoutChains(at);
    });
}

// ---- repeats ----

// What makes two modules equal: their operators with the shapes that they give, in order.
function signatures(layers: ProfileLayer[]): (n: TreeNode) => string {
    const own = layers.map(
        (l) => `${l.op ?? l.type}:${(l.output_shapes ?? []).map((s) => s?.join("x")).join("/")}`,
    );
    const known = new Map<TreeNode, string>();
    return (n) => {
        const there = known.get(n);
        if (there !== undefined) return there;
        const made = n.layers.map((i) => own[i]).join(" ");
        known.set(n, made);
        return made;
    };
}

function repeatOf(blocks: TreeNode[], parent: TreeNode): TreeNode {
    const [first] = blocks;
    const last = blocks[blocks.length - 1];
    const made = node(
        "repeat",
        `r:${first.id}`,
        `${first.name} … ${last.name}`,
        `${first.path} … ${last.path}`,
    );
    made.times = blocks.length;
    return adopt(made, blocks, parent);
}

function adopt(made: TreeNode, children: TreeNode[], parent: TreeNode): TreeNode {
    made.parent = parent;
    made.children = children;
    made.layers = children.flatMap((c) => c.layers);
    children.forEach((c) => (c.parent = made));
    return made;
}

const isBlock = (n: TreeNode): boolean => n.kind === "module" && n.layers.length >= SMALLEST_BLOCK;

function withRepeats(n: TreeNode, sign: (n: TreeNode) => string): void {
    const list: TreeNode[] = [];
    for (let i = 0; i < n.children.length;) {
        let end = i + 1;
        if (isBlock(n.children[i]))
            while (end < n.children.length && sameBlock(n.children[i], n.children[end], sign))
                end++;
        const run = n.children.slice(i, end);
        if (run.length >= SHORTEST_REPEAT && run.length < n.children.length + 1)
            list.push(repeatOf(run, n));
        else list.push(...run);
        i = end;
    }
    n.children = list;
    for (const c of list)
        if (c.kind === "repeat") c.children.forEach((b) => withRepeats(b, sign));
        else withRepeats(c, sign);
}

const sameBlock = (a: TreeNode, b: TreeNode, sign: (n: TreeNode) => string): boolean =>
    isBlock(b) && a.layers.length === b.layers.length && sign(a) === sign(b);

// ---- wide levels ----

function groupOf(list: TreeNode[], parent: TreeNode): TreeNode {
    const [first] = list;
    const last = list[list.length - 1];
    const text = `${first.name} … ${last.name}`;
    return adopt(node("group", `g:${first.id}~${list.length}`, text, text), list, parent);
}

function inGroups(n: TreeNode): void {
    n.children.forEach(inGroups);
    while (n.children.length > WIDEST) {
        const size = Math.ceil(n.children.length / Math.min(WIDEST / 2, n.children.length / 2));
        const groups: TreeNode[] = [];
        for (let i = 0; i < n.children.length; i += size) {
            const part = n.children.slice(i, i + size);
            groups.push(part.length === 1 ? part[0] : groupOf(part, n));
        }
        n.children = groups;
        groups.forEach(inGroups);
    }
}

export function treeOf(layers: ProfileLayer[], model: string, before: Before): TreeNode {
    const root = plainTree(layers, model, before);
    withoutChains(root);
    withRepeats(root, signatures(layers));
    withoutChains(root); // a module that holds one repeat
    inGroups(root);
    return root;
}

// ---- walking ----

export function eachNode(n: TreeNode, visit: (n: TreeNode) => void): void {
    visit(n);
    n.children.forEach((c) => eachNode(c, visit));
}

// The leaf of every layer.
export function leavesOf(root: TreeNode): Map<number, TreeNode> {
    const leaves = new Map<number, TreeNode>();
    eachNode(root, (n) => n.kind === "layer" && leaves.set(n.layers[0], n));
    return leaves;
}

export function ancestors(n: TreeNode): TreeNode[] {
    const list: TreeNode[] = [];
    for (let at = n.parent; at; at = at.parent) list.push(at);
    return list;
}
