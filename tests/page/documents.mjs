// Documents of every kind, as other commands write them: measured, mapped, fused, pipelines,
// unknown ones.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { local, noHoles, noOverflow, quiet, root, series, test } from "./lib.mjs";

const stored = (name) =>
    JSON.parse(readFileSync(join(root, "tests/fuzz/corpus/fuzz_result", name), "utf8"));

// A measured result with everything that a series can have.
export function measured() {
    const doc = stored("measured.json");
    const samples = Array.from({ length: 60 }, (_, i) => 10 + Math.sin(i) + (i === 17 ? 9 : 0));
    doc.latency = {
        ...doc.latency,
        samples_ms: samples,
        runs: 60,
        warmup_runs: 5,
        warmup_ms: [40, 22, 12, 10.5, 10.25],
        steady: true,
        steady_after: 4,
        p50: 10,
        p95: 11,
        p99: 19,
        outliers: [{ run: 18, ms: samples[17], cause: "<b>steal</b>" }],
    };
    doc.configurations = [
        {
            batch: 1,
            precision: "fp32",
            runs: 60,
            mean_ms: 10,
            median_ms: 10,
            p95_ms: 11,
            samples_per_second: 100,
            peak_bytes: 1e6,
        },
        {
            batch: 4,
            precision: "fp32",
            runs: 9,
            mean_ms: 20,
            median_ms: 20,
            p95_ms: 22,
            samples_per_second: 200,
            peak_bytes: 2e6,
            latency: { ...doc.latency, samples_ms: samples.slice(0, 9), runs: 9, outliers: [] },
        },
        {
            batch: 8,
            precision: "fp32",
            runs: 9,
            mean_ms: 90,
            median_ms: 90,
            p95_ms: 95,
            samples_per_second: 89,
            peak_bytes: 4e6,
        },
        {
            batch: 64,
            precision: "fp32",
            error: "Batch size 64 is planned to need 9 GiB.",
            code: "memory",
        },
    ];
    doc.recommended_batch = 4;
    return doc;
}

test("measured: distribution, series with outliers and warm-up, batch sweep", async (w) => {
    const doc = measured();
    const page = await w.page(w.report("measured.html", [doc]));
    const [histogram] = await series(page, "latency-distribution");
    assert.equal(
        histogram.values.reduce((a, v) => a + v[1], 0),
        60,
        "every run is in a bar",
    );
    const [runs, warm, outliers] = await series(page, "latency-series");
    assert.deepEqual(
        warm.values,
        doc.latency.warmup_ms.map((v, i) => [i - 4, v]),
        "every warm-up run is a point before run 1",
    );
    assert.deepEqual(
        runs.values,
        doc.latency.samples_ms.map((v, i) => [i + 1, v]),
        "runs count from 1",
    );
    assert.deepEqual(outliers.values, [[18, doc.latency.samples_ms[17]]]);
    const listed = page.locator("#latency table").filter({ hasText: "Over the median" });
    assert.equal(await listed.locator("tbody th, tbody td").first().textContent(), "18");
    const option = await page.evaluate(() =>
        document.querySelector("#latency-series .chart").assayChart.getOption(),
    );
    assert.equal(option.series[0].markArea.data[0][0].xAxis, -4, "warm-up is shaded");
    const [mark] = option.series[1].markLine.data;
    assert.deepEqual(
        [mark.name, mark.xAxis],
        ["steady", 0],
        "steady state began after the fourth of five",
    );
    const [sweep] = await series(page, "batch-sweep");
    assert.deepEqual(sweep.values, [
        [10, 100],
        [20, 200],
        [90, 89],
    ]);
    assert.match(await page.locator("#batches").textContent(), /Batch 4 is recommended/);
    assert.match(await page.locator("#batches tr.failed").textContent(), /planned to need 9 GiB/);
    await page.locator("#latency select").selectOption({ index: 1 });
    assert.equal((await series(page, "latency-series"))[0].values.length, 9);
    assert.ok(
        (await page.locator("#latency td").count()) === 0 ||
            !(await page.locator("#latency b").count()),
    );
    await noOverflow(page);
    quiet(page);
});

test("measured layers and their ledger", async (w) => {
    const doc = stored("layers.json");
    doc.ledger.groups = [
        {
            by: "type",
            name: "conv<b>2d",
            layers: 3,
            time_ms: 1.5,
            time_std_ms: 0.25,
            percent: 75,
            flops: 3e9,
            memory: 1e6,
            gflops_per_s: 2000,
            gbytes_per_s: 0.7,
            bottleneck: "compute-bound",
        },
        {
            by: "module",
            name: "a.b.c",
            layers: 1,
            time_ms: 1,
            percent: 5,
            flops: 0,
            memory: 0,
            bottleneck: "memory-bound",
        },
    ];
    const page = await w.page(w.report("layers.html", [doc]));
    const timed = doc.layers.filter((l) => l.gflops_per_s > 0 && l.arithmetic_intensity > 0);
    const [points] = await series(page, "roofline");
    assert.equal(points.name, "measured");
    assert.equal(points.values.length, timed.length);
    const sums = await page.locator("#ledger").textContent();
    assert.match(sums, /conv<b>2d.*1\.50.ms ± 0\.250.ms.*75\.0/s);
    assert.doesNotMatch(sums, /Time by module/, "modules that lie deeper are left out");
    const parts = await series(page, "ledger-chart");
    const whole = parts.reduce((a, s) => a + s.values[0], 0);
    assert.ok(Math.abs(whole - doc.ledger.run_ms) < 1e-6 * doc.ledger.run_ms + 1e-9);
    quiet(page);
});

test("plan and run: the ledger from one to the other, without what changes nothing", async (w) => {
    const doc = w.json("memory", "lenet");
    const rows = [
        ["planned", 4194304, 4194304],
        ["expanded_operators", 2097152, 6291456],
        ["engine_order", 0, 6291456],
        ["in_place", -1048576, 5242880],
        ["kept_buffers", 0, 5242880],
        ["unexplained", 0, 5242880],
        ["measured", 0, 5242880],
        ["kernel_workspace", 524288, 5767168],
    ];
    doc.plan_check = {
        planned_peak: 4194304,
        measured_peak: 5242880,
        shapes_checked: 1,
        shapes_equal: 1,
        timeline: [],
        ledger: rows.map(([cause, bytes, total_bytes]) => ({ cause, bytes, total_bytes })),
    };
    const page = await w.page(w.report("steps.html", [doc]));
    const shown = await page
        .locator("#memory table", { hasText: "From the planned peak to the measured one" })
        .locator("tbody tr")
        .allTextContents();
    assert.equal(shown.length, 5);
    assert.match(shown[1], /only in parts\+2\.00.MiB6\.00.MiB/);
    assert.match(shown[2], /in place.*−1\.00.MiB5\.00.MiB/);
    assert.match(shown[3], /^Measured5\.00.MiB/);
    await noOverflow(page);
    quiet(page);
});

test("placed on devices: ceilings, predicted points, throughput against latency", async (w) => {
    const doc = w.json("map", "resnet18", "--hardware", "rtx3090,t4");
    w.assay("map", "resnet18", "--hardware", "rtx3090,t4", "-q", "-o", "map.html");
    const page = await w.page(w.path("map.html"));
    const roof = await series(page, "roofline");
    const first = doc.map.hardware[0];
    assert.equal(roof[0].values[1][1], first.precisions[0].peak_ops_per_s);
    assert.ok(
        Math.abs(
            roof[0].values[1][0] - first.precisions[0].peak_ops_per_s / first.bandwidth_bytes_per_s,
        ) < 1e-9,
    );
    assert.equal(
        roof.find((s) => s.name === "predicted").values.length,
        doc.layers.filter((l) => l.arithmetic_intensity > 0).length,
    );
    // The other device has its own times.
    const own = (id) =>
        new Map(
            doc.map.layers.filter((l) => (l.device ?? id) === id).map((l) => [l.name, l.time_ms]),
        );
    const [second] = doc.devices.filter((d) => d.name === "t4");
    const text = `${doc.map.hardware[1].name}, ${second.precision}`;
    await page.locator("#roofline-section select").selectOption({ label: text });
    const moved = (await series(page, "roofline")).find((s) => s.name === "predicted");
    const working = doc.layers.filter(
        (l) => l.arithmetic_intensity > 0 && l.flops > 0 && own("t4").get(l.name) > 0,
    );
    assert.ok(
        working.length > 10 &&
            working.every((l) =>
                moved.values.some(
                    (v) => Math.abs(v[1] - l.flops / (own("t4").get(l.name) / 1e3)) < 1e-6 * v[1],
                ),
            ),
    );
    const lines = await series(page, "device-chart");
    assert.equal(
        lines.reduce((a, s) => a + s.values.length, 0),
        doc.devices.filter((d) => d.fits).length,
    );
    quiet(page);
});

test("fused groups", async (w) => {
    let doc;
    try {
        doc = w.json("fuse", "resnet18");
    } catch {
        return;
    } // a build without the command
    w.assay("fuse", "resnet18", "-q", "-o", "fuse.html");
    const page = await w.page(w.path("fuse.html"));
    assert.equal(
        await page.locator("#fusion .value").first().textContent(),
        String(doc.groups.length),
    );
    const bars = await series(page, "fusion-chart");
    const after = bars.find((s) => s.name === "fused").values.reduce((a, b) => a + b, 0);
    assert.equal(
        after,
        doc.groups.reduce((a, g) => a + g.boundary_bytes, 0),
    );
    quiet(page);
});

test("a process that was watched", async (w) => {
    const samples = [0, 1, 2].map((i) => ({
        time_s: i,
        cpu_percent: 50 * i,
        resident: 1e6 * (i + 1),
        anonymous: 5e5,
        file_backed: 1e5,
        processes: 1,
        threads: 2,
    }));
    const page = await w.page(
        w.report("watch.html", [
            {
                schema: "assay.profile/1",
                model: "<i>sleep</i>",
                watch: {
                    command: "sleep 2",
                    exit_code: 0,
                    wall_s: 2,
                    cpu_s: 1,
                    cpu_percent: 50,
                    peak_resident: 3e6,
                    samples,
                },
                layers: [],
                total_parameters: 0,
            },
        ]),
    );
    assert.deepEqual(
        (await series(page, "watch-cpu"))[0].values.map((v) => v[1]),
        [0, 50, 100],
    );
    assert.equal((await series(page, "watch-memory")).length, 3);
    quiet(page);
});

test("training: what each optimiser takes", async (w) => {
    const doc = w.json("resnet18", "--training");
    w.assay("resnet18", "--training", "-q", "-o", "training.html");
    const page = await w.page(w.path("training.html"));
    const parts = await series(page, "training-memory");
    assert.equal(parts[1].values[0], doc.training.optimizers[0].gradients_bytes);
    quiet(page);
});

test("pipelines: diffusion, several, language", async (w) => {
    const doc = w.json("pipeline", "sd21", "--sweep", "steps=20,30,50");
    w.assay("pipeline", "sd21", "--sweep", "steps=20,30,50", "-q", "-o", "sd.html");
    let page = await w.page(w.path("sd.html"));
    const [bars] = await series(page, "component-macs");
    assert.deepEqual(
        bars.values,
        doc.components.map((c) => c.macs),
    );
    const sweep = await series(page, "sweep-0");
    assert.deepEqual(
        sweep[0].values,
        doc.sweeps[0].points.map((q) => q.total_macs),
    );
    quiet(page);
    w.assay("pipeline", "sd15", "sdxl", "-q", "-o", "two-pipelines.html");
    page = await w.page(w.path("two-pipelines.html"));
    assert.equal((await series(page, "pipelines-total"))[0].values.length, 2);
    await page.locator("header select").selectOption({ index: 2 });
    assert.equal(await page.getByRole("table", { name: "Components" }).count(), 1);
    assert.match(await page.locator("#summary").textContent(), /MACs per step/);
    quiet(page);
    const language = w.json("pipeline", "llama-3.1-8b");
    w.assay("pipeline", "llama-3.1-8b", "-q", "-o", "lm.html");
    page = await w.page(w.path("lm.html"));
    const memory = await series(page, "serve-memory");
    assert.equal(
        memory.reduce((a, s) => a + s.values[0], 0),
        language.memory.weight_bytes +
            language.memory.cache_bytes +
            language.memory.activation_peak_bytes,
    );
    quiet(page);
    local(page);
});

test("weights without a graph, odd results, nothing at all and what is not known", async (w) => {
    const odd = stored("odd.json");
    const cases = [
        [odd],
        [{ schema: "assay.profile/1", model: "bare" }],
        [
            {
                schema: "assay.profile/1",
                model: "null",
                layers: null,
                latency: { samples_ms: [] },
                warnings: [{ text: "w" }],
            },
        ],
        [],
        [{ schema: "assay.other/9", "<i>": 1, list: [{ a: 1 }, { a: { b: [1, 2] } }] }],
        [
            {
                schema: "assay.profile/1",
                model: "inv",
                inventory: {
                    tensors: 1,
                    elements: 4,
                    bytes: 16,
                    largest: [
                        {
                            name: "<u>w</u>",
                            dtype: "float32",
                            shape: [2, 2],
                            elements: 4,
                            bytes: 16,
                        },
                    ],
                },
                layers: [],
            },
        ],
        [
            {
                schema: "assay.profile/1",
                model: "one",
                layers: [{ name: "l" }],
                latency: { mean: 1, samples_ms: [1] },
            },
            { schema: "assay.profile/1", model: "one" },
        ],
    ];
    for (const [i, documents] of cases.entries()) {
        const page = await w.page(w.report(`odd${i}.html`, documents));
        assert.equal(
            await page.locator(".fatal").count(),
            0,
            JSON.stringify(documents).slice(0, 80),
        );
        await noHoles(page, `case ${i}`);
        quiet(page);
        await w.closeAll();
    }
});
