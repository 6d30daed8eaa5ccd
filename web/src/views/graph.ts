// The section with the graph of the model.
import { nameOf } from "../documents";
import type { Shown } from "../envelope";
import { GraphView } from "../graph/view";
import type { Profile } from "../types";
import { section } from "../ui";

export function graphView(p: Profile, shown: Shown): HTMLElement | null {
    if (!shown.graphs || !p.layers?.length || !p.layers.some((l) => l.outputs?.length)) return null;
    return section(
        "graph",
        "Graph",
        new GraphView(p, { id: "model-graph", title: nameOf(p) }).element,
    );
}
