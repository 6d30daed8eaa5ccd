// A document of a schema that the page has no view for: its fields, as they are.
import { h, type Child } from "../dom";
import * as f from "../format";
import type { Document } from "../types";
import { facts, panel, section, table } from "../ui";

const plain = (v: unknown): v is string | number | boolean | null =>
    v === null || typeof v !== "object";
const show = (v: unknown): string =>
    typeof v === "number"
        ? Number.isInteger(v)
            ? f.whole(v)
            : f.fixed(v, 4)
        : v === null || v === undefined
          ? f.DASH
          : String(v);

function value(v: unknown, depth: number): Child {
    if (plain(v)) return show(v);
    if (depth > 4) return "…";
    if (Array.isArray(v)) {
        if (v.every(plain))
            return v.slice(0, 50).map(show).join(", ") + (v.length > 50 ? ", …" : "");
        const keys = [
            ...new Set(
                v.slice(0, 50).flatMap((r) => (r && typeof r === "object" ? Object.keys(r) : [])),
            ),
        ].slice(0, 12);
        return table(
            "Rows",
            keys.map((k) => ({
                name: k,
                text: (r: any) => value(r?.[k], depth + 2),
                number: v.every((r: any) => !r || typeof r[k] === "number"),
            })),
            v.slice(0, 200),
        );
    }
    return facts(Object.entries(v as object).map(([k, x]) => [k, value(x, depth + 1)]));
}

export function genericSections(d: Document): HTMLElement[] {
    const small = Object.entries(d).filter(([, v]) => plain(v));
    const large = Object.entries(d).filter(([, v]) => !plain(v));
    return [
        section(
            "fields",
            String(d.schema ?? "Result"),
            panel("Fields", facts(small.map(([k, v]) => [k, show(v)]))),
            large.map(([k, v]) => h("div", null, h("h3", null, k), value(v, 0))),
        ),
    ];
}
