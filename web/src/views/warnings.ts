// What was warned of, in a profile's summary and in a pipeline's.
import { h, type Child } from "../dom";
import * as f from "../format";
import type { Note, Profile } from "../types";
import { code, limited, plural } from "../ui";

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

export function profileWarnings(p: Profile): HTMLElement | null {
    const list = p.warnings ?? [];
    if (!list.length) return null;
    const all = list.length + (p.warnings_dropped ?? 0);
    return h(
        "div",
        { class: "card warnings", role: "region", "aria-label": "Warnings" },
        h("h3", null, `${f.whole(all)} warning${all === 1 ? "" : "s"}`),
        limited(list, 5, "warnings", (some) => h("ul", null, some.map(warningItem))),
    );
}

export function pipelineWarnings(list: Note[] | undefined): HTMLElement | null {
    if (!list?.length) return null;
    return h(
        "div",
        { class: "card warnings" },
        h("h3", null, plural(list.length, "warning")),
        h(
            "ul",
            null,
            list.map((w) => h("li", null, w.text, adviceOf(w))),
        ),
    );
}
