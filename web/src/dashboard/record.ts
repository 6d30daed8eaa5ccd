// One record of the history, and several of them side by side.
import { api } from "../api";
import { isProfile, nameOf, type Document } from "../documents";
import { clear, h } from "../dom";
import { keepView, pageOf, pageOfMany } from "../report";
import type { Page } from "../shell";
import type { HistoryRecord } from "../types";
import { button } from "../ui";
import { goTo, linkButton, trouble } from "./links";
import type { State } from "./state";

function tagsOf(id: number, record: HistoryRecord | undefined, again: () => void): HTMLElement {
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
        (record?.tags ?? []).map((t) => h("span", { class: "tag" }, t, " ", removeButton(t))),
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
        goTo("records");
    };
    const remove = () => void api.remove(id).then(gone, (e) => dialog.append(trouble(e)));
    const dialog: HTMLDialogElement = h(
        "dialog",
        { class: "details", "aria-label": "Delete the record" },
        h("h3", null, `Delete record #${id}?`),
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

// The row of the record in the list, which has its tags.
async function rowOf(id: number, model: string): Promise<HistoryRecord | undefined> {
    try {
        return (await api.records({ model, limit: 500 })).records.find((r) => r.id === id);
    } catch {
        return undefined;
    }
}

async function open(id: number | string): Promise<Document> {
    const { document, view } = await api.record(id);
    return keepView(document, view);
}

export async function recordPage(s: State, id: number): Promise<Page> {
    const doc = await open(id);
    const page = pageOf(doc, s.shown);
    const record = await rowOf(id, String(doc.model ?? ""));
    const trend = isProfile(doc) && linkButton(`trend/${encodeURIComponent(nameOf(doc))}`, "Trend");
    return {
        ...page,
        actions: [trend, deleteButton(id)],
        sections: [tagsOf(id, record, s.reload), ...page.sections],
    };
}

export async function comparePage(s: State, ids: string[]): Promise<Page> {
    const list = await Promise.all(ids.map(open));
    const comparison = await api.compare(ids).catch(() => undefined);
    return pageOfMany(list, comparison, s.shown, s.frame.show);
}
