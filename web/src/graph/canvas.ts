// The picture: boxes, frames, edges with their labels, what part of it is seen, and a small map of
// the whole. Holds no knowledge of models: it draws what it is given and says what was pressed.
import { freshId, h } from "../dom";
import type { LayoutAnswer, PlacedBox, Point } from "./layout";
import type { Paint } from "./scale";
import { s } from "./svg";

export interface BoxLook {
    id: string;
    title: string; // first line, cut to fit
    note: string; // second line
    about: string; // in full, for screen readers and the pointer
    paint: Paint;
    edge: string; // colour of the stripe; "" for none
    bar: number; // 0 to 1: drawn at the foot; NaN: none
    opens: boolean; // has something inside
    round: boolean; // an input or output of the model
    value: string; // the figure as a number, for tests and scripts
    layers: number;
}
export interface EdgeLook {
    from: string;
    to: string;
    label: string;
    about: string;
}
export interface Picture {
    boxes: BoxLook[];
    frames: { id: string; title: string }[];
    edges: EdgeLook[];
}
export interface Marks {
    boxes: Set<string>; // selected
    edges: Set<number>; // followed
}
export interface CanvasEvents {
    pressBox: (id: string) => void;
    pressEdge: (index: number) => void;
    pressFrame: (id: string) => void;
    key: (e: KeyboardEvent, id: string) => void;
}

export const FRAME_TITLE = 20;
const LEAST_SCALE = 0.08;
const MOST_SCALE = 3;
const FIRST_SCALE = 0.55; // text below is hard to read
const MAP_WIDTH = 130;
const MAP_HEIGHT = 100;

// ---- text ----

const ruler = document.createElement("canvas").getContext("2d");
const FONT = 'px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

export function textWidth(text: string, size: number, bold = false): number {
    if (!ruler) return text.length * size * 0.6;
    ruler.font = `${bold ? "650 " : ""}${size}${FONT}`;
    return ruler.measureText(text).width;
}

// The middle goes first: the end of a name tells layers apart.
export function cutText(text: string, width: number, size: number, bold = false): string {
    if (textWidth(text, size, bold) <= width) return text;
    let keep = Math.min(text.length, Math.ceil(width / (size * 0.4)));
    for (; keep > 4; keep--) {
        const tail = Math.ceil((keep - 1) * 0.6);
        const made = `${text.slice(0, keep - 1 - tail)}…${text.slice(text.length - tail)}`;
        if (textWidth(made, size, bold) <= width) return made;
    }
    return "…";
}

// ---- one element each ----

function boxElement(b: BoxLook, at: PlacedBox, on: boolean, events: CanvasEvents): SVGGElement {
    const { x, y, width, height } = at;
    const inner = width - 22;
    return s(
        "g",
        {
            class: on ? "g-box on" : "g-box",
            role: "button",
            tabindex: -1,
            "data-id": b.id,
            "data-value": b.value,
            "data-layers": b.layers,
            "aria-expanded": b.opens ? "false" : null,
            "aria-pressed": on ? "true" : "false",
            transform: `translate(${x},${y})`,
            onclick: () => events.pressBox(b.id),
            onkeydown: (e) => e instanceof KeyboardEvent && events.key(e, b.id),
        },
        s("title", {}, b.about),
        s("rect", {
            class: "g-ground",
            width,
            height,
            rx: b.round ? height / 2 : 6,
            fill: b.paint.fill,
        }),
        b.edge && s("rect", { x: 1, y: 5, width: 5, height: height - 10, rx: 2.5, fill: b.edge }),
        s(
            "text",
            { class: "g-title", x: 13, y: 17, fill: b.paint.text },
            cutText(b.title, inner, 12.5, true),
        ),
        s(
            "text",
            { class: "g-note", x: 13, y: 33, fill: b.paint.text },
            cutText(b.note, inner, 11.5),
        ),
        Number.isFinite(b.bar) &&
            b.bar > 0 &&
            s("rect", {
                class: "g-bar",
                x: 8,
                y: height - 5,
                width: Math.max(1, (width - 16) * Math.min(1, b.bar)),
                height: 3,
                fill: b.paint.text,
            }),
    );
}

function frameElement(id: string, title: string, at: PlacedBox, events: CanvasEvents): SVGGElement {
    const { x, y, width, height } = at;
    const about = `Close ${title}`;
    return s(
        "g",
        { class: "g-frame", "data-id": id, transform: `translate(${x},${y})` },
        s("rect", { class: "g-frame-ground", width, height, rx: 8 }),
        s(
            "g",
            {
                class: "g-frame-title",
                role: "button",
                tabindex: -1,
                "aria-expanded": "true",
                onclick: () => events.pressFrame(id),
                onkeydown: (e) => e instanceof KeyboardEvent && events.key(e, id),
            },
            s("title", {}, about),
            s("rect", { width, height: FRAME_TITLE, fill: "transparent" }),
            s("text", { x: 8, y: 14 }, cutText(`▾ ${title}`, width - 14, 11.5, true)),
        ),
    );
}

// A line through the points with round corners.
function pathOf(points: Point[]): string {
    const [first, ...rest] = points;
    let d = `M${first.x},${first.y}`;
    rest.forEach((p, i) => {
        const next = rest[i + 1];
        if (!next) d += `L${p.x},${p.y}`;
        else d += `Q${p.x},${p.y} ${(p.x + next.x) / 2},${(p.y + next.y) / 2}`;
    });
    return d;
}

interface EdgeAt {
    points: Point[];
    label: Point;
    tip: string; // id of the arrow's head
}

function edgeElement(
    e: EdgeLook,
    i: number,
    at: EdgeAt,
    on: boolean,
    events: CanvasEvents,
): SVGGElement {
    const { label } = at;
    const d = pathOf(at.points);
    return s(
        "g",
        { class: on ? "g-edge on" : "g-edge", "data-index": i, onclick: () => events.pressEdge(i) },
        s("title", {}, e.about),
        s("path", { class: "g-reach", d }),
        s("path", { class: "g-line", d, "marker-end": `url(#${at.tip})` }),
        e.label && s("text", { x: label.x, y: label.y + 4, "text-anchor": "middle" }, e.label),
    );
}

const arrow = (id: string, look: string): SVGMarkerElement =>
    s(
        "marker",
        {
            id,
            class: look,
            viewBox: "0 0 8 8",
            refX: 7,
            refY: 4,
            markerWidth: 7,
            markerHeight: 7,
            orient: "auto",
        },
        s("path", { d: "M0,0.5L8,4L0,7.5Z" }),
    );

// ---- the canvas ----

export class Canvas {
    readonly element: HTMLElement;
    private readonly svg: SVGSVGElement;
    private readonly scene = s("g", {});
    private readonly tip = freshId("arrow");
    private readonly tipOn = freshId("arrow");
    private readonly map = s("svg", {
        class: "g-map no-print",
        "aria-hidden": "true",
        width: MAP_WIDTH,
        height: MAP_HEIGHT,
    });
    private readonly lens = s("rect", { class: "g-lens" });
    private layout: LayoutAnswer | null = null;
    private scale = 1;
    private left = 0; // of the scene, in pixels of the window
    private top = 0;

    constructor(
        about: string,
        private readonly events: CanvasEvents,
    ) {
        this.svg = s(
            "svg",
            { class: "g-svg", role: "group", "aria-label": about },
            s("defs", {}, arrow(this.tip, "g-tip"), arrow(this.tipOn, "g-tip on")),
            this.scene,
        );
        this.element = h("div", {
            class: "g-canvas",
            tabindex: 0,
            role: "group",
            "aria-label": about,
        });
        this.element.append(this.svg, this.map);
        this.listen();
    }

    draw(picture: Picture, layout: LayoutAnswer, marks: Marks): void {
        this.layout = layout;
        const placed = new Map(layout.boxes.map((b) => [b.id, b]));
        const frames = new Map(layout.frames.map((b) => [b.id, b]));
        const parts: SVGElement[] = [];
        for (const { id, title } of picture.frames) {
            const at = frames.get(id);
            if (at) parts.push(frameElement(id, title, at, this.events));
        }
        picture.edges.forEach((e, i) => {
            const on = marks.edges.has(i);
            const at = { ...layout.edges[i], tip: on ? this.tipOn : this.tip };
            parts.push(edgeElement(e, i, at, on, this.events));
        });
        for (const b of picture.boxes) {
            const at = placed.get(b.id);
            if (at) parts.push(boxElement(b, at, marks.boxes.has(b.id), this.events));
        }
        this.scene.replaceChildren(...parts);
        this.drawMap(picture, placed);
        this.move();
    }

    focusBox(id: string): void {
        const at = this.layout?.boxes.find((b) => b.id === id);
        if (at) this.showBox(at);
        for (const e of this.scene.querySelectorAll<SVGGElement>(".g-box"))
            if (e.dataset.id === id) e.focus({ preventScroll: true });
    }

    // ---- what part is seen ----

    fit(): void {
        const { layout } = this;
        const { clientWidth: w, clientHeight: v } = this.element;
        if (!layout || !w) return;
        this.scale = Math.min(1.25, w / layout.width, v / layout.height);
        this.left = (w - layout.width * this.scale) / 2;
        this.top = (v - layout.height * this.scale) / 2;
        this.move();
    }

    // The whole where it can be read, else its beginning.
    begin(): void {
        this.fit();
        const { layout } = this;
        const { clientWidth: w } = this.element;
        if (!layout || this.scale >= FIRST_SCALE) return;
        this.scale = Math.max(FIRST_SCALE, Math.min(1, w / layout.width));
        const first = layout.boxes[0];
        const middle = first ? first.x + first.width / 2 : layout.width / 2;
        const fits = layout.width * this.scale <= w;
        this.left = fits ? (w - layout.width * this.scale) / 2 : w / 2 - middle * this.scale;
        this.top = 0;
        this.move();
    }

    zoom(by: number, x = this.element.clientWidth / 2, y = this.element.clientHeight / 2): void {
        const next = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, this.scale * by));
        this.left = x - ((x - this.left) * next) / this.scale;
        this.top = y - ((y - this.top) * next) / this.scale;
        this.scale = next;
        this.move();
    }

    // Keeps a box where it was while the rest is laid out anew.
    anchor(id: string): (() => void) | null {
        const find = (): PlacedBox | undefined =>
            this.layout?.boxes.find((b) => b.id === id) ??
            this.layout?.frames.find((b) => b.id === id);
        const before = find();
        if (!before) return null;
        const x = before.x * this.scale + this.left;
        const y = before.y * this.scale + this.top;
        return () => {
            const after = find();
            if (!after) return;
            this.left = x - after.x * this.scale;
            this.top = y - after.y * this.scale;
            this.move();
        };
    }

    private showBox(at: PlacedBox): void {
        const { clientWidth: w, clientHeight: v } = this.element;
        const x = at.x * this.scale + this.left;
        const y = at.y * this.scale + this.top;
        const isIn =
            x > 8 &&
            y > 8 &&
            x + at.width * this.scale < w - 8 &&
            y + at.height * this.scale < v - 8;
        if (isIn) return;
        this.left = w / 2 - (at.x + at.width / 2) * this.scale;
        this.top = v / 2 - (at.y + at.height / 2) * this.scale;
        this.move();
    }

    private move(): void {
        this.scene.setAttribute(
            "transform",
            `translate(${this.left},${this.top}) scale(${this.scale})`,
        );
        const { layout } = this;
        if (!layout) return;
        const { clientWidth: w, clientHeight: v } = this.element;
        const k = this.mapScale(layout);
        const attributes = {
            x: (-this.left / this.scale) * k + this.mapLeft(layout),
            y: (-this.top / this.scale) * k,
            width: (w / this.scale) * k,
            height: (v / this.scale) * k,
        };
        for (const [key, value] of Object.entries(attributes))
            this.lens.setAttribute(key, String(value));
        const all =
            this.left >= 0 &&
            this.top >= 0 &&
            this.left + layout.width * this.scale <= w &&
            this.top + layout.height * this.scale <= v;
        this.map.classList.toggle("g-all", all);
    }

    private mapScale = (l: LayoutAnswer): number =>
        Math.min(MAP_WIDTH / l.width, MAP_HEIGHT / l.height);

    private mapLeft = (l: LayoutAnswer): number => (MAP_WIDTH - l.width * this.mapScale(l)) / 2;

    private drawMap(picture: Picture, placed: Map<string, PlacedBox>): void {
        const { layout } = this;
        if (!layout) return;
        const k = this.mapScale(layout);
        const dots = picture.boxes.map((b) => {
            const at = placed.get(b.id);
            return (
                at &&
                s("rect", {
                    x: at.x * k + this.mapLeft(layout),
                    y: at.y * k,
                    width: Math.max(1.5, at.width * k),
                    height: Math.max(1.5, at.height * k),
                    fill: b.paint.fill,
                    class: "g-dot",
                })
            );
        });
        this.map.replaceChildren(...dots.filter((d) => !!d), this.lens);
    }

    // ---- the pointer ----

    private listen(): void {
        const { element, map } = this;
        let from: { x: number; y: number; id: number } | null = null;
        let moved = false;
        element.addEventListener("pointerdown", (e) => {
            if (e.button !== 0 || map.contains(e.target as Node)) return;
            from = { x: e.clientX - this.left, y: e.clientY - this.top, id: e.pointerId };
            moved = false;
        });
        element.addEventListener("pointermove", (e) => {
            if (from?.id !== e.pointerId) return;
            const left = e.clientX - from.x;
            const top = e.clientY - from.y;
            if (!moved && Math.hypot(left - this.left, top - this.top) < 4) return;
            if (!moved) element.setPointerCapture(e.pointerId);
            moved = true;
            this.left = left;
            this.top = top;
            this.move();
        });
        const end = () => (from = null);
        element.addEventListener("pointerup", end);
        element.addEventListener("pointercancel", end);
        // A drag presses nothing.
        element.addEventListener("click", (e) => moved && e.stopPropagation(), { capture: true });
        element.addEventListener(
            "wheel",
            (e) => {
                if (!e.ctrlKey && !e.metaKey) return; // the page scrolls
                e.preventDefault();
                const box = element.getBoundingClientRect();
                this.zoom(Math.exp(-e.deltaY / 300), e.clientX - box.left, e.clientY - box.top);
            },
            { passive: false },
        );
        map.addEventListener("click", (e) => this.goTo(e));
    }

    private goTo(e: MouseEvent): void {
        const { layout } = this;
        if (!layout) return;
        const box = this.map.getBoundingClientRect();
        const k = this.mapScale(layout);
        const { clientWidth: w, clientHeight: v } = this.element;
        this.left = w / 2 - ((e.clientX - box.left - this.mapLeft(layout)) / k) * this.scale;
        this.top = v / 2 - ((e.clientY - box.top) / k) * this.scale;
        this.move();
    }
}
