// What is known of the node or the value that is selected.
import { h, type Child } from "../dom";
import * as f from "../format";
import { familyOf } from "../families";
import type { Profile, ProfileLayer } from "../types";
import { button, code, facts, soft, type FactLine } from "../ui";
import type { Flow, Value } from "./flow";
import { measures } from "./measures";
import type { TreeNode } from "./tree";

export interface PanelActions {
    goTo: (layer: number) => void;
    follow: (v: Value) => void;
}

export const typeText = (v: Value): string =>
    [f.shape(v.shape), v.dtype].filter((x) => x && x !== f.DASH).join(" ");

// ---- pieces ----

const MOST_NAMES = 30;

function some<T>(list: T[], show: (x: T) => Child): Child {
    if (!list.length) return null;
    const rest = list.length - MOST_NAMES;
    return h(
        "ul",
        { class: "values" },
        list.slice(0, MOST_NAMES).map((x) => h("li", null, show(x))),
        rest > 0 && h("li", { class: "soft" }, `and ${f.whole(rest)} more`),
    );
}

const valueLink = (v: Value, actions: PanelActions): Child => [
    button(v.name, () => actions.follow(v), "link name-link"),
    " ",
    h("span", { class: "soft" }, typeText(v)),
];

const layerLink = (layers: ProfileLayer[], i: number, actions: PanelActions): Child =>
    button(layers[i].name || layers[i].type || "?", () => actions.goTo(i), "link name-link");

const attributeText = (v: unknown): string =>
    Array.isArray(v)
        ? v.map(attributeText).join(", ")
        : typeof v === "object"
          ? JSON.stringify(v)
          : String(v);

function attributesOf(l: ProfileLayer): Child {
    const list: [string, unknown][] = Object.entries(l.attributes ?? {});
    return (
        list.length > 0 &&
        h(
            "ul",
            { class: "values" },
            list.map(([name, v]) => h("li", null, code(name), ` ${f.clip(attributeText(v), 200)}`)),
        )
    );
}

// ---- one layer ----

// An engine runs several layers as one kernel: those with the same start and end in the trace.
function sharedKernel(p: Profile, l: ProfileLayer): string[] {
    const rows = p.blocking?.layers ?? [];
    const own = rows.find((r) => r.layer === l.name);
    if (!own) return [];
    return rows
        .filter((r) => r.start_ms === own.start_ms && r.end_ms === own.end_ms)
        .map((r) => r.layer);
}

function timeOf(p: Profile, l: ProfileLayer): Child {
    if (!f.isNumber(l.time_ms)) return null;
    const spread = f.isNumber(l.time_std_ms) ? ` ± ${f.ms(l.time_std_ms)}` : "";
    const kernel = sharedKernel(p, l);
    const shared =
        kernel.length > 1 &&
        soft(`one kernel with ${kernel.filter((n) => n !== l.name).join(", ")}`);
    return [`${f.ms(l.time_ms)}${spread}`, shared];
}

function costOf(l: ProfileLayer): Child {
    const list: [string, unknown][] = Object.entries(l.cost ?? {});
    const text = list.flatMap(([name, v]) =>
        typeof v === "number" && v > 0 ? [`${name.replace(/_/g, " ")} ${f.whole(v)}`] : [],
    );
    return text.length ? text.join(" · ") : null;
}

const ifKnown = (v: f.Maybe, show: (v: f.Maybe) => string): string | null =>
    f.isNumber(v) ? show(v) : null;

function layerFacts(p: Profile, l: ProfileLayer): FactLine[] {
    const traffic =
        `${f.bytes(l.memory)}: ${f.bytes(l.read_bytes)} read, ` +
        `${f.bytes(l.weight_bytes)} of weights, ${f.bytes(l.written_bytes)} written`;
    return [
        ["Operator", l.op ?? l.type],
        ["Family", familyOf(l.type).text],
        ["Module", l.module || null],
        ["Attributes", attributesOf(l)],
        ["FLOPs", f.whole(l.flops)],
        ["MACs", l.macs ? f.whole(l.macs) : null],
        ["Cost", costOf(l)],
        ["Parameters", l.parameters ? f.whole(l.parameters) : null],
        ["Bytes", traffic],
        [
            "FLOPs per byte",
            `${f.intensity(l.arithmetic_intensity)}${l.bottleneck ? `, ${l.bottleneck}` : ""}`,
        ],
        ["Time", timeOf(p, l)],
        ["Of roof", ifKnown(l.percent_of_roof, f.percent)],
        ["Alive", ifKnown(l.live_bytes, f.bytes)],
        ["Runs", (l.times ?? 1) > 1 ? `${f.whole(l.times)} per run of the model` : null],
        ["Counted", l.certainty],
    ];
}

export function layerPanel(p: Profile, flow: Flow, i: number, actions: PanelActions): HTMLElement {
    const layers = p.layers ?? [];
    const l = layers[i];
    const constants = flow.constants[i];
    return h(
        "div",
        null,
        h("h3", { class: "name" }, l.name || l.type),
        facts([
            ["Inputs", some(flow.read[i], (v) => valueLink(v, actions))],
            [
                "Constants",
                some(constants, (c) => [
                    code(c.name),
                    " ",
                    h("span", { class: "soft" }, f.shape(c.shape)),
                ]),
            ],
            ["Outputs", some(flow.made[i], (v) => valueLink(v, actions))],
            ...layerFacts(p, l),
        ]),
    );
}

// ---- a module ----

function byType(layers: ProfileLayer[]): string {
    const count = new Map<string, number>();
    for (const l of layers) count.set(l.type ?? "?", (count.get(l.type ?? "?") ?? 0) + 1);
    const list = [...count].sort((a, b) => b[1] - a[1]);
    const text = list.slice(0, 8).map(([type, n]) => `${f.whole(n)} ${type}`);
    return text.join(", ") + (list.length > 8 ? ", …" : "");
}

export function modulePanel(
    p: Profile,
    n: TreeNode,
    actions: PanelActions,
    toggle: HTMLElement,
): HTMLElement {
    const all = p.layers ?? [];
    const layers = n.layers.map((i) => all[i]);
    const figures = measures.map(({ text, of, show }): FactLine => {
        const v = of(layers);
        return [text, Number.isNaN(v) ? null : show(v)];
    });
    return h(
        "div",
        null,
        h("h3", { class: "name" }, n.path || n.name),
        n.kind === "repeat" &&
            soft(`${f.whole(n.times)} blocks of equal structure; figures are of all of them.`),
        toggle,
        facts([
            ["Layers", f.whole(layers.length)],
            ["Types", byType(layers)],
            ...figures,
            ["Source layers", some(n.layers, (i) => layerLink(all, i, actions))],
        ]),
    );
}

// ---- a value ----

export function valuePanel(p: Profile, v: Value, actions: PanelActions): HTMLElement {
    const layers = p.layers ?? [];
    return h(
        "div",
        null,
        h("h3", { class: "name" }, v.name),
        facts([
            ["Value", typeText(v) || f.DASH],
            ["Made by", v.from < 0 ? "input of the model" : layerLink(layers, v.from, actions)],
            ["Read by", some(v.to, (i) => layerLink(layers, i, actions))],
            ["Output", v.isOutput ? "of the model" : null],
        ]),
    );
}
