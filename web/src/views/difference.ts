// Two models side by side as graphs: what differs is coloured and marked.
import type { Shown } from "../envelope";
import { GraphView } from "../graph/view";
import type { Change } from "../graph/scale";
import type { Profile } from "../types";
import { h } from "../dom";
import { over, section, soft } from "../ui";
import type { Comparison } from "../view_types";

// The layers of one side that differ, by name.
function changesOf(c: Comparison, side: "before" | "after"): Map<string, Change> {
    const by = new Map<string, Change>();
    for (const row of c.layers ?? []) {
        const name = row[side]?.name;
        if (name !== undefined) by.set(name, row.change);
    }
    return by;
}

export function differenceView(
    list: Profile[],
    names: string[],
    c: Comparison | undefined,
    shown: Shown,
): HTMLElement | null {
    if (!shown.graphs || list.length !== 2 || !c?.layers) return null;
    if (!list.every((p) => p.layers?.some((l) => l.outputs?.length))) return null;
    const sides = ["before", "after"] as const;
    return section(
        "difference",
        "Graphs",
        soft("Layers that only one model has, that have other figures or other shapes."),
        h(
            "div",
            { class: "g-pair" },
            list.map((p, i) =>
                h(
                    "div",
                    null,
                    over(names[i]),
                    new GraphView(p, {
                        id: `graph-${sides[i]}`,
                        title: names[i],
                        changes: changesOf(c, sides[i]),
                    }).element,
                ),
            ),
        ),
    );
}
