// Documents that are no profile (scalings, validations, checks, plans of capacity, trends, lists of
// runs, machines): the figures and tables that assay made of them, and a chart where one says more.
// The view comes with the document (src/report/view.h); without it the fields are shown as they
// are.
import { isComparison, kindOf, type Document } from "../documents";
import { h, type Child } from "../dom";
import type { Shown, View, ViewTable } from "../envelope";
import { cards, longTable, markedBanner, over, panel, section, soft, type Column } from "../ui";
import { capacitySection } from "./capacity";
import { checkSection } from "./check";
import { comparisonSection } from "./comparison";
import { genericSections } from "./generic";
import { machineSection } from "./machine";
import { scalingSection } from "./scaling";
import { trendSection } from "./trend";
import { validationSection } from "./validation";

// ---- what is drawn of each kind ----

type Draw<T> = (d: T) => HTMLElement | null;
const row = <T extends Document>(kind: string, draw: Draw<T>): [string, Draw<Document>] => [
    kind,
    (d) => draw(d as T),
];
const drawings = new Map([
    row("assay.scaling", scalingSection),
    row("assay.capacity", capacitySection),
    row("assay.check", checkSection),
    row("assay.validation", validationSection),
    row("assay.machine", machineSection),
    row("assay.trend", trendSection),
]);

// ---- the view ----

interface Row {
    cells: string[];
    rowClass: string | undefined;
}
const rowClasses: Record<string, string> = { good: "best", fair: "unsure", poor: "worse" };
const MANY_ROWS = 40;
const LONG_TEXT = 36;

function viewTable(t: ViewTable): HTMLElement {
    const rows = t.rows.map((cells, i): Row => ({
        cells,
        rowClass: rowClasses[t.marks?.[i] ?? ""],
    }));
    const isLong = (i: number) => t.rows.some((r) => (r[i] ?? "").length > LONG_TEXT);
    const columns = t.columns.map(({ name, number }, i): Column<Row> => ({
        name,
        number,
        class: !number && isLong(i) ? "prose" : "",
        text: (r) => r.cells[i] ?? "",
    }));
    const rowClass = (r: Row) => r.rowClass;
    return longTable(t.title, columns, rows, { first: MANY_ROWS, what: "rows", rowClass });
}

const titled = (t: ViewTable): HTMLElement => h("div", null, over(t.title), viewTable(t));
const folded = (t: ViewTable): HTMLElement =>
    h("details", { class: "fold" }, h("summary", null, t.title), viewTable(t));
addEventListener("beforeprint", () =>
    document.querySelectorAll<HTMLDetailsElement>("details.fold").forEach((d) => {
        d.open = true;
    }),
);

function summary(view: View): HTMLElement {
    const basis = [...view.remarks, ...view.cut].map((r): Child => soft(r));
    return section(
        "summary",
        "Summary",
        view.banners.map((b) => markedBanner(b.tone, b.text)),
        view.groups.map((g) => [g.title && over(g.title), cards(g.facts)]),
        view.tables.filter((t) => t.first).map(titled),
        view.lines.length > 0 &&
            panel(
                "Notes",
                view.lines.map((l): Child => h("p", null, l)),
            ),
        basis.length > 0 && panel("What this rests on", basis),
    );
}

const FEW = 4;
function details(tables: ViewTable[]): HTMLElement | null {
    if (!tables.length) return null;
    return section("tables", "Details", tables.map(tables.length > FEW ? folded : titled));
}

export function documentSections(
    d: Document,
    view: View | undefined,
    shown: Shown,
): (HTMLElement | null)[] {
    const drawn = shown.graphs ? (drawings.get(kindOf(d))?.(d) ?? null) : null;
    if (!view) return [drawn, ...genericSections(d)]; // of the dashboard
    // The layers of a comparison have a table of their own.
    const isOwn = (t: ViewTable) => isComparison(d) && t.title.startsWith("Layers");
    const rest = view.tables.filter((t) => !t.first && !isOwn(t));
    return [
        summary(view),
        drawn,
        isComparison(d) ? comparisonSection(d, shown) : null,
        shown.details ? details(rest) : null,
    ];
}
