// Colours of a figure: one hue from the ground to a strong tone, so that more is darker on light
// and brighter on dark; and the colours of changes between two models.
import { inkOn, palette, theme } from "../theme";

type Rgb = [number, number, number];

const parse = (hex: string): Rgb => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)) as Rgb;
const mix = (a: Rgb, b: Rgb, t: number): Rgb =>
    a.map((v, i) => Math.round(v + (b[i] - v) * t)) as Rgb;
const css = (c: Rgb): string => `rgb(${c.join(",")})`;

export interface Paint {
    fill: string;
    text: string; // legible on it
}

const paint = (c: Rgb): Paint => ({
    fill: css(c),
    text: inkOn(`#${c.map((v) => v.toString(16).padStart(2, "0")).join("")}`),
});

// Of a share of the scale from 0 to 1; the square root keeps small ones apart.
export function paintOf(share: number): Paint {
    const p = palette();
    if (!Number.isFinite(share)) return paint(parse(p.card));
    const strong: Rgb = theme() === "dark" ? [86, 180, 233] : [0, 90, 150];
    return paint(
        mix(parse(p.card), strong, 0.06 + 0.94 * Math.sqrt(Math.min(1, Math.max(0, share)))),
    );
}

export type Change = "removed" | "added" | "changed" | "reshaped" | "same";

const changes: Record<Change, { light: Rgb; dark: Rgb; mark: string }> = {
    removed: { light: [250, 215, 195], dark: [110, 50, 20], mark: "−" },
    added: { light: [190, 235, 215], dark: [10, 85, 62], mark: "+" },
    changed: { light: [253, 232, 180], dark: [105, 80, 10], mark: "≠" },
    reshaped: { light: [200, 225, 250], dark: [20, 70, 115], mark: "↔" },
    same: { light: [255, 255, 255], dark: [27, 33, 39], mark: "" },
};
export const changeNames = Object.keys(changes) as Change[];
export const paintOfChange = (c: Change): Paint =>
    paint(theme() === "dark" ? changes[c].dark : changes[c].light);
export const markOfChange = (c: Change): string => changes[c].mark;
