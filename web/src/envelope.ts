// What stands in the page beside its program: the results, as base64 of gzip of JSON, and the views
// that assay made of them (src/report/view.h).
import type { Document } from "./documents";

export type Tone = "good" | "fair" | "poor" | "plain";

export interface ViewFact {
    name: string;
    value: string;
    note?: string;
    verdict?: string;
    exact?: string; // the value in full
    tone?: Tone;
}

export interface ViewGroup {
    title?: string;
    remark?: string;
    first: boolean; // of the summary
    facts: ViewFact[];
}

export interface ViewTable {
    title: string;
    first: boolean;
    columns: { name: string; number: boolean }[];
    rows: string[][];
    marks?: Tone[];
}

export interface View {
    title: string;
    under?: string;
    conclusion?: string; // one or two sentences, shown first
    banners: { text: string; tone: Tone }[];
    lines: string[]; // sentences of the sections
    cut: string[]; // which tables do not show every row
    remarks: string[];
    groups: ViewGroup[];
    tables: ViewTable[];
    inner?: View[]; // of the results inside it
}

export interface Envelope {
    mode: "report" | "dashboard" | "browser";
    graphs: boolean;
    details: boolean;
    tool: string;
    documents: Document[];
    views?: (View | null)[];
}

// What of a result is shown: --no-graphs and --no-details.
export interface Shown {
    graphs: boolean;
    details: boolean;
}

export const shownOf = (e: Envelope): Shown => ({
    graphs: e.graphs !== false,
    details: e.details !== false,
});

// The bytes of base64 of gzip.
export async function bytesOf(text: string): Promise<ArrayBuffer> {
    const raw = atob(text);
    const packed = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) packed[i] = raw.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
}

export async function readPacked(text: string): Promise<Envelope> {
    return JSON.parse(new TextDecoder().decode(await bytesOf(text))) as Envelope;
}

export async function readEnvelope(): Promise<Envelope> {
    const e = document.getElementById("assay-data");
    const envelope = await readPacked((e?.textContent ?? "").trim());
    e?.remove(); // the text is read once; memory is better spent on charts
    return envelope;
}
