// Pieces that several views are made of.
import { freshId, h, type Child } from "./dom";

export function section(id: string, title: string, ...children: Child[]): HTMLElement {
    return h(
        "section",
        { id, "aria-labelledby": `${id}-title`, tabindex: -1 },
        h("h2", { id: `${id}-title` }, title),
        ...children,
    );
}

export interface Fact {
    name: string;
    value: string;
    note?: Child;
    exact?: string;
    tone?: "good" | "fair" | "poor" | "plain";
    verdict?: string;
}

export function card(f: Fact): HTMLElement {
    return h(
        "div",
        { class: "card fact" },
        h("dt", null, f.name),
        h(
            "dd",
            null,
            h("span", { class: "value", title: f.exact }, f.value),
            f.verdict && h("span", { class: `chip ${f.tone ?? "plain"}` }, f.verdict),
            f.note && h("span", { class: "soft note" }, f.note),
        ),
    );
}

export const cards = (facts: Fact[]): HTMLElement => h("dl", { class: "cards" }, facts.map(card));

// One of several: a group of radio buttons that looks like one bar.
export function choice<T extends string>(
    label: string,
    options: { id: T; text: string }[],
    now: T,
    pick: (id: T) => void,
): HTMLElement {
    const name = freshId("choice");
    return h(
        "fieldset",
        { class: "choice" },
        h("legend", { class: "hidden" }, label),
        options.map((o) =>
            h(
                "label",
                null,
                h("input", {
                    type: "radio",
                    name,
                    value: o.id,
                    checked: o.id === now,
                    onchange: () => pick(o.id),
                }),
                h("span", null, o.text),
            ),
        ),
    );
}

export function select(
    label: string,
    options: { id: string; text: string }[],
    now: string,
    pick: (id: string) => void,
): HTMLElement {
    const e = h(
        "select",
        { onchange: (ev) => pick((ev.target as HTMLSelectElement).value) },
        options.map((o) => h("option", { value: o.id, selected: o.id === now }, o.text)),
    );
    return h("label", { class: "field" }, h("span", null, label), e);
}

// Name and value, line by line.
export function facts(rows: [string, Child][]): HTMLElement {
    return h(
        "dl",
        { class: "facts" },
        rows
            .filter(([, v]) => v !== null && v !== undefined && v !== "" && v !== false)
            .map(([k, v]) => h("div", null, h("dt", null, k), h("dd", null, v))),
    );
}

export interface Column<T> {
    name: string;
    text: (row: T) => Child;
    number?: boolean;
    class?: string;
}
export function table<T>(
    caption: string,
    columns: Column<T>[],
    rows: T[],
    rowClass?: (row: T) => string | undefined,
): HTMLElement {
    return h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
        h(
            "table",
            { class: "plain" },
            h("caption", { class: "hidden" }, caption),
            h(
                "thead",
                null,
                h(
                    "tr",
                    null,
                    columns.map((c) =>
                        h("th", { scope: "col", class: c.number && "number" }, c.name),
                    ),
                ),
            ),
            h(
                "tbody",
                null,
                rows.map((r) =>
                    h(
                        "tr",
                        { class: rowClass?.(r) },
                        columns.map((c, i) =>
                            h(
                                i === 0 ? "th" : "td",
                                {
                                    scope: i === 0 ? "row" : null,
                                    class:
                                        [c.number ? "number" : "", c.class ?? ""]
                                            .join(" ")
                                            .trim() || null,
                                },
                                c.text(r),
                            ),
                        ),
                    ),
                ),
            ),
        ),
    );
}

export const panel = (title: string, ...children: Child[]): HTMLElement =>
    h("div", { class: "card" }, h("h3", null, title), ...children);

// A list that begins short.
export function limited<T>(
    rows: T[],
    first: number,
    show: (rows: T[]) => HTMLElement,
    what: string,
): HTMLElement {
    if (rows.length <= first) return show(rows);
    const place = h("div", null, show(rows.slice(0, first)));
    const button = h(
        "button",
        {
            type: "button",
            class: "small more",
            onclick: () => {
                place.replaceChildren(show(rows));
                button.remove();
            },
        },
        `Show all ${rows.length.toLocaleString("en-US")} ${what}`,
    );
    return h("div", null, place, button);
}
