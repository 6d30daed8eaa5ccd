// Weights without a graph.
import type { Shown } from "../envelope";
import * as f from "../format";
import type { Profile, ProfileWeight } from "../types";
import { cards, code, column, longTable, numbers, section, type Column } from "../ui";

const columns: Column<ProfileWeight>[] = [
    column("Tensor", (w) => code(w.name)),
    column("Type", (w) => w.dtype ?? ""),
    column("Shape", (w) => f.shape(w.shape)),
    numbers("Elements", (w) => f.si(w.elements)),
    numbers("Size", (w) => f.bytes(w.bytes)),
];

export function inventoryView(p: Profile, shown: Shown): HTMLElement | null {
    const i = p.inventory;
    if (!i) return null;
    return section(
        "inventory",
        "Weights",
        cards([
            { name: "Tensors", value: f.whole(i.tensors) },
            { name: "Elements", value: f.si(i.elements), exact: f.whole(i.elements) },
            { name: "Size", value: f.bytes(i.bytes) },
        ]),
        shown.details &&
            longTable("Largest tensors", columns, i.largest ?? [], { first: 20, what: "tensors" }),
    );
}
