// Documents that are no profile, by the commands that write them and by `assay report`: their
// charts hold the numbers of the JSON, hostile names are text, and the summary for notebooks says
// what the page says.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { measured } from "./documents.mjs";
import { local, noHoles, noOverflow, quiet, root, scrollThrough, series, test } from "./lib.mjs";
import { checkLooks } from "./looks.mjs";

const evil = "<img src=x onerror=alert(1)>";
const put = (w, name, doc) => (
    writeFileSync(w.path(name), typeof doc === "string" ? doc : JSON.stringify(doc)),
    name
);
// A document's page as `assay report` writes it: what `look` finds, and its looks.
async function shown(w, name, doc, look) {
    put(w, `${name}.json`, doc);
    w.assay("report", `${name}.json`, "-q", "-o", `${name}.html`);
    const page = await w.page(w.path(`${name}.html`));
    assert.equal(await page.locator(".fatal").count(), 0);
    await scrollThrough(page, 400);
    await look(page);
    assert.equal(await page.locator("main img, main script").count(), 0);
    quiet(page);
    local(page);
    await w.closeAll();
    await checkLooks(w, name, w.path(`${name}.html`));
}

test("scaling: a line over each size with the figures of the JSON", async (w) => {
    const doc = w.json("scale", "lenet", "--dim", "batch=1..8");
    await shown(w, "scaling", doc, async (page) => {
        const lines = await series(page, "scaling-chart");
        assert.equal(
            lines.reduce((a, s) => a + s.values.length, 0),
            doc.points.filter((p) => !p.refused).length,
        );
        assert.deepEqual(
            lines[0].values,
            doc.points.map((p) => [p.sizes.batch, p.macs]),
        );
        await page.getByLabel("Peak memory", { exact: true }).check({ force: true });
        assert.deepEqual(
            (await series(page, "scaling-chart"))[0].values,
            doc.points.map((p) => [p.sizes.batch, p.peak_bytes]),
        );
        assert.equal(await page.locator("#tables tbody tr").count(), doc.points.length);
        const [factor] = doc.forms.macs.form.split("*");
        const form = `MACs = ${Number(factor).toLocaleString("en-US")}·b`;
        assert.ok((await page.locator("#summary").textContent()).includes(form));
    });
    w.assay("scale", "lenet", "--dim", "batch=1..8", "-q", "-o", "direct.html");
    const page = await w.page(w.path("direct.html"));
    assert.equal((await series(page, "scaling-chart"))[0].values.length, doc.points.length);
    quiet(page);
});

test("validation: a bar for each model and tool", async (w) => {
    const doc = w.json("validate", "--models", "lenet,resnet18", "--lens", "all");
    await shown(w, "validation", doc, async (page) => {
        const [bars] = await series(page, "validation-chart");
        assert.deepEqual(
            bars.values,
            doc.models.map((m) => m.difference_percent),
        );
        assert.equal(await page.locator("#summary tbody tr").count(), doc.models.length);
    });
});

test("capacity: what a request waits for", async (w) => {
    put(w, "run.json", measured());
    let doc;
    try {
        doc = w.json("capacity", "run.json", "--target", "500rps");
    } catch (e) {
        doc = JSON.parse(e.stdout.toString());
    }
    doc.model = evil;
    await shown(w, "capacity", doc, async (page) => {
        const able = doc.plans.filter((p) => p.feasible);
        const parts = await series(page, "capacity-chart");
        assert.equal(parts.length, 3);
        able.forEach((p, i) =>
            assert.ok(
                Math.abs(parts.reduce((a, s) => a + s.values[i], 0) - p.latency_mean_ms) <
                    1e-6 * p.latency_mean_ms,
            ),
        );
        assert.ok((await page.textContent("h1")).startsWith(evil));
        assert.match(
            await page.locator("#summary").textContent(),
            new RegExp(`Machines${doc.plans[doc.best].machines.toLocaleString("en-US")}`),
        );
    });
});

test("check: ratios to the baseline with their intervals", async (w) => {
    const doc = {
        schema: "assay.check/1",
        model: evil,
        verdict: "regression",
        baseline: "base.json",
        baseline_timestamp: "2026-01-01T00:00:00Z",
        tolerance_percent: 2,
        allowance_percent: 1,
        checks: [
            {
                metric: "p50",
                unit: "ms",
                verdict: "regression",
                value: 12,
                baseline: 10,
                ratio: 1.2,
                ratio_ci99_low: 1.15,
                ratio_ci99_high: 1.25,
                why: "slower",
            },
            { metric: "macs", unit: "count", verdict: "pass", value: 5e9, baseline: 5e9, ratio: 1 },
            {
                metric: "latency",
                unit: "ms",
                verdict: "missed",
                value: 12,
                operator: "<=",
                limit: 11,
            },
        ],
        layers_moved: 1,
        moved: [
            {
                change: "added",
                layer: evil,
                type: "relu",
                shapes: "1×2",
                macs: 0,
                parameters: 0,
                memory: 16,
                peak_bytes: -8,
            },
        ],
        types_moved: [],
        notes: ["A remark."],
    };
    await shown(w, "check", doc, async (page) => {
        const [points, interval] = await series(page, "check-chart");
        assert.deepEqual(points.values, [
            [1.2, 0],
            [1, 1],
        ]);
        assert.deepEqual(interval.values, [
            [1.15, 0],
            [1.25, 0],
        ]);
        assert.equal(await page.locator("#summary tr.worse").count(), 2);
        assert.match(await page.locator("#summary").textContent(), /<= 11\.00 ms/);
        assert.ok((await page.locator("#tables").textContent()).includes(evil));
    });
});

test("trend, records and models of a history", async (w) => {
    const points = [10, 11, 20].map((value, i) => ({
        id: i + 1,
        created: `2026-01-0${i + 1}T00:00:00Z`,
        value,
    }));
    await shown(
        w,
        "trend",
        {
            schema: "assay.trend/1",
            model: evil,
            metric: "p50",
            title: "median latency",
            unit: "ms",
            newest: 20,
            median: 11,
            min: 10,
            max: 20,
            points,
            change_points: [
                {
                    index: 2,
                    id: 3,
                    created: points[2].created,
                    before: 10.5,
                    after: 20,
                    ratio: 1.9,
                    p: 0.01,
                    verdict: "worse",
                },
            ],
            alerts: [],
        },
        async (page) => {
            assert.deepEqual(
                (await series(page, "trend"))[0].values.map((v) => v[1]),
                [10, 11, 20],
            );
            assert.match(await page.locator("#summary").textContent(), /20\.00 ms/);
        },
    );
    const record = {
        id: 7,
        model: evil,
        created: "2026-01-01T00:00:00Z",
        command: "assay bench",
        host: "h",
        precision: "fp32",
        device: "cpu",
        batch: 1,
        p50_ms: 10,
        p95_ms: 12,
        mean_ms: 10,
        throughput: 100,
        memory_bytes: 1048576,
        macs: 5,
        parameters: 7,
        tags: ["a", "b"],
    };
    await shown(
        w,
        "records",
        { schema: "assay.records/1", total: 1, records: [record] },
        async (page) =>
            assert.match(
                await page.locator("#summary tbody").textContent(),
                /7.*onerror.*10\.00.ms.*1\.00 MiB.*a, b/s,
            ),
    );
    await shown(
        w,
        "models",
        { schema: "assay.models/1", models: [{ model: evil, records: 3, newest: record }] },
        async (page) =>
            assert.match(
                await page.locator("#summary tbody").textContent(),
                /onerror.*3.*10\.00.ms/s,
            ),
    );
});

test("a machine: bandwidth over the working set", async (w) => {
    const doc = JSON.parse(readFileSync(join(root, "tests/data/machine.json"), "utf8"));
    await shown(w, "machine", doc, async (page) => {
        const lines = await series(page, "bandwidth-chart");
        assert.deepEqual(
            lines.map((s) => s.values.length),
            [doc.bandwidth_by_set.length, doc.bandwidth_by_set.length],
        );
        assert.deepEqual(
            lines[0].values,
            doc.bandwidth_by_set.map((q) => [q.set_bytes, q.read]),
        );
        assert.equal(
            await page.locator("#tables table").first().locator("tbody tr").count(),
            new Set(doc.compute.map((c) => `${c.dtype} ${c.isa}`)).size,
        );
    });
});

test("a process whose CPU time is read less often than its memory: one line", async (w) => {
    const doc = JSON.parse(readFileSync(join(root, "tests/data/results/watch.json"), "utf8"));
    assert.ok(doc.watch.samples.some((s, i) => i > 0 && s.cpu_percent === null));
    put(w, "watch.json", doc);
    w.assay("report", "watch.json", "-q", "-o", "watch.html");
    const page = await w.page(w.path("watch.html"));
    await series(page, "watch-cpu");
    const joined = await page.evaluate(
        () =>
            document.querySelector("#watch-cpu .chart").assayChart.getOption().series[0]
                .connectNulls,
    );
    assert.equal(joined, true);
    assert.equal(await page.locator("#accounting").count(), 0, "no operators were counted");
    quiet(page);
});

test("comparisons and pipelines that were saved, shown again", async (w) => {
    const two = w.json("compare", "resnet18", "resnet34");
    await shown(w, "comparison", two, async (page) => {
        assert.match(
            await page.locator("#compare-layers [role=status]").textContent(),
            new RegExp(`^${two.layers.length.toLocaleString("en-US")} changes$`),
        );
        assert.ok((await page.locator("#summary tbody tr").count()) >= 2);
    });
    const sd = w.json("pipeline", "sd21");
    sd.warnings = [{ code: "x", node: "", text: evil, advice: "" }];
    await shown(w, "pipeline", sd, async (page) =>
        assert.deepEqual(
            (await series(page, "component-macs"))[0].values,
            sd.components.map((c) => c.macs),
        ),
    );
    const both = w.json("pipeline", "sd15", "sdxl");
    await shown(w, "pipelines", both, async (page) =>
        assert.deepEqual(
            (await series(page, "pipelines-total"))[0].values,
            both.pipelines.map((p) => p.total_macs),
        ),
    );
    const language = w.json("pipeline", "llama-3.1-8b", "--hardware", "a100-80,t4");
    await shown(w, "language", language, async (page) =>
        assert.equal(
            await page.getByRole("table", { name: "On devices" }).locator("tbody tr").count(),
            language.devices.length,
        ),
    );
    // Kinds beside each other: each by itself from the choice on top.
    w.assay("report", "pipeline.json", "scaling.json", "-q", "-o", "mixed.html");
    const page = await w.page(w.path("mixed.html"));
    await page.locator("header select").selectOption({ index: 2 });
    await series(page, "scaling-chart");
    quiet(page);
});

// As the dashboard gets them from its server: the document alone.
test("documents without a view: the chart, and the fields as they are", async (w) => {
    const machine = JSON.parse(readFileSync(join(root, "tests/data/machine.json"), "utf8"));
    const cases = [
        [machine, "bandwidth-chart"],
        [w.json("scale", "lenet", "--dim", "batch=1..4"), "scaling-chart"],
        [w.json("validate", "lenet"), "validation-chart"],
        [w.json("compare", "lenet", "resnet18"), null],
        [{ schema: "assay.trend/1", model: evil, points: [] }, null],
        [{ schema: "assay.capacity/1", plans: [{}, null, 3] }, null],
        [{ schema: "assay.scaling/1", points: {}, axes: [{}] }, null],
    ];
    for (const [i, [doc, id]] of cases.entries()) {
        const page = await w.page(w.report(`bare${i}.html`, [doc]));
        if (id) assert.ok((await series(page, id))[0].values.length > 0, id);
        await noHoles(page, doc.schema);
        assert.equal(await page.locator("main img").count(), 0);
        await noOverflow(page);
        quiet(page);
        await w.closeAll();
    }
});

test("without graphs and details, documents too", async (w) => {
    w.assay("report", "scaling.json", "-q", "--no-graphs", "-o", "plain.html");
    let page = await w.page(w.path("plain.html"));
    assert.equal(await page.locator(".chart").count(), 0);
    assert.equal(await page.locator("#tables").count(), 1);
    w.assay("report", "scaling.json", "-q", "--no-details", "-o", "short.html");
    page = await w.page(w.path("short.html"));
    assert.equal(await page.locator("#tables").count(), 0);
    assert.equal(await page.locator(".chart").count(), 1);
    quiet(page);
});

test("roofline: layers that ran under the ceilings that were measured", async (w) => {
    const doc = JSON.parse(
        readFileSync(join(root, "tests/fuzz/corpus/fuzz_result/layers.json"), "utf8"),
    );
    doc.ceilings = {
        name: evil,
        measured: "2026-01-01T00:00:00Z",
        dtype: "float32",
        threads: 2,
        operations_per_s: 2e11,
        levels: [
            { name: "L1", bytes_per_s: 4e11 },
            { name: "L2", bytes_per_s: 1e11 },
            { name: "DRAM", bytes_per_s: 2e10 },
        ],
    };
    writeFileSync(w.path("roof.json"), JSON.stringify(doc));
    w.assay("report", "roof.json", "-q", "-o", "roof.html", "-o", "roof.again.json");
    const again = JSON.parse(readFileSync(w.path("roof.again.json"), "utf8"));
    assert.deepEqual(again.ceilings, doc.ceilings);
    const ran = again.layers.filter((l) => l.time_ms > 0);
    assert.ok(
        ran.length &&
            ran.every(
                (l) =>
                    Math.abs(
                        l.percent_of_roof -
                            (100 * Math.max(l.flops / 2e11, l.memory / 2e10)) / (l.time_ms / 1e3),
                    ) <
                    1e-6 * l.percent_of_roof + 1e-9,
            ),
    );
    const page = await w.page(w.path("roof.html"));
    const all = await series(page, "roofline");
    assert.deepEqual(
        all[0].values.slice(1),
        [
            [10, 2e11],
            [all[0].values[2][0], 2e11],
        ],
        "ridge and peak",
    );
    assert.deepEqual(
        all.slice(1, 3).map((s) => s.name),
        ["L1, 400\u202fGB/s", "L2, 100\u202fGB/s"],
    );
    const working = again.layers.filter((l) => l.arithmetic_intensity > 0);
    assert.equal(all.find((s) => s.name === "predicted").values.length, working.length);
    assert.equal(
        all.find((s) => s.name === "measured").values.length,
        working.filter((l) => l.gflops_per_s > 0).length,
    );
    const legend = await page.evaluate(
        () => document.querySelector("#roofline .chart").assayChart.getOption().legend[0].data,
    );
    assert.equal(legend.length, all.length);
    assert.equal(await page.locator("main img").count(), 0);
    quiet(page);
});

// ---- the summary for notebooks ----

const facts = (page, within) =>
    page.evaluate(
        (s) =>
            [...document.querySelectorAll(`${s} dt`)].map((dt) =>
                [
                    dt.textContent,
                    ...[...dt.nextElementSibling.children].map((e) => e.textContent),
                ].map((t) => t.replaceAll("\u202f", " ")),
            ),
        within,
    );

test("the summary for notebooks says what the page's summary says", async (w) => {
    put(w, "run.json", {
        ...measured(),
        warnings: [{ code: "c", node: evil, text: "Beware.", advice: "Look." }],
        warnings_dropped: 2,
    });
    put(w, "sd.json", w.json("pipeline", "sd21"));
    put(w, "lm.json", w.json("pipeline", "llama-3.1-8b"));
    w.assay("resnet50", "-q", "-o", "counted.json");
    w.assay("resnet50", "--lens", "fvcore", "-q", "-o", "lens.json");
    for (const name of ["counted", "lens", "run", "sd", "lm"]) {
        w.assay("report", `${name}.json`, "-q", "-o", `${name}.html`, "-o", `${name}.summary.html`);
        const page = await w.page(w.path(`${name}.html`));
        const ours = await facts(page, "#summary");
        assert.ok(ours.length > 4, name);
        const banners = await page.locator("#summary .banner").allTextContents();
        const warnings = (await page.locator("#summary .warnings h3").allTextContents()).join();
        const c = await w.context();
        const bare = await c.newPage();
        const html = readFileSync(w.path(`${name}.summary.html`), "utf8");
        await bare.setContent(`<!doctype html><meta charset=utf-8><body>${html}</body>`);
        const theirs = await facts(bare, ".assay-summary");
        assert.deepEqual(theirs, ours, name);
        const text = await bare.locator(".assay-summary").innerText();
        for (const b of banners) assert.ok(text.includes(b), b);
        assert.ok(text.includes(warnings), warnings);
        assert.equal(await bare.locator("img, script, link").count(), 0);
        assert.equal(await bare.evaluate(() => document.body.scrollWidth > innerWidth), false);
        quiet(page);
        await w.closeAll();
    }
});

test("comparison: attributes that are others", async (w) => {
    w.assay("lenet", "-q", "-o", "before.json");
    const doc = JSON.parse(readFileSync(w.path("before.json"), "utf8"));
    const conv = doc.layers.find((l) => l.op === "Conv");
    conv.attributes = { ...conv.attributes, dilations: [2, 2], "<b>evil</b>": "<i>" };
    writeFileSync(w.path("after.json"), JSON.stringify(doc));
    w.assay("compare", "before.json", "after.json", "-q", "-o", "attributes.html");
    const page = await w.page(w.path("attributes.html"));
    await page.waitForSelector("#compare-layers");
    const text = await page.locator("#compare-layers").innerText();
    assert.ok(text.includes("dilations default → [2,2]"), text);
    assert.ok(text.includes('<b>evil</b> default → "<i>"'), "names are text");
    quiet(page);
});
