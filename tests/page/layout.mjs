// The looks (looks.mjs) of what commands write, of documents that were saved and of the dashboard.
// Kinds of results that kinds.mjs shows are looked at there.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { measured } from "./documents.mjs";
import { root, serve, test, writeFlat } from "./lib.mjs";
import { checkLooks } from "./looks.mjs";

const twelve =
    "resnet18 resnet34 resnet50 resnet101 vgg16 mobilenet_v2 efficientnet_b0 densenet121 swin_t " +
    "vit_b_16 convnext_tiny alexnet";

// Reports by the commands that write them.
const reports = {
    "a profile": ["resnet50"],
    "a hierarchical transformer": ["swin_v2_t"],
    "a language model": ["llama-3.1-8b"],
    "a detector with control flow": [join(root, "tests/models/fasterrcnn_320.onnx")],
    "a comparison of two": ["compare", "resnet18", "resnet34"],
    "a comparison of twelve": ["compare", ...twelve.split(" ")],
    "a pipeline": ["pipeline", "sd21"],
    "a pipeline of text": ["pipeline", "llama-3.1-8b", "--hardware", "a100-80,t4"],
    "a map": ["map", "resnet50", "--hardware", "a100-80,t4,v100"],
    scaling: ["scale", "gpt2", "--dim", "seq=128..1024"],
    fusion: ["fuse", "resnet50"],
    "memory over time": ["memory", "resnet50"],
    training: ["resnet50", "--training"],
    "the plan of a sweep": ["sweep", "--models", "lenet,mlp", "--batch-sizes", "1,8"],
};
for (const [what, args] of Object.entries(reports))
    test(`looks: ${what}`, async (w) => {
        w.assay(...args, "-q", "-o", "looks.html");
        await checkLooks(w, what, w.path("looks.html"));
    });

test("looks: ten thousand nodes", async (w) => {
    writeFlat(w.path("flat.json"));
    w.assay("flat.json", "-q", "-o", "flat.html");
    await checkLooks(w, "flat", w.path("flat.html"));
});

// Documents that were saved, and those that need an engine, a server or a clock.
const saved = {
    "a measured run": measured,
    "layers with their times": "tests/fuzz/corpus/fuzz_result/layers.json",
    "a machine": "tests/data/machine.json",
    "a calibrated machine": "tests/data/machine_calibrated.json",
    "a profile of version 0.1": "tests/data/results/profile-0.1.json",
    "a load with its curve": "tests/data/results/load.json",
    "a load with errors": "tests/data/results/load_errors.json",
    "the report of a sweep": "tests/data/results/sweep_report.json",
    "the status of a sweep": "tests/data/results/sweep_status.json",
    "a process that was watched": "tests/data/results/watch.json",
};
for (const [what, from] of Object.entries(saved))
    test(`looks: ${what}`, async (w) => {
        const text =
            typeof from === "string"
                ? readFileSync(join(root, from), "utf8")
                : JSON.stringify(from());
        writeFileSync(w.path("saved.json"), text);
        w.assay("report", "saved.json", "-q", "-o", "saved.html");
        await checkLooks(w, what, w.path("saved.html"));
    });

test("looks: the dashboard", async (w) => {
    w.assay("sweep", "--models", "lenet,mlp", "--batch-sizes", "1,8", "-q", "-o", "plan.json");
    for (const model of ["lenet", "resnet18", "resnet50", "vgg16", "gpt2"])
        w.assay(model, "-q", "--save", "--db", "looks.db");
    const s = await serve(w, "--db", w.path("looks.db"), "--sweep-plan", w.path("plan.json"));
    if (!s) return console.log("      assay-serve is not built: left out");
    const places = ["", "records", "trend/resnet18", "devices", "record/2", "compare/2,3"];
    const more = ["add", "sweeps", "sweep/1", "fleet/changes"];
    try {
        for (const place of [...places, ...more])
            await checkLooks(w, `#/${place}`, `${s.url}#/${place}`, (page) =>
                page.waitForSelector(`html[data-place="${place || "overview"}"]`),
            );
    } finally {
        s.stop();
    }
});

// 259,087 bytes before the graph view (the commit before 87d0c863), and at most 150 kB more.
test("the page of a report without WASM is small", async (w) => {
    const html = readFileSync(w.path("probe.html"), "utf8");
    const empty = html.replace(/(data-encoding="gzip">)[^<]*/, "$1");
    const bytes = gzipSync(empty, { level: 9 }).length;
    console.log(`      ${bytes} bytes`);
    assert.ok(bytes < 259087 + 150000, `${bytes}`);
});
