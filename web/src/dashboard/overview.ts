// The home page: a card per model with its main metric over time, verdict, last change and
// machines.
import { api, Failure } from "../api";
import { clear, h } from "../dom";
import * as f from "../format";
import type { Page } from "../shell";
import type { HistoryModel, HistoryRecord, Trend } from "../types";
import { chip, code, empty, facts, plural } from "../ui";
import { formatOf } from "../views/trend";
import { link } from "./links";
import { sparkline } from "./sparkline";

const RECORDS = 1000; // of which the machines are taken
const AT_ONCE = 4;

// ---- one model ----

function verdictOf(t: Trend): HTMLElement {
    const alert = t.alerts?.[0];
    if (alert?.verdict === "fired") return chip("poor", "worse than its median");
    if (alert?.verdict === "quiet") return chip("good", "no regression");
    return chip("plain", "one record: nothing to compare");
}

function changeOf(t: Trend): string {
    const last = t.change_points?.[t.change_points.length - 1];
    if (!last) return "none found";
    return `${f.ratio(last.ratio)} at #${last.id}, ${f.day(last.created)}`;
}

function machinesOf(model: string, records: HistoryRecord[]): string {
    const seen = new Set(
        records.filter((r) => r.model === model).map((r) => r.host || r.machine || ""),
    );
    seen.delete("");
    return [...seen].map((m) => f.clip(m, 40)).join(", ");
}

function trendParts(t: Trend): HTMLElement[] {
    const points = (t.points ?? []).map((p) => p.value);
    const show = formatOf(t);
    return [
        h(
            "p",
            { class: "main-figure" },
            h("span", { class: "value" }, show(t.newest)),
            h("span", { class: "soft" }, ` ${t.title}`),
        ),
        sparkline(points, `${t.title} of ${plural(points.length, "record")}`),
        h("p", null, verdictOf(t)),
    ];
}

// A tenth above the median of the records before it, or below for what should be high, is worth
// a look.
async function mainTrend(model: string): Promise<Trend> {
    const t = await api.trend(model);
    const alert = t.more_is_better
        ? `${t.metric} < 0.9x median(90d)`
        : `${t.metric} > 1.1x median(90d)`;
    return t.points.length > 1 ? api.trend(model, t.metric, alert) : t;
}

function modelCard(m: HistoryModel, records: HistoryRecord[]): [HTMLElement, () => Promise<void>] {
    const name = m.model ?? "";
    const place = h("div", { class: "card-trend" });
    const change = h("span", null, "…");
    const card = h(
        "article",
        { class: "card model-card", "data-model": name },
        h("h2", null, link(`trend/${encodeURIComponent(name)}`, f.clip(name, 60))),
        place,
        facts([
            ["Last change", change],
            ["Machines", machinesOf(name, records)],
            [
                "Records",
                h(
                    "span",
                    null,
                    `${f.whole(m.records)}, newest `,
                    link(`record/${m.newest.id}`, `#${m.newest.id}`),
                    ` ${f.day(m.newest.created)}`,
                ),
            ],
        ]),
    );
    const load = async () => {
        try {
            const t = await mainTrend(name);
            clear(place, trendParts(t));
            change.textContent = changeOf(t);
        } catch (error) {
            if (error instanceof Failure && error.wantsToken) throw error;
            clear(place, h("p", { class: "soft" }, "No metric over time in these records."));
            change.textContent = f.DASH;
        }
    };
    return [card, load];
}

// ---- the page ----

const nothing = (): HTMLElement =>
    empty(
        "Nothing has been saved yet",
        h("p", null, "Models appear here after a command with --save:"),
        h("p", null, code("assay bench resnet18 --save")),
        h("p", null, "or when a result or a model is ", link("add", "added"), "."),
    );

// A few at a time: a browser has few connections, and one of them is for the events.
async function loadAll(loads: (() => Promise<void>)[]): Promise<void> {
    const rest = [...loads];
    const worker = async () => {
        for (let load = rest.shift(); load; load = rest.shift()) await load();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

export async function overviewPage(): Promise<Page> {
    const [{ models }, { records, total }] = await Promise.all([
        api.models(),
        api.records({ limit: RECORDS }),
    ]);
    const newest = [...(models ?? [])].sort((a, b) => b.newest.id - a.newest.id);
    const made = newest.map((m) => modelCard(m, records));
    await loadAll(made.slice(0, 12).map(([, load]) => load));
    void loadAll(made.slice(12).map(([, load]) => load));
    return {
        title: "Overview",
        under: `${plural(newest.length, "model")}, ${plural(total, "record")}`,
        nav: false,
        sections: [
            newest.length
                ? h(
                      "div",
                      { class: "model-cards", id: "overview" },
                      made.map(([card]) => card),
                  )
                : nothing(),
        ],
    };
}
