// What a comparison says of the models that it is of: verdicts of runs, and the layers behind a
// difference.
import { h } from "../dom";
import { rowsOf } from "../documents";
import type { Shown, Tone } from "../envelope";
import * as f from "../format";
import { grid, type GridColumn } from "../grid";
import type {
    AttributeChange,
    ChangedLayer,
    Comparison,
    LayerChange,
    MeasuredVerdict,
} from "../view_types";
import { chip, section, soft } from "../ui";

// ---- layers ----

type Quantity = "flops" | "parameters" | "memory" | "peak_bytes" | "time_ms";

const delta = (r: LayerChange, key: Quantity): number =>
    (r.after?.[key] ?? 0) - (r.before?.[key] ?? 0);
const signed = (v: number, show: (v: number) => string): string =>
    v === 0 ? f.DASH : (v > 0 ? "+" : "−") + show(Math.abs(v));

// What stood on both sides, or on the one that has it.
function beforeAndAfter(r: LayerChange, of: (l: ChangedLayer) => string | undefined): string {
    const before = r.before && of(r.before);
    const after = r.after && of(r.after);
    if (before && after && before !== after) return `${before} → ${after}`;
    return after ?? before ?? "";
}

const shapeOf = (l: ChangedLayer): string | undefined => {
    const shape = l.output_shapes?.[0];
    return shape ? f.shape(shape) : undefined;
};
const shapes = (r: LayerChange): string => beforeAndAfter(r, shapeOf) || f.DASH;
const lastName = (r: LayerChange): string => r.after?.name ?? r.before?.name ?? "";

const told = (v: unknown): string => (v === null ? "default" : JSON.stringify(v));
const attributeText = ([name, v]: [string, AttributeChange]): string =>
    `${name} ${told(v.before)} → ${told(v.after)}`;
const attributes = (r: LayerChange): string =>
    Object.entries(r.attributes ?? {})
        .map(attributeText)
        .join(", ");

const difference = (
    key: Quantity,
    look: { id: string; name: string; width: string; title?: string },
    show: (v: number) => string,
): GridColumn<LayerChange> => ({
    ...look,
    number: true,
    value: (r) => delta(r, key),
    text: (r) => signed(delta(r, key), show),
});

const changeColumns: GridColumn<LayerChange>[] = [
    {
        id: "change",
        name: "Change",
        width: "90px",
        value: (r) => r.change,
        text: (r) => r.change,
    },
    {
        id: "name",
        name: "Layer",
        width: "minmax(190px,3fr)",
        value: lastName,
        text: (r) => beforeAndAfter(r, (l) => l.name),
    },
    {
        id: "type",
        name: "Type",
        width: "minmax(90px,1fr)",
        value: (r) => r.type ?? "",
        text: (r) => r.type ?? "",
    },
    { id: "shape", name: "Output", width: "minmax(160px,1.5fr)", value: shapes, text: shapes },
    difference("flops", { id: "flops", name: "Δ FLOPs", width: "100px" }, (v) => f.si(v)),
    difference("parameters", { id: "parameters", name: "Δ Params", width: "100px" }, (v) =>
        f.si(v),
    ),
    difference("memory", { id: "memory", name: "Δ Bytes", width: "110px" }, f.bytes),
];
const peakColumn = difference(
    "peak_bytes",
    { id: "peak", name: "Δ Peak", title: "Contribution to peak memory", width: "110px" },
    f.bytes,
);
const attributeColumn: GridColumn<LayerChange> = {
    id: "attributes",
    name: "Attributes",
    title: "Attributes that differ",
    width: "minmax(160px,2fr)",
    value: attributes,
    text: (r) => attributes(r) || f.DASH,
};
const timeColumn = difference("time_ms", { id: "time", name: "Δ Time", width: "100px" }, f.ms);

// Columns that say nothing are left out.
function columnsOf(list: LayerChange[]): GridColumn<LayerChange>[] {
    const some = (of: (r: LayerChange) => unknown, c: GridColumn<LayerChange>) =>
        list.some(of) ? [c] : [];
    return [
        ...changeColumns,
        ...some((r) => delta(r, "peak_bytes"), peakColumn),
        ...some((r) => r.attributes, attributeColumn),
        ...some((r) => delta(r, "time_ms"), timeColumn),
    ];
}

export function changedLayers(c: Comparison, shown: Shown): HTMLElement | null {
    const list = c.layers ?? [];
    if (!list.length || !shown.details) return null;
    const renamed = c.renamed_layers ? `, ${f.whole(c.renamed_layers)} under another name` : "";
    return h(
        "div",
        null,
        h("h3", null, "Layers behind the difference"),
        soft(`${f.whole(c.same_layers)} layers are the same${renamed}.`),
        grid<LayerChange>({
            id: "compare-layers",
            what: "changes",
            rows: list,
            search: (r) => `${r.before?.name ?? ""} ${r.after?.name ?? ""} ${r.type} ${r.change}`,
            filters: [
                { name: "Change", value: (r) => r.change },
                { name: "Type", value: (r) => r.type ?? "" },
            ],
            columns: columnsOf(list),
        }),
    );
}

// ---- verdicts of runs, where there are any ----

const tones: Record<string, Tone> = {
    faster: "good",
    slower: "poor",
    inconclusive: "fair",
    "not run": "fair",
};

function ratioText(v: MeasuredVerdict): string {
    const low = f.fixed(v.ratio_ci99_low, 3);
    const interval = f.isNumber(v.ratio_ci99_low)
        ? `; 99 %: ${low} to ${f.fixed(v.ratio_ci99_high, 3)}`
        : "";
    return `${f.fixed(v.ratio, 3)} times as long as the first${interval}`;
}

function verdictItem(v: MeasuredVerdict): HTMLElement {
    const verdict = String(v.verdict ?? "");
    const turns = v.interleaved ? ", turn by turn" : "";
    const runs = f.isNumber(v.runs) ? `${f.whole(v.runs)} runs${turns}.` : null;
    return h(
        "li",
        { class: "card" },
        h("h3", null, String(v.model ?? ""), chip(tones[verdict] ?? "plain", verdict)),
        f.isNumber(v.ratio) && h("p", null, ratioText(v)),
        soft([v.why, runs].filter(Boolean).join(" ")),
    );
}

export function verdicts(c: Comparison): HTMLElement | null {
    const list = rowsOf(c.measured);
    return list.length ? h("ul", { class: "advice" }, list.map(verdictItem)) : null;
}

// A comparison whose profiles are not there.
export function comparisonSection(c: Comparison, shown: Shown): HTMLElement | null {
    const said = verdicts(c);
    const changes = changedLayers(c, shown);
    return said || changes ? section("changes", "Changes", said, changes) : null;
}
