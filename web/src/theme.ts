// Light and dark: what the system prefers, unless the reader chose. Print is always light.
export type Theme = "light" | "dark";
type Listener = (theme: Theme) => void;

const query = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<Listener>();
let chosen: Theme | null = null;
let printing = false;

// Storage may be forbidden for files: then the choice lasts as long as the page.
function remembered(): Theme | null {
    try {
        const v = localStorage.getItem("assay-theme");
        return v === "light" || v === "dark" ? v : null;
    } catch {
        return null;
    }
}

export function theme(): Theme {
    return printing ? "light" : (chosen ?? (query.matches ? "dark" : "light"));
}

function apply(): void {
    document.documentElement.dataset.theme = theme();
    listeners.forEach((f) => f(theme()));
}

export function choose(next: Theme): void {
    chosen = next;
    try {
        localStorage.setItem("assay-theme", next);
    } catch {
        /* not remembered, then */
    }
    apply();
}

export function whileListening(f: Listener): void {
    listeners.add(f);
}

export function setPrinting(on: boolean): void {
    printing = on;
    apply();
}

export function startTheme(): void {
    chosen = remembered();
    query.addEventListener("change", apply);
    apply();
}

// Okabe and Ito's colours, which stay apart under every common kind of colour blindness; lighter on
// dark.
const light = {
    series: [
        "#0072b2",
        "#d55e00",
        "#009e73",
        "#cc79a7",
        "#e69f00",
        "#56b4e9",
        "#7a5195",
        "#6b6b6b",
        "#8c6d31",
        "#2f4b7c",
    ],
    text: "#1c2126",
    soft: "#59636e",
    line: "#d5dae0",
    faint: "#eceff3",
    card: "#ffffff",
    accent: "#0072b2",
    warn: "#b35900",
    bad: "#b3261e",
};
const dark: typeof light = {
    series: [
        "#4db3f0",
        "#ff8c42",
        "#2ecc9b",
        "#e7a6cb",
        "#f2bd42",
        "#9bd4f5",
        "#b99ad6",
        "#a5adb5",
        "#c9a86a",
        "#8fa8dc",
    ],
    text: "#e8ebee",
    soft: "#9aa5b1",
    line: "#38414b",
    faint: "#262d35",
    card: "#1b2127",
    accent: "#4db3f0",
    warn: "#f2a65a",
    bad: "#ff8a80",
};
export type Palette = typeof light;
export const palette = (): Palette => (theme() === "dark" ? dark : light);

// Dark or light text, whichever is the more legible on a colour "#rrggbb".
export function inkOn(color: string): string {
    const [r, g, b] = [1, 3, 5].map((i) => {
        const x = parseInt(color.slice(i, i + 2), 16) / 255;
        return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#101418" : "#ffffff";
}

// The same name has the same colour in every chart of a page.
const assigned = new Map<string, number>();
export function colorOf(name: string): string {
    if (!assigned.has(name)) assigned.set(name, assigned.size);
    const series = palette().series;
    return series[assigned.get(name)! % series.length];
}
