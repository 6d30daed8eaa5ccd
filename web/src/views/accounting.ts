// Accounting: what is exact, assumed and unknown.
import { figure, tabulate } from "../charts";
import type { Shown } from "../envelope";
import * as f from "../format";
import { frame, itemTip, rowAxis, tip, valueAxis } from "../plot";
import { palette } from "../theme";
import type { Accounting, Profile, ProfileItem, ProfileUserOperator } from "../types";
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

// Rules of --ops that were used.
function userOperators(list: ProfileUserOperator[]): HTMLElement | null {
    if (!list.length) return null;
    return figure({
        id: "user-operators",
        title: "Operators by your rules",
        note: "Nodes that each rule counted.",
        height: 60 + 26 * list.length,
        about: "A bar for each rule of --ops: the nodes that it counted.",
        option: () => ({
            grid: frame(60, 4, 4, 4),
            xAxis: valueAxis({ minInterval: 1 }),
            yAxis: rowAxis(
                list.map((x) => x.op),
                { axisLabel: { width: 180, overflow: "truncate" } },
            ),
            tooltip: itemTip((m) =>
                tip(list[m.index].op, [
                    ["Nodes", f.whole(m.value)],
                    ["File", list[m.index].file],
                ]),
            ),
            series: [
                {
                    type: "bar",
                    barMaxWidth: 16,
                    data: list.map((x) => x.nodes),
                    label: { show: true, position: "right", color: palette().text },
                },
            ],
        }),
        table: () =>
            tabulate(list, [
                ["Operator", (x) => x.op],
                ["File", (x) => x.file],
                ["Nodes", (x) => x.nodes],
            ]),
    });
}

export function accountingView(p: Profile, shown: Shown): HTMLElement | null {
    const a = p.accounting;
    if (!a || !f.isNumber(a.nodes) || (p.watch && !a.nodes)) return null;
    const items = a.items ?? [];
    const differ = "The weights on disk are not those that the configuration asks for.";
    return section(
        "accounting",
        "Accounting",
        counts(a),
        a.weights_differ && banner("fair", differ),
        shown.graphs && userOperators(p.user_operators ?? []),
        shown.details &&
            items.length > 0 &&
            longTable("Assumed and unknown", columns, items, { first: 25, what: "lines" }),
    );
}
