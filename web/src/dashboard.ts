// The dashboard: the same views over the history of a server.
import { Failure, takeToken } from "./api";
import { addPage } from "./dashboard/add";
import { fleetPage } from "./dashboard/fleet";
import { hrefOf, link, trouble } from "./dashboard/links";
import { whileLive } from "./dashboard/live";
import { matrixPage } from "./dashboard/matrix";
import { overviewPage } from "./dashboard/overview";
import { comparePage, recordPage } from "./dashboard/record";
import { recordsPage } from "./dashboard/records";
import type { State } from "./dashboard/state";
import { sweepPage, sweepsPage } from "./dashboard/sweeps";
import { tokenPage } from "./dashboard/token";
import { trendPage } from "./dashboard/trend";
import { h } from "./dom";
import { shownOf, type Envelope } from "./envelope";
import { shell, type Page } from "./shell";

async function pageAt(s: State, path: string): Promise<Page> {
    const [what, a, b] = path.split("/").map((p) => decodeURIComponent(p));
    if (what === "record" && a) return recordPage(s, Number(a));
    if (what === "compare" && a) return comparePage(s, a.split(",").filter(Boolean));
    if (what === "trend") return trendPage(a ?? "", b ?? "");
    if (what === "add") return addPage(s);
    if (what === "devices") return matrixPage();
    if (what === "records") return recordsPage(s);
    if (what === "sweeps") return sweepsPage();
    if (what === "sweep" && a) return sweepPage(s, Number(a));
    if (/^fleet\b/.test(path)) return fleetPage(s, path);
    return overviewPage();
}

function failurePage(s: State, error: unknown): Page {
    if (error instanceof Failure && error.wantsToken) return tokenPage(s.reload, s.turn > 1);
    return {
        title: "Not found",
        nav: false,
        sections: [trouble(error), h("p", null, link("", "Back to the overview"))],
    };
}

function markLinks(links: HTMLElement[], path: string): void {
    const here = hrefOf(path.split(/[/?]/)[0]);
    for (const a of links)
        if (a.getAttribute("href") === here) a.setAttribute("aria-current", "page");
        else a.removeAttribute("aria-current");
}

async function go(s: State): Promise<void> {
    const turn = ++s.turn;
    const path = location.hash.replace(/^#\/?/, "");
    markLinks(s.links, path);
    const page = await pageAt(s, path).catch((error) => failurePage(s, error));
    if (turn !== s.turn) return; // the reader went on
    s.frame.show(page);
    s.live ??= whileLive(() => changed(s));
    document.documentElement.dataset.place = path || "overview";
}

// What shows the history is asked for again when records come or go; a reader who types or has
// chosen something is not interrupted, and a page that was added to or opened stays.
const following = new Set(["", "records", "trend", "devices", "fleet", "sweeps", "sweep"]);
function changed(s: State): void {
    const path = location.hash.replace(/^#\/?/, "");
    document.documentElement.dataset.changes = String(
        Number(document.documentElement.dataset.changes ?? 0) + 1,
    );
    const busy = document.activeElement?.closest("input, select, dialog") || s.selected.size > 0;
    if (following.has(path.split("/")[0]) && !busy) void go(s);
}

export function startDashboard(app: HTMLElement, envelope: Envelope): void {
    takeToken();
    const links = [
        link("", "Overview"),
        link("records", "Records"),
        link("trend", "Trends"),
        link("devices", "Devices"),
        link("sweeps", "Sweeps"),
        link("fleet", "Fleet"),
        link("add", "Add"),
    ];
    const frame = shell(envelope.tool, [
        link("", "assay", { class: "wordmark" }),
        h("nav", { class: "dash-nav no-print", "aria-label": "Places" }, links),
    ]);
    const s: State = {
        frame,
        shown: shownOf(envelope),
        selected: new Map(),
        links,
        turn: 0,
        reload: () => void go(s),
    };
    app.replaceChildren(frame.root);
    addEventListener("hashchange", () => {
        takeToken();
        void go(s);
        scrollTo(0, 0);
    });
    void go(s);
}
