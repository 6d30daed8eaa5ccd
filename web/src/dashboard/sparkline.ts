// A line of a few values without axes: how they went, not what they were. The last one has a dot.
import { h } from "../dom";

const WIDTH = 240;
const HEIGHT = 44;
const MARGIN = 5;
const MOST = 120; // points; of more, the newest

const SVG = "http://www.w3.org/2000/svg";

function shape(tag: string, attributes: Record<string, string | number>): SVGElement {
    const e = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, String(value));
    return e;
}

// Places of the values: from left to right, and a flat line in the middle.
export function placesOf(values: number[]): [number, number][] {
    const low = Math.min(...values);
    const span = Math.max(...values) - low;
    const step = (WIDTH - 2 * MARGIN) / Math.max(1, values.length - 1);
    const x = (i: number) => (values.length === 1 ? WIDTH / 2 : MARGIN + i * step);
    const y = (v: number) =>
        span > 0 ? HEIGHT - MARGIN - ((v - low) / span) * (HEIGHT - 2 * MARGIN) : HEIGHT / 2;
    return values.map((v, i) => [x(i), y(v)]);
}

export function sparkline(all: number[], about: string): HTMLElement {
    const places = placesOf(all.filter(Number.isFinite).slice(-MOST));
    const svg = shape("svg", {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: "img",
        "aria-label": about,
        preserveAspectRatio: "none",
    });
    const points = places.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
    svg.append(shape("polyline", { points, class: "spark-line", "data-points": places.length }));
    const last = places[places.length - 1];
    // A point of a round line: round however the picture is stretched.
    if (last) svg.append(shape("path", { d: `M${last[0]} ${last[1]}h0.01`, class: "spark-dot" }));
    const box = h("div", { class: "sparkline" });
    box.append(svg);
    return box;
}
