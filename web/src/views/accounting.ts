// Accounting: what is exact, assumed and unknown.
import type { Shown } from "../envelope";
import * as f from "../format";
import type { Accounting, Profile, ProfileItem } from "../types";
import { banner, cards, code, column, longTable, prose, section, type Column } from "../ui";

const columns: Column<ProfileItem>[] = [
    column("Node", (i) => code(i.node)),
    column("Operator", (i) => i.op ?? ""),
    column("", (i) => i.certainty ?? ""),
    prose("Why", (i) => i.reason ?? ""),
];

function counts(a: Accounting): HTMLElement {
    return cards([
        {
            name: "Operators that run",
            value: f.whole(a.nodes),
            note: `${f.whole(a.folded)} more are known in advance`,
        },
        { name: "Exact", value: f.whole(a.exact) },
        {
            name: "Under an assumption",
            value: f.whole(a.assumed),
            verdict: a.assumed ? "assumed" : undefined,
            tone: "fair",
        },
        {
            name: "Unknown",
            value: f.whole(a.unknown),
            verdict: a.unknown ? "not in the totals" : undefined,
            tone: "poor",
        },
    ]);
}

export function accountingView(p: Profile, shown: Shown): HTMLElement | null {
    const a = p.accounting;
    if (!a || !f.isNumber(a.nodes)) return null;
    const items = a.items ?? [];
    const differ = "The weights on disk are not those that the configuration asks for.";
    return section(
        "accounting",
        "Accounting",
        counts(a),
        a.weights_differ && banner("fair", differ),
        shown.details &&
            items.length > 0 &&
            longTable("Assumed and unknown", columns, items, { first: 25, what: "lines" }),
    );
}
