// The first screen: how sure it is, the figures with their verdicts, the warnings. Values, notes
// and verdicts are those of the view that came with the document.
import { h, type Child } from "../dom";
import type { View, ViewGroup } from "../envelope";
import { cards, code, facts, markedBanner, over, panel, section, soft } from "../ui";

// Formulas have no value, only what is said of them.
const isFormulas = (g: ViewGroup): boolean => g.facts.every((f) => !f.value);

export function groupView(g: ViewGroup): Child {
    if (!isFormulas(g)) return [g.title && over(g.title), cards(g.facts)];
    return panel(
        g.title ?? "",
        g.remark && soft(g.remark),
        facts(g.facts.map((f) => [f.name, code(f.note ?? "")])),
    );
}

export function summaryView(view: View | undefined, ...more: Child[]): HTMLElement {
    return section(
        "summary",
        "Summary",
        view?.conclusion && h("p", { class: "conclusion" }, view.conclusion),
        view?.banners.map((b) => markedBanner(b.tone, b.text)),
        view?.groups.filter((g) => g.first).map(groupView),
        !view && h("p", null, "The summary of this result cannot be shown."),
        more,
    );
}
