// The report as the program writes it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { drawn, local, noOverflow, quiet, root, scrollThrough, series, test } from "./lib.mjs";

test("a static report opens from a file, says nothing and asks nobody", async (w) => {
    const doc = w.json("resnet18");
    const page = await w.page(w.path("static.html"));
    assert.equal(await page.textContent("h1"), "resnet18");
    assert.equal(
        await page.getAttribute(".fact:has(dt:text-is('FLOPs')) .value", "title"),
        doc.total_flops.toLocaleString("en-US"),
    );
    assert.equal(
        await page.getAttribute(".fact:has(dt:text-is('Parameters')) .value", "title"),
        doc.total_parameters.toLocaleString("en-US"),
    );
    assert.match(await page.textContent(".banner.good"), /69 of 69 operators/);
    // What was not measured is not there, not even as an empty box.
    for (const id of ["latency", "batches", "ledger", "devices", "training", "fusion", "inventory"])
        assert.equal(await page.locator(`#${id}`).count(), 0, id);
    await scrollThrough(page, 500);
    await noOverflow(page);
    quiet(page);
    local(page);
});

test("charts have one mark per row and the numbers of the JSON", async (w) => {
    const doc = w.json("resnet18");
    const page = await w.page(w.path("static.html"));
    const [bars] = await series(page, "by-operator");
    assert.equal(bars.values.length, doc.operations.length);
    assert.deepEqual(
        bars.values,
        doc.operations.map((o) => o.flops).sort((a, b) => b - a),
    );
    const labels = await page.locator("#by-operator svg text").allTextContents();
    for (const o of doc.operations) assert.ok(labels.includes(o.type), o.type);
    const [scatter] = await series(page, "roofline");
    const working = doc.layers.filter((l) => l.arithmetic_intensity > 0 && l.flops > 0);
    assert.equal(scatter.values.length, working.length);
    assert.deepEqual(
        scatter.values.map((v) => v[1]).sort((a, b) => a - b),
        working.map((l) => l.flops).sort((a, b) => a - b),
    );
    const [plan] = await series(page, "memory-plan");
    assert.deepEqual(
        plan.values.map((v) => v[1]),
        doc.memory_plan.timeline.map((t) => t.live_bytes),
    );
    assert.equal(Math.max(...plan.values.map((v) => v[1])), doc.memory_plan.activations_peak_bytes);
    assert.ok((await drawn(page, "roofline", "path")) >= working.length, "as many marks are drawn");
    // The tree of modules adds up to the whole.
    const [tree] = await series(page, "by-module");
    assert.equal(
        tree.values.reduce((a, b) => a + b, 0),
        doc.total_flops,
    );
    // Another figure.
    await page.locator("#work").getByLabel("Parameters", { exact: true }).check({ force: true });
    const [now] = await series(page, "by-operator");
    assert.equal(
        now.values.reduce((a, b) => a + b, 0),
        doc.layers.reduce((a, l) => a + l.parameters, 0),
    );
    quiet(page);
});

test("the memory plan is told in order", async (w) => {
    const doc = w.json("memory", "resnet18", "--at", "maxpool");
    w.assay("memory", "resnet18", "--at", "maxpool", "-q", "-o", "memory.html");
    const page = await w.page(w.path("memory.html"));
    const { events, snapshots } = doc.memory_plan;
    const rows = (caption) => page.locator(`[aria-label='${caption}'] tbody tr`);
    assert.equal(await rows("Snapshots").count(), snapshots.length);
    assert.ok(snapshots.some((s) => s.kind === "asked" && s.node === "maxpool"));
    assert.equal(await rows("Allocations and frees").count(), 10);
    await page.getByRole("button", { name: `Show all ${events.length} events` }).click();
    assert.equal(await rows("Allocations and frees").count(), events.length);
    const third = await rows("Allocations and frees").nth(3).locator("th, td").allTextContents();
    assert.deepEqual(third.slice(0, 3), [String(events[3].step), events[3].kind, events[3].value]);
    await noOverflow(page);
    quiet(page);
    const plain = await w.page(w.path("static.html")); // a graph has none
    assert.equal(await plain.locator("[aria-label='Snapshots']").count(), 0);
});

test("every chart has a table with the same figures", async (w) => {
    const page = await w.page(w.path("static.html"));
    const doc = w.json("resnet18");
    for (const id of ["by-module", "by-operator", "roofline", "memory-plan"]) {
        await page.locator(`#${id} summary`).click();
        // Filled when the browser says that it is open.
        await page.locator(`#${id} tbody tr`).first().waitFor();
    }
    assert.equal(await page.locator("#by-operator tbody tr").count(), doc.operations.length);
    assert.equal(await page.locator("#memory-plan tbody tr").count(), doc.layers.length);
    quiet(page);
});

test("the table of layers searches, filters, sorts and opens by keys", async (w) => {
    const page = await w.page(w.path("static.html"));
    const doc = w.json("resnet18");
    const table = page.locator("#layer-table");
    const status = () => table.locator("[role=status]").textContent();
    await table.scrollIntoViewIfNeeded();
    assert.equal(await status(), `${doc.layers.length} layers`);
    assert.equal(
        await table.locator("[role=table]").getAttribute("aria-rowcount"),
        String(doc.layers.length + 1),
    );
    await table.getByRole("searchbox").fill("layer3 conv2");
    const wanted = doc.layers.filter(
        (l) => /layer3/.test(l.name) && /conv2/.test(`${l.name} ${l.type}`),
    ).length;
    assert.equal(await status(), `${wanted} of ${doc.layers.length} layers`);
    await table.getByRole("searchbox").fill("no such layer");
    assert.match(await table.textContent(), /No layers match/);
    await table.getByRole("searchbox").fill("");
    await table.getByLabel("Type").selectOption("relu");
    assert.equal(
        await status(),
        `${doc.layers.filter((l) => l.type === "relu").length} of ${doc.layers.length} layers`,
    );
    await table.getByLabel("Type").selectOption("");
    await table.getByRole("button", { name: /^Params/ }).click();
    const most = [...doc.layers].sort((a, b) => b.parameters - a.parameters)[0].name;
    assert.equal(await table.locator("[aria-rowindex='2'] [role=rowheader]").textContent(), most);
    assert.equal(await table.locator("[aria-sort=descending]").textContent(), "Params ▼");
    await table.locator("[role=table]").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.equal(await table.locator("dialog[open] h3").textContent(), most);
    await page.keyboard.press("Escape");
    assert.equal(await table.locator("dialog[open]").count(), 0);
    quiet(page);
});

test("names that hold markup are text", async (w) => {
    const evil = [
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(2)</script>",
        "<svg/onload=alert(3)>",
        "{a|{b}} ${7*7}",
        "\"'><b>bold</b>",
        '=HYPERLINK("x")',
        "\u202Egnp.exe",
    ];
    // A file whose names are replaced byte by byte by others of the same length.
    const layers = evil.map((name, i) => ({
        conv: { out: 4 + i, kernel: 3, padding: 1 },
        name: String.fromCharCode(97 + i).repeat(Buffer.byteLength(name)),
    }));
    writeFileSync(
        w.path("tame.json"),
        JSON.stringify({ schema: "assay.model/1", name: "tame", input: [1, 3, 16, 16], layers }),
    );
    w.assay("export", "tame.json", "-q", "-o", "tame.onnx");
    let bytes = readFileSync(w.path("tame.onnx")).toString("latin1");
    evil.forEach((name, i) => {
        bytes = bytes.replaceAll(layers[i].name, Buffer.from(name).toString("latin1"));
    });
    writeFileSync(w.path("<h1>evil.onnx"), Buffer.from(bytes, "latin1"));
    w.assay("./<h1>evil.onnx", "-q", "-o", "evil.html");
    const page = await w.page(w.path("evil.html"));
    const doc = w.json("./<h1>evil.onnx");
    assert.ok(
        evil.every((name) => doc.layers.some((l) => l.name.includes(name))),
        "the names are in the file",
    );
    await page.locator("#layer-table").scrollIntoViewIfNeeded();
    const shown = await page.locator("#layer-table [role=rowheader]").allTextContents();
    for (const l of doc.layers) assert.ok(shown.includes(l.name), l.name);
    for (const id of ["by-module", "by-operator", "roofline", "memory-plan"]) {
        await series(page, id);
        const box = await page.locator(`#${id} .chart`).boundingBox();
        for (let x = 0.1; x < 1; x += 0.2)
            for (let y = 0.2; y < 1; y += 0.3)
                await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
        await page.locator(`#${id} summary`).click();
    }
    assert.equal(await page.locator("main img, main b, main script, main h1").count(), 0);
    assert.equal(await page.title(), `${doc.model} · assay`);
    quiet(page); // an alert would be a dialog, a blocked script an error
    local(page);
});

test("dark and light: as the system says, and by the button", async (w) => {
    const page = await w.page(w.path("static.html"), { colorScheme: "dark" });
    const ground = () =>
        page.evaluate(() =>
            getComputedStyle(document.body)
                .backgroundColor.match(/\d+/g)
                .slice(0, 3)
                .reduce((a, b) => a + Number(b), 0),
        );
    assert.ok((await ground()) < 150, "dark");
    await series(page, "by-operator");
    const text = () => page.locator("#by-operator svg text").first().getAttribute("fill");
    const darkText = await text();
    await page.getByRole("button", { name: "Switch to light colours" }).click();
    assert.ok((await ground()) > 600, "light");
    assert.notEqual(await text(), darkText, "charts follow");
    await page.reload();
    await page.waitForSelector("html[data-ready]");
    assert.equal(await page.getAttribute("html", "data-theme"), "light", "the choice is kept");
    quiet(page);
});

test("print is light, without controls, with every chart and the first layers", async (w) => {
    const page = await w.page(w.path("static.html"), { colorScheme: "dark" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.getAttribute("html", "data-theme"), "light");
    assert.equal(await page.locator("nav.sections").isVisible(), false);
    assert.equal(await page.locator("#layer-table .only-print tbody tr").count(), 40);
    assert.equal(
        await page.evaluate(
            () => [...document.querySelectorAll(".chart")].filter((c) => !c.assayChart).length,
        ),
        0,
    );
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 20000);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.equal(await page.getAttribute("html", "data-theme"), "dark");
    quiet(page);
});

test("phone and desktop widths fit, and nothing jumps", async (w) => {
    for (const width of [360, 390, 768, 1440, 2200]) {
        const page = await w.page(w.path("static.html"), { viewport: { width, height: 800 } });
        const before = await page.evaluate(() => document.documentElement.scrollHeight);
        await scrollThrough(page, 600);
        await noOverflow(page);
        assert.equal(
            await page.evaluate(() => document.documentElement.scrollHeight),
            before,
            `${width} px: drawing changes the height`,
        );
        quiet(page);
        await w.closeAll();
    }
});

test("without graphs, without details", async (w) => {
    w.assay("resnet18", "-q", "--no-graphs", "-o", "plain.html");
    let page = await w.page(w.path("plain.html"));
    assert.equal(await page.locator(".chart").count(), 0);
    assert.equal(await page.locator("#layer-table").count(), 1);
    w.assay("resnet18", "-q", "--no-details", "-o", "short.html");
    page = await w.page(w.path("short.html"));
    assert.equal(await page.locator("#layer-table").count(), 0);
    assert.ok((await page.locator(".chart").count()) > 2);
    quiet(page);
});

test("three models side by side", async (w) => {
    const names = ["resnet18", "mobilenet_v2", "vit_b_16"];
    w.assay("compare", ...names, "-q", "-o", "three.html");
    const docs = names.map((n) => w.json(n));
    const page = await w.page(w.path("three.html"));
    const head = await page.locator("#comparison thead th").allTextContents();
    assert.deepEqual(head.slice(1), names);
    const ratios = await series(page, "compare-ratios");
    assert.deepEqual(
        ratios.map((s) => s.name),
        names.slice(1),
    );
    const flops = (await page.locator("#comparison tbody tr th").allTextContents()).indexOf(
        "FLOPs",
    );
    assert.ok(flops >= 0);
    assert.ok(
        ratios[1].values.some(
            (v) => Math.abs(v - docs[2].total_flops / docs[0].total_flops) < 1e-9,
        ),
    );
    const stacks = await series(page, "compare-operators");
    names.forEach((_, i) =>
        assert.equal(
            stacks.reduce((a, s) => a + s.values[i], 0),
            docs[i].operations.reduce((a, o) => a + o.flops, 0),
        ),
    );
    await page.locator("header select").selectOption({ label: "vit_b_16" });
    assert.equal(await page.textContent("h1"), "vit_b_16");
    assert.equal(
        await page.locator("#layer-table [role=status]").textContent(),
        `${docs[2].layers.length} layers`,
    );
    quiet(page);
    local(page);
});

test("two models: the layers behind the difference", async (w) => {
    w.assay("compare", "resnet18", "resnet34", "-q", "-o", "two.html");
    const doc = w.json("compare", "resnet18", "resnet34");
    const page = await w.page(w.path("two.html"));
    assert.match(
        await page.locator("#compare-layers [role=status]").textContent(),
        new RegExp(`^${doc.layers.length.toLocaleString("en-US")} changes$`),
    );
    quiet(page);
});

// A model of blocks of four layers, its page, and the elements that are there when it is ready.
async function pageOfBlocks(w, n) {
    const layers = [];
    for (let i = 0; i < n; i++)
        layers.push(
            {
                conv: { out: 8, kernel: 3, padding: 1 },
                name: `stage${Math.floor(i / 100)}.block${i}.conv`,
            },
            { batchnorm: {}, name: `stage${Math.floor(i / 100)}.block${i}.bn` },
            "relu",
            { conv: { out: 8, kernel: 1 }, name: `stage${Math.floor(i / 100)}.block${i}.project` },
        );
    writeFileSync(
        w.path("large.json"),
        JSON.stringify({ schema: "assay.model/1", name: "large", input: [1, 8, 16, 16], layers }),
    );
    w.assay("large.json", "-q", "-o", "large.html");
    const began = Date.now();
    const page = await w.page(w.path("large.html"));
    await page.waitForSelector("#model-graph[data-drawn]");
    const elements = await page.evaluate(() => document.querySelectorAll("*").length);
    const size = statSync(w.path("large.html")).size;
    const took = Date.now() - began;
    const megabytes = (size / 1e6).toFixed(2);
    console.log(`      ${n} blocks: ${megabytes} MB, ${elements} elements, opened in ${took} ms`);
    return { page, elements, size };
}

test("ten thousand layers: under 5 MB, as many elements as for a thousand, searched", async (w) => {
    const small = await pageOfBlocks(w, 250);
    const { page, elements, size } = await pageOfBlocks(w, 2500);
    assert.ok(size < 5e6, `${size} bytes`);
    assert.ok(
        elements < 1.5 * small.elements,
        `${elements} elements, ${small.elements} for a tenth of the layers`,
    );
    const table = page.locator("#layer-table");
    await table.scrollIntoViewIfNeeded();
    assert.equal(await table.locator("[role=status]").textContent(), "10,000 layers");
    assert.ok(
        (await table.locator(".grid-body [role=row]").count()) < 60,
        "only what is in view exists",
    );
    await page.evaluate(() => {
        const input = document.querySelector("#layer-table input[type=search]");
        input.value = "block2499";
        input.dispatchEvent(new Event("input"));
    });
    assert.match(await table.locator("[role=status]").textContent(), /^[34] of 10,000 layers$/);
    await series(page, "roofline");
    quiet(page);
});

const typescript = join(root, "web/node_modules/typescript");

test("the page's types are right", async () => {
    // docs/DEPENDENCIES.md promises it; the bundler itself does not look at types.
    const args = [join(typescript, "bin/tsc"), "-p", join(root, "web/tsconfig.json")];
    execFileSync(process.execPath, args, { stdio: "pipe" });
});

test("the page's types are not evaded", async () => {
    const { default: ts } = await import(pathToFileURL(join(typescript, "lib/typescript.js")).href);
    const found = [];
    const folder = join(root, "web/src");
    for (const name of readdirSync(folder, { recursive: true }).filter((n) => n.endsWith(".ts"))) {
        const text = readFileSync(join(folder, name), "utf8");
        const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest);
        const visit = (node) => {
            const isAny = node.kind === ts.SyntaxKind.AnyKeyword;
            const isTwice = ts.isAsExpression(node) && ts.isAsExpression(node.expression);
            const { line } = source.getLineAndCharacterOfPosition(node.pos);
            if (isAny || isTwice) found.push(`${name}:${line + 1}: ${isAny ? "any" : "as ... as"}`);
            ts.forEachChild(node, visit);
        };
        visit(source);
        if (/@ts-(ignore|expect-error|nocheck)/.test(text)) found.push(`${name}: @ts-...`);
    }
    assert.deepEqual(found, []);
});

test("what is embedded keeps its notices", async (w) => {
    const page = await w.page(w.path("static.html"));
    await page.getByRole("button", { name: "Licences" }).click();
    const text = await page.locator("dialog[open] pre").textContent();
    for (const part of [
        "Apache License",
        "ECharts",
        "ZRender",
        "Redistribution and use",
        "tslib",
        "dagre",
        "graphlib",
    ])
        assert.ok(text.includes(part), part);
    assert.ok(w.assay("version", "--licenses").toString().includes("Apache ECharts"));
});

test("a damaged file says so", async (w) => {
    writeFileSync(
        w.path("cut.html"),
        readFileSync(w.path("static.html"), "utf8").replace(
            /(data-encoding="gzip">.{200})[^<]*/,
            "$1",
        ),
    );
    const c = await w.context();
    const page = await c.newPage();
    await page.goto(`file://${w.path("cut.html")}`);
    await page.waitForSelector(".fatal h1");
    assert.match(await page.textContent(".fatal"), /could not be shown/);
});
