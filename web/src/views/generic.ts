// A document of a schema that the page has no view for: its fields, as they are.
import type { Document } from "../documents";
import { h, type Child } from "../dom";
import * as f from "../format";
import { facts, panel, section, table, type Column } from "../ui";

const isPlain = (v: unknown): boolean => v === null || typeof v !== "object";

function plainText(v: unknown): string {
    if (typeof v === "number") return Number.isInteger(v) ? f.whole(v) : f.fixed(v, 4);
    return v === null || v === undefined ? f.DASH : String(v);
}

// The field of a row that is an object; of another row there is none.
const fieldOf = (row: unknown, key: string): unknown =>
    typeof row === "object" && row !== null ? new Map(Object.entries(row)).get(key) : undefined;

const MOST_ITEMS = 50;
const MOST_ROWS = 200;
const MOST_COLUMNS = 12;
const DEEPEST = 4;

function rowTable(rows: unknown[], depth: number): HTMLElement {
    const some = rows.slice(0, MOST_ITEMS);
    const keysOf = (r: unknown) => (typeof r === "object" && r !== null ? Object.keys(r) : []);
    const keys = [...new Set(some.flatMap(keysOf))].slice(0, MOST_COLUMNS);
    const isNumeric = (key: string) => rows.every((r) => !r || typeof fieldOf(r, key) === "number");
    const columns = keys.map((key): Column<unknown> => ({
        name: key,
        text: (r) => valueOf(fieldOf(r, key), depth + 2),
        number: isNumeric(key),
    }));
    return table("Rows", columns, rows.slice(0, MOST_ROWS));
}

function listOf(list: unknown[], depth: number): Child {
    if (!list.every(isPlain)) return rowTable(list, depth);
    const more = list.length > MOST_ITEMS ? ", …" : "";
    return list.slice(0, MOST_ITEMS).map(plainText).join(", ") + more;
}

function valueOf(v: unknown, depth: number): Child {
    if (typeof v !== "object" || v === null) return plainText(v);
    if (depth > DEEPEST) return "…";
    if (Array.isArray(v)) return listOf(v, depth);
    return facts(Object.entries(v).map(([k, x]: [string, unknown]) => [k, valueOf(x, depth + 1)]));
}

export function genericSections(d: Document): HTMLElement[] {
    const fields: [string, unknown][] = Object.entries(d);
    const small = fields.filter(([, v]) => isPlain(v));
    const large = fields.filter(([, v]) => !isPlain(v));
    return [
        section(
            "fields",
            String(d.schema ?? "Result"),
            panel("Fields", facts(small.map(([k, v]) => [k, plainText(v)]))),
            large.map(([k, v]) => h("div", null, h("h3", null, k), valueOf(v, 0))),
        ),
    ];
}
