// Live updates: the server's events (docs/serve.md), read by fetch(), which can send the token
// as EventSource cannot. Connects again when the stream ends; a server without events is left
// alone.
import { api, Failure } from "../api";

export interface Change {
    total: number;
    newest: number;
}

const AGAIN_MS = 3000;

// The events in a text, and what is left of it: an event ends with an empty line.
export function eventsOf(text: string): { changes: Change[]; rest: string } {
    const parts = text.split("\n\n");
    const rest = parts.pop() ?? "";
    const changes = parts.flatMap((part) => {
        const data = /^data: (.*)$/m.exec(part);
        return data ? [JSON.parse(data[1]) as Change] : [];
    });
    return { changes, rest };
}

async function readStream(body: ReadableStream<Uint8Array>, tell: (c: Change) => void) {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        const { changes, rest } = eventsOf(text + decoder.decode(value, { stream: true }));
        text = rest;
        changes.forEach(tell);
    }
}

// Calls `changed` when the history is another than it was; the function that ends it.
export function whileLive(changed: (c: Change) => void): () => void {
    const end = new AbortController();
    let last: string | null = null;
    const tell = (c: Change) => {
        const now = `${c.total} ${c.newest}`;
        if (last !== null && now !== last) changed(c);
        last = now;
    };
    const connect = async (): Promise<void> => {
        try {
            const { body } = await api.events(end.signal);
            if (body) await readStream(body, tell);
        } catch (error) {
            if (end.signal.aborted || (error instanceof Failure && error.status >= 400)) return;
        }
        if (!end.signal.aborted) setTimeout(() => void connect(), AGAIN_MS);
    };
    void connect();
    return () => end.abort();
}
