// The dashboard: the same views over the history of a server. Places are in the fragment of the address:
//   #/  the runs     #/run/7     #/compare/1,2,3     #/trend/MODEL/METRIC     #/add
import { api, Failure, modelNames, setToken, takeToken, type Run } from "./api";
import { clear, h, type Child } from "./dom";
import * as f from "./format";
import { isProfile, pageOf, pageOfMany } from "./report";
import { shell, type Page, type Shell } from "./shell";
import type { Document, Envelope, Profile, Shown } from "./types";
import { section } from "./ui";
import { trendPage } from "./views/trend";

const PAGE = 50;
const link = (path: string, text: Child, more: Record<string, any> = {}): HTMLElement =>
    h("a", { href: `#/${path}`, ...more }, text);

interface State {
    frame: Shell;
    shown: Shown;
    selected: Map<number, string>;
    links: HTMLElement[];
    turn: number;
}

// ---- asking for the token ----

function askToken(again: () => void, wrong: boolean): Page {
    const input = h("input", {
        type: "password",
        autocomplete: "current-password",
        "aria-label": "Token",
        required: true,
    });
    return {
        title: "assay",
        nav: false,
        sections: [
            section(
                "token",
                "This server wants a token",
                h(
                    "div",
                    { class: "card" },
                    h(
                        "p",
                        null,
                        "It was printed by assay serve when it was started, or set with its --token option.",
                    ),
                    wrong &&
                        h(
                            "p",
                            { class: "banner poor", role: "alert" },
                            "That token is not the right one.",
                        ),
                    h(
                        "form",
                        {
                            class: "controls",
                            onsubmit: (e) => {
                                e.preventDefault();
                                setToken(input.value);
                                again();
                            },
                        },
                        h("label", { class: "field" }, h("span", null, "Token"), input),
                        h("button", { class: "small main" }, "Go on"),
                    ),
                ),
            ),
        ],
    };
}

function trouble(error: unknown): HTMLElement {
    return h(
        "p",
        { class: "banner poor", role: "alert" },
        error instanceof Error ? error.message : String(error),
    );
}

// ---- the runs ----

interface Wanted {
    q: string;
    model: string;
    tag: string;
    since: string;
    offset: number;
}

function runsTable(s: State, list: Run[], changed: () => void): HTMLElement {
    const check = (r: Run) =>
        h("input", {
            type: "checkbox",
            "aria-label": `Select run ${r.id}, ${r.model}`,
            checked: s.selected.has(r.id),
            onchange: (e) => {
                (e.target as HTMLInputElement).checked
                    ? s.selected.set(r.id, r.model)
                    : s.selected.delete(r.id);
                changed();
            },
        });
    const columns: [string, boolean, (r: Run) => Child][] = [
        ["", false, check],
        ["Run", true, (r) => link(`run/${r.id}`, `#${r.id}`)],
        ["Model", false, (r) => link(`run/${r.id}`, f.clip(r.model, 60))],
        ["When", false, (r) => f.day(r.created)],
        ["Precision", false, (r) => r.precision ?? f.DASH],
        ["Batch", true, (r) => f.whole(r.batch)],
        ["Median", true, (r) => f.ms(r.p50_ms)],
        ["p95", true, (r) => f.ms(r.p95_ms)],
        ["Samples/s", true, (r) => f.rate(r.throughput)],
        ["Memory", true, (r) => f.bytes(r.memory_bytes)],
        ["MACs", true, (r) => f.si(r.macs)],
        ["Parameters", true, (r) => f.si(r.parameters)],
        ["Host", false, (r) => f.clip(r.host ?? "", 24)],
        ["Tags", false, (r) => (r.tags ?? []).map((t) => h("span", { class: "tag" }, t))],
    ];
    return h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Runs" },
        h(
            "table",
            { class: "plain", id: "runs" },
            h("caption", { class: "hidden" }, "Runs"),
            h(
                "thead",
                null,
                h(
                    "tr",
                    null,
                    columns.map(([n, num]) => h("th", { scope: "col", class: num && "number" }, n)),
                ),
            ),
            h(
                "tbody",
                null,
                list.map((r) =>
                    h(
                        "tr",
                        { "data-run": r.id },
                        columns.map(([, num, text]) =>
                            h("td", { class: num && "number" }, text(r)),
                        ),
                    ),
                ),
            ),
        ),
    );
}

function nothing(filtered: boolean): HTMLElement {
    return filtered
        ? h(
              "div",
              { class: "empty" },
              h("h2", null, "No run matches"),
              h("p", null, "Change the search or the filters."),
          )
        : h(
              "div",
              { class: "empty" },
              h("h2", null, "Nothing has been saved yet"),
              h("p", null, "Runs appear here when a measuring command is told to keep them:"),
              h("p", null, h("code", null, "assay bench resnet18 --save")),
              h("p", null, "or when a result is ", link("add", "added"), " by hand."),
          );
}

async function runsPage(s: State): Promise<Page> {
    const want: Wanted = { q: "", model: "", tag: "", since: "", offset: 0 };
    const place = h("div", { id: "run-list", "aria-live": "polite", style: "min-height:320px" });
    const compare = h("button", {
        type: "button",
        class: "small main",
        onclick: () => {
            location.hash = `#/compare/${[...s.selected.keys()].join(",")}`;
        },
    });
    const say = () => {
        compare.textContent = s.selected.size ? `Compare ${s.selected.size}` : "Compare";
        compare.toggleAttribute("disabled", s.selected.size < 2);
    };
    let asked = 0;
    const load = async () => {
        const mine = ++asked;
        try {
            const answer = await api.runs({
                q: want.q,
                model: want.model,
                tag: want.tag,
                since: want.since,
                limit: PAGE,
                offset: want.offset,
            });
            if (mine !== asked) return; // a later question has been asked
            const filtered = !!(want.q || want.model || want.tag || want.since);
            const turn = (by: number) => () => {
                want.offset += by;
                void load();
            };
            clear(
                place,
                answer.runs.length
                    ? [
                          runsTable(s, answer.runs, say),
                          h(
                              "div",
                              { class: "pages" },
                              h(
                                  "button",
                                  {
                                      type: "button",
                                      class: "small",
                                      disabled: want.offset === 0,
                                      onclick: turn(-PAGE),
                                  },
                                  "Newer",
                              ),
                              h(
                                  "span",
                                  { class: "soft" },
                                  `${f.whole(want.offset + 1)} to ${f.whole(want.offset + answer.runs.length)} of ${f.whole(answer.total)}`,
                              ),
                              h(
                                  "button",
                                  {
                                      type: "button",
                                      class: "small",
                                      disabled: want.offset + answer.runs.length >= answer.total,
                                      onclick: turn(PAGE),
                                  },
                                  "Older",
                              ),
                          ),
                      ]
                    : nothing(filtered),
            );
        } catch (error) {
            if (mine === asked) clear(place, trouble(error));
        }
    };
    let later = 0;
    const set = (key: "q" | "model" | "tag" | "since") => (e: Event) => {
        want[key] = (e.target as HTMLInputElement).value.trim();
        want.offset = 0;
        clearTimeout(later);
        later = window.setTimeout(() => void load(), key === "q" || key === "tag" ? 200 : 0);
    };
    const names = modelNames(
        await api.models().catch((e) => {
            if (e instanceof Failure && (e.status === 401 || e.status === 403)) throw e;
            return [];
        }),
    );
    await load();
    say();
    return {
        title: "Runs",
        under: "History of results",
        nav: false,
        sections: [
            h(
                "div",
                null,
                h(
                    "div",
                    { class: "controls card", role: "search" },
                    h("input", {
                        type: "search",
                        placeholder: "Search runs",
                        "aria-label": "Search runs",
                        oninput: set("q"),
                    }),
                    h(
                        "label",
                        { class: "field" },
                        h("span", null, "Model"),
                        h(
                            "select",
                            { onchange: set("model") },
                            h("option", { value: "" }, "all"),
                            names.map((n) => h("option", { value: n }, f.clip(n, 50))),
                        ),
                    ),
                    h(
                        "label",
                        { class: "field" },
                        h("span", null, "Tag"),
                        h("input", { type: "text", size: 10, oninput: set("tag") }),
                    ),
                    h(
                        "label",
                        { class: "field" },
                        h("span", null, "Since"),
                        h("input", { type: "date", onchange: set("since") }),
                    ),
                    compare,
                ),
                place,
            ),
        ],
    };
}

// ---- one run ----

function tagsOf(id: number, run: Run | undefined, again: () => void): HTMLElement {
    const input = h("input", {
        type: "text",
        size: 12,
        placeholder: "new tag",
        "aria-label": "New tag",
    });
    const fail = h("span");
    const change = (add: string[], remove: string[]) =>
        api.tags(id, add, remove).then(again, (e) => clear(fail, trouble(e)));
    return h(
        "div",
        { class: "controls" },
        (run?.tags ?? []).map((t) =>
            h(
                "span",
                { class: "tag" },
                t,
                " ",
                h(
                    "button",
                    {
                        type: "button",
                        class: "link",
                        "aria-label": `Remove tag ${t}`,
                        onclick: () => void change([], [t]),
                    },
                    "×",
                ),
            ),
        ),
        h(
            "form",
            {
                class: "controls",
                onsubmit: (e) => {
                    e.preventDefault();
                    const t = input.value.trim();
                    if (t) void change([t], []);
                },
            },
            input,
            h("button", { class: "small" }, "Tag"),
        ),
        fail,
    );
}

function deleteButton(id: number): HTMLElement {
    const dialog = h(
        "dialog",
        { class: "details", "aria-label": "Delete the run" },
        h("h3", null, `Delete run #${id}?`),
        h("p", null, "It is gone from the history then."),
        h(
            "p",
            { class: "actions" },
            h(
                "button",
                {
                    type: "button",
                    class: "small main",
                    onclick: () =>
                        void api.remove(id).then(
                            () => {
                                dialog.close();
                                location.hash = "#/";
                            },
                            (e) => dialog.append(trouble(e)),
                        ),
                },
                "Delete",
            ),
            h("button", { type: "button", class: "small", onclick: () => dialog.close() }, "Keep"),
        ),
    );
    return h(
        "span",
        null,
        h(
            "button",
            { type: "button", class: "small", onclick: () => dialog.showModal() },
            "Delete",
        ),
        dialog,
    );
}

async function runPage(s: State, id: number): Promise<Page> {
    const doc = await api.run(id);
    const inner = (doc.profile && !doc.schema ? doc.profile : doc) as Document;
    const page = pageOf(inner, s.shown);
    const found = await api.runs({ model: String(inner.model ?? ""), limit: 500 }).then(
        (a) => a.runs.find((r) => r.id === id),
        () => undefined,
    );
    return {
        ...page,
        actions: [
            isProfile(inner) &&
                link(`trend/${encodeURIComponent(inner.model)}/p50`, "Trend", { class: "button" }),
            deleteButton(id),
        ],
        sections: [tagsOf(id, found, () => void go(s)), ...page.sections],
    };
}

async function comparePage(s: State, ids: string[]): Promise<Page> {
    const list = await Promise.all(ids.map((id) => api.run(id)));
    const comparison = await api.compare(ids).catch(() => undefined);
    return pageOfMany(list, comparison, s.shown, s.frame.show);
}

// ---- adding ----

function addPage(s: State): Page {
    const say = h("div", { role: "status", "aria-live": "polite" });
    const take = async (file: File) => {
        clear(say, h("p", { class: "banner" }, `Reading ${file.name} …`));
        try {
            if (/\.json$/i.test(file.name)) {
                const { id } = await api.addRun(file);
                clear(
                    say,
                    h(
                        "p",
                        { class: "banner good" },
                        "Added as run ",
                        link(`run/${id}`, `#${id}`),
                        ".",
                    ),
                );
                return;
            }
            const doc = await api.addModel(file.name, file);
            const page = pageOf(doc, s.shown);
            s.frame.show({
                ...page,
                under: [page.under, " · not saved"],
                actions: link("add", "Another", { class: "button" }),
            });
        } catch (error) {
            clear(say, trouble(error));
        }
    };
    const input = h("input", {
        type: "file",
        id: "file",
        class: "hidden",
        accept: ".json,.onnx,.safetensors,.gguf",
        onchange: (e) => {
            const file = (e.target as HTMLInputElement).files?.[0];
            if (file) void take(file);
        },
    });
    const drop = h(
        "div",
        { class: "drop card" },
        h(
            "p",
            null,
            "Drop a file here, or ",
            h("label", { class: "button", for: "file" }, "choose one"),
            input,
        ),
        h(
            "p",
            { class: "soft" },
            "A result (.json) joins the history. A model (.onnx, .safetensors, .gguf) is analysed and shown; it is neither run nor kept.",
        ),
    );
    drop.addEventListener("dragover", (e) => {
        e.preventDefault();
        drop.classList.add("over");
    });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", (e) => {
        e.preventDefault();
        drop.classList.remove("over");
        const file = e.dataTransfer?.files[0];
        if (file) void take(file);
    });
    return { title: "Add", under: "A result or a model", nav: false, sections: [drop, say] };
}

// ---- places ----

async function pageAt(s: State, path: string): Promise<Page> {
    const [what, a, b] = path.split("/").map((p) => decodeURIComponent(p));
    if (what === "run" && a) return runPage(s, Number(a));
    if (what === "compare" && a) return comparePage(s, a.split(",").filter(Boolean));
    if (what === "trend") return trendPage(a ?? "", b || "p50");
    if (what === "add") return addPage(s);
    return runsPage(s);
}

async function go(s: State): Promise<void> {
    const turn = ++s.turn;
    const path = location.hash.replace(/^#\/?/, "");
    s.links.forEach((a) =>
        a.getAttribute("href") === `#/${path.split("/")[0]}`
            ? a.setAttribute("aria-current", "page")
            : a.removeAttribute("aria-current"),
    );
    let page: Page;
    try {
        page = await pageAt(s, path);
    } catch (error) {
        if (error instanceof Failure && (error.status === 401 || error.status === 403))
            page = askToken(() => void go(s), s.turn > 1);
        else
            page = {
                title: "Not there",
                nav: false,
                sections: [trouble(error), h("p", null, link("", "Back to the runs"))],
            };
    }
    if (turn !== s.turn) return; // the reader went on
    s.frame.show(page);
    document.documentElement.dataset.place = path || "runs";
}

export function startDashboard(app: HTMLElement, envelope: Envelope): void {
    takeToken();
    const links = [link("", "Runs"), link("trend", "Trends"), link("add", "Add")];
    const frame = shell(envelope.tool, [
        link("", "assay", { class: "wordmark" }),
        h("nav", { class: "dash-nav no-print", "aria-label": "Places" }, links),
    ]);
    const s: State = {
        frame,
        shown: { graphs: envelope.graphs !== false, details: envelope.details !== false },
        selected: new Map(),
        links,
        turn: 0,
    };
    app.replaceChildren(frame.root);
    addEventListener("hashchange", () => {
        takeToken();
        void go(s);
        scrollTo(0, 0);
    });
    void go(s);
}

export type { Profile };
