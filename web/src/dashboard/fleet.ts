// Questions about all machines of the history: what changed, what got worse, which machines drift,
// which are the cheapest. The answers are results of assay, shown as reports show them.
import { api, modelNames, type FleetQuery, type Viewed } from "../api";
import { h } from "../dom";
import * as f from "../format";
import { keepView, pageOf } from "../report";
import type { Page } from "../shell";
import { choice, field, select } from "../ui";
import { goTo, trouble } from "./links";
import type { State } from "./state";

type Question = "changes" | "regressions" | "drift" | "cheapest";
const questions: { id: Question; text: string; under: string }[] = [
    { id: "changes", text: "Changes", under: "Series whose level changed, the worst first" },
    { id: "regressions", text: "Regressions", under: "Series that got worse" },
    { id: "drift", text: "Drift", under: "Ceilings of machines, the newest against the earlier" },
    { id: "cheapest", text: "Cheapest", under: "Cost of a million samples, by class of machines" },
];

const spans = [
    { id: "", text: "ever" },
    { id: "7d", text: "7 days" },
    { id: "30d", text: "30 days" },
    { id: "90d", text: "90 days" },
];

// #/fleet/QUESTION?since=30d&model=NAME&latency=p99:50ms&price=CLASS=USD
const placeOf = (question: string, q: FleetQuery): string =>
    `fleet/${question}?${new URLSearchParams(Object.entries(q).filter(([, v]) => v))}`;

function ask(question: Question, q: FleetQuery): Promise<Viewed> {
    if (question === "drift") return api.drift(q);
    if (question === "cheapest") return api.cheapest(q);
    return api.changes({ ...q, worse: question === "regressions" ? "1" : "" });
}

// A text that is asked for again when it is complete.
const typed = (label: string, hint: string, now: string, take: (text: string) => void) =>
    field(
        label,
        h("input", {
            type: "text",
            size: 18,
            placeholder: hint,
            value: now,
            "aria-label": label,
            onchange: (e: Event) => take((e.target as HTMLInputElement).value.trim()),
        }),
    );

function controls(now: Question, q: FleetQuery, names: string[]): HTMLElement {
    const change = (more: FleetQuery) => goTo(placeOf(now, { ...q, ...more }));
    const models = names.map((n) => ({ id: n, text: f.clip(n, 50) }));
    const any = now === "cheapest" ? [] : [{ id: "", text: "all" }];
    return h(
        "div",
        { class: "controls card" },
        choice("Question", questions, now, (id) => goTo(placeOf(id, q))),
        now !== "drift" &&
            select("Model", [...any, ...models], q.model ?? "", (model) => change({ model })),
        select("Since", spans, q.since ?? "", (since) => change({ since })),
        now === "cheapest" && [
            typed("Latency", "p99:50ms", q.latency ?? "", (latency) => change({ latency })),
            typed("Prices", "CLASS=2.50,…", q.price ?? "", (price) => change({ price })),
        ],
    );
}

export async function fleetPage(s: State, path: string): Promise<Page> {
    const [, asked, words] = /^fleet\/?([^?]*)\??(.*)$/.exec(path) ?? [];
    const now = questions.find((x) => x.id === asked) ?? questions[0];
    const names = await modelNames();
    const q: FleetQuery = Object.fromEntries(new URLSearchParams(words ?? ""));
    if (now.id === "cheapest" && !q.model) q.model = names[0];
    const answer = await ask(now.id, q)
        .then((a) => pageOf(keepView(a.document, a.view), s.shown).sections)
        .catch((error) => [trouble(error)]);
    return {
        title: "Fleet",
        under: now.under,
        nav: false,
        sections: [controls(now.id, q, names), ...answer],
    };
}
