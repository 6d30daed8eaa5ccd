// The server's requests (docs/reports.md). Addresses are relative, so that it may stand behind any path. The
// token, where one is needed, comes in the address's fragment (which no server sees) or is asked for, and
// stays for as long as the tab.
import type { Document } from "./types";

export interface Run {
    id: number;
    model: string;
    created?: string;
    command?: string;
    host?: string;
    precision?: string;
    batch?: number | null;
    p50_ms?: number | null;
    p95_ms?: number | null;
    mean_ms?: number | null;
    throughput?: number | null;
    memory_bytes?: number | null;
    macs?: number | null;
    parameters?: number | null;
    tags?: string[];
}
export interface Trend {
    model: string;
    metric: string;
    unit?: string;
    points: { id: number; created: string; value: number }[];
    change_points?: Record<string, any>[];
    median?: number | null;
    [key: string]: any;
}
export interface Query {
    q?: string;
    model?: string;
    tag?: string;
    since?: string;
    limit?: number;
    offset?: number;
}

export class Failure extends Error {
    constructor(
        public status: number,
        message: string,
    ) {
        super(message);
    }
}

const KEY = "assay-token";
function stored(): string | null {
    try {
        return sessionStorage.getItem(KEY);
    } catch {
        return null;
    }
}
let token: string | null = stored();

export function setToken(value: string): void {
    token = value;
    try {
        sessionStorage.setItem(KEY, value);
    } catch {
        /* for this page only, then */
    }
}

// "#token=..." is taken and disappears from the address, so that it is not copied along with it.
export function takeToken(): void {
    const m = /^#(?:.*&)?token=([^&]+)/.exec(location.hash);
    if (!m) return;
    setToken(decodeURIComponent(m[1]));
    history.replaceState(null, "", location.pathname + location.search);
}

// Addresses are of the folder that the page lies in.
async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (token) headers.set("Authorization", `Bearer ${token}`);
    let answer: Response;
    try {
        answer = await fetch(new URL(path, new URL(".", location.href)), { ...init, headers });
    } catch {
        throw new Failure(0, "The server does not answer. Is assay serve still running?");
    }
    if (answer.ok) return answer;
    let text = "";
    try {
        const body = await answer.text();
        const json = JSON.parse(body);
        text = json.error?.message ?? json.message ?? json.error ?? body;
    } catch {
        /* the status says enough */
    }
    throw new Failure(
        answer.status,
        String(text || `The server answered ${answer.status} ${answer.statusText}.`).slice(0, 600),
    );
}

const json = async (path: string, init?: RequestInit): Promise<any> =>
    (await ask(path, init)).json();
const query = (q: Record<string, any>): string =>
    new URLSearchParams(
        Object.entries(q)
            .filter(([, v]) => v !== undefined && v !== null && v !== "")
            .map(([k, v]) => [k, String(v)]),
    ).toString();

export const api = {
    runs: (q: Query): Promise<{ total: number; runs: Run[] }> => json(`api/v1/runs?${query(q)}`),
    run: (id: number | string): Promise<Document> =>
        json(`api/v1/runs/${encodeURIComponent(String(id))}`),
    models: (): Promise<any> => json("api/v1/models"),
    trend: (model: string, metric: string): Promise<Trend> =>
        json(`api/v1/trend?${query({ model, metric })}`),
    compare: (ids: (number | string)[]): Promise<Document> =>
        json(`api/v1/compare?ids=${ids.map((i) => encodeURIComponent(String(i))).join(",")}`),
    addRun: (body: Blob): Promise<{ id: number }> =>
        json("api/v1/runs", {
            method: "POST",
            body,
            headers: { "Content-Type": "application/json" },
        }),
    addModel: (name: string, body: Blob): Promise<Document> =>
        json(`api/v1/profile?${query({ name })}`, {
            method: "POST",
            body,
            headers: { "Content-Type": "application/octet-stream" },
        }),
    tags: (id: number, add: string[], remove: string[]): Promise<unknown> =>
        ask(`api/v1/runs/${id}/tags`, {
            method: "POST",
            body: JSON.stringify({ add, remove }),
            headers: { "Content-Type": "application/json" },
        }),
    remove: (id: number): Promise<unknown> => ask(`api/v1/runs/${id}`, { method: "DELETE" }),
};

// Names of models, whatever shape the answer has: strings, or objects with a name.
export function modelNames(answer: any): string[] {
    const list = Array.isArray(answer) ? answer : (answer?.models ?? []);
    return list
        .map((m: any) => (typeof m === "string" ? m : (m?.model ?? m?.name)))
        .filter((s: unknown): s is string => typeof s === "string");
}
