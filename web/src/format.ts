// Numbers for people. What is absent or not a number is a dash, never "NaN".
export type Maybe = number | null | undefined;
export const DASH = "–";
const NARROW = "\u202f"; // between a number and its unit

const good = (v: unknown): v is number => typeof v === "number" && Number.isFinite(v);
export const isNumber = good;

// The one rule of rounding, that of text_fixed() in src/base/text.c: to the nearest, and of two
// that are equally near to the one further from zero, as toFixed() does it. "-0.00" is "0.00".
function rounded(v: number, digits: number): string {
    const text = v.toFixed(digits);
    return /^-[0.]+$/.test(text) ? text.slice(1) : text;
}

// Where three significant digits end: 4.09, 25.6, 175.
const threeDigits = (a: number) => (a < 9.995 ? 2 : a < 99.95 ? 1 : 0);
const HALF = [0.5, 0.05, 0.005];

// v in the unit in which it is below `base` when it is written with its decimals.
function inUnit(v: number, base: number, last: number, digits: (a: number) => number) {
    let i = 0;
    let a = Math.abs(v);
    for (; i < last && a >= base - HALF[digits(a)]; i++) a /= base;
    return { text: rounded(v < 0 ? -a : a, digits(a)), i };
}

export function whole(v: Maybe): string {
    if (!good(v)) return DASH;
    const a = Math.round(Math.abs(v));
    return (v < 0 && a ? "-" : "") + a.toLocaleString("en-US");
}

const prefixes = ["", "k", "M", "G", "T", "P", "E", "Z", "Y"];

export function si(v: Maybe, unit = ""): string {
    if (!good(v)) return DASH;
    const a = Math.abs(v);
    const { text, i } =
        a < 1000 && Number.isInteger(v)
            ? { text: String(v + 0), i: 0 }
            : a < 0.01
              ? { text: v.toExponential(1), i: 0 }
              : inUnit(v, 1000, prefixes.length - 1, threeDigits);
    return prefixes[i] + unit ? text + NARROW + prefixes[i] + unit : text;
}

const byteUnits = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export function bytes(v: Maybe): string {
    if (!good(v)) return DASH;
    const a = Math.round(Math.abs(v));
    const sign = v < 0 && a ? "-" : "";
    if (a < 1024) return sign + a + NARROW + "B";
    const { text, i } = inUnit(a / 1024, 1024, byteUnits.length - 1, () => 2);
    return sign + text + NARROW + byteUnits[i];
}

export function ms(v: Maybe): string {
    if (!good(v)) return DASH;
    if (v === 0) return "0" + NARROW + "ms";
    if (v < 0) return "-" + ms(-v);
    if (v < 0.1) return rounded(v * 1000, v < 0.01 ? 2 : 1) + NARROW + "µs";
    if (v < 10000) return rounded(v, v < 1 ? 3 : v < 100 ? 2 : 1) + NARROW + "ms";
    return rounded(v / 1000, 2) + NARROW + "s";
}

export function percent(v: Maybe, digits = 1): string {
    return good(v) ? rounded(v, digits) + NARROW + "%" : DASH;
}

export function fixed(v: Maybe, digits = 2): string {
    if (!good(v)) return DASH;
    const [whole, rest] = rounded(v, digits).split(".");
    return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? "." + rest : "");
}

// FLOPs per byte: as many digits as say something.
export function intensity(v: Maybe): string {
    return good(v) ? rounded(v, v >= 100 ? 0 : v >= 10 ? 1 : 2) : DASH;
}

export function ratio(v: Maybe): string {
    return good(v) ? rounded(v, v >= 100 ? 0 : 2) + "×" : DASH;
}

export function rate(v: Maybe): string {
    return good(v) ? (v < 1000 ? rounded(v, v < 10 ? 2 : 1) : whole(v)) : DASH;
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

// The largest of some figures; 0 when there is none.
export function most(list: Maybe[]): number {
    return list.reduce((a: number, v) => Math.max(a, v ?? 0), 0);
}

// Long names keep both ends: the start says where, the end says what.
export function clip(s: string, n: number): string {
    if (s.length <= n) return s;
    const head = Math.ceil((n - 1) / 3);
    return s.slice(0, head) + "…" + s.slice(s.length - (n - 1 - head));
}
