// Pieces that several views are made of.
import { freshId, h, type Child } from "./dom";
import type { Tone } from "./envelope";
import { DASH, whole } from "./format";

// What a condition leaves out of a list.
export type Optional<T> = T | false | null | undefined;
const isThere = <T extends object>(x: Optional<T>): x is T => !!x;

// ---- text ----

export function section(id: string, title: string, ...children: Child[]): HTMLElement {
    return h(
        "section",
        { id, "aria-labelledby": `${id}-title`, tabindex: -1 },
        h("h2", { id: `${id}-title` }, title),
        ...children,
    );
}

export const panel = (title: string, ...children: Child[]): HTMLElement =>
    h("div", { class: "card" }, h("h3", null, title), ...children);
export const pair = (...children: Child[]): HTMLElement => h("div", { class: "pair" }, ...children);
export const over = (title: string): HTMLElement => h("h3", { class: "over" }, title);
export const soft = (...children: Child[]): HTMLElement => h("p", { class: "soft" }, ...children);
export const code = (text: string): HTMLElement => h("code", null, text);
export const codeOrDash = (text: string | null | undefined): Child => (text ? code(text) : DASH);
export const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

export const chip = (tone: Tone, text: string): HTMLElement =>
    h("span", { class: `chip ${tone}` }, text);

// A sentence above the figures; a mark says how good the news is without its colour.
export const banner = (tone: Tone, text: string): HTMLElement =>
    h("p", { class: `banner ${tone}` }, text);
export const markedBanner = (tone: Tone, text: string): HTMLElement =>
    h(
        "p",
        { class: `banner ${tone}` },
        h("span", { "aria-hidden": "true" }, tone === "good" ? "✓ " : "! "),
        text,
    );
export const alert = (text: string): HTMLElement =>
    h("p", { class: "banner poor", role: "alert" }, text);

export const empty = (title: string, ...children: Child[]): HTMLElement =>
    h("div", { class: "empty" }, h("h2", null, title), ...children);

// ---- figures ----

export interface Fact {
    name: string;
    value: string;
    note?: Child;
    exact?: string;
    tone?: Tone;
    verdict?: string;
}

function card(f: Fact): HTMLElement {
    return h(
        "div",
        { class: "card fact" },
        h("dt", null, f.name),
        h(
            "dd",
            null,
            h("span", { class: "value", title: f.exact }, f.value),
            f.verdict && chip(f.tone ?? "plain", f.verdict),
            f.note && h("span", { class: "soft note" }, f.note),
        ),
    );
}

// As many columns as fit, but none that would leave one card alone in the last row; where every
// number does, two columns with the first card across both.
const CARD_WIDTH = 185;
const CARD_GAP = 12;
export function cardColumns(n: number, width: number): { columns: number; first: number } {
    const most = Math.max(1, Math.floor((width + CARD_GAP) / (CARD_WIDTH + CARD_GAP)));
    let columns = Math.min(most, n);
    while (columns > 2 && n % columns === 1) columns--;
    const alone = columns === 2 && n > 2 && n % 2 === 1;
    return { columns, first: alone ? 2 : 1 };
}

const arranged = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
        if (!(target instanceof HTMLElement)) continue;
        const { columns, first } = cardColumns(target.childElementCount, contentRect.width);
        target.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
        const card = target.firstElementChild;
        if (card instanceof HTMLElement) card.style.gridColumn = `span ${first}`;
    }
});

export function cards(list: Optional<Fact>[]): HTMLElement {
    const made = h("dl", { class: "cards" }, list.filter(isThere).map(card));
    arranged.observe(made);
    return made;
}

// Name and value, line by line; what is not known has no line.
export type FactLine = [name: string, value: Child];
export function facts(rows: FactLine[]): HTMLElement {
    const known = rows.filter(([, v]) => v !== null && v !== undefined && v !== "" && v !== false);
    return h(
        "dl",
        { class: "facts" },
        known.map(([k, v]) => h("div", null, h("dt", null, k), h("dd", null, v))),
    );
}

// A list of values: name, and what is said of it.
export const valueList = (values: { name: string; about: Child }[]): HTMLElement =>
    h(
        "ul",
        { class: "values" },
        values.map((v) => h("li", null, code(v.name), " ", h("span", { class: "soft" }, v.about))),
    );

// ---- controls ----

export interface Choice<T extends string = string> {
    id: T;
    text: string;
}

// One of several: a group of radio buttons that looks like one bar.
export function choice<T extends string>(
    label: string,
    options: Choice<T>[],
    now: T,
    pick: (id: T) => void,
): HTMLElement {
    const name = freshId("choice");
    const button = (o: Choice<T>) =>
        h("input", {
            type: "radio",
            name,
            value: o.id,
            checked: o.id === now,
            onchange: () => pick(o.id),
        });
    return h(
        "fieldset",
        { class: "choice" },
        h("legend", { class: "hidden" }, label),
        options.map((o) => h("label", null, button(o), h("span", null, o.text))),
    );
}

export const field = (label: string, control: Child): HTMLElement =>
    h("label", { class: "field" }, h("span", null, label), control);

export function select(
    label: string,
    options: Choice[],
    now: string,
    pick: (id: string) => void,
): HTMLElement {
    const control: HTMLSelectElement = h(
        "select",
        { onchange: () => pick(control.value) },
        options.map((o) => h("option", { value: o.id, selected: o.id === now }, o.text)),
    );
    return field(label, control);
}

// All, or one of several.
export function filter(label: string, options: Choice[], pick: (id: string) => void): HTMLElement {
    return select(label, [{ id: "", text: "all" }, ...options], "", pick);
}

export const button = (text: string, press: () => void, more = "small"): HTMLButtonElement =>
    h("button", { type: "button", class: more, onclick: press }, text);

// ---- tables ----

export interface Column<T> {
    name: string;
    text: (row: T) => Child;
    number?: boolean;
    class?: string;
}

export const column = <T>(name: string, text: (row: T) => Child): Column<T> => ({ name, text });
export const numbers = <T>(name: string, text: (row: T) => Child): Column<T> => ({
    name,
    text,
    number: true,
});
// Text that may be long.
export const prose = <T>(name: string, text: (row: T) => Child): Column<T> => ({
    name,
    text,
    class: "prose",
});

type RowClass<T> = (row: T) => string | undefined;

function tableRow<T>(columns: Column<T>[], row: T, rowClass?: RowClass<T>): HTMLElement {
    const classOf = (c: Column<T>) =>
        [c.number ? "number" : "", c.class ?? ""].join(" ").trim() || null;
    return h(
        "tr",
        { class: rowClass?.(row) },
        columns.map((c, i) =>
            h(
                i === 0 ? "th" : "td",
                { scope: i === 0 ? "row" : null, class: classOf(c) },
                c.text(row),
            ),
        ),
    );
}

export const headRow = (columns: { name: string; number?: boolean }[]): HTMLElement =>
    h(
        "thead",
        null,
        h(
            "tr",
            null,
            columns.map((c) => h("th", { scope: "col", class: c.number && "number" }, c.name)),
        ),
    );

export function table<T>(
    caption: string,
    columns: Column<T>[],
    rows: T[],
    rowClass?: RowClass<T>,
): HTMLElement {
    return h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
        h(
            "table",
            { class: "plain" },
            h("caption", { class: "hidden" }, caption),
            headRow(columns),
            h(
                "tbody",
                null,
                rows.map((r) => tableRow(columns, r, rowClass)),
            ),
        ),
    );
}

// A list that begins short.
export function limited<T>(
    rows: T[],
    first: number,
    what: string,
    show: (rows: T[]) => HTMLElement,
): HTMLElement {
    if (rows.length <= first) return show(rows);
    const place = h("div", null, show(rows.slice(0, first)));
    const more = button(
        `Show all ${whole(rows.length)} ${what}`,
        () => {
            place.replaceChildren(show(rows));
            more.remove();
        },
        "small more",
    );
    return h("div", null, place, more);
}

// A table that begins short.
export function longTable<T>(
    caption: string,
    columns: Column<T>[],
    rows: T[],
    { first, what, rowClass }: { first: number; what: string; rowClass?: RowClass<T> },
): HTMLElement {
    return limited(rows, first, what, (some) => table(caption, columns, some, rowClass));
}
