// The graph of a model, the time views, comparisons of two and of twelve models, and accessibility.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { measured } from "./documents.mjs";
import {
    axe,
    local,
    noHoles,
    noOverflow,
    quiet,
    root,
    sameGraph,
    scrollThrough,
    series,
    seriousFaults,
    sum,
    test,
    writeFlat,
} from "./lib.mjs";

const evil = "<img src=x onerror=alert(1)>";

// Scrolls to the graph and waits until it is laid out.
async function graphOf(page, id = "model-graph") {
    await page.locator(`#${id}`).scrollIntoViewIfNeeded();
    await page.waitForSelector(`#${id}[data-drawn]`);
    return page.locator(`#${id}`);
}

const settled = (page, before, id = "model-graph") =>
    page.waitForFunction(
        ([i, b]) => document.querySelector(`#${i}`).dataset.drawn !== b,
        [id, before],
    );

for (const name of ["resnet50", "swin_v2_t", "llama-3.1-8b", "ssdlite320.onnx"])
    test(`graph: ${name} opens with the figures of the JSON`, async (w) => {
        const model = name.includes(".onnx") ? join(root, "tests/models", name) : name;
        const doc = w.json(model);
        w.assay(model, "-q", "-o", "graph.html");
        const page = await w.page(w.path("graph.html"));
        await graphOf(page);
        const list = await sameGraph(page, doc);
        assert.ok(list.length > 4 && list.length <= 62, `${list.length} nodes at the top level`);
        // The largest figure has the strongest colour.
        const most = list.reduce((a, b) => (b.value > a.value ? b : a));
        assert.ok(!list.some((b) => b.fill === most.fill && b.value < 0.5 * most.value));
        await noOverflow(page);
        quiet(page);
        local(page);
    });

test("graph: repeated blocks are drawn once", async (w) => {
    w.assay("llama-3.1-8b", "-q", "-o", "blocks.html");
    const page = await w.page(w.path("blocks.html"));
    const graph = await graphOf(page);
    assert.match(
        await graph.locator(".g-box", { hasText: "32 ×" }).first().textContent(),
        /32 × layers/,
    );
    quiet(page);
});

test("graph: opens, searches, follows a value, walks by keys", async (w) => {
    const doc = w.json("resnet50");
    w.assay("resnet50", "-q", "-o", "walk.html");
    const page = await w.page(w.path("walk.html"));
    const graph = await graphOf(page);
    const top = await sameGraph(page, doc);
    const outside = doc.layers.filter((l) => !l.module);
    assert.equal(top.length, doc.modules.filter((m) => m.depth === 1).length + outside.length);
    await graph.locator("[data-id='m:layer1']").click();
    await settled(page, String(top.length));
    assert.ok((await sameGraph(page, doc)).length > top.length);
    assert.equal(await graph.locator(".g-frame").count(), 1);
    // Another figure.
    await graph.getByLabel("Parameters", { exact: true }).check({ force: true });
    await sameGraph(page, doc, "parameters");
    // A layer by its name: the panel has its figures.
    const layer = doc.layers.find((l) => l.name === "layer3.2.conv2");
    await graph.getByRole("searchbox").fill("layer3.2.conv2");
    assert.equal(await graph.locator(".g-found button").count(), 1);
    await graph.getByRole("searchbox").press("Enter");
    await page.waitForSelector("#model-graph .g-box.on");
    const panel = await graph.locator(".g-panel").innerText();
    for (const text of [
        layer.name,
        layer.flops.toLocaleString("en-US"),
        layer.parameters.toLocaleString("en-US"),
        `pads ${layer.attributes.pads.join(", ")}`,
        layer.input_shapes[1].join("×"),
        `mac ${layer.cost.mac.toLocaleString("en-US")}`,
    ])
        assert.ok(panel.includes(text), `${text} is not in: ${panel}`);
    // The value that it reads.
    await graph
        .locator(".g-panel")
        .getByRole("button", { name: layer.inputs[0], exact: true })
        .click();
    assert.ok(
        (await graph.locator(".g-panel").innerText()).includes(layer.input_shapes[0].join("×")),
    );
    assert.ok((await graph.locator(".g-edge.on").count()) > 0);
    // Keys: the next box, back to the top.
    await graph.getByRole("button", { name: "Top level" }).click();
    await graph.locator(".g-canvas").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.equal(await graph.locator(".g-box.on").first().getAttribute("data-id"), "l:0");
    await page.keyboard.press("f");
    quiet(page);
});

test("graph: ten thousand nodes without modules are drawn in groups", async (w) => {
    writeFlat(w.path("flat.json"));
    const doc = w.json("flat.json");
    w.assay("flat.json", "-q", "-o", "flat.html");
    const page = await w.page(w.path("flat.html"));
    const began = Date.now();
    const graph = await graphOf(page);
    console.log(`      laid out in ${Date.now() - began} ms`);
    const list = await sameGraph(page, doc);
    assert.ok(list.length <= 60, `${list.length} nodes`);
    await graph.getByRole("searchbox").fill("c4999");
    await graph.getByRole("searchbox").press("Enter");
    await settled(page, String(list.length));
    assert.ok((await sameGraph(page, doc)).length <= 400);
    quiet(page);
});

test("graph: names are text, however long", async (w) => {
    const doc = w.json("lenet");
    const long = "n".repeat(500);
    doc.model = evil;
    doc.layers.forEach((l, i) => {
        l.name = i ? `${evil}${i}` : long;
        l.outputs = l.outputs.map((o) => `${evil}${o}`);
        l.inputs = l.inputs.map((o) => (o === "input" || i === 0 ? o : `${evil}${o}`));
        l.module = "";
    });
    writeFileSync(w.path("evil.json"), JSON.stringify(doc));
    w.assay("report", "evil.json", "-q", "-o", "evil-graph.html");
    const page = await w.page(w.path("evil-graph.html"));
    const graph = await graphOf(page);
    await graph.locator("[data-id='l:0']").click();
    assert.ok((await graph.locator(".g-panel").innerText()).includes(long));
    assert.equal(await page.locator("main img").count(), 0);
    await noOverflow(page);
    quiet(page);
});

test("graph: two models, what differs is coloured", async (w) => {
    const doc = w.json("compare", "resnet18", "resnet34");
    w.assay("compare", "resnet18", "resnet34", "-q", "-o", "diff.html");
    const page = await w.page(w.path("diff.html"));
    assert.equal(await page.textContent("#comparison .conclusion"), doc.conclusion);
    await graphOf(page, "graph-before");
    const after = await graphOf(page, "graph-after");
    const notes = await after.locator(".g-box .g-note").allTextContents();
    const counted = notes.map((n) =>
        Number(/(\d+) differ/.exec(n)?.[1] ?? (/added|changed|reshaped/.test(n) ? 1 : 0)),
    );
    assert.equal(
        sum(counted, (n) => n),
        doc.layers.filter((l) => l.after).length,
    );
    quiet(page);
});

test("twelve models stay readable", async (w) => {
    const names = [
        "resnet18",
        "resnet34",
        "vgg11",
        "vgg13",
        "alexnet",
        "lenet",
        "squeezenet1_0",
        "mobilenet_v2",
        "googlenet",
        "mnasnet0_5",
        "densenet121",
        "shufflenet_v2_x0_5",
    ];
    const doc = w.json("compare", ...names);
    w.assay("compare", ...names, "-q", "-o", "twelve.html");
    for (const width of [390, 1280]) {
        const page = await w.page(w.path("twelve.html"), { viewport: { width, height: 800 } });
        const rows = await page.locator("#comparison tbody th").allTextContents();
        assert.deepEqual(rows, names);
        assert.equal(await page.textContent("#comparison .conclusion"), doc.conclusion);
        const table = page.locator("#comparison .scroll").first();
        await table.evaluate((e) => (e.scrollLeft = 400));
        const edge = await table.evaluate((e) => {
            const own = e.getBoundingClientRect().left;
            return Math.abs(e.querySelector("tbody th").getBoundingClientRect().left - own);
        });
        assert.ok(edge < 3, "the names stay in view");
        await scrollThrough(page, 500);
        await noOverflow(page);
        quiet(page);
    }
});

// ---- time ----

// A result with a trace: two layers that are one kernel, a gap, one more.
function traced(w) {
    const doc = { ...w.json("lenet"), ...measured() };
    const own = w.json("lenet");
    doc.layers = own.layers.map((l, i) => ({ ...l, time_ms: 1 + i }));
    const rows = [];
    let at = 0.5;
    doc.layers.forEach((l, i) => {
        if (i !== 1) at += i === 3 ? 2 : 0;
        const start = i === 1 ? rows[0].start_ms : at;
        const end = i === 1 ? rows[0].end_ms : start + l.time_ms;
        rows.push({
            layer: l.name,
            type: l.type,
            waits_for: i ? doc.layers[i - 1].name : null,
            time_ms: l.time_ms,
            ready_ms: start,
            start_ms: start,
            end_ms: end,
            queued_ms: 0,
            critical: true,
        });
        at = Math.max(at, end);
    });
    const total = sum(doc.layers, (l) => l.time_ms);
    doc.blocking = {
        layers_ms: total,
        critical_path_ms: total,
        critical_path_layers: rows.length,
        parallelism: 1,
        layers: rows,
        threads: [{ thread: "main", wait_ms: 2, percent: 20 }],
    };
    doc.ledger = {
        runs: 5,
        run_ms: total + 2,
        layers_ms: total,
        engine_ms: 0,
        dispatch_ms: 2,
        unexplained_ms: 0,
        latency_ms: total,
        kernels: rows.length - 1,
        fused_kernels: 1,
        layers_without_kernel: 0,
        engine_kernels: [],
        groups: [],
    };
    doc.cold_starts = {
        starts: 2,
        batch: 1,
        precision: "fp32",
        parts: ["engine", "session", "first run", "total"].map((part, i) => ({
            part,
            mean_ms: i + 1,
            std_ms: 0,
            min_ms: i + 1,
            median_ms: i + 1,
            p95_ms: i + 1,
            max_ms: i + 1,
            samples_ms: [i + 1, i + 1],
        })),
    };
    doc.load_time = { operators: 3, flops: 10, macs: 0, memory: 100, kept_bytes: 20 };
    doc.user_operators = [{ op: `my::${evil}`, file: "ops.json", nodes: 2 }];
    return doc;
}

test("timeline: its sums are those of the ledger", async (w) => {
    const doc = traced(w);
    const page = await w.page(w.report("traced.html", [doc]));
    const [kernels, memory] = await series(page, "timeline");
    assert.equal(kernels.values.length, doc.layers.length - 1, "two layers are one kernel");
    assert.ok(memory.values.length > 1);
    await page.locator("#timeline summary").click();
    const cells = await page.locator("#timeline tbody tr td:nth-child(5)").allTextContents();
    const ms = (t) => Number(t.replace(/[^\d.]/g, "")) / (t.includes("µs") ? 1000 : 1);
    assert.ok(Math.abs(sum(cells, ms) - doc.ledger.layers_ms) < 1e-6 * doc.ledger.layers_ms);
    const gaps = await page.locator("#timeline tbody tr td:nth-child(6)").allTextContents();
    assert.equal(gaps.filter((t) => /2\.00/.test(t)).length, 1);
    const threads = await series(page, "thread-waits");
    assert.deepEqual(
        threads.map((s) => s.values),
        [[80], [20]],
        "of 100 %",
    );
    const starts = await series(page, "cold-starts");
    assert.deepEqual(
        starts.map((s) => s.name),
        ["engine", "session", "first run"],
    );
    const [once, every] = await series(page, "load-time");
    once.values.forEach((v, i) => assert.ok(Math.abs(v + every.values[i] - 100) < 1e-9));
    assert.deepEqual((await series(page, "user-operators"))[0].values, [2]);
    await noHoles(page, "a traced result");
    await noOverflow(page);
    quiet(page);
});

test("icicle: a level of the table adds up, a press makes a module the whole", async (w) => {
    const doc = w.json("resnet18");
    const page = await w.page(w.path("static.html"));
    const [boxesOf] = await series(page, "icicle");
    assert.equal(boxesOf.values[0][3], doc.total_flops);
    for (const id of ["icicle", "by-module"]) {
        await page.locator(`#${id} summary`).click();
        await page.locator(`#${id} tbody tr`).first().waitFor();
        const shares = await page.locator(`#${id} tbody td:last-child`).allTextContents();
        const all = sum(shares, (t) => parseFloat(t));
        assert.ok(all > 98 && all < 102, `${id}: ${all} %: parents and children do not mix`);
    }
    quiet(page);
});

// ---- the first screen ----

test("no card is alone in the last row", async (w) => {
    for (const width of [390, 700, 1000, 1280, 1600, 1920]) {
        const page = await w.page(w.path("static.html"), { viewport: { width, height: 800 } });
        const alone = await page.evaluate(
            () =>
                [...document.querySelectorAll("dl.cards")].filter((c) => {
                    const tops = [...c.children].map((x) => x.getBoundingClientRect().top);
                    const last = tops.filter((t) => t === tops[tops.length - 1]).length;
                    const columns = getComputedStyle(c).gridTemplateColumns.split(" ").length;
                    return columns > 1 && c.children.length > 1 && last === 1;
                }).length,
        );
        assert.equal(alone, 0, `${width} px`);
        await w.closeAll();
    }
});

test("the conclusion is first, and that of the JSON", async (w) => {
    const doc = w.json("resnet18");
    const page = await w.page(w.path("static.html"));
    assert.equal(await page.textContent("#summary .conclusion"), doc.conclusion);
    const [first] = await page
        .locator("#summary > *:not(h2)")
        .evaluateAll((e) => e.map((x) => x.className));
    assert.equal(first, "conclusion");
    quiet(page);
});

// ---- accessibility ----

test("axe finds no serious fault", async (w) => {
    if (!existsSync(axe)) {
        console.log("      skipped: axe-core is not installed (tools/web install --test)");
        return;
    }
    w.assay("compare", "resnet18", "resnet34", "-q", "-o", "axe-two.html");
    const traces = w.report("axe-traced.html", [traced(w)]);
    const looks = [
        [w.path("static.html"), "light"],
        [w.path("static.html"), "dark"],
        [w.path("axe-two.html"), "dark"],
        [traces, "light"],
    ];
    for (const [path, colorScheme] of looks) {
        const page = await w.page(path, { colorScheme, bypassCSP: true });
        await scrollThrough(page, 600);
        const found = await seriousFaults(page);
        assert.deepEqual(found, [], `${path}, ${colorScheme}`);
        await w.closeAll();
    }
});

// ---- labels ----

// Texts of a chart that lie on each other, by more than rounding.
const collisions = (page) =>
    page.evaluate(() => {
        const found = [];
        for (const chart of document.querySelectorAll(".chart")) {
            const all = [...chart.querySelectorAll("svg text")]
                .filter((t) => t.textContent.trim() && !t.closest("[clip-path]")) // legends scroll
                .map((t) => ({ text: t.textContent, box: t.getBoundingClientRect() }));
            all.forEach((a, i) =>
                all.slice(i + 1).forEach((b) => {
                    const x = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
                    const y = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
                    if (x > 4 && y > 6)
                        found.push(`${chart.closest("figure").id}: ${a.text} on ${b.text}`);
                }),
            );
        }
        return found;
    });

test("labels of charts do not lie on each other", async (w) => {
    const doc = traced(w);
    // Median and p95 are near each other, p99 is far.
    doc.latency = { ...doc.latency, p50: 1, p95: 1.02, p99: 9 };
    const path = w.report("labels.html", [doc]);
    for (const [file, width] of [
        [path, 1280],
        [path, 390],
        [w.path("static.html"), 1280],
        [w.path("static.html"), 390],
    ]) {
        const page = await w.page(file, {
            viewport: { width, height: 900 },
            reducedMotion: "reduce",
        });
        await scrollThrough(page, 300);
        assert.deepEqual(await collisions(page), [], `${width} px`);
        await w.closeAll();
    }
});

test("output error stands beside the speed of every precision", async (w) => {
    const doc = measured();
    const [first] = doc.configurations;
    const at = (precision, relative) => ({
        ...first,
        batch: 1,
        precision,
        output_error: relative === undefined ? undefined : { relative },
    });
    doc.configurations = [at("fp32"), at("int8", 0.0173)];
    doc.recommended_batch = 1;
    doc.batch_choice = { batch: 1, precision: "fp32", why: "it is the fastest" };
    const page = await w.page(w.report("precisions.html", [doc]));
    const rows = page.locator("[aria-label='Configurations'] tbody tr");
    assert.match(await rows.nth(1).textContent(), /1\.73/);
    assert.equal(await page.locator("[aria-label='Configurations'] tr.best").count(), 1);
    quiet(page);
});
