// The records of the history: search, filters, pages, and selection for a comparison.
import { api, Failure, modelNames } from "../api";
import { clear, h, type Child } from "../dom";
import * as f from "../format";
import type { Page } from "../shell";
import type { HistoryRecord } from "../types";
import { button, code, empty, field, filter, headRow } from "../ui";
import { goTo, link, trouble } from "./links";
import type { State } from "./state";

// ---- the table ----

interface RecordColumn {
    name: string;
    number?: boolean;
    text: (r: HistoryRecord) => Child;
}
const words = (name: string, text: (r: HistoryRecord) => Child): RecordColumn => ({ name, text });
const numbers = (name: string, text: (r: HistoryRecord) => Child): RecordColumn => ({
    name,
    text,
    number: true,
});
const columns: RecordColumn[] = [
    numbers("Record", (r) => link(`record/${r.id}`, `#${r.id}`)),
    words("Model", (r) => link(`record/${r.id}`, f.clip(r.model ?? "", 60))),
    words("When", (r) => f.day(r.created)),
    words("Precision", (r) => r.precision ?? f.DASH),
    numbers("Batch", (r) => f.whole(r.batch)),
    numbers("Median", (r) => f.ms(r.p50_ms)),
    numbers("p95", (r) => f.ms(r.p95_ms)),
    numbers("Samples/s", (r) => f.rate(r.throughput)),
    numbers("Memory", (r) => f.bytes(r.memory_bytes)),
    numbers("MACs", (r) => f.si(r.macs)),
    numbers("Parameters", (r) => f.si(r.parameters)),
    words("Host", (r) => f.clip(r.host ?? "", 24)),
    words("Tags", (r) => (r.tags ?? []).map((t) => h("span", { class: "tag" }, t))),
];

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

function recordsTable(s: State, list: HistoryRecord[], changed: () => void): HTMLElement {
    const all = [words("", (r) => checkbox(s.selected, r, changed)), ...columns];
    const row = (r: HistoryRecord) =>
        h(
            "tr",
            { "data-record": r.id },
            all.map((c) => h("td", { class: c.number && "number" }, c.text(r))),
        );
    return h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Records" },
        h(
            "table",
            { class: "plain", id: "records" },
            h("caption", { class: "hidden" }, "Records"),
            headRow(all),
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
            const answer = await api.records({ ...this.want, limit: PAGE });
            shown = this.show(answer.records, answer.total);
        } catch (error) {
            shown = trouble(error);
        }
        if (mine === this.asked) clear(this.place, shown); // else a later question has been asked
    }

    private show(records: HistoryRecord[], total: number): Child {
        const { q, model, tag, since } = this.want;
        if (!records.length) return nothing(!!(q || model || tag || since));
        return [recordsTable(this.s, records, this.changed), this.pages(records.length, total)];
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
            pageButton("Newer", -PAGE, offset === 0),
            h("span", { class: "soft" }, range),
            pageButton("Older", PAGE, offset + n >= total),
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
