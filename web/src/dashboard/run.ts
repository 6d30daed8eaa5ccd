// One run of the history, and several of them side by side.
import { api } from "../api";
import { isProfile, nameOf } from "../documents";
import { clear, h } from "../dom";
import { pageOf, pageOfMany } from "../report";
import type { Page } from "../shell";
import type { HistoryRun } from "../types";
import { button } from "../ui";
import { goTo, linkButton, trouble } from "./links";
import type { State } from "./state";

function tagsOf(id: number, run: HistoryRun | undefined, again: () => void): HTMLElement {
    const input = h("input", {
        type: "text",
        size: 12,
        placeholder: "new tag",
        "aria-label": "New tag",
    });
    const fail = h("span");
    const change = (add: string[], remove: string[]) =>
        void api.tags(id, add, remove).then(again, (e) => clear(fail, trouble(e)));
    const submit = (e: Event) => {
        e.preventDefault();
        const t = input.value.trim();
        if (t) change([t], []);
    };
    const removeButton = (t: string) => {
        const press = () => change([], [t]);
        const look = { type: "button", class: "link", "aria-label": `Remove tag ${t}` };
        return h("button", { ...look, onclick: press }, "×");
    };
    return h(
        "div",
        { class: "controls" },
        (run?.tags ?? []).map((t) => h("span", { class: "tag" }, t, " ", removeButton(t))),
        h(
            "form",
            { class: "controls", onsubmit: submit },
            input,
            h("button", { class: "small" }, "Tag"),
        ),
        fail,
    );
}

function deleteButton(id: number): HTMLElement {
    const gone = () => {
        dialog.close();
        goTo("");
    };
    const remove = () => void api.remove(id).then(gone, (e) => dialog.append(trouble(e)));
    const dialog: HTMLDialogElement = h(
        "dialog",
        { class: "details", "aria-label": "Delete the run" },
        h("h3", null, `Delete run #${id}?`),
        h("p", null, "It is gone from the history then."),
        h(
            "p",
            { class: "actions" },
            button("Delete", remove, "small main"),
            button("Keep", () => dialog.close()),
        ),
    );
    return h(
        "span",
        null,
        button("Delete", () => dialog.showModal()),
        dialog,
    );
}

// The run's row in the history, which has its tags.
async function rowOf(id: number, model: string): Promise<HistoryRun | undefined> {
    try {
        return (await api.runs({ model, limit: 500 })).runs.find((r) => r.id === id);
    } catch {
        return undefined;
    }
}

export async function runPage(s: State, id: number): Promise<Page> {
    const doc = await api.run(id);
    const page = pageOf(doc, s.shown);
    const run = await rowOf(id, String(doc.model ?? ""));
    const trend =
        isProfile(doc) && linkButton(`trend/${encodeURIComponent(nameOf(doc))}/p50`, "Trend");
    return {
        ...page,
        actions: [trend, deleteButton(id)],
        sections: [tagsOf(id, run, s.reload), ...page.sections],
    };
}

export async function comparePage(s: State, ids: string[]): Promise<Page> {
    const list = await Promise.all(ids.map((id) => api.run(id)));
    const comparison = await api.compare(ids).catch(() => undefined);
    return pageOfMany(list, comparison, s.shown, s.frame.show);
}
