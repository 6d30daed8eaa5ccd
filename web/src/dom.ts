// Elements are made here and nowhere else. Text is always text: no markup is ever parsed, so that
// names out of a model file cannot become anything but letters.
export type Child = Node | string | number | null | undefined | false | Child[];
export type Cell = string | number | null | undefined;
type Attribute = string | number | boolean | null | undefined | ((e: Event) => void);
export type Attributes = Record<string, Attribute>;

function append(to: Element, child: Child): void {
    if (child === null || child === undefined || child === false) return;
    if (Array.isArray(child)) child.forEach((c) => append(to, c));
    else to.append(child instanceof Node ? child : String(child));
}

// h("button", { class: "x", onclick: f, "aria-pressed": true }, "text")
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes?: Attributes | null,
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const e = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === "function") e.addEventListener(key.slice(2), value);
        else e.setAttribute(key, value === true ? "" : String(value));
    }
    children.forEach((c) => append(e, c));
    return e;
}

export function clear(e: Element, ...children: Child[]): void {
    e.replaceChildren();
    children.forEach((c) => append(e, c));
}

// Hands the user what stands at an address as a file.
export function download(name: string, url: string): void {
    const a = h("a", { href: url, download: name });
    document.body.append(a);
    a.click();
    a.remove();
}

// Hands the user a file that was made in the page.
export function save(name: string, type: string, text: string): void {
    const url = URL.createObjectURL(new Blob([text], { type }));
    download(name, url);
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// A table as CSV (RFC 4180); what a spreadsheet would take for a formula is kept from being one.
export function csv(rows: Cell[][]): string {
    const field = (v: Cell): string => {
        let s = v === null || v === undefined ? "" : String(v);
        if (typeof v === "string" && /^[=+\-@\t]/.test(s)) s = "'" + s;
        return /[",\r\n]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s;
    };
    return rows.map((r) => r.map(field).join(",") + "\r\n").join("");
}

let last = 0;
export const freshId = (prefix: string): string => `${prefix}-${++last}`;
