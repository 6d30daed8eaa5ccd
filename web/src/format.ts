// Numbers for people. What is absent or not a number is a dash, never "NaN".
export type Maybe = number | null | undefined;
export const DASH = "–";
const NARROW = "\u202f"; // between a number and its unit

const good = (v: unknown): v is number => typeof v === "number" && Number.isFinite(v);
export const isNumber = good;

// Three significant digits, as the console writes them: 4.09, 25.6, 175.
function three(v: number): string {
    const a = Math.abs(v);
    return v.toFixed(a >= 100 || (a === 0 && v === 0) ? 0 : a >= 10 ? 1 : 2);
}

export function whole(v: Maybe): string {
    return good(v) ? Math.round(v).toLocaleString("en-US") : DASH;
}

export function si(v: Maybe, unit = ""): string {
    if (!good(v)) return DASH;
    const a = Math.abs(v);
    if (a < 1000) {
        const plain = Number.isInteger(v)
            ? String(v)
            : a < 0.01 && a > 0
              ? v.toExponential(1)
              : three(v);
        return unit ? plain + NARROW + unit : plain;
    }
    const steps: [number, string][] = [
        [1e18, "E"],
        [1e15, "P"],
        [1e12, "T"],
        [1e9, "G"],
        [1e6, "M"],
        [1e3, "k"],
    ];
    for (const [size, prefix] of steps)
        if (a >= size * 0.9995) return three(v / size) + NARROW + prefix + unit;
    return three(v);
}

export function bytes(v: Maybe): string {
    if (!good(v)) return DASH;
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let i = 0;
    let x = v;
    while (Math.abs(x) >= 1024 && i < units.length - 1) {
        x /= 1024;
        i++;
    }
    return (i === 0 ? String(Math.round(x)) : x.toFixed(2)) + NARROW + units[i];
}

export function ms(v: Maybe): string {
    if (!good(v)) return DASH;
    if (v === 0) return "0" + NARROW + "ms";
    if (v < 0.1) return (v * 1000).toFixed(v < 0.01 ? 2 : 1) + NARROW + "µs";
    if (v < 10000) return v.toFixed(v < 1 ? 3 : v < 100 ? 2 : 1) + NARROW + "ms";
    return (v / 1000).toFixed(2) + NARROW + "s";
}

export function percent(v: Maybe, digits = 1): string {
    return good(v) ? v.toFixed(digits) + NARROW + "%" : DASH;
}

export function fixed(v: Maybe, digits = 2): string {
    return good(v)
        ? v.toLocaleString("en-US", {
              minimumFractionDigits: digits,
              maximumFractionDigits: digits,
          })
        : DASH;
}

// FLOPs per byte: as many digits as say something.
export function intensity(v: Maybe): string {
    return good(v) ? (v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2)) : DASH;
}

export function ratio(v: Maybe): string {
    return good(v) ? (v >= 100 ? v.toFixed(0) : v.toFixed(2)) + "×" : DASH;
}

export function rate(v: Maybe): string {
    return good(v) ? (v < 10 ? v.toFixed(2) : v < 1000 ? v.toFixed(1) : whole(v)) : DASH;
}

export function shape(s: (number | null)[] | null | undefined): string {
    if (!s) return "?";
    return s.length ? s.map((d) => (d === null ? "?" : String(d))).join("×") : "scalar";
}

export function day(iso: string | null | undefined): string {
    if (!iso) return DASH;
    const d = new Date(iso);
    return Number.isNaN(d.getTime())
        ? iso
        : d.toISOString().slice(0, 16).replace("T", " ") + " UTC";
}

// Long names keep both ends: the start says where, the end says what.
export function clip(s: string, n: number): string {
    if (s.length <= n) return s;
    const head = Math.ceil((n - 1) / 3);
    return s.slice(0, head) + "…" + s.slice(s.length - (n - 1 - head));
}
