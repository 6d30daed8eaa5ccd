// Which kind of result a document is: by its schema.
import type { Note, Profile } from "./types";
import type { Comparison, Pipeline, Pipelines } from "./view_types";

// What every kind may have; the rest is in types.ts.
export interface Document {
    schema?: string;
    model?: string;
    title?: string;
    warnings?: Note[];
    warnings_dropped?: number;
}

// "assay.profile" of "assay.profile/1".
export const kindOf = (d: Document): string => String(d.schema ?? "").split("/")[0];

// A profile without a schema is known by its layers.
export function isProfile(d: Document): d is Profile {
    if (typeof d.schema === "string") return kindOf(d) === "assay.profile";
    return "layers" in d && Array.isArray(d.layers) && "model" in d && !("models" in d);
}

export const isPipeline = (d: Document): d is Pipeline => kindOf(d) === "assay.pipeline";
export const isComparison = (d: Document): d is Comparison => kindOf(d) === "assay.comparison";
const isPipelines = (d: Document): d is Pipelines => kindOf(d) === "assay.pipelines";

// A run over several pipelines is one document with a list.
export function flatten(list: Document[]): Document[] {
    return list.flatMap((d): Document[] => (isPipelines(d) ? (d.pipelines ?? []) : [d]));
}

export const nameOf = (d: Document): string => String(d.model ?? "unnamed");
export const titleOf = (d: Document): string => String(d.title ?? d.model);

// The rows of a list that are objects; none when it is no list.
export function rowsOf<T extends object>(list: readonly (T | null)[] | undefined): T[] {
    if (!Array.isArray(list)) return [];
    return list.filter((row): row is T => row !== null && typeof row === "object");
}
