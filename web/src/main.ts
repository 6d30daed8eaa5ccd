// The page begins here: reads its data and becomes the report, the dashboard or assay in the
// browser.
import { startBrowser } from "./browser";
import { startDashboard } from "./dashboard";
import { h } from "./dom";
import { readEnvelope } from "./envelope";
import { startReport } from "./report";
import { startTheme } from "./theme";

function fatal(error: unknown): HTMLElement {
    const hint =
        typeof DecompressionStream === "undefined"
            ? "The browser is too old to unpack its data: any of 2023 or later can."
            : "The file may be cut off; write it again with assay report.";
    return h(
        "main",
        { class: "fatal" },
        h("h1", null, "This page could not be shown"),
        h("p", null, error instanceof Error ? error.message : String(error)),
        h("p", null, hint),
    );
}

async function start(): Promise<void> {
    const app = document.getElementById("app");
    if (!app) return;
    startTheme();
    try {
        const envelope = await readEnvelope();
        if (envelope.mode === "dashboard") startDashboard(app, envelope);
        else if (envelope.mode === "browser") await startBrowser(app, envelope);
        else startReport(app, envelope);
        document.documentElement.dataset.ready = "true";
    } catch (error) {
        app.replaceChildren(fatal(error));
        throw error;
    }
}

void start();
