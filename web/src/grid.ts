// A table of any length: only the rows in view exist. Sorts by any column, searches, filters; by
// mouse, keys and screen reader (rows and columns are counted for it). In print its first rows
// stand.
import { clear, csv, h, save, type Child } from "./dom";
import { whole } from "./format";
import { button, filter as filterOf } from "./ui";

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
interface Order {
    column: string;
    down: boolean;
}
export interface GridSpec<T> {
    id: string;
    what: string; // "layers"
    rows: T[];
    columns: GridColumn<T>[];
    search: (row: T) => string; // lower-cased once
    filters?: GridFilter<T>[];
    sort?: Order;
    details?: (row: T) => HTMLElement;
}

const ROW = 32;
const PRINTED = 40;

// ---- which rows, in which order ----

// The rows that search and filters leave, sorted: indices into spec.rows.
class Selection<T> {
    words: string[] = [];
    sort: Order | null;
    readonly chosen: string[];
    private readonly haystack: string[];

    constructor(private readonly spec: GridSpec<T>) {
        this.haystack = spec.rows.map((r) => spec.search(r).toLowerCase());
        this.chosen = (spec.filters ?? []).map(() => "");
        this.sort = spec.sort ?? null;
    }

    private passes(i: number): boolean {
        const { rows, filters } = this.spec;
        const found = this.words.every((w) => this.haystack[i].includes(w));
        const chosen = (k: number, value: string) => !this.chosen[k] || value === this.chosen[k];
        return found && (filters ?? []).every((f, k) => chosen(k, f.value(rows[i])));
    }

    list(): number[] {
        const { rows, columns } = this.spec;
        const shown: number[] = [];
        for (let i = 0; i < rows.length; i++) if (this.passes(i)) shown.push(i);
        const { sort } = this;
        const column = sort && columns.find((c) => c.id === sort.column);
        if (!column) return shown;
        const key = rows.map((r) => column.value(r));
        const sign = sort.down ? -1 : 1;
        return shown.sort((a, b) => (key[a] < key[b] ? -sign : key[a] > key[b] ? sign : a - b));
    }

    // Once more by the same column: the other way round.
    sortBy(column: GridColumn<T>): void {
        const again = this.sort?.column === column.id;
        this.sort = { column: column.id, down: again ? !this.sort?.down : !!column.number };
    }
}

// ---- pieces without state ----

function searchBox(what: string, found: (words: string[]) => void): HTMLInputElement {
    const input: HTMLInputElement = h("input", {
        type: "search",
        placeholder: `Search ${what}`,
        "aria-label": `Search ${what}`,
        autocomplete: "off",
        spellcheck: "false",
        oninput: () => found(input.value.toLowerCase().split(/\s+/).filter(Boolean)),
    });
    return input;
}

function filterBox<T>(rows: T[], filter: GridFilter<T>, pick: (name: string) => void): Child {
    const names = [...new Set(rows.map(filter.value))].filter(Boolean).sort();
    if (names.length < 2) return null;
    return filterOf(
        filter.name,
        names.map((n) => ({ id: n, text: n })),
        pick,
    );
}

function printedTable<T>(spec: GridSpec<T>, rows: T[]): Child {
    const { columns, what } = spec;
    const left = `${whole(rows.length - PRINTED)} ${what}`;
    const more = `${left} more; the JSON and CSV files have all of them.`;
    const line = (row: T) =>
        h(
            "tr",
            null,
            columns.map((c) => h("td", { class: c.number && "number" }, c.text(row))),
        );
    return [
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
            h("tbody", null, rows.slice(0, PRINTED).map(line)),
        ),
        rows.length > PRINTED && h("p", { class: "soft" }, more),
    ];
}

// ---- the table ----

class Grid<T> {
    readonly element: HTMLElement;
    private readonly selection: Selection<T>;
    private shown: number[] = [];
    private active = -1; // index into shown, of the row that keys move
    private frameAsked = false;

    private readonly tracks: string;
    private readonly body = h("div", { role: "rowgroup", class: "grid-body" });
    private readonly head: HTMLElement;
    private readonly table: HTMLElement;
    private readonly status = h("p", { class: "soft", role: "status", "aria-live": "polite" });
    private readonly printed = h("div", { class: "only-print" });
    private readonly dialog = h("dialog", { class: "details", "aria-label": "Details" });

    constructor(private readonly spec: GridSpec<T>) {
        this.selection = new Selection(spec);
        this.tracks = `grid-template-columns:${spec.columns.map((c) => c.width).join(" ")}`;
        this.head = h("div", { role: "row", class: "grid-row grid-head", style: this.tracks });
        this.table = this.makeTable();
        this.element = h(
            "div",
            { class: "card grid-card", id: spec.id },
            this.controls(),
            this.status,
            this.table,
            this.printed,
            this.dialog,
        );
        this.listen();
        this.order();
    }

    private makeTable(): HTMLElement {
        const { what, rows, columns } = this.spec;
        return h(
            "div",
            {
                class: "grid-scroll",
                role: "table",
                tabindex: 0,
                "aria-label": `${what}, ${rows.length} rows`,
                "aria-rowcount": rows.length + 1,
                "aria-colcount": columns.length,
            },
            h("div", { role: "rowgroup" }, this.head),
            this.body,
        );
    }

    private controls(): HTMLElement {
        const { what, rows, filters } = this.spec;
        return h(
            "div",
            { class: "controls no-print" },
            searchBox(what, (words) => {
                this.selection.words = words;
                this.order();
            }),
            (filters ?? []).map((f, k) =>
                filterBox(rows, f, (name) => {
                    this.selection.chosen[k] = name;
                    this.order();
                }),
            ),
            button("Save as CSV", () => this.saveCsv()),
        );
    }

    private listen(): void {
        this.table.addEventListener("scroll", () => this.drawSoon());
        this.table.addEventListener("keydown", (e) => {
            if (e.target === this.table) this.press(e);
        });
        addEventListener("beforeprint", () => {
            const rows = this.shown.map((i) => this.spec.rows[i]);
            if (this.printed.isConnected) clear(this.printed, printedTable(this.spec, rows));
        });
        new ResizeObserver(() => this.draw()).observe(this.table);
    }

    private saveCsv(): void {
        const { id, columns, rows } = this.spec;
        const values = this.shown.map((i) => columns.map((c) => c.value(rows[i])));
        save(`${id}.csv`, "text/csv", csv([columns.map((c) => c.name), ...values]));
    }

    private order(): void {
        const { rows, what } = this.spec;
        this.shown = this.selection.list();
        this.active = -1;
        const some = this.shown.length === rows.length ? "" : `${whole(this.shown.length)} of `;
        this.status.textContent = `${some}${whole(rows.length)} ${what}`;
        this.drawHead();
        this.body.style.height = `${Math.max(this.shown.length, 1) * ROW}px`;
        this.table.scrollTop = 0;
        this.draw();
    }

    private drawHead(): void {
        clear(
            this.head,
            this.spec.columns.map((c, i) => this.headCell(c, i)),
        );
        this.head.setAttribute("aria-rowindex", "1");
    }

    private headCell(c: GridColumn<T>, i: number): HTMLElement {
        const { sort } = this.selection;
        const down = sort?.column === c.id ? sort.down : null; // null: by another column
        const press = () => {
            this.selection.sortBy(c);
            this.order();
            this.head.children[i].querySelector("button")?.focus();
        };
        const arrow = down === null ? "" : down ? " ▼" : " ▲";
        return h(
            "div",
            {
                role: "columnheader",
                "aria-colindex": i + 1,
                "aria-sort": down === null ? "none" : down ? "descending" : "ascending",
                class: c.number ? "number" : null,
            },
            h(
                "button",
                { type: "button", title: c.title, onclick: press },
                c.name,
                h("span", { class: "arrow", "aria-hidden": "true" }, arrow),
            ),
        );
    }

    private draw(): void {
        const { table, shown } = this;
        const first = Math.max(0, Math.floor((table.scrollTop - ROW) / ROW) - 6);
        const last = Math.min(shown.length, first + Math.ceil(table.clientHeight / ROW) + 14);
        const list: Child[] = [];
        for (let i = first; i < last; i++) list.push(this.row(i));
        clear(this.body, list.length ? list : this.noRow());
    }

    private drawSoon(): void {
        if (this.frameAsked) return;
        this.frameAsked = true;
        requestAnimationFrame(() => {
            this.frameAsked = false;
            this.draw();
        });
    }

    private noRow(): HTMLElement {
        const text = `No ${this.spec.what} match.`;
        return h("div", { role: "row", class: "grid-none" }, h("div", { role: "cell" }, text));
    }

    private row(at: number): HTMLElement {
        const press = () => {
            this.active = at;
            this.draw();
            this.open(at);
        };
        const row = this.spec.rows[this.shown[at]];
        return h(
            "div",
            {
                role: "row",
                "aria-rowindex": at + 2,
                class: at === this.active ? "grid-row active" : "grid-row",
                style: `${this.tracks};top:${at * ROW}px`,
                onclick: press,
            },
            this.spec.columns.map((c, i) => this.cell(c, i, row)),
        );
    }

    private cell(c: GridColumn<T>, i: number, row: T): HTMLElement {
        return h(
            "div",
            {
                role: i === 0 ? "rowheader" : "cell",
                "aria-colindex": i + 1,
                class: c.number ? "number" : null,
                title: i === 0 ? String(c.value(row)) : null,
            },
            c.text(row),
        );
    }

    private open(at: number): void {
        const { details, rows } = this.spec;
        if (!details || at < 0 || at >= this.shown.length) return;
        clear(
            this.dialog,
            details(rows[this.shown[at]]),
            h(
                "form",
                { method: "dialog" },
                h("button", { class: "small", autofocus: true }, "Close"),
            ),
        );
        this.dialog.showModal();
    }

    private press(e: KeyboardEvent): void {
        const { table, active, shown } = this;
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
            this.open(active);
        }
        if (!(e.key in moves) || !shown.length) return;
        e.preventDefault();
        this.moveTo(Math.max(0, Math.min(shown.length - 1, moves[e.key])));
    }

    private moveTo(at: number): void {
        const { table } = this;
        const top = at * ROW;
        this.active = at;
        if (top < table.scrollTop) table.scrollTop = top;
        const below = top + 2 * ROW - table.clientHeight;
        if (below > table.scrollTop) table.scrollTop = below;
        this.draw();
    }
}

export const grid = <T>(spec: GridSpec<T>): HTMLElement => new Grid(spec).element;
