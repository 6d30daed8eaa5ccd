// The tree of modules that a treemap shows. Modules are dotted paths; a layer that is a module by
// itself is its leaf, another one stands below it.
import type { ProfileLayer } from "../types";

export interface ModuleNode {
    name: string;
    path: string;
    value: number;
    layers: number;
    type?: string;
    children: Map<string, ModuleNode>;
}

// ---- the tree ----

// A node's own part of a name that repeats the path of its module: "Conv" of "/layer1/conv1/Conv".
function tail(name: string, module: string | undefined): string {
    const last = name.slice(name.lastIndexOf("/") + 1) || name;
    return module && last.startsWith(module + ".") ? last.slice(module.length + 1) : last;
}

interface PathStep {
    key: string;
    name: string;
    path: string;
}

// From the model down to the layer. A layer's key cannot be a module's.
function pathOf(l: ProfileLayer): PathStep[] {
    const parts = l.module ? l.module.split(".") : [];
    const steps = parts.map((part, i) => ({
        key: part,
        name: part,
        path: parts.slice(0, i + 1).join("."),
    }));
    if (l.name === l.module) return steps;
    const name = tail(l.name || l.type || "?", parts[parts.length - 1]);
    return [...steps, { key: "\0" + l.name, name, path: l.name }];
}

function childOf(at: ModuleNode, { key, name, path }: PathStep): ModuleNode {
    const known = at.children.get(key);
    if (known) return known;
    const made: ModuleNode = { name, path, value: 0, layers: 0, children: new Map() };
    at.children.set(key, made);
    return made;
}

export function moduleTree(
    layers: ProfileLayer[],
    model: string,
    valueOf: (l: ProfileLayer) => number,
): ModuleNode {
    const root: ModuleNode = { name: model, path: "", value: 0, layers: 0, children: new Map() };
    for (const l of layers) {
        const v = valueOf(l);
        let at = root;
        root.value += v;
        root.layers++;
        for (const step of pathOf(l)) {
            at = childOf(at, step);
            at.value += v;
            at.layers++;
            at.type = l.type;
        }
    }
    return root;
}

// ---- what is drawn of it ----

export interface Branch {
    name: string;
    value: number;
    path: string;
    layers: number;
    kind: string | undefined;
    children: Branch[] | undefined;
    itemStyle?: { color: string; borderColor?: string };
    label?: { color: string };
    upperLabel?: { color: string };
}
export const isBranch = (d: unknown): d is Branch =>
    typeof d === "object" && d !== null && "path" in d && "layers" in d;

const SMALLEST = 1e-3; // of the whole: about a pixel
const MOST = 60;
const DEEPEST = 12;
// A module that is nearly all of its parent would be one large box: its children stand in its
// place.
const NEARLY_ALL = 0.85;

const isNumbered = (name: string): boolean => /^\d+$/.test(name);
const sorted = (list: Iterable<ModuleNode>): ModuleNode[] =>
    [...list].filter((c) => c.value > 0).sort((a, b) => b.value - a.value);

function spread(n: ModuleNode): ModuleNode[] {
    let list = sorted(n.children.values());
    while (list.length && list[0].children.size > 1 && list[0].value > NEARLY_ALL * n.value) {
        const [first, ...others] = list;
        const inner = [...first.children.values()].map((c) => ({
            ...c,
            name: isNumbered(c.name) ? `${first.name}.${c.name}` : c.name,
        }));
        list = sorted([...inner, ...others]);
    }
    return list;
}

// A module with one child says no more than the child. "layer1.0" says more than "0".
function collapse(c: ModuleNode, parent: ModuleNode): { name: string; inner: ModuleNode } {
    let inner = c;
    let name = isNumbered(c.name) && parent.path ? `${parent.name}.${c.name}` : c.name;
    while (inner.children.size === 1) {
        [inner] = inner.children.values();
        name = inner.name.startsWith(name) ? inner.name : `${name}.${inner.name}`;
    }
    return { name, inner };
}

function branchOf(c: ModuleNode, parent: ModuleNode, total: number, depth: number): Branch {
    const { name, inner } = collapse(c, parent);
    const { size } = inner.children;
    return {
        name,
        value: c.value,
        path: c.path,
        layers: c.layers,
        kind: size ? "" : inner.type,
        children: size && depth < DEEPEST ? branches(inner, total, depth + 1) : undefined,
    };
}

function restOf(rest: ModuleNode[], path: string): Branch {
    return {
        name: `${rest.length} more`,
        value: rest.reduce((s, c) => s + c.value, 0),
        path,
        layers: rest.reduce((s, c) => s + c.layers, 0),
        kind: "",
        children: undefined,
    };
}

// What is too small to see is put together.
function branches(n: ModuleNode, total: number, depth: number): Branch[] {
    const children = spread(n);
    const large = children.filter((c, i) => i < MOST && c.value >= total * SMALLEST);
    const rest = children.slice(large.length);
    const list = large.map((c) => branchOf(c, n, total, depth));
    return rest.length ? [...list, restOf(rest, n.path)] : list;
}

export const branchesOf = (root: ModuleNode): Branch[] => branches(root, root.value, 0);
