// The records of the history: search, filters, pages, and selection for a comparison.
import { api, Failure, modelNames } from "../api";
import { clear, h, type Child } from "../dom";
import * as f from "../format";
import type { Page } from "../shell";
import type { HistoryRecord } from "../types";
import { button, code, empty, field, filter, soft } from "../ui";
import { goTo, link, trouble } from "./links";
import type { State } from "./state";

// ---- the columns ----

interface RecordColumn {
    name: string;
    number?: boolean;
    text: (r: HistoryRecord) => Child;
    by: (r: HistoryRecord) => string | number | null; // what it is sorted by
    small?: boolean; // also shown on a phone
}
type By = RecordColumn["by"];
const words = (name: string, by: By, text: RecordColumn["text"]): RecordColumn => ({
    name,
    by,
    text,
});
const figures = (name: string, by: By, text: RecordColumn["text"]): RecordColumn => ({
    name,
    by,
    text,
    number: true,
});
const small = (c: RecordColumn): RecordColumn => ({ ...c, small: true });
const columns: RecordColumn[] = [
    small(
        figures(
            "Record",
            (r) => r.id,
            (r) => link(`record/${r.id}`, `#${r.id}`),
        ),
    ),
    small(
        words(
            "Model",
            (r) => r.model,
            (r) => link(`record/${r.id}`, f.clip(r.model ?? "", 60)),
        ),
    ),
    small(
        words(
            "When",
            (r) => r.created,
            (r) => f.day(r.created),
        ),
    ),
    words(
        "Precision",
        (r) => r.precision,
        (r) => r.precision ?? f.DASH,
    ),
    figures(
        "Batch",
        (r) => r.batch,
        (r) => f.whole(r.batch),
    ),
    small(
        figures(
            "Median",
            (r) => r.p50_ms,
            (r) => f.ms(r.p50_ms),
        ),
    ),
    figures(
        "p95",
        (r) => r.p95_ms,
        (r) => f.ms(r.p95_ms),
    ),
    figures(
        "Samples/s",
        (r) => r.throughput,
        (r) => f.rate(r.throughput),
    ),
    figures(
        "Memory",
        (r) => r.memory_bytes,
        (r) => f.bytes(r.memory_bytes),
    ),
    small(
        figures(
            "MACs",
            (r) => r.macs,
            (r) => f.si(r.macs),
        ),
    ),
    figures(
        "Parameters",
        (r) => r.parameters,
        (r) => f.si(r.parameters),
    ),
    words(
        "Host",
        (r) => r.host,
        (r) => f.clip(r.host ?? "", 24),
    ),
    words(
        "Tags",
        (r) => (r.tags ?? []).join(" "),
        (r) => (r.tags ?? []).map((t) => h("span", { class: "tag" }, t)),
    ),
];

// Which are hidden stays with the browser.
const HIDDEN = "assay-hidden-columns";
function hiddenColumns(): Set<string> {
    try {
        return new Set((localStorage.getItem(HIDDEN) ?? "").split(",").filter(Boolean));
    } catch {
        return new Set();
    }
}
function hideColumns(names: Set<string>): void {
    try {
        localStorage.setItem(HIDDEN, [...names].join(","));
    } catch {
        /* for this page only, then */
    }
}

function columnChoice(hidden: Set<string>, changed: () => void): HTMLElement {
    const line = (c: RecordColumn) => {
        const box: HTMLInputElement = h("input", {
            type: "checkbox",
            checked: !hidden.has(c.name),
            onchange: () => {
                if (box.checked) hidden.delete(c.name);
                else hidden.add(c.name);
                hideColumns(hidden);
                changed();
            },
        });
        return h("label", null, box, " ", c.name);
    };
    const chosen = columns.filter((c) => c.name !== "Record" && c.name !== "Model");
    return h(
        "details",
        { class: "column-choice" },
        h("summary", null, "Columns"),
        h("div", { class: "card" }, chosen.map(line)),
    );
}

// ---- sorting ----

interface Order {
    column: string;
    down: boolean;
}
const NEWEST: Order = { column: "Record", down: true }; // as the server lists them

// What is unknown comes last in both directions.
export function sorted(records: HistoryRecord[], order: Order): HistoryRecord[] {
    const by = columns.find((c) => c.name === order.column)?.by ?? ((r: HistoryRecord) => r.id);
    const compare = (a: string | number, b: string | number) =>
        typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    return [...records].sort((x, y) => {
        const [a, b] = [by(x), by(y)];
        if (a === null || a === "" || b === null || b === "")
            return Number(a === null || a === "") - Number(b === null || b === "");
        return order.down ? compare(b, a) : compare(a, b);
    });
}

// ---- the table ----

function checkbox(
    selected: Map<number, string>,
    r: HistoryRecord,
    changed: () => void,
): HTMLElement {
    const box: HTMLInputElement = h("input", {
        type: "checkbox",
        "aria-label": `Select record ${r.id}, ${r.model}`,
        checked: selected.has(r.id),
        onchange: () => {
            if (box.checked) selected.set(r.id, r.model ?? "");
            else selected.delete(r.id);
            changed();
        },
    });
    return box;
}

function headCell(c: RecordColumn, order: Order, sort: (name: string) => void): HTMLElement {
    const mine = order.column === c.name;
    const how = mine ? (order.down ? "descending" : "ascending") : null;
    return h(
        "th",
        {
            scope: "col",
            class: [c.number && "number", !c.small && "wide"].filter(Boolean).join(" "),
            "aria-sort": how,
        },
        h("button", { type: "button", class: "sort", onclick: () => sort(c.name) }, c.name),
    );
}

interface Shown {
    columns: RecordColumn[];
    order: Order;
    sort: (name: string) => void;
}

function recordsTable(
    s: State,
    list: HistoryRecord[],
    changed: () => void,
    shown: Shown,
): HTMLElement {
    const row = (r: HistoryRecord) =>
        h(
            "tr",
            { "data-record": r.id },
            h("td", null, checkbox(s.selected, r, changed)),
            shown.columns.map((c) =>
                h(
                    "td",
                    { class: [c.number && "number", !c.small && "wide"].filter(Boolean).join(" ") },
                    c.text(r),
                ),
            ),
        );
    return h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Records" },
        h(
            "table",
            { class: "plain", id: "records" },
            h("caption", { class: "hidden" }, "Records"),
            h(
                "thead",
                null,
                h(
                    "tr",
                    null,
                    h("th", { scope: "col" }, h("span", { class: "hidden" }, "Selected")),
                    shown.columns.map((c) => headCell(c, shown.order, shown.sort)),
                ),
            ),
            h("tbody", null, list.map(row)),
        ),
    );
}

function nothing(filtered: boolean): HTMLElement {
    if (filtered)
        return empty("No record matches", h("p", null, "Change the search or the filters."));
    return empty(
        "Nothing has been saved yet",
        h("p", null, "Records appear here after a measuring command with --save:"),
        h("p", null, code("assay bench resnet18 --save")),
        h("p", null, "or when a result is ", link("add", "added"), " by hand."),
    );
}

// ---- what is asked for ----

interface Wanted {
    q: string;
    model: string;
    tag: string;
    since: string;
    offset: number;
}
type Filter = "q" | "model" | "tag" | "since";
const PAGE = 50;
const MOST = 1000; // records that the page sorts: the newest
const TYPING_MS = 200;

class RecordList {
    readonly place = h("div", {
        id: "record-list",
        "aria-live": "polite",
        style: "min-height:320px",
    });
    private readonly want: Wanted = { q: "", model: "", tag: "", since: "", offset: 0 };
    private asked = 0;
    private later = 0;
    private order = NEWEST;
    readonly hidden = hiddenColumns();

    constructor(
        private readonly s: State,
        private readonly changed: () => void,
    ) {}

    set(key: Filter, value: string): void {
        this.want[key] = value.trim();
        this.want.offset = 0;
        clearTimeout(this.later);
        const wait = key === "q" || key === "tag" ? TYPING_MS : 0;
        this.later = window.setTimeout(() => void this.load(), wait);
    }

    async load(): Promise<void> {
        const mine = ++this.asked;
        let shown: Child;
        try {
            shown = await this.part();
        } catch (error) {
            shown = trouble(error);
        }
        if (mine === this.asked) clear(this.place, shown); // else a later question has been asked
    }

    // Newest first, the server has the pages; else the newest MOST are sorted here.
    private async part(): Promise<Child> {
        if (this.order === NEWEST) {
            const answer = await api.records({ ...this.want, limit: PAGE });
            return this.show(answer.records, answer.total, answer.total);
        }
        const answer = await api.records({ ...this.want, offset: 0, limit: MOST });
        const { offset } = this.want;
        const page = sorted(answer.records, this.order).slice(offset, offset + PAGE);
        return this.show(page, answer.records.length, answer.total);
    }

    private sort(column: string): void {
        const down = this.order.column === column ? !this.order.down : column === "Record";
        this.order = column === "Record" && down ? NEWEST : { column, down };
        this.want.offset = 0;
        void this.load();
    }

    private show(records: HistoryRecord[], total: number, all: number): Child {
        const { q, model, tag, since } = this.want;
        if (!records.length) return nothing(!!(q || model || tag || since));
        const how = {
            columns: columns.filter((c) => !this.hidden.has(c.name)),
            order: this.order,
            sort: (name: string) => this.sort(name),
        };
        return [
            recordsTable(this.s, records, this.changed, how),
            all > total && soft(`Sorted: the newest ${f.whole(total)} of ${f.whole(all)} records.`),
            this.pages(records.length, total),
        ];
    }

    private pages(n: number, total: number): HTMLElement {
        const { offset } = this.want;
        const turn = (by: number) => () => {
            this.want.offset += by;
            void this.load();
        };
        const pageButton = (text: string, by: number, disabled: boolean) =>
            h("button", { type: "button", class: "small", disabled, onclick: turn(by) }, text);
        const range = `${f.whole(offset + 1)} to ${f.whole(offset + n)} of ${f.whole(total)}`;
        return h(
            "div",
            { class: "pages" },
            pageButton(this.order === NEWEST ? "Newer" : "Before", -PAGE, offset === 0),
            h("span", { class: "soft" }, range),
            pageButton(this.order === NEWEST ? "Older" : "After", PAGE, offset + n >= total),
        );
    }
}

// ---- the page ----

function compareButton(s: State): { element: HTMLElement; update: () => void } {
    const compare = () => goTo(`compare/${[...s.selected.keys()].join(",")}`);
    const element = button("", compare, "small main");
    const update = () => {
        const n = s.selected.size;
        element.textContent = n ? `Compare ${n}` : "Compare";
        element.toggleAttribute("disabled", n < 2);
    };
    return { element, update };
}

function searchBar(list: RecordList, models: string[], compare: HTMLElement): HTMLElement {
    const input = (key: Filter, event: string, more: Record<string, string | number>) => {
        const box: HTMLInputElement = h("input", {
            ...more,
            [event]: () => list.set(key, box.value),
        });
        return box;
    };
    const names = models.map((n) => ({ id: n, text: f.clip(n, 50) }));
    const what = "Search records";
    const look = { type: "search", placeholder: what, "aria-label": what };
    return h(
        "div",
        { class: "controls card", role: "search" },
        input("q", "oninput", look),
        filter("Model", names, (name) => list.set("model", name)),
        field("Tag", input("tag", "oninput", { type: "text", size: 10 })),
        field("Since", input("since", "onchange", { type: "date" })),
        columnChoice(list.hidden, () => void list.load()),
        compare,
    );
}

// A server that has no list of models still has records.
async function knownModels(): Promise<string[]> {
    try {
        return await modelNames();
    } catch (error) {
        if (error instanceof Failure && error.wantsToken) throw error;
        return [];
    }
}

export async function recordsPage(s: State): Promise<Page> {
    const compare = compareButton(s);
    const list = new RecordList(s, compare.update);
    const models = await knownModels();
    await list.load();
    compare.update();
    return {
        title: "Records",
        under: "History of results",
        nav: false,
        sections: [h("div", null, searchBar(list, models, compare.element), list.place)],
    };
}
