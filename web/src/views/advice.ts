// Recommendations.
import { h } from "../dom";
import type { Profile, Recommendation } from "../types";
import { section, soft } from "../ui";

const item = (r: Recommendation): HTMLElement =>
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
