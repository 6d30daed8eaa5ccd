// What the tests share: the program, the browser, pages that must stay quiet, and reports with any
// documents.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const tests = [];
export const test = (name, run) => tests.push({ name, run });

const browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const flags = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

// Milliseconds after which something hangs, however busy the machine is.
export const patience = 240000;

// The world, or the reason why there is none.
export async function start(program) {
    const driver = join(root, "web/node_modules/playwright-core/index.mjs");
    const executablePath = browsers.find(existsSync);
    if (!executablePath) return "skipped: Chromium is not installed";
    if (!existsSync(driver))
        return "skipped: playwright-core is not installed (tools/web install --test)";
    const { chromium } = await import(pathToFileURL(driver).href);
    const folder = mkdtempSync(join(tmpdir(), "assay-page-"));
    const assay = (...args) =>
        execFileSync(resolve(program), args, {
            cwd: folder,
            maxBuffer: 1 << 28,
            env: { ...process.env, SOURCE_DATE_EPOCH: "0" },
            stdio: ["ignore", "pipe", "pipe"],
        });
    try {
        assay("lenet", "-q", "-o", "probe.html");
    } catch (error) {
        if (error.status === 4) return "skipped: built without the page";
        throw error;
    }
    assay("resnet18", "-q", "-o", "static.html"); // the report that most tests look at
    const template = readFileSync(join(folder, "probe.html"), "utf8");
    const open = [];
    // One browser; a context of its own for each page, so that nothing of one test is seen by
    // another.
    const browser = await chromium.launch({ executablePath, args: flags, timeout: patience });
    const context = async (options = {}) => {
        const c = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
        c.setDefaultTimeout(patience);
        open.push(c);
        return c;
    };
    return {
        folder,
        assay,
        program: resolve(program),
        context,
        json: (...args) => JSON.parse(assay(...args, "--json").toString()),
        path: (name) => join(folder, name),
        // A page that must not complain, and whose every request is kept.
        page: async (url, options = {}) => {
            const c = await context(options);
            const page = await c.newPage();
            page.troubles = [];
            page.requests = [];
            page.on(
                "console",
                (m) =>
                    ["error", "warning"].includes(m.type()) &&
                    page.troubles.push(`${m.type()}: ${m.text()}`),
            );
            page.on("pageerror", (e) => page.troubles.push(`exception: ${e.message}`));
            page.on("dialog", (d) => {
                page.troubles.push(`dialog: ${d.message()}`);
                void d.dismiss();
            });
            page.on("request", (r) => page.requests.push(r.url()));
            await page.goto(url.includes("://") ? url : pathToFileURL(url).href);
            await page.waitForSelector("html[data-ready]");
            return page;
        },
        // The report that assay would write of these documents.
        report: (name, documents, more = {}) => {
            const data = gzipSync(
                JSON.stringify({
                    mode: "report",
                    graphs: true,
                    details: true,
                    tool: "test",
                    documents,
                    ...more,
                }),
            ).toString("base64");
            const html = template.replace(/(data-encoding="gzip">)[^<]*/, (_, a) => a + data);
            const path = join(folder, name);
            writeFileSync(
                path,
                more.mode === "dashboard"
                    ? html.replace("connect-src 'none'", "connect-src 'self'")
                    : html,
            );
            return path;
        },
        closeAll: async () => {
            for (const c of open.splice(0)) await c.close();
        },
        stop: async () => {
            await browser.close();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

// Scrolls through the page. Two frames at each place: what is drawn when it comes into view is
// drawn in the second.
export const scrollThrough = (page, step) =>
    page.evaluate(async (by) => {
        const frame = () => new Promise((r) => requestAnimationFrame(r));
        for (let y = 0; y < document.body.scrollHeight; y += by) {
            scrollTo(0, y);
            await frame();
            await frame();
        }
    }, step);

// ---- looking at charts ----

// Scrolls there, so that it is drawn, and gives the data of its series as the chart has it.
export async function series(page, id) {
    await page.locator(`#${id}`).scrollIntoViewIfNeeded();
    await page.waitForFunction((i) => document.querySelector(`#${i} .chart`)?.assayChart, id);
    return page.evaluate(
        (i) =>
            document
                .querySelector(`#${i} .chart`)
                .assayChart.getOption()
                .series.map((s) => ({
                    name: s.name,
                    type: s.type,
                    values: (s.data ?? []).map((d) =>
                        d && typeof d === "object" && "value" in d ? d.value : d,
                    ),
                })),
        id,
    );
}

// Marks that are really drawn: elements of the SVG in one of the colours of the series.
export const drawn = (page, id, selector) => page.locator(`#${id} .chart svg ${selector}`).count();

export const quiet = (page) => {
    if (page.troubles.length) throw new Error(`the page complained:\n${page.troubles.join("\n")}`);
};
// Nothing that was meant for a program is shown to a reader.
export const noHoles = async (page, what) => {
    const text = await page.locator("#app").innerText();
    const hole = /.{0,40}(NaN|undefined|\[object).{0,40}/s.exec(text);
    if (hole) throw new Error(`${what} shows: ${hole[0]}`);
};
export const local = (page) => {
    const out = page.requests.filter(
        (u) => !u.startsWith("file:") && !u.startsWith("data:") && !u.startsWith("blob:"),
    );
    if (out.length) throw new Error(`the page asked the network: ${out.join(", ")}`);
};
export const noOverflow = async (page) => {
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) throw new Error(`the page is ${over} px wider than the window`);
};

// ---- accessibility ----

export const axe = join(root, "web/node_modules/axe-core/axe.min.js");

// What axe finds to be serious; of a page without its content policy.
export async function seriousFaults(page) {
    await page.addScriptTag({ path: axe });
    return page.evaluate(async () => {
        const { violations } = await window.axe.run(document);
        const html = (v) => v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160));
        return violations
            .filter((v) => ["serious", "critical"].includes(v.impact))
            .map((v) => `${v.id}: ${html(v).join(" | ")}`);
    });
}
