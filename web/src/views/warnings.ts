// What a result warns of.
import type { Document } from "../documents";
import { h, type Child } from "../dom";
import * as f from "../format";
import type { Note } from "../types";
import { code, limited } from "../ui";

const adviceOf = (w: Note): Child => w.advice && h("span", { class: "soft" }, " ", w.advice);

const warningItem = (w: Note): HTMLElement =>
    h(
        "li",
        null,
        w.node && [code(w.node), " "],
        w.text,
        adviceOf(w),
        w.code && h("span", { class: "code" }, w.code),
    );

export function warningsView(d: Document): HTMLElement | null {
    const list = d.warnings ?? [];
    if (!list.length) return null;
    const all = list.length + (d.warnings_dropped ?? 0);
    return h(
        "div",
        { class: "card warnings", role: "region", "aria-label": "Warnings" },
        h("h3", null, `${f.whole(all)} warning${all === 1 ? "" : "s"}`),
        limited(list, 5, "warnings", (some) => h("ul", null, some.map(warningItem))),
    );
}
