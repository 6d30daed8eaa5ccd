// Documents that are no profile (pipelines, scalings, validations, checks, plans of capacity,
// trends, lists of records, machines): the figures and tables that assay made of them, and a chart
// where one says more.
// The view comes with the document (src/report/view.h); without it the fields are shown as they
// are.
import { isComparison, kindOf, type Document } from "../documents";
import { h, type Child } from "../dom";
import type { Shown, View, ViewGroup, ViewTable } from "../envelope";
import { longTable, over, panel, section, soft, type Column } from "../ui";
import { capacitySection } from "./capacity";
import { checkSection } from "./check";
import { comparisonSection } from "./comparison";
import { genericSections } from "./generic";
import { loadSection } from "./load";
import { machineSection } from "./machine";
import { pipelineSection } from "./pipeline";
import { scalingSection } from "./scaling";
import { groupView, summaryView } from "./summary";
import { trendSection } from "./trend";
import { validationSection } from "./validation";
import { warningsView } from "./warnings";

// ---- what is drawn of each kind ----

type Draw<T> = (d: T) => HTMLElement | null;
const row = <T extends Document>(kind: string, draw: Draw<T>): [string, Draw<Document>] => [
    kind,
    (d) => draw(d as T),
];
const drawings = new Map([
    row("assay.pipeline", pipelineSection),
    row("assay.scaling", scalingSection),
    row("assay.capacity", capacitySection),
    row("assay.load", loadSection),
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

function documentSummary(d: Document, view: View): HTMLElement {
    const basis = [...view.remarks, ...view.cut].map((r): Child => soft(r));
    return summaryView(
        view,
        view.tables.filter((t) => t.first).map(titled),
        view.lines.length > 0 &&
            panel(
                "Notes",
                view.lines.map((l): Child => h("p", null, l)),
            ),
        basis.length > 0 && panel("Basis", basis),
        warningsView(d),
    );
}

const FEW = 4;
function details(groups: ViewGroup[], tables: ViewTable[]): HTMLElement | null {
    if (!tables.length && !groups.length) return null;
    const shownTables = tables.map(tables.length > FEW ? folded : titled);
    return section("tables", "Details", groups.map(groupView), shownTables);
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
    const groups = view.groups.filter((g) => !g.first);
    const rest = view.tables.filter((t) => !t.first && !isOwn(t));
    return [
        documentSummary(d, view),
        drawn,
        isComparison(d) ? comparisonSection(d, shown) : null,
        shown.details ? details(groups, rest) : null,
    ];
}
