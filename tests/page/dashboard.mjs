// The dashboard: first before a server of our own that keeps what it was asked, then before
// assay-serve.
import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { measured } from "./documents.mjs";
import {
    axe,
    noOverflow,
    quiet,
    root,
    series,
    seriousFaults,
    serve,
    test,
    zipFile,
} from "./lib.mjs";

// A server with the requests of docs/reports.md. Three records of one model, one of another.
function mock(w, { token } = {}) {
    const page = readFileSync(w.report("dashboard.html", [], { mode: "dashboard" }));
    const asked = [];
    const streams = [];
    const docs = new Map();
    const records = [];
    for (const [i, model] of ["resnet18", "resnet18", "resnet18", "<b>evil</b>"].entries()) {
        const doc = { ...measured(), model };
        docs.set(i + 1, doc);
        records.push({
            id: i + 1,
            model,
            created: `2026-01-0${i + 1}T00:00:00Z`,
            command: "assay bench",
            host: "h",
            precision: "fp32",
            batch: 1,
            p50_ms: 10 + i,
            p95_ms: 12,
            mean_ms: 10,
            throughput: 100,
            memory_bytes: 1e6,
            macs: 5,
            parameters: 7,
            tags: i ? [] : ["base<i>"],
        });
    }
    const answer = (res, status, body) => {
        res.writeHead(status, { "Content-Type": "application/json" });
        res.end(body === undefined ? "" : JSON.stringify(body));
    };
    const server = createServer((req, res) => {
        const url = new URL(req.url, "http://x");
        let body = [];
        req.on("data", (d) => body.push(d));
        req.on("end", () => {
            body = Buffer.concat(body);
            const path = url.pathname.replace(/^\/deep/, "");
            if (path === "/") {
                res.writeHead(200, { "Content-Type": "text/html" });
                res.end(page);
                return;
            }
            asked.push({
                method: req.method,
                path,
                query: Object.fromEntries(url.searchParams),
                auth: req.headers.authorization,
                size: body.length,
                body: body.length < 500 ? body.toString() : "",
            });
            if (token && req.headers.authorization !== `Bearer ${token}`)
                return answer(res, 401, { error: { status: 401, message: "A token is needed." } });
            const id = Number(path.split("/")[4]);
            if (path === "/api/v1/records" && req.method === "POST")
                return answer(res, 201, { id: 9 });
            if (path === "/api/v1/records") {
                const q = (url.searchParams.get("q") ?? "").toLowerCase();
                const some = records.filter(
                    (r) =>
                        (!q || r.model.includes(q)) &&
                        (!url.searchParams.get("model") ||
                            r.model === url.searchParams.get("model")),
                );
                return answer(res, 200, {
                    schema: "assay.records/1",
                    total: some.length,
                    records: some,
                });
            }
            if (/tags$/.test(path)) {
                const { add, remove } = JSON.parse(body.toString());
                const r = records[id - 1];
                r.tags = r.tags.filter((t) => !remove.includes(t)).concat(add);
                return answer(res, 200, { schema: "assay.records/1", total: 1, records: [r] });
            }
            if (req.method === "DELETE") {
                records.splice(
                    records.findIndex((r) => r.id === id),
                    1,
                );
                res.writeHead(204);
                return res.end();
            }
            if (path.startsWith("/api/v1/records/"))
                return docs.has(id)
                    ? answer(res, 200, { document: docs.get(id), view: null })
                    : answer(res, 404, {
                          error: { status: 404, message: `no record ${id}.` },
                      });
            if (path === "/api/v1/models")
                return answer(res, 200, {
                    schema: "assay.models/1",
                    models: [
                        { model: "resnet18", records: 3, newest: records[2] },
                        { model: "<b>evil</b>", records: 1, newest: records.at(-1) },
                    ],
                });
            if (path === "/api/v1/events") {
                res.writeHead(200, { "Content-Type": "text/event-stream" });
                streams.push(res);
                return res.write('event: records\ndata: {"total": 4, "newest": 4}\n\n');
            }
            if (path === "/api/v1/devices")
                return answer(res, 200, {
                    devices: [{ id: "t4", name: "NVIDIA T4", class: "gpu" }],
                });
            if (path === "/api/v1/predict")
                return answer(res, 200, {
                    devices: [
                        {
                            name: "t4",
                            precision: "fp32",
                            latency_ms: 1.5,
                            latency_low_ms: 1,
                            latency_high_ms: 2,
                        },
                    ],
                });
            if (path === "/api/v1/sweeps")
                return answer(res, 200, {
                    sweeps: [{ id: 1, name: "s<b>", total: 8, done: 2, noisy: 1, missing: 6 }],
                });
            if (/changes|drift|cheapest|sweeps/.test(path))
                return answer(res, 200, {
                    document: { schema: "assay.changes/1", conclusion: "<b>Nothing</b>." },
                    view: null,
                });
            if (path === "/api/v1/trend")
                return answer(res, 200, {
                    schema: "assay.trend/1",
                    model: url.searchParams.get("model"),
                    metric: url.searchParams.get("metric") ?? "p50",
                    title: "Median latency",
                    unit: "ms",
                    newest: 12,
                    median: 11,
                    points: records
                        .slice(0, 3)
                        .map((r) => ({ id: r.id, created: r.created, value: r.p50_ms })),
                    change_points: [
                        {
                            index: 2,
                            id: 3,
                            created: records[2].created,
                            before: 10.5,
                            after: 12,
                            ratio: 1.14,
                            p: 0.01,
                            verdict: "worse",
                        },
                    ],
                    alerts: url.searchParams.get("alert")
                        ? [{ verdict: "fired", expression: url.searchParams.get("alert") }]
                        : [],
                });
            if (path === "/api/v1/compare")
                return answer(res, 200, {
                    schema: "assay.comparison/1",
                    models: [],
                    layers: [],
                    measured: [
                        {
                            model: "resnet18",
                            verdict: "slower",
                            ratio: 1.2,
                            ratio_ci99_low: 1.1,
                            ratio_ci99_high: 1.3,
                            runs: 60,
                            interleaved: false,
                        },
                    ],
                });
            if (path === "/api/v1/profile")
                return body.length > 10
                    ? answer(res, 200, {
                          document: { ...w.json("lenet"), model: url.searchParams.get("name") },
                          view: null,
                      })
                    : answer(res, 422, { error: { status: 422, message: "This is no model." } });
            return answer(res, 404, {});
        });
    });
    return new Promise((done) =>
        server.listen(0, "127.0.0.1", () =>
            done({
                url: `http://127.0.0.1:${server.address().port}/`,
                asked,
                records,
                tell: (total) =>
                    streams.forEach((r) =>
                        r.write(
                            `event: records\ndata: {"total": ${total}, "newest": ${total}}\n\n`,
                        ),
                    ),
                stop: () => {
                    streams.forEach((r) => r.end());
                    server.close();
                },
            }),
        ),
    );
}

const go = async (page, place) => {
    await page.evaluate((p) => {
        location.hash = `#/${p}`;
    }, place);
    await at(page, place || "overview");
};
const at = (page, place) => page.waitForSelector(`html[data-place="${place}"]`);

test("dashboard: the records, searched and filtered", async (w) => {
    const s = await mock(w);
    const page = await w.page(s.url + "#/records");
    await at(page, "records");
    assert.equal(await page.locator("#records tbody tr").count(), 4);
    assert.match(await page.locator("#records").textContent(), /<b>evil<\/b>/);
    assert.equal(await page.locator("#records b, #records i").count(), 0);
    await page.getByLabel("Search records").fill("evil");
    await page.waitForFunction(() => document.querySelectorAll("#records tbody tr").length === 1);
    assert.equal(s.asked.filter((a) => a.path === "/api/v1/records").pop().query.q, "evil");
    await page.getByLabel("Search records").fill("nothing like that");
    await page.waitForSelector(".empty");
    await page.getByLabel("Search records").fill("");
    await page.locator("label:has-text('Model') select").selectOption("resnet18");
    await page.waitForFunction(() => document.querySelectorAll("#records tbody tr").length === 3);
    await noOverflow(page);
    quiet(page);
    s.stop();
});

test("dashboard: the overview has a card per model and follows the history", async (w) => {
    const s = await mock(w);
    const page = await w.page(s.url);
    await at(page, "overview");
    assert.equal(await page.locator(".model-card").count(), 2);
    const card = page.locator('.model-card[data-model="resnet18"]');
    assert.equal(await card.locator(".spark-line").getAttribute("data-points"), "3");
    assert.match(
        await card.textContent(),
        /12\.00?\sms.*worse than its median.*1\.14×.*#3.*h.*3, newest/s,
    );
    assert.equal(await page.locator(".model-card b").count(), 0);
    assert.equal(
        s.asked.filter((a) => a.path === "/api/v1/trend" && a.query.alert)[0].query.alert,
        "p50 > 1.1x median(90d)",
    );
    s.records.push({ ...s.records[0], id: 5, model: "another" });
    s.tell(5);
    await page.waitForSelector("html[data-changes='1']");
    await page.waitForFunction(() =>
        /5 records|4 records/.test(document.querySelector(".top").textContent),
    );
    await page.getByRole("link", { name: "resnet18", exact: true }).click();
    await at(page, "trend/resnet18");
    quiet(page);
    s.stop();
});

test("dashboard: records are sorted, and columns chosen", async (w) => {
    const s = await mock(w);
    const page = await w.page(s.url + "#/records");
    await at(page, "records");
    const ids = () =>
        page.evaluate(() =>
            [...document.querySelectorAll("#records tbody tr")].map((r) =>
                Number(r.dataset.record),
            ),
        );
    await page.getByRole("button", { name: "Median" }).click();
    await page.waitForSelector("#records th[aria-sort='ascending']:has-text('Median')");
    assert.deepEqual(await ids(), [1, 2, 3, 4]);
    await page.getByRole("button", { name: "Median" }).click();
    await page.waitForSelector("#records th[aria-sort='descending']:has-text('Median')");
    assert.deepEqual(await ids(), [4, 3, 2, 1]);
    await page.getByText("Columns", { exact: true }).click();
    await page.locator(".column-choice").getByLabel("Host").uncheck();
    await page.waitForFunction(
        () => !/Host/.test(document.querySelector("#records thead").textContent),
    );
    await page.reload();
    await at(page, "records");
    assert.ok(!/Host/.test(await page.locator("#records thead").textContent()), "it stays so");
    quiet(page);
    s.stop();
});

test("dashboard: models and devices, measured or predicted", async (w) => {
    const s = await mock(w);
    const page = await w.page(s.url + "#/devices");
    await at(page, "devices");
    const row = page.locator("#matrix tbody tr").first();
    assert.equal(await row.locator("[data-kind='measured'] a").getAttribute("href"), "#/record/1");
    assert.match(
        await row.locator("[data-kind='predicted']").textContent(),
        /≈ 1\.50*\sms.*predicted/,
    );
    assert.equal(s.asked.filter((a) => a.path === "/api/v1/predict")[0].query.hardware, "t4");
    quiet(page);
    s.stop();
});

test("dashboard: one record, its tags, deleted", async (w) => {
    const s = await mock(w);
    const page = await w.page(s.url + "#/record/1");
    await at(page, "record/1");
    assert.equal(await page.textContent("h1"), "resnet18");
    assert.equal((await series(page, "latency-series"))[0].values.length, 60);
    await page.getByLabel("New tag").fill("release 2");
    await page.getByRole("button", { name: "Tag", exact: true }).click();
    await page.waitForSelector(".tag:has-text('release 2')");
    await page.getByRole("button", { name: "Remove tag base<i>" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".tag").length === 1);
    assert.deepEqual(s.records[0].tags, ["release 2"]);
    await page.getByRole("button", { name: "Delete" }).first().click();
    await page.locator("dialog[open]").getByRole("button", { name: "Delete" }).click();
    await at(page, "records");
    assert.equal(s.records.length, 3);
    quiet(page);
    s.stop();
});

test("dashboard: compare what is selected", async (w) => {
    const s = await mock(w);
    const page = await w.page(s.url + "#/records");
    await at(page, "records");
    assert.ok(await page.getByRole("button", { name: "Compare" }).isDisabled());
    for (const id of [1, 2, 3]) await page.getByLabel(`Select record ${id},`).check();
    await page.getByRole("button", { name: "Compare 3" }).click();
    await at(page, "compare/1,2,3");
    assert.equal(await page.locator("#comparison thead th").count(), 4);
    assert.equal((await series(page, "compare-latency")).length, 3);
    assert.equal(s.asked.find((a) => a.path === "/api/v1/compare").query.ids, "1,2,3");
    assert.match(
        await page.locator("#comparison .advice").textContent(),
        /slower.*1\.200 times.*1\.100 to 1\.300/,
    );
    quiet(page);
    s.stop();
});

test("dashboard: a trend with its change", async (w) => {
    const s = await mock(w);
    const page = await w.page(s.url + "#/trend/resnet18/p50");
    await at(page, "trend/resnet18/p50");
    const [line] = await series(page, "trend");
    assert.deepEqual(
        line.values.map((v) => v[1]),
        [10, 11, 12],
    );
    assert.match(await page.locator("main").textContent(), /1\.14×/);
    const marks = await page.evaluate(
        () =>
            document.querySelector("#trend .chart").assayChart.getOption().series[0].markLine.data,
    );
    assert.equal(marks[1].xAxis, "2026-01-03T00:00:00Z");
    await page.locator("label:has-text('Metric') select").selectOption("throughput");
    await at(page, "trend/resnet18/throughput");
    assert.equal(
        s.asked.filter((a) => a.path === "/api/v1/trend").pop().query.metric,
        "throughput",
    );
    quiet(page);
    s.stop();
});

test("dashboard: results and models are added; what is refused is said", async (w) => {
    const s = await mock(w);
    const page = await w.page(s.url + "#/add");
    await at(page, "add");
    await page.setInputFiles("#file", {
        name: "r.json",
        mimeType: "application/json",
        buffer: Buffer.from(JSON.stringify(measured())),
    });
    await page.waitForSelector(".banner.good");
    assert.match(await page.textContent(".banner.good"), /#9/);
    await page.setInputFiles("#file", { name: "bad.onnx", mimeType: "", buffer: Buffer.from("x") });
    await page.waitForSelector(".banner.poor");
    assert.match(await page.textContent(".banner.poor"), /This is no model/);
    // The browser has a line of its own for a refused request.
    page.troubles = page.troubles.filter((t) => !/422/.test(t));
    await page.setInputFiles("#file", {
        name: "my <model>.onnx",
        mimeType: "",
        buffer: Buffer.from("0123456789abcdef"),
    });
    await page.waitForSelector("#layer-table");
    assert.equal(await page.textContent("h1"), "my <model>.onnx");
    quiet(page);
    s.stop();
});

test("dashboard: the token, from the address or asked for", async (w) => {
    const s = await mock(w, { token: "s3cret" });
    let page = await w.page(s.url);
    await page.waitForSelector("#token");
    await page.locator("#token input").fill("wrong");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.waitForSelector(".banner.poor");
    await page.locator("#token input").fill("s3cret");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.waitForSelector("#overview");
    await w.closeAll();
    page = await w.page(s.url + "#token=s3cret");
    await page.waitForSelector("#overview");
    assert.ok(!page.url().includes("s3cret"), "the token leaves the address");
    for (const a of s.asked.slice(-3)) assert.equal(a.auth, "Bearer s3cret");
    quiet(page);
    s.stop();
});

test("dashboard: behind a path, on a phone, in the dark", async (w) => {
    const s = await mock(w);
    const page = await w.page(s.url + "deep/", {
        viewport: { width: 390, height: 800 },
        colorScheme: "dark",
    });
    await at(page, "overview");
    await noOverflow(page);
    for (const place of ["records", "trend", "devices", "add"]) {
        await go(page, place);
        await noOverflow(page);
    }
    await go(page, "records");
    // The model and its main numbers are on the screen.
    for (const name of ["Model", "Median", "MACs"]) {
        const box = await page.locator(`#records th:has-text("${name}")`).boundingBox();
        assert.ok(box && box.x + box.width <= 390, `${name} is visible`);
    }
    quiet(page);
    s.stop();
    await w.closeAll();
});

test("dashboard: axe finds no serious fault", async (w) => {
    if (!existsSync(axe))
        return console.log("      skipped: axe-core is not installed (tools/web install --test)");
    const looks = [
        ["", "light"],
        ["records", "light"],
        ["devices", "dark"],
        ["sweeps", "light"],
        ["fleet/cheapest", "dark"],
        ["add", "light"],
        ["trend", "dark"],
    ];
    const s = await mock(w);
    for (const [place, colorScheme] of looks) {
        const page = await w.page(s.url + `#/${place}`, { colorScheme, bypassCSP: true });
        await at(page, place || "overview");
        assert.deepEqual(await seriousFaults(page), [], `${place} ${colorScheme}`);
        await w.closeAll();
    }
    s.stop();
});

// ---- the real one ----

// A small model of each format that is complete in one file: seeds of the fuzz targets.
const modelFiles = [
    "safetensors/plain",
    "gguf/qwen3",
    "tflite/float.tflite",
    "ncnn/net.param",
    "coreml/net.mlmodel",
    "keras/tiny.h5",
    "torch/module.pt",
    "openvino/net.xml",
].map((name) => join(root, `tests/fuzz/corpus/fuzz_${name}`));

test("assay-serve: upload, list, open, compare, trend, tag, delete, model", async (w) => {
    const s = await serve(w);
    if (!s) return console.log("      assay-serve is not built: left out");
    try {
        const page = await w.page(s.url);
        await at(page, "overview");
        await page.waitForSelector(".empty");
        for (const name of ["one", "two"]) {
            const doc = measured();
            doc.latency.p50 += name === "two" ? 1 : 0;
            writeFileSync(w.path(`${name}.json`), JSON.stringify(doc));
            await go(page, "records");
            await page.evaluate(() => {
                location.hash = "#/add";
            });
            await at(page, "add");
            await page.setInputFiles("#file", w.path(`${name}.json`));
            await page.waitForSelector(".banner.good, .banner.poor");
            assert.equal(
                await page.locator(".banner.poor").count(),
                0,
                await page.locator("main").textContent(),
            );
        }
        await go(page, "records");
        await page.waitForSelector("#records");
        assert.equal(await page.locator("#records tbody tr").count(), 2);
        await page.locator("#records a").first().click();
        await page.waitForSelector("#latency-series");
        assert.equal((await series(page, "latency-series"))[0].values.length, 60);
        await page.getByLabel("New tag").fill("kept");
        await page.getByRole("button", { name: "Tag", exact: true }).click();
        await page.waitForSelector(".tag:has-text('kept')");
        await page.evaluate(() => {
            location.hash = "#/compare/1,2";
        });
        await page.waitForSelector("#comparison");
        await page.evaluate(() => {
            location.hash = "#/trend";
        });
        await page.waitForSelector("#trend");
        assert.equal((await series(page, "trend"))[0].values.length, 2);
        w.assay("export", "lenet", "-q", "-o", "lenet.onnx");
        await page.evaluate(() => {
            location.hash = "#/add";
        });
        await at(page, "add");
        await page.setInputFiles("#file", w.path("lenet.onnx"));
        await page.waitForSelector("#layer-table");
        await page.evaluate(() => {
            location.hash = "#/record/1";
        });
        await at(page, "record/1");
        await page.getByRole("button", { name: "Delete" }).first().click();
        await page.locator("dialog[open]").getByRole("button", { name: "Delete" }).click();
        await at(page, "records");
        await page.waitForFunction(
            () => document.querySelectorAll("#records tbody tr").length === 1,
        );
        quiet(page);
    } finally {
        s.stop();
    }
});

// Formats that are complete in one file; what is saved is in the overview, with the static
// metric in its trend.
test("assay-serve: models of every format, saved, another; static trends; live", async (w) => {
    const s = await serve(w, "--db", w.path("formats.db"));
    if (!s) return console.log("      assay-serve is not built: left out");
    try {
        w.assay("export", "lenet", "-q", "-o", "net.onnx");
        const page = await w.page(s.url + "#/add");
        await at(page, "add");
        const files = [w.path("net.onnx"), ...modelFiles];
        for (const file of files) {
            await page.setInputFiles("#file", file);
            await page.waitForSelector("button:text-is('Save to history'), .banner[role='alert']");
            assert.equal(
                await page.locator(".banner.poor[role='alert']").count(),
                0,
                `${file}: ${await page.locator("main").textContent()}`,
            );
            await page.getByRole("button", { name: "Save to history" }).click();
            await page.waitForSelector(".banner.good:has-text('Added as record')");
            await page.getByRole("button", { name: "Add another" }).click();
            await page.waitForSelector(".drop");
        }
        await go(page, "");
        await page.waitForSelector("#overview");
        assert.equal(await page.locator(".model-card").count(), files.length);
        assert.equal(await page.locator(".model-card .spark-line").count(), files.length);
        await go(page, "trend/net.onnx/p50");
        assert.match(await page.locator("main").textContent(), /Shown: .*MACs/);
        assert.equal((await series(page, "trend"))[0].values[0][1], w.json("lenet").total_macs);
        page.troubles = page.troubles.filter((t) => !/400/.test(t));
        // Somebody else writes.
        await go(page, "");
        await page.waitForSelector("#overview");
        w.assay("resnet18", "-q", "--save", "--db", "formats.db");
        await page.waitForSelector('.model-card[data-model="resnet18"]');
        await go(page, "devices");
        const row = page.locator("#matrix tr:has-text('resnet18')");
        await row.locator("[data-kind='predicted']").first().waitFor();
        quiet(page);
    } finally {
        s.stop();
    }
});

// Weights beside a graph, folders, and folders in archives: the name of each in reports, what is
// chosen, and where.
const copyFolder = (w, name, of) => {
    cpSync(join(root, "tests/data", of), w.path(name), { recursive: true });
    return w.path(name);
};
const severalFiles = (w) => {
    const data = (name) => join(root, "tests/data", name);
    w.assay("export", "lenet", "-q", "-o", "outside.onnx", "--external-data");
    return [
        ["outside.onnx", [w.path("outside.onnx"), w.path("outside.onnx.data")]],
        ["net.xml", [data("openvino/net.bin"), data("openvino/net.xml")], data("openvino/net.xml")],
        ["net.param", [data("ncnn/net.param"), data("ncnn/net.bin")], data("ncnn/net.param")],
        ["saved", data("tensorflow/saved")],
        ["lenet/", copyFolder(w, "lenet", "tensorflow/saved"), data("tensorflow/saved")],
        ["sharded", data("torch/sharded")],
        ["program.mlpackage", data("coreml/program.mlpackage")],
        ["saved", [zipFile(w, "saved.zip", "tensorflow/saved")], data("tensorflow/saved")],
        ["net.mlir", [data("stablehlo/net.mlir")], data("stablehlo/net.mlir")],
        ["frozen.pb", [data("tensorflow/frozen.pb")], data("tensorflow/frozen.pb")],
        ["archive.pt2", [data("pt2/archive.pt2")], data("pt2/archive.pt2")],
        ["graph_3.json", [data("keras/graph_3.json")], data("keras/graph_3.json")],
        ["tiny.keras", [data("keras/tiny.keras")], data("keras/tiny.keras")],
    ];
};

test("assay-serve: models of several files, folders and archives", async (w) => {
    const s = await serve(w, "--db", w.path("several.db"));
    if (!s) return console.log("      assay-serve is not built: left out");
    try {
        const page = await w.page(s.url + "#/add");
        await at(page, "add");
        for (const [name, chosen, native] of severalFiles(w)) {
            const list = Array.isArray(chosen);
            await page.setInputFiles(list ? "#file" : "#folder", chosen);
            await page.waitForSelector("button:text-is('Save to history'), .banner[role='alert']");
            const text = await page.locator("main").textContent();
            assert.equal(await page.textContent("h1"), name, text);
            const is = w.json("graph", native ?? (list ? chosen[0] : chosen));
            const count = is.total_parameters.toLocaleString("en-US");
            assert.ok(text.includes(count), `${name} ${count} ${text}`);
            await page.getByRole("button", { name: "Save to history" }).click();
            await page.waitForSelector(".banner.good:has-text('Added as record')");
            await page.getByRole("button", { name: "Add another" }).click();
            await page.waitForSelector(".drop");
        }
        const refused = [
            [[w.path("outside.onnx"), w.path("probe.html")], /2 models: .*one at a time/],
            [[w.path("outside.onnx.data")], /./],
        ];
        for (const [files, says] of refused) {
            await page.setInputFiles("#file", files);
            await page.waitForSelector(".banner[role='alert']");
            assert.match(await page.textContent(".banner[role='alert']"), says);
            await go(page, "records");
            await go(page, "add");
        }
        page.troubles = page.troubles.filter((t) => !/4\d\d/.test(t));
        quiet(page);
    } finally {
        s.stop();
    }
});

test("assay-serve: sweeps with their progress and matrix, questions about the fleet", async (w) => {
    w.assay("sweep", "--models", "lenet,mlp", "--batch-sizes", "1,8", "-q", "-o", "plan.json");
    w.assay("lenet", "-q", "--save", "--db", "fleet.db");
    const s = await serve(w, "--db", w.path("fleet.db"), "--sweep-plan", w.path("plan.json"));
    if (!s) return console.log("      assay-serve is not built: left out");
    try {
        const page = await w.page(s.url + "#/sweeps");
        await at(page, "sweeps");
        assert.match(await page.textContent("#sweeps tbody tr"), /0 of 4/);
        assert.equal(await page.getAttribute("#sweeps progress", "max"), "4");
        await page.locator("#sweeps a").click();
        await at(page, "sweep/1");
        assert.match(await page.textContent("main"), /0 of 4 tasks/);
        for (const [question, says] of [
            ["changes", /series/],
            ["regressions", /worse/],
            ["drift", /ceilings/],
            ["cheapest?model=lenet", /lenet|class/],
        ]) {
            await go(page, `fleet/${question}`);
            assert.match(await page.textContent("main"), says, question);
        }
        await page.getByLabel("Latency").fill("p99:5ms");
        await page.getByLabel("Latency").press("Enter");
        await page.waitForFunction(() => location.hash.includes("latency=p99%3A5ms"));
        await noOverflow(page);
        page.troubles = page.troubles.filter((t) => !/400/.test(t));
        quiet(page);
    } finally {
        s.stop();
    }
});

// As from another machine: the page comes without the token, asks for it, and sends it with
// everything.
test("assay-serve: the token is asked for, then lists, uploads and links work", async (w) => {
    const token = "correct-horse-battery-staple";
    const s = await serve(w, "--token", token, "--db", w.path("token.db"));
    if (!s) return console.log("      assay-serve is not built: left out");
    try {
        let page = await w.page(s.url);
        await page.waitForSelector("#token");
        await page.locator("#token input").fill("not the right one");
        await page.getByRole("button", { name: "Go on" }).click();
        await page.waitForSelector(".banner.poor");
        await page.locator("#token input").fill(token);
        await page.getByRole("button", { name: "Go on" }).click();
        await page.waitForSelector(".empty");
        writeFileSync(w.path("one.json"), JSON.stringify(measured()));
        await page.evaluate(() => {
            location.hash = "#/add";
        });
        await at(page, "add");
        await page.setInputFiles("#file", w.path("one.json"));
        await page.waitForSelector(".banner.good, .banner.poor");
        assert.equal(
            await page.locator(".banner.poor").count(),
            0,
            await page.locator("main").textContent(),
        );
        await page.evaluate(() => {
            location.hash = "#/record/1";
        });
        await page.waitForSelector("#latency-series");
        // A cookie from ?token=, then a link to a record in a tab that was never asked.
        page = await w.page(`${s.url}?token=${token}`);
        await page.waitForSelector("#overview");
        assert.ok(!page.url().includes(token), "the token leaves the address");
        page = await w.page(`${s.url}#token=${token}`);
        await page.waitForSelector("#overview");
    } finally {
        s.stop();
    }
});
