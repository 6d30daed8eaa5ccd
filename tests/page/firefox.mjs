// The main flows in Firefox, by WebDriver BiDi:
//   node tests/page/firefox.mjs PROGRAM [PART OF A NAME]
// Ends with "N passed, M failed"; exits 77 and says why where the browser or its driver is missing.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
    patience,
    root,
    runAll,
    sameGraph,
    serve,
    sum,
    test,
    workshop,
    writeFlat,
} from "./lib.mjs";

const browsers = ["/usr/bin/firefox-esr", "/usr/bin/firefox"];
const driver = join(root, "web/node_modules/puppeteer-core/lib/esm/puppeteer/puppeteer-core.js");

function leave(why) {
    console.log(`skipped: ${why}`);
    process.exit(77);
}

async function start(program) {
    const executablePath = browsers.find(existsSync);
    if (!executablePath) leave("firefox-esr is not installed");
    if (!existsSync(driver)) leave("puppeteer-core is not installed (tools/web install --test)");
    const { default: puppeteer } = await import(pathToFileURL(driver).href);
    const shop = workshop(program);
    if (typeof shop === "string") leave(shop.replace("skipped: ", ""));
    const browser = await puppeteer.launch({
        browser: "firefox",
        executablePath,
        headless: true,
        timeout: patience,
        protocolTimeout: patience,
    });
    const open = [];
    return {
        ...shop,
        page: async (url) => {
            const page = await browser.newPage();
            open.push(page);
            page.setDefaultTimeout(patience);
            await page.setViewport({ width: 1440, height: 900 });
            page.troubles = [];
            page.on("console", (m) => m.type() === "error" && page.troubles.push(m.text()));
            page.on("pageerror", (e) => page.troubles.push(e.message));
            await page.goto(url.includes("://") ? url : pathToFileURL(url).href);
            await page.waitForSelector("html[data-ready]");
            return page;
        },
        closeAll: async () => {
            for (const p of open.splice(0)) await p.close();
        },
        stop: async () => {
            await browser.close();
            shop.remove();
        },
    };
}

const quiet = (page) => assert.deepEqual(page.troubles, []);
const text = (page, selector) => page.$eval(selector, (e) => e.textContent);

async function graphOf(page, id = "model-graph") {
    await page.$eval(`#${id}`, (e) => e.scrollIntoView());
    await page.waitForSelector(`#${id}[data-drawn]`);
}

for (const name of ["resnet50", "swin_v2_t", "llama-3.1-8b", "ssdlite320.onnx", "flat.json"])
    test(`firefox: the graph of ${name} has the figures of the JSON`, async (w) => {
        writeFlat(w.path("flat.json"));
        const model = name.includes(".onnx") ? join(root, "tests/models", name) : name;
        const doc = w.json(model);
        w.assay(model, "-q", "-o", "graph.html");
        const page = await w.page(w.path("graph.html"));
        assert.equal(await text(page, "#summary .conclusion"), doc.conclusion);
        await graphOf(page);
        assert.ok((await sameGraph(page, doc)).length <= 62);
        quiet(page);
    });

test("firefox: a module opens, a layer is found", async (w) => {
    const doc = w.json("resnet50");
    w.assay("resnet50", "-q", "-o", "walk.html");
    const page = await w.page(w.path("walk.html"));
    await graphOf(page);
    const top = await sameGraph(page, doc);
    await page.type("#model-graph input[type=search]", "layer3.2.conv2");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#model-graph .g-box.on");
    assert.ok((await sameGraph(page, doc)).length > top.length);
    const layer = doc.layers.find((l) => l.name === "layer3.2.conv2");
    const panel = await text(page, "#model-graph .g-panel");
    assert.ok(panel.includes(layer.flops.toLocaleString("en-US")), panel);
    quiet(page);
});

test("firefox: what differs between two models is coloured", async (w) => {
    const doc = w.json("compare", "resnet18", "resnet34");
    w.assay("compare", "resnet18", "resnet34", "-q", "-o", "diff.html");
    const page = await w.page(w.path("diff.html"));
    await graphOf(page, "graph-after");
    const notes = await page.$$eval("#graph-after .g-box .g-note", (all) =>
        all.map((n) => n.textContent),
    );
    const counted = notes.map((n) =>
        Number(/(\d+) differ/.exec(n)?.[1] ?? (/added|changed|reshaped/.test(n) ? 1 : 0)),
    );
    assert.equal(
        sum(counted, (n) => n),
        doc.layers.filter((l) => l.after).length,
    );
    quiet(page);
});

test("firefox: the dashboard: a model is added and saved, its trend, devices", async (w) => {
    const s = await serve(w);
    if (!s) return console.log("      assay-serve is not built: left out");
    try {
        w.assay("export", "lenet", "-q", "-o", "net.onnx");
        const page = await w.page(s.url + "#/add");
        await (await page.waitForSelector("#file")).uploadFile(w.path("net.onnx"));
        await (await page.waitForSelector("::-p-text(Save to history)")).click();
        await page.waitForSelector(".banner.good");
        const places = [
            ["", "#overview .model-card"],
            ["records", "#records tbody tr"],
            ["trend/net.onnx", "#trend"],
            ["devices", "#matrix"],
        ];
        for (const [place, shown] of places) {
            await page.evaluate((p) => (location.hash = `#/${p}`), place);
            await page.waitForSelector(shown);
        }
        quiet(page);
    } finally {
        s.stop();
    }
});

const [program, only] = process.argv.slice(2);
process.exit((await runAll(await start(program), only)) ? 1 : 0);
