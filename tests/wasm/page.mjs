// assay.html in Chromium: built-in models by name, files that are dropped, comparison, refusals, a
// file of 3 GB that is read in ranges; what axe-core finds. No request leaves the page.
import assert from "node:assert/strict";
import {
    closeSync,
    existsSync,
    ftruncateSync,
    openSync,
    readFileSync,
    writeFileSync,
    writeSync,
} from "node:fs";
import { join } from "node:path";
import { axe, root, seriousFaults, start, zipFile } from "../page/lib.mjs";

const model = (name) => join(root, "tests/cli/models", name);

async function analyse(page, act) {
    await page.evaluate(() => delete document.documentElement.dataset.analysed);
    await act();
    await page.waitForSelector("html[data-analysed]");
}
const choose = (page, files) => analyse(page, () => page.setInputFiles("#file", files));
const another = (page) => page.click("text=Another model");
const shown = (page) => page.innerText("main");

// GGUF with one tensor of many bytes, which are a hole in the file.
function largeFile(path, bytes) {
    const text = (s) => Buffer.concat([u64(s.length), Buffer.from(s)]);
    const u32 = (v) => Buffer.from(Uint32Array.of(v).buffer);
    const u64 = (v) => Buffer.from(BigUint64Array.of(BigInt(v)).buffer);
    const head = Buffer.concat([
        Buffer.from("GGUF"),
        u32(3),
        u64(1),
        u64(1),
        text("general.architecture"),
        u32(8),
        text("none"),
        text("weight"),
        u32(1),
        u64(bytes / 4),
        u32(0),
        u64(0),
    ]);
    const data = Math.ceil(head.length / 32) * 32;
    const fd = openSync(path, "w");
    writeSync(fd, head);
    ftruncateSync(fd, data + bytes);
    closeSync(fd);
}

const tests = {
    "a built-in model by name": async ({ page, world }) => {
        const offered = await page.$$eval("#models option", (l) => l.map((o) => o.value));
        assert.deepEqual(
            offered,
            world.json("models").map((m) => m.name),
        );
        await page.fill("input[name=model]", "resnet18");
        await analyse(page, () => page.press("input[name=model]", "Enter"));
        const native = world.json("resnet18");
        assert.match(
            await shown(page),
            new RegExp(native.conclusion.slice(0, 30).replace(/\W/g, ".")),
        );
        assert.ok(await page.$("#graph"), "the graph view");
        await another(page);
    },
    "a file": async ({ page }) => {
        await choose(page, [model("quant_cnn.onnx")]);
        assert.match(await page.innerText("h1"), /quant_cnn/);
        await another(page);
    },
    "two files are compared": async ({ page }) => {
        await choose(page, [model("quant_cnn.onnx"), model("quant_mlp.onnx")]);
        assert.match(await page.innerText("header"), /side by side/);
        await another(page);
    },
    "a file that is no model": async ({ page, world }) => {
        const path = world.path("cut.onnx");
        const fd = openSync(path, "w");
        writeSync(fd, readFileSync(model("quant_cnn.onnx")).subarray(0, 300));
        closeSync(fd);
        await choose(page, [path]);
        let sentence = "";
        try {
            world.assay("cut.onnx");
        } catch (error) {
            sentence = error.stderr
                .toString()
                .replace(/^assay: /, "")
                .trim();
        }
        assert.equal((await page.innerText(".banner.poor")).trim(), sentence);
    },
    "weights beside their model, and folders": async ({ page, world }) => {
        const data = (name) => join(root, "tests/data", name);
        const cases = [
            ["openvino/net.xml", [data("openvino/net.xml"), data("openvino/net.bin")]],
            ["ncnn/net.param", [data("ncnn/net.param"), data("ncnn/net.bin")]],
            ["tensorflow/saved", data("tensorflow/saved")],
            ["coreml/program.mlpackage", data("coreml/program.mlpackage")],
            ["torch/sharded", data("torch/sharded")],
        ];
        for (const [name, files] of cases) {
            const field = Array.isArray(files) ? "#file" : "#folder";
            await analyse(page, () => page.setInputFiles(field, files));
            const { total_parameters } = world.json("graph", data(name));
            const text = await shown(page);
            assert.ok(text.includes(total_parameters.toLocaleString("en-US")), `${name}: ${text}`);
            await another(page);
        }
    },
    "a folder in a zip archive": async ({ page, world }) => {
        const zipped = zipFile(world, "program.zip", "coreml/program.mlpackage");
        await choose(page, [zipped]);
        assert.match(await page.innerText("h1"), /program\.mlpackage/);
        await another(page);
        writeFileSync(zipped, readFileSync(zipped).subarray(0, 200));
        await page.setInputFiles("#file", [zipped]);
        await page.waitForSelector(".banner.poor");
        assert.match(await page.innerText(".banner.poor"), /program\.zip: not a zip archive/);
    },
    "names stay text": async ({ page }) => {
        await choose(page, [model("hostile.onnx")]);
        assert.equal(await page.evaluate(() => document.querySelectorAll("main script").length), 0);
        await another(page);
    },
    "3 GB in ranges": async ({ page, world }) => {
        const path = world.path("large.gguf");
        largeFile(path, 3 * 2 ** 30);
        await choose(page, [path]);
        assert.match(await shown(page), /805[.,]3/);
        await another(page);
    },
};

// The start, a report, a comparison and a refusal, without serious faults.
async function accessible(world, path, colorScheme) {
    const page = await world.page(path, { colorScheme, bypassCSP: true });
    const clean = async (what) =>
        assert.deepEqual(await seriousFaults(page), [], `${what}, ${colorScheme}`);
    await page.waitForSelector("input[name=model]");
    await clean("start");
    await choose(page, [model("quant_cnn.onnx")]);
    await clean("report");
    await another(page);
    await choose(page, [model("quant_cnn.onnx"), model("quant_mlp.onnx")]);
    await clean("comparison");
    await another(page);
    await choose(page, [join(root, "README.md")]);
    await page.waitForSelector(".banner.poor");
    await clean("refusal");
}

async function checkAccessibility({ world, path, check }) {
    if (!existsSync(axe)) {
        console.log("skipped: axe-core is not installed (tools/web install --test)");
        return;
    }
    for (const scheme of ["light", "dark"])
        await accessible(world, path, scheme).then(
            () => check(`page: axe finds no serious fault, ${scheme}`, true),
            (error) => check(`page: axe finds no serious fault, ${scheme}`, false, error.message),
        );
}

export async function checkPage({ program, page: path, check }) {
    const world = await start(program);
    if (typeof world === "string") {
        console.log(world);
        return;
    }
    const page = await world.page(path);
    for (const [name, run] of Object.entries(tests))
        try {
            await run({ page, world });
            check(`page: ${name}`, true);
        } catch (error) {
            check(`page: ${name}`, false, String(error.stack ?? error));
        }
    const outside = page.requests.filter((url) => !/^(file|blob|data):/.test(url));
    check("page: no request leaves it", !outside.length, outside.join(" "));
    check("page: quiet", !page.troubles.length, page.troubles.join("\n"));
    await checkAccessibility({ world, path, check });
    await world.closeAll();
    await world.stop();
}
