// Models and devices: the best measured record of each pair; where there is none, the
// prediction, marked.
import { api, type DeviceRow, type Prediction } from "../api";
import { clear, h, type Child } from "../dom";
import * as f from "../format";
import type { Page } from "../shell";
import type { HistoryRecord } from "../types";
import { code, empty, select, soft, type Choice } from "../ui";
import { link } from "./links";

const RECORDS = 1000;
const MODELS = 40;
const FIRST = ["t4", "a100-80", "orin-nano"]; // devices to begin with

interface Cell {
    ms: number;
    record?: number;
    low?: number | null;
    high?: number | null;
}
type Row = Map<string, Cell>; // by column

// ---- measured ----

const placeOf = (r: HistoryRecord): string =>
    [r.host || r.machine || "?", r.device && r.device !== "cpu" ? r.device : ""]
        .filter(Boolean)
        .join(" · ");

// The latency of one sample: batches and precisions are compared by it.
const perSample = (r: HistoryRecord): number =>
    f.isNumber(r.p50_ms) ? r.p50_ms / Math.max(1, r.batch ?? 1) : NaN;

export function bestRecords(records: HistoryRecord[], precision: string): Map<string, Row> {
    const rows = new Map<string, Row>();
    for (const r of records) {
        if ((r.kind && r.kind !== "profile") || !r.model) continue;
        const row: Row = rows.get(r.model) ?? new Map<string, Cell>();
        rows.set(r.model, row);
        const ms = perSample(r);
        if (!Number.isFinite(ms) || (precision && r.precision !== precision)) continue;
        const best = row.get(placeOf(r));
        if (!best || ms < best.ms) row.set(placeOf(r), { ms, record: r.id });
    }
    return rows;
}

// ---- predicted ----

async function addPredictions(rows: Map<string, Row>, devices: string[], precision: string) {
    const one = async (model: string, row: Row) => {
        const said = await api.predict(model, devices, precision || "fp32").catch(() => null);
        for (const p of said?.devices ?? []) addPrediction(row, p);
    };
    for (const [model, row] of rows) await one(model, row);
}

function addPrediction(row: Row, p: Prediction): void {
    const best = row.get(p.name);
    if (!f.isNumber(p.latency_ms) || (best && best.ms <= p.latency_ms)) return;
    row.set(p.name, { ms: p.latency_ms, low: p.latency_low_ms, high: p.latency_high_ms });
}

// ---- the table ----

function cellText(c: Cell | undefined): Child {
    if (!c) return f.DASH;
    if (c.record !== undefined) return link(`record/${c.record}`, f.ms(c.ms));
    const range =
        f.isNumber(c.low) && f.isNumber(c.high) ? `${f.ms(c.low)} to ${f.ms(c.high)}` : "";
    return h(
        "span",
        { class: "predicted", title: `predicted${range && `, 80 % within ${range}`}` },
        `≈ ${f.ms(c.ms)}`,
        h("span", { class: "hidden" }, " predicted"),
    );
}

interface Heading {
    id: string;
    name: string;
}

function matrixTable(rows: Map<string, Row>, columns: Heading[]): HTMLElement {
    const line = ([model, row]: [string, Row]) =>
        h(
            "tr",
            null,
            h(
                "th",
                { scope: "row" },
                link(`trend/${encodeURIComponent(model)}`, f.clip(model, 40)),
            ),
            columns.map((c) => {
                const cell = row.get(c.id);
                const kind = !cell ? "none" : cell.record !== undefined ? "measured" : "predicted";
                return h("td", { class: "number", "data-kind": kind }, cellText(cell));
            }),
        );
    return h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Models and devices" },
        h(
            "table",
            { class: "plain sticky-first", id: "matrix" },
            h("caption", { class: "hidden" }, "Latency of one sample by model and device"),
            h(
                "thead",
                null,
                h(
                    "tr",
                    null,
                    h("th", { scope: "col" }, "Model"),
                    columns.map((c) =>
                        h("th", { scope: "col", class: "number" }, f.clip(c.name, 36)),
                    ),
                ),
            ),
            h("tbody", null, [...rows].slice(0, MODELS).map(line)),
        ),
    );
}

const note = (): HTMLElement =>
    soft(
        "Median latency of one sample. A number is the best measured record and links to it. ",
        "≈ marks the prediction for a built-in model at batch 1; its interval is in the tooltip.",
    );

// ---- the page ----

const nothing = (): HTMLElement =>
    empty("Nothing has been saved yet", h("p", null, code("assay bench resnet18 --save")));

class Matrix {
    readonly place = h("div", { id: "matrix-place", "aria-live": "polite" });
    private precision = "";
    private devices: string[];

    constructor(
        private readonly records: HistoryRecord[],
        private readonly known: DeviceRow[],
    ) {
        this.devices = FIRST.filter((id) => known.some((d) => d.id === id));
    }

    private nameOf(id: string): string {
        return this.known.find((d) => d.id === id)?.name ?? id;
    }

    async show(): Promise<void> {
        const rows = bestRecords(this.records, this.precision);
        const seen = new Set([...rows.values()].flatMap((r) => [...r.keys()]));
        await addPredictions(rows, this.devices, this.precision);
        const columns = [...seen, ...this.devices.filter((d) => !seen.has(d))];
        const headings = columns.map((id) => ({ id, name: this.nameOf(id) }));
        clear(this.place, matrixTable(rows, headings));
    }

    controls(): HTMLElement {
        const kinds = new Set(this.records.map((r) => r.precision ?? "").filter(Boolean));
        const precisions: Choice[] = [
            { id: "", text: "best" },
            ...[...kinds].map((p) => ({ id: p, text: p })),
        ];
        const more: Choice[] = [
            { id: "", text: "add a device …" },
            ...this.known.map((d) => ({ id: d.id, text: f.clip(d.name, 40) })),
        ];
        return h(
            "div",
            { class: "controls card" },
            select("Precision", precisions, "", (p) => {
                this.precision = p;
                void this.show();
            }),
            select("Device", more, "", (d) => {
                if (d && !this.devices.includes(d)) this.devices = [...this.devices, d].slice(-12);
                void this.show();
            }),
        );
    }
}

export async function matrixPage(): Promise<Page> {
    const [{ records }, { devices }] = await Promise.all([
        api.records({ limit: RECORDS }),
        api.devices().catch(() => ({ devices: [] })),
    ]);
    const matrix = new Matrix(records, devices);
    if (records.length) await matrix.show();
    return {
        title: "Devices",
        under: "Models and devices: measured, else predicted",
        nav: false,
        sections: [
            records.length ? h("div", null, matrix.controls(), note(), matrix.place) : nothing(),
        ],
    };
}
