// The data that stands in the page: base64 of gzip of JSON.
import type { Envelope } from "./types";

async function unpack(text: string): Promise<string> {
    const raw = atob(text);
    const packed = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) packed[i] = raw.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
}

export async function readEnvelope(): Promise<Envelope> {
    const e = document.getElementById("assay-data");
    const envelope = JSON.parse(await unpack((e?.textContent ?? "").trim())) as Envelope;
    e?.remove(); // the text is read once; memory is better spent on charts
    return envelope;
}
