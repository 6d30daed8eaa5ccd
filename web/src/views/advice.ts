// Recommendations.
import { h } from "../dom";
import type { Profile, ProfileAdvice } from "../types";
import { section, soft } from "../ui";

const item = (r: ProfileAdvice): HTMLElement =>
    h(
        "li",
        { class: "card" },
        h("h3", null, r.title),
        r.why && h("p", null, r.why),
        r.expected && soft(r.expected),
    );

export function adviceView(p: Profile): HTMLElement | null {
    const list = p.recommendations ?? [];
    if (!list.length) return null;
    return section("advice", "Recommendations", h("ul", { class: "advice" }, list.map(item)));
}
