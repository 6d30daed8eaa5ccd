// The model as a graph: which modules are open, what colours the nodes, what is selected, search
// and keys. canvas.ts draws, layout.ts places, tree.ts and flow.ts know the model.
import { clear, h } from "../dom";
import * as f from "../format";
import { whileListening } from "../theme";
import type { Profile, ProfileLayer } from "../types";
import { banner, button, choice, soft } from "../ui";
import { Canvas, FRAME_TITLE, textWidth, type BoxLook } from "./canvas";
import {
    flowOf,
    INPUT,
    openAtFirst,
    openNode,
    OUTPUT,
    reveal,
    seenOf,
    type Flow,
    type Seen,
    type Value,
} from "./flow";
import { place, type LayoutAnswer } from "./layout";
import { keysOf, pictureOf, type Colour, type Look } from "./look";
import { measuresOf, type Measure } from "./measures";
import { layerPanel, modulePanel, valuePanel, type PanelActions } from "./panel";
import type { Change } from "./scale";
import { searchBox } from "./search";
import { ancestors, eachNode, leavesOf, treeOf, type TreeNode } from "./tree";

export interface GraphOptions {
    id: string;
    title: string;
    changes?: Map<string, Change>; // of layers, by name: against another model
}

type Selection = { kind: "node"; node: TreeNode } | { kind: "value"; value: Value } | null;

const BOX_HEIGHT = 42;
const NARROWEST = 96;
const WIDEST_BOX = 230;

export class GraphView {
    readonly element: HTMLElement;
    private readonly layers: ProfileLayer[];
    private readonly root: TreeNode;
    private readonly flow: Flow;
    private readonly nodes = new Map<string, TreeNode>();
    private readonly leaves: Map<number, TreeNode>;
    private readonly canvas: Canvas;
    private readonly panel = h("div", {
        class: "g-panel",
        role: "region",
        "aria-label": "Selected",
        tabindex: 0,
    });
    private readonly status = h("p", {
        class: "soft g-status",
        role: "status",
        "aria-live": "polite",
    });
    private readonly scale = h("div", { class: "g-scale" });
    private open: Set<string>;
    private measure: Measure | null;
    private colour: Colour;
    private selection: Selection = null;
    private seen: Seen | null = null;
    private layout: LayoutAnswer | null = null;
    private turn = 0;

    constructor(
        private readonly p: Profile,
        private readonly options: GraphOptions,
    ) {
        this.layers = p.layers ?? [];
        this.flow = flowOf(p, this.layers);
        const before = this.flow.read.map((list) => list.map((v) => v.from).filter((i) => i >= 0));
        this.root = treeOf(this.layers, options.title, before);
        this.leaves = leavesOf(this.root);
        eachNode(this.root, (n) => this.nodes.set(n.id, n));
        this.open = openAtFirst(this.root);
        const can = measuresOf(this.layers);
        this.measure = can[0] ?? null;
        this.colour = options.changes ? "change" : (this.measure?.id ?? "flops");
        this.canvas = new Canvas(`Graph of ${options.title}`, {
            pressBox: (id) => this.pressBox(id),
            pressEdge: (i) => this.pressEdge(i),
            pressFrame: (id) => this.close(id),
            key: (e, id) => this.press(e, id),
        });
        this.element = this.frame(can);
        // Its height is there before it is drawn.
        this.describe(seenOf(this.root, this.flow, this.open));
        this.whenSeen();
        whileListening(() => this.element.isConnected && this.draw());
    }

    // ---- the frame ----

    private frame(can: Measure[]): HTMLElement {
        const colours: { id: Colour; text: string }[] = can.map(({ id, text }) => ({ id, text }));
        if (this.options.changes) colours.unshift({ id: "change", text: "Change" });
        this.showPanel();
        return h(
            "div",
            { class: "card g-view", id: this.options.id },
            h(
                "div",
                { class: "controls no-print" },
                searchBox(this.layers, (i) => this.goTo(i)),
                colours.length > 1 &&
                    choice("Colour by", colours, this.colour, (id) => {
                        this.colour = id;
                        this.measure = can.find((m) => m.id === id) ?? this.measure;
                        this.draw();
                    }),
                button("Fit", () => this.canvas.fit()),
                button("+", () => this.canvas.zoom(1.25), "small zoom-in"),
                button("−", () => this.canvas.zoom(0.8), "small zoom-out"),
                button("Top level", () => this.topLevel()),
            ),
            this.status,
            h("div", { class: "g-body" }, this.canvas.element, this.panel),
            this.scale,
        );
    }

    // Laid out when it comes into view.
    private whenSeen(): void {
        const watch = new IntersectionObserver(
            (entries) => {
                if (!entries.some((e) => e.isIntersecting)) return;
                watch.disconnect();
                void this.arrange(() => this.canvas.begin());
            },
            { rootMargin: "200px" },
        );
        watch.observe(this.element);
        this.canvas.element.addEventListener("keydown", (e) => {
            if (e.target === this.canvas.element) this.press(e, "");
        });
        addEventListener("beforeprint", () => this.element.isConnected && this.canvas.fit());
    }

    private topLevel(): void {
        this.open = openAtFirst(this.root);
        this.select(null);
        void this.arrange(() => this.canvas.begin());
    }

    // ---- layout ----

    private async arrange(then?: (() => void) | null): Promise<void> {
        const turn = ++this.turn;
        const seen = seenOf(this.root, this.flow, this.open);
        const picture = pictureOf(this.look(), seen);
        const width = (b: BoxLook) =>
            Math.min(
                WIDEST_BOX,
                Math.max(
                    NARROWEST,
                    textWidth(b.title, 12.5, true) + 28,
                    textWidth(b.note, 11.5) + 28,
                ),
            );
        const frames = new Set(seen.frames.map((n) => n.id));
        const parentOf = (id: string): string | undefined => {
            const parent = this.nodes.get(id)?.parent;
            return parent && frames.has(parent.id) ? parent.id : undefined;
        };
        try {
            const layout = await place({
                boxes: picture.boxes.map((b) => ({
                    id: b.id,
                    parent: parentOf(b.id),
                    width: width(b),
                    height: BOX_HEIGHT,
                })),
                frames: picture.frames.map((x) => ({
                    id: x.id,
                    parent: parentOf(x.id),
                    width: 0,
                    height: FRAME_TITLE,
                })),
                edges: picture.edges.map((e) => ({
                    from: e.from,
                    to: e.to,
                    width: e.label ? textWidth(e.label, 10.5) + 6 : 0,
                    height: e.label ? 14 : 0,
                })),
            });
            if (turn !== this.turn) return; // a later one is under way
            this.seen = seen;
            this.layout = layout;
            this.draw();
            then?.();
            this.element.dataset.drawn = String(seen.nodes.length);
        } catch (error) {
            const why = error instanceof Error ? error.message : String(error);
            clear(this.canvas.element, banner("fair", `The graph cannot be laid out here: ${why}`));
        }
    }

    private draw(): void {
        const { seen, layout } = this;
        if (!seen || !layout) return;
        const boxes = new Set<string>();
        const edges = new Set<number>();
        const { selection } = this;
        if (selection?.kind === "node") boxes.add(selection.node.id);
        if (selection?.kind === "value") {
            seen.edges.forEach((e, i) => e.values.includes(selection.value) && edges.add(i));
            for (const i of edges) boxes.add(seen.edges[i].from).add(seen.edges[i].to);
        }
        this.canvas.draw(pictureOf(this.look(), seen), layout, { boxes, edges });
        this.describe(seen);
    }

    // The key of the colours, and how much is seen.
    private describe(seen: Seen): void {
        clear(this.scale, keysOf(this.look(), seen));
        const hidden = this.layers.length - seen.nodes.filter((n) => n.kind === "layer").length;
        this.status.textContent =
            `${f.whole(seen.nodes.length)} nodes shown` +
            (hidden > 0
                ? `, ${f.whole(hidden)} of ${f.whole(this.layers.length)} layers inside modules`
                : "");
    }

    private look(): Look {
        const { layers, measure, colour } = this;
        return { layers, measure, colour, changes: this.options.changes };
    }

    // ---- selecting ----

    private readonly actions: PanelActions = {
        goTo: (i) => this.goTo(i),
        follow: (v) => this.select({ kind: "value", value: v }),
    };

    private select(next: Selection): void {
        this.selection = next;
        this.showPanel();
        this.draw();
    }

    private showPanel(): void {
        const { selection, p, flow } = this;
        if (!selection) {
            clear(
                this.panel,
                h("h3", null, "Nothing is selected"),
                soft(
                    "Press a module to open it, a layer for its figures, an edge to follow " +
                        "a value. The title of an open module closes it.",
                ),
                soft(
                    "Keys: arrows move, Enter opens, Escape closes the module around it, " +
                        "/ searches, F fits, + and − zoom.",
                ),
            );
            return;
        }
        if (selection.kind === "value") {
            clear(this.panel, valuePanel(p, selection.value, this.actions));
            return;
        }
        const { node } = selection;
        if (node.kind === "layer")
            clear(this.panel, layerPanel(p, flow, node.layers[0], this.actions));
        else {
            const isOpen = this.open.has(node.id);
            const toggle = button(isOpen ? "Close" : "Open", () =>
                isOpen ? this.close(node.id) : this.expand(node),
            );
            clear(this.panel, modulePanel(p, node, this.actions, toggle));
        }
        this.panel.scrollTop = 0;
    }

    // A module opens; of a layer and of an end of the model the panel tells.
    private pressBox(id: string): void {
        const value = this.endValue(id);
        if (value) {
            this.select({ kind: "value", value });
            return;
        }
        const node = this.nodes.get(id);
        if (!node) return;
        if (node.kind !== "layer") {
            this.expand(node);
            return;
        }
        this.select({ kind: "node", node });
        this.canvas.focusBox(id);
    }

    private endValue(id: string): Value | undefined {
        if (id.startsWith(INPUT)) return this.flow.inputs.find((v) => INPUT + v.name === id);
        if (id.startsWith(OUTPUT)) return this.flow.outputs.find((v) => OUTPUT + v.name === id);
        return undefined;
    }

    private pressEdge(i: number): void {
        const edge = this.seen?.edges[i];
        if (!edge) return;
        const { selection } = this;
        const at = selection?.kind === "value" ? edge.values.indexOf(selection.value) : -1;
        this.select({ kind: "value", value: edge.values[(at + 1) % edge.values.length] });
    }

    // ---- opening ----

    private expand(n: TreeNode): void {
        if (this.open.has(n.id)) return;
        const keep = this.canvas.anchor(n.id);
        this.open = openNode(this.root, this.open, n);
        this.select({ kind: "node", node: n });
        void this.arrange(() => {
            keep?.();
            this.canvas.focusBox(n.children[0]?.id ?? "");
        });
    }

    private close(id: string): void {
        const n = this.nodes.get(id);
        if (!n) return;
        const keep = this.canvas.anchor(id);
        const next = new Set(this.open);
        for (const inner of this.open) {
            const at = this.nodes.get(inner);
            if (at && (at === n || ancestors(at).includes(n))) next.delete(inner);
        }
        this.open = next;
        this.select({ kind: "node", node: n });
        void this.arrange(() => {
            keep?.();
            this.canvas.focusBox(id);
        });
    }

    goTo(layer: number): void {
        const leaf = this.leaves.get(layer);
        if (!leaf) return;
        this.open = reveal(this.root, this.open, layer);
        this.select({ kind: "node", node: leaf });
        void this.arrange(() => this.canvas.focusBox(leaf.id));
    }

    // ---- keys ----

    private press(e: KeyboardEvent, id: string): void {
        const node = this.nodes.get(id);
        const does: Record<string, () => void> = {
            Enter: () => this.enter(id, node),
            " ": () => this.step(id),
            Escape: () => this.leave(node),
            ArrowDown: () => this.along(id, "down"),
            ArrowUp: () => this.along(id, "up"),
            ArrowLeft: () => this.across(id, -1),
            ArrowRight: () => this.across(id, 1),
            "/": () => this.element.querySelector<HTMLInputElement>("input[type=search]")?.focus(),
            f: () => this.canvas.fit(),
            "+": () => this.canvas.zoom(1.25),
            "-": () => this.canvas.zoom(0.8),
        };
        const action = does[e.key];
        if (!action || e.ctrlKey || e.metaKey || e.altKey) return;
        e.preventDefault();
        e.stopPropagation();
        action();
    }

    private enter(id: string, node: TreeNode | undefined): void {
        if (node && this.seen?.frames.includes(node)) this.close(id);
        else if (node && node.kind !== "layer") this.expand(node);
        else this.pressBox(id);
    }

    private leave(node: TreeNode | undefined): void {
        const around = node?.parent;
        if (around?.parent) this.close(around.id);
        else this.select(null);
    }

    private first(): string | undefined {
        return this.layout?.boxes[0]?.id;
    }

    private step(to: string | undefined): void {
        if (!to) return;
        const node = this.nodes.get(to);
        const value = this.endValue(to);
        if (node) this.select({ kind: "node", node });
        else if (value) this.select({ kind: "value", value });
        this.canvas.focusBox(to);
    }

    // Along an edge.
    private along(id: string, way: "up" | "down"): void {
        if (!id) {
            this.step(this.first());
            return;
        }
        const edges = this.seen?.edges ?? [];
        const next =
            way === "down"
                ? edges.find((e) => e.from === id)?.to
                : edges.find((e) => e.to === id)?.from;
        this.step(next);
    }

    // To the nearest box on the same height, else the next in order.
    private across(id: string, way: number): void {
        const boxes = this.layout?.boxes ?? [];
        const at = boxes.find((b) => b.id === id);
        if (!at) {
            this.step(this.first());
            return;
        }
        const beside = boxes
            .filter((b) => Math.abs(b.y - at.y) < BOX_HEIGHT && (b.x - at.x) * way > 0)
            .sort((a, b) => Math.abs(a.x - at.x) - Math.abs(b.x - at.x));
        this.step(beside[0]?.id ?? boxes[boxes.indexOf(at) + way]?.id);
    }
}
