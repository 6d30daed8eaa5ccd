// What the tests share: the program, the browser, pages that must stay quiet, and reports with any
// documents.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
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

// What any browser is shown: the program in a folder of its own; or the reason why there is
// nothing.
export function workshop(program) {
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
    return {
        folder,
        assay,
        program: resolve(program),
        json: (...args) => JSON.parse(assay(...args, "--json").toString()),
        path: (name) => join(folder, name),
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
        remove: () => rmSync(folder, { recursive: true, force: true }),
    };
}

// The world with Chromium, or the reason why there is none.
export async function start(program) {
    const driver = join(root, "web/node_modules/playwright-core/index.mjs");
    const executablePath = browsers.find(existsSync);
    if (!executablePath) return "skipped: Chromium is not installed";
    if (!existsSync(driver))
        return "skipped: playwright-core is not installed (tools/web install --test)";
    const { chromium } = await import(pathToFileURL(driver).href);
    const shop = workshop(program);
    if (typeof shop === "string") return shop;
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
        ...shop,
        context,
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
        closeAll: async () => {
            for (const c of open.splice(0)) await c.close();
        },
        stop: async () => {
            await browser.close();
            shop.remove();
        },
    };
}

// Runs the tests that are registered, or those with a part of a name: the number that failed.
export async function runAll(world, only) {
    let failed = 0;
    let passed = 0;
    for (const { name, run } of tests) {
        if (only && !name.includes(only)) continue;
        const began = Date.now();
        try {
            await run(world);
            passed++;
            console.log(`ok    ${name} (${Date.now() - began} ms)`);
        } catch (error) {
            failed++;
            console.log(`FAIL  ${name}\n${String(error.stack ?? error).replace(/^/gm, "      ")}`);
        }
        await world.closeAll();
    }
    await world.stop();
    console.log(`${passed} passed, ${failed} failed`);
    return failed;
}

// Scrolls through the page, and stays at each place until its charts are drawn.
export const scrollThrough = (page, step) =>
    page.evaluate(
        async ([by, most]) => {
            const frame = () => new Promise((r) => requestAnimationFrame(r));
            const empty = (c) => {
                const { top, bottom } = c.getBoundingClientRect();
                const inView = bottom > 0 && top < innerHeight && c.checkVisibility();
                return inView && !c.querySelector("svg path, svg text, canvas");
            };
            const end = Date.now() + most;
            for (let y = 0; y < document.body.scrollHeight; y += by) {
                scrollTo(0, y);
                await frame();
                await frame();
                while ([...document.querySelectorAll(".chart")].some(empty)) {
                    if (Date.now() > end) throw new Error(`a chart at ${y} px is never drawn`);
                    await frame();
                }
            }
        },
        [step, patience],
    );

// ---- the dashboard ----

// assay-serve on a free port; null where it is not built.
export function serve(w, ...options) {
    const binary = join(dirname(w.program), "assay-serve");
    if (!existsSync(binary)) return Promise.resolve(null);
    const child = spawn(binary, ["--port", "0", "--db", w.path("history.db"), ...options], {
        stdio: ["ignore", "pipe", "pipe"],
    });
    return new Promise((done, fail) => {
        let text = "";
        const take = (d) => {
            text += d;
            const m = /http:\/\/\S+/.exec(text);
            if (m) done({ url: m[0].replace(/[.,]$/, ""), stop: () => child.kill() });
        };
        child.stdout.on("data", take);
        child.stderr.on("data", take);
        child.on("exit", () => fail(new Error(`assay-serve ended: ${text}`)));
        setTimeout(() => fail(new Error(`assay-serve said no address: ${text}`)), patience).unref();
    });
}

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

// ---- looking at a graph ----

export const sum = (list, of) => list.reduce((a, x) => a + of(x), 0);

// What is drawn of the model itself: inputs and outputs left out.
export const boxes = (page, id = "model-graph") =>
    page.evaluate(
        (i) =>
            [...document.querySelectorAll(`#${i} .g-box`)]
                .filter((b) => Number(b.dataset.layers) > 0)
                .map((b) => ({
                    id: b.dataset.id,
                    value: Number(b.dataset.value),
                    layers: Number(b.dataset.layers),
                    fill: b.querySelector(".g-ground").getAttribute("fill"),
                })),
        id,
    );

// Every layer is in one box, and the figures are those of the JSON.
export async function sameGraph(page, doc, key = "flops") {
    const list = await boxes(page);
    assert.equal(
        sum(list, (b) => b.layers),
        doc.layers.length,
    );
    assert.equal(
        sum(list, (b) => b.value),
        sum(doc.layers, (l) => l[key]),
    );
    for (const b of list.filter((x) => x.id.startsWith("l:")))
        assert.equal(b.value, doc.layers[Number(b.id.slice(2))][key], b.id);
    const shown = await page.evaluate(() => document.querySelector("#model-graph").dataset.drawn);
    assert.equal(shown, String(list.length));
    return list;
}

// A file of ten thousand nodes that no module groups.
export function writeFlat(path) {
    const layers = [];
    for (let i = 0; i < 5000; i++)
        layers.push({ conv: { out: 4, kernel: 1 }, name: `c${i}` }, "relu");
    writeFileSync(
        path,
        JSON.stringify({ schema: "assay.model/1", name: "flat", input: [1, 4, 8, 8], layers }),
    );
}

// A zip archive of a file or folder of tests/data, without its folders above: deflated.
export function zipFile(w, name, of) {
    const at = join(root, "tests/data", of);
    const script =
        "import os,sys,zipfile\n" +
        "out, at = sys.argv[1:]\n" +
        "z = zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED)\n" +
        "base = os.path.dirname(at)\n" +
        "for folder, _, names in os.walk(at):\n" +
        "    for n in sorted(names):\n" +
        "        p = os.path.join(folder, n)\n" +
        "        z.write(p, os.path.relpath(p, base))\n" +
        "z.close()\n";
    execFileSync("python3", ["-c", script, w.path(name), at]);
    return w.path(name);
}

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
