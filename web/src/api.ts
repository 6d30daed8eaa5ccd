// The server's requests (docs/reports.md). Addresses are relative, so that it may stand behind any
// path. The token, where one is needed, comes in the address's fragment (which no server sees) or
// is asked for, and stays for as long as the tab.
import type { Document } from "./documents";
import type { View } from "./envelope";
import type { NamedFile } from "./files";
import type { HistoryRecord, Models, Trend } from "./types";
import type { Comparison } from "./view_types";

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
        public readonly status: number,
        message: string,
    ) {
        super(message);
    }

    get wantsToken(): boolean {
        return this.status === 401 || this.status === 403;
    }
}

// ---- the token ----

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

// ---- requests ----

// The message of a refusal: {"error": {"status", "message"}}, else the text itself.
function messageOf(body: string): string {
    try {
        const { error } = JSON.parse(body) as { error?: { message?: string } };
        return error?.message ?? body;
    } catch {
        return "";
    }
}

async function failureOf(answer: Response): Promise<Failure> {
    const status = `The server answered ${answer.status} ${answer.statusText}.`;
    const said = messageOf(await answer.text().catch(() => "")) || status;
    return new Failure(answer.status, String(said).slice(0, 600));
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
    if (!answer.ok) throw await failureOf(answer);
    return answer;
}

async function get<T>(path: string, init?: RequestInit): Promise<T> {
    return (await ask(path, init)).json() as Promise<T>;
}

function post(body: BodyInit, type = "application/json"): RequestInit {
    return { method: "POST", body, headers: { "Content-Type": type } };
}

// A model in one file is the body itself. Several, and texts told by their names, are parts.
function postFiles(files: NamedFile[]): RequestInit {
    const [{ path, file }] = files;
    if (files.length === 1 && !path.includes("/") && !/\.(json|mlir)$/i.test(path))
        return post(file, "application/octet-stream");
    const body = new FormData();
    for (const f of files) body.append("file", f.file, f.path);
    return { method: "POST", body };
}

type Asked = Query &
    FleetQuery & {
        metric?: string;
        name?: string;
        alert?: string;
        hardware?: string;
        precision?: string;
    };

function query(q: Asked): string {
    const given = Object.entries(q).filter(([, v]) => v !== undefined && v !== "");
    return new URLSearchParams(given.map(([k, v]) => [k, String(v)])).toString();
}

type Id = number | string;
const plain = (id: Id): string => encodeURIComponent(String(id));

// A document and what assay shows of it.
export interface Viewed {
    document: Document;
    view: View | null;
}

export interface DeviceRow {
    id: string;
    name: string;
    class: string;
}
export interface Prediction {
    name: string;
    precision: string;
    latency_ms: number | null;
    latency_low_ms: number | null;
    latency_high_ms: number | null;
}

// What may be asked of a fleet; texts as of `assay history changes` and the others.
export interface FleetQuery {
    model?: string;
    since?: string;
    latency?: string;
    price?: string;
    worse?: string;
}
export interface SweepProgress {
    id: number;
    name: string;
    total: number;
    done: number;
    noisy: number;
    running: number;
    waiting: number;
    missing: number;
}

export const api = {
    records: (q: Query) =>
        get<{ total: number; records: HistoryRecord[] }>(`api/v1/records?${query(q)}`),
    record: (id: Id) => get<Viewed>(`api/v1/records/${plain(id)}?view=1`),
    models: () => get<Models>("api/v1/models"),
    // Without a metric: the main one of the records.
    trend: (model: string, metric = "", alert = "") =>
        get<Trend>(`api/v1/trend?${query({ model, metric, alert })}`),
    devices: () => get<{ devices: DeviceRow[] }>("api/v1/devices"),
    predict: (model: string, hardware: string[], precision: string) =>
        get<{ devices: Prediction[] }>(
            `api/v1/predict?${query({ model, hardware: hardware.join(","), precision })}`,
        ),
    changes: (q: FleetQuery) => get<Viewed>(`api/v1/changes?view=1&${query(q)}`),
    drift: (q: FleetQuery) => get<Viewed>(`api/v1/drift?view=1&${query(q)}`),
    cheapest: (q: FleetQuery) => get<Viewed>(`api/v1/cheapest?view=1&${query(q)}`),
    sweeps: () => get<{ sweeps: SweepProgress[] }>("api/v1/sweeps"),
    sweep: (id: number) => get<Viewed>(`api/v1/sweeps/${plain(id)}?view=1`),
    events: (signal: AbortSignal) => ask("api/v1/events", { signal }),
    compare: (ids: Id[]) => get<Comparison>(`api/v1/compare?ids=${ids.map(plain).join(",")}`),
    addRecord: (body: Blob) => get<{ id: number }>("api/v1/records", post(body)),
    addModel: (name: string, files: NamedFile[]) =>
        get<Viewed>(`api/v1/profile?view=1&${query({ name })}`, postFiles(files)),
    // The number of the record.
    saveModel: async (name: string, files: NamedFile[]) => {
        const answer = await ask(`api/v1/profile?save=1&${query({ name })}`, postFiles(files));
        return Number(/\d+$/.exec(answer.headers.get("Location") ?? "")?.[0] ?? 0);
    },
    tags: (id: number, add: string[], remove: string[]) =>
        ask(`api/v1/records/${id}/tags`, post(JSON.stringify({ add, remove }))),
    remove: (id: number) => ask(`api/v1/records/${id}`, { method: "DELETE" }),
};

export async function modelNames(): Promise<string[]> {
    return ((await api.models()).models ?? []).map((m) => m.model ?? "");
}
