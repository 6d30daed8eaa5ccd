// A table of any length: only the rows in view exist. Sorts by any column, searches, filters; by mouse, keys
// and screen reader (rows and columns are counted for it). In print its first rows stand.
import { clear, csv, h, save, type Child } from "./dom";
import { whole } from "./format";

export interface GridColumn<T> {
    id: string;
    name: string;
    title?: string; // what it means, when the name is short
    width: string; // of the grid's track
    number?: boolean;
    value: (row: T) => string | number; // what it sorts by, and what goes into CSV
    text: (row: T) => Child;
}
export interface GridFilter<T> {
    name: string;
    value: (row: T) => string;
}
export interface GridSpec<T> {
    id: string;
    what: string; // "layers"
    rows: T[];
    columns: GridColumn<T>[];
    search: (row: T) => string; // lower-cased once
    filters?: GridFilter<T>[];
    sort?: { column: string; down: boolean };
    details?: (row: T) => HTMLElement;
    actions?: Child;
}

const ROW = 32;
const PRINTED = 40;

export function grid<T>(spec: GridSpec<T>): HTMLElement {
    const { rows, columns } = spec;
    const haystack = rows.map((r) => spec.search(r).toLowerCase());
    const chosen = (spec.filters ?? []).map(() => "");
    let sort = spec.sort ?? null;
    let words: string[] = [];
    let shown: number[] = rows.map((_, i) => i);
    let active = -1; // index into shown, of the row that keys move

    const tracks = `grid-template-columns:${columns.map((c) => c.width).join(" ")}`;
    const body = h("div", { role: "rowgroup", class: "grid-body" });
    const head = h("div", { role: "row", class: "grid-row grid-head", style: tracks });
    const table = h(
        "div",
        {
            class: "grid-scroll",
            role: "table",
            tabindex: 0,
            "aria-label": `${spec.what}, ${rows.length} rows`,
            "aria-rowcount": rows.length + 1,
            "aria-colcount": columns.length,
        },
        h("div", { role: "rowgroup" }, head),
        body,
    );
    const status = h("p", { class: "soft", role: "status", "aria-live": "polite" });
    const printed = h("div", { class: "only-print" });
    const dialog = h("dialog", { class: "details", "aria-label": "Details" });

    const passes = (i: number): boolean =>
        words.every((w) => haystack[i].includes(w)) &&
        (spec.filters ?? []).every((f, k) => !chosen[k] || f.value(rows[i]) === chosen[k]);

    function order(): void {
        shown = [];
        for (let i = 0; i < rows.length; i++) if (passes(i)) shown.push(i);
        const column = sort && columns.find((c) => c.id === sort!.column);
        if (column) {
            const key = rows.map((r) => column.value(r));
            const sign = sort!.down ? -1 : 1;
            shown.sort((a, b) => (key[a] < key[b] ? -sign : key[a] > key[b] ? sign : a - b));
        }
        active = -1;
        status.textContent =
            shown.length === rows.length
                ? `${whole(rows.length)} ${spec.what}`
                : `${whole(shown.length)} of ${whole(rows.length)} ${spec.what}`;
        drawHead();
        body.style.height = `${Math.max(shown.length, 1) * ROW}px`;
        table.scrollTop = 0;
        draw();
    }

    function drawHead(): void {
        clear(
            head,
            columns.map((c, i) => {
                const on = sort?.column === c.id;
                return h(
                    "div",
                    {
                        role: "columnheader",
                        "aria-colindex": i + 1,
                        "aria-sort": on ? (sort!.down ? "descending" : "ascending") : "none",
                        class: c.number ? "number" : null,
                    },
                    h(
                        "button",
                        {
                            type: "button",
                            title: c.title,
                            onclick: () => {
                                sort = on
                                    ? { column: c.id, down: !sort!.down }
                                    : { column: c.id, down: !!c.number };
                                order();
                                (head.children[i].firstElementChild as HTMLElement).focus();
                            },
                        },
                        c.name,
                        h(
                            "span",
                            { class: "arrow", "aria-hidden": "true" },
                            on ? (sort!.down ? " ▼" : " ▲") : "",
                        ),
                    ),
                );
            }),
        );
        head.setAttribute("aria-rowindex", "1");
    }

    function open(at: number): void {
        if (!spec.details || at < 0 || at >= shown.length) return;
        clear(
            dialog,
            spec.details(rows[shown[at]]),
            h(
                "form",
                { method: "dialog" },
                h("button", { class: "small", autofocus: true }, "Close"),
            ),
        );
        dialog.showModal();
    }

    function row(at: number): HTMLElement {
        const r = rows[shown[at]];
        return h(
            "div",
            {
                role: "row",
                "aria-rowindex": at + 2,
                class: at === active ? "grid-row active" : "grid-row",
                style: `${tracks};top:${at * ROW}px`,
                onclick: () => {
                    active = at;
                    draw();
                    open(at);
                },
            },
            columns.map((c, i) =>
                h(
                    "div",
                    {
                        role: i === 0 ? "rowheader" : "cell",
                        "aria-colindex": i + 1,
                        class: c.number ? "number" : null,
                        title: i === 0 ? String(c.value(r)) : null,
                    },
                    c.text(r),
                ),
            ),
        );
    }

    let asked = false;
    function draw(): void {
        const first = Math.max(0, Math.floor((table.scrollTop - ROW) / ROW) - 6);
        const last = Math.min(shown.length, first + Math.ceil(table.clientHeight / ROW) + 14);
        const list: Child[] = [];
        for (let i = first; i < last; i++) list.push(row(i));
        clear(
            body,
            list.length
                ? list
                : h(
                      "div",
                      { role: "row", class: "grid-none" },
                      h("div", { role: "cell" }, `No ${spec.what} match.`),
                  ),
        );
    }
    table.addEventListener("scroll", () => {
        if (asked) return;
        asked = true;
        requestAnimationFrame(() => {
            asked = false;
            draw();
        });
    });
    table.addEventListener("keydown", (e) => {
        if (e.target !== table) return;
        const page = Math.max(1, Math.floor(table.clientHeight / ROW) - 2);
        const moves: Record<string, number> = {
            ArrowDown: active + 1,
            ArrowUp: active - 1,
            PageDown: active + page,
            PageUp: active - page,
            Home: 0,
            End: shown.length - 1,
        };
        if (e.key === "Enter" && active >= 0) {
            e.preventDefault(); // else the same key would press the dialog's button
            open(active);
        }
        if (!(e.key in moves) || !shown.length) return;
        e.preventDefault();
        active = Math.max(0, Math.min(shown.length - 1, moves[e.key]));
        const top = active * ROW;
        if (top < table.scrollTop) table.scrollTop = top;
        if (top + 2 * ROW > table.scrollTop + table.clientHeight)
            table.scrollTop = top + 2 * ROW - table.clientHeight;
        draw();
    });
    addEventListener("beforeprint", () => {
        if (!printed.isConnected) return;
        clear(
            printed,
            h(
                "table",
                { class: "plain" },
                h(
                    "thead",
                    null,
                    h(
                        "tr",
                        null,
                        columns.map((c) => h("th", { class: c.number && "number" }, c.name)),
                    ),
                ),
                h(
                    "tbody",
                    null,
                    shown.slice(0, PRINTED).map((i) =>
                        h(
                            "tr",
                            null,
                            columns.map((c) =>
                                h("td", { class: c.number && "number" }, c.text(rows[i])),
                            ),
                        ),
                    ),
                ),
            ),
            shown.length > PRINTED &&
                h(
                    "p",
                    { class: "soft" },
                    `${whole(shown.length - PRINTED)} ${spec.what} more; the JSON and CSV files have all of them.`,
                ),
        );
    });

    const search = h("input", {
        type: "search",
        placeholder: `Search ${spec.what}`,
        "aria-label": `Search ${spec.what}`,
        autocomplete: "off",
        spellcheck: "false",
        oninput: (e) => {
            words = (e.target as HTMLInputElement).value.toLowerCase().split(/\s+/).filter(Boolean);
            order();
        },
    });
    const filters = (spec.filters ?? []).map((filter, k) => {
        const names = [...new Set(rows.map(filter.value))].filter(Boolean).sort();
        if (names.length < 2) return null;
        return h(
            "label",
            { class: "field" },
            h("span", null, filter.name),
            h(
                "select",
                {
                    onchange: (e) => {
                        chosen[k] = (e.target as HTMLSelectElement).value;
                        order();
                    },
                },
                h("option", { value: "" }, "all"),
                names.map((n) => h("option", { value: n }, n)),
            ),
        );
    });
    const toCsv = () =>
        save(
            `${spec.id}.csv`,
            "text/csv",
            csv([
                columns.map((c) => c.name),
                ...shown.map((i) => columns.map((c) => c.value(rows[i]))),
            ]),
        );
    const element = h(
        "div",
        { class: "card grid-card", id: spec.id },
        h(
            "div",
            { class: "controls no-print" },
            search,
            filters,
            h("button", { type: "button", class: "small", onclick: toCsv }, "Save as CSV"),
            spec.actions,
        ),
        status,
        table,
        printed,
        dialog,
    );
    new ResizeObserver(() => draw()).observe(table);
    order();
    return element;
}
