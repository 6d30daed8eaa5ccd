// assay.wasm beside the native program:
//   node tests/wasm/run.mjs PROGRAM FOLDER [--full]
// FOLDER is what tools/wasm wrote. The npm package is packed, installed without a network into a
// folder of its own, and must give the same exit code, stderr and JSON (without `context`) for the
// files of the tests, damaged files, the seeds of the fuzz targets and models of the zoo: a sample
// of these, or all of them with --full. Then the page, in Chromium. Ends with "N passed, M failed".
import { execFileSync, spawnSync } from "node:child_process";
import {
    existsSync,
    mkdtempSync,
    readFileSync,
    readdirSync,
    rmSync,
    statSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [program, built, ...more] = process.argv.slice(2);
const full = more.includes("--full");
const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const assay = resolve(program);
const folder = mkdtempSync(join(tmpdir(), "assay-wasm-"));
const env = { SOURCE_DATE_EPOCH: "0", LC_ALL: "C.UTF-8", COLUMNS: "80", HOME: folder };
const npmEnv = { ...process.env, npm_config_offline: "true", npm_config_update_notifier: "false" };
let passed = 0;
const failures = [];

function check(name, ok, why) {
    if (ok) passed++;
    else failures.push(name);
    const reason = ok || !why ? "" : `\n      ${why}`;
    console.log(`${ok ? "ok   " : "FAIL "} ${name}${reason}`);
}

function install() {
    const quiet = { cwd: folder, env: npmEnv, stdio: ["ignore", "pipe", "pipe"] };
    const args = ["pack", "--ignore-scripts", "--pack-destination", folder, resolve(built, "npm")];
    execFileSync("npm", args, quiet);
    const tarball = readdirSync(folder).find((f) => f.endsWith(".tgz"));
    writeFileSync(join(folder, "package.json"), '{"name": "test", "private": true}');
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
    execFileSync("npm", ["install", ...flags, join(folder, tarball)], quiet);
    return join(folder, "node_modules/assay");
}

const withoutContext = (text) => text.replace(/ {2}"context": \{\n[\s\S]*?\n {2}\},\n/, "");

function difference(native, mine) {
    const a = withoutContext(native).split("\n");
    const b = withoutContext(mine).split("\n");
    const at = a.findIndex((line, i) => line !== b[i]);
    return at < 0 && a.length === b.length
        ? null
        : `line ${at + 1}: ${a[at]?.slice(0, 160)} | ${b[at]?.slice(0, 160)}`;
}

// Both programs on one command line: null, or what differs.
function compared(run, args) {
    const native = spawnSync(assay, args, { env, cwd: root, maxBuffer: 1 << 30 });
    let mine;
    try {
        mine = run(args, { env });
    } catch (error) {
        return `it stopped: ${error.message}`;
    }
    if (native.status !== mine.code || native.stderr.toString() !== mine.stderr)
        return `${native.status} ${native.stderr} | ${mine.code} ${mine.stderr}`;
    return difference(native.stdout.toString(), mine.stdout);
}

function filesBelow(path) {
    const at = join(root, path);
    if (!existsSync(at)) return [];
    if (!statSync(at).isDirectory()) return [path];
    return readdirSync(at)
        .sort()
        .flatMap((name) => filesBelow(join(path, name)));
}

// About n of a list, at equal distances.
const some = (list, n) => list.filter((_, i) => i % Math.ceil(list.length / n) === 0);

function compareMany(run, name, list) {
    const bad = list.map((args) => [args, compared(run, args)]).filter(([, why]) => why);
    const shown = bad.slice(0, 5).map(([args, why]) => `${args.join(" ")}: ${why}`);
    check(
        `${name}: ${list.length} the same`,
        !bad.length,
        `${bad.length} differ; ${shown.join("\n      ")}`,
    );
}

function seeds() {
    const skip = /fuzz_(http|history|load|options|image|alert)$/;
    return readdirSync(join(root, "tests/fuzz/corpus"))
        .filter((target) => !skip.test(target))
        .flatMap((target) => filesBelow(join("tests/fuzz/corpus", target)));
}

const json = (word) => ["graph", word, "--json"];
const modelFiles = () =>
    ["tests/data", "tests/cli/models", "tests/models"]
        .flatMap(filesBelow)
        .filter((f) => !/\.(py|csv|md|txt|license)$/i.test(f));

async function comparePrograms(at) {
    const { run, profile, AssayError } = await import(pathToFileURL(join(at, "index.mjs")).href);
    const zoo = JSON.parse(run(["models", "--json"]).stdout).map((m) => m.name);
    // In these, nodes were once in the order in which the compiler evaluated arguments.
    const once = ["swin_v2_t", "mvit_v2_s", "ssd300_vgg16", "yolov8n-obb", "raft_large"];
    compareMany(run, "zoo", (full ? zoo : [...some(zoo, 60), ...once]).map(json));
    compareMany(run, "files", modelFiles().map(json));
    compareMany(run, "fuzz corpus", seeds().map(json));
    compareMany(run, "screens and commands", [
        ["resnet18"],
        ["lenet", "--verbose"],
        ["compare", "resnet18", "resnet34", "--json"],
        ["scale", "gpt2", "--dim", "seq=256..1024", "--json"],
        ["memory", "resnet18", "--json"],
        ["map", "resnet18", "--hardware", "a100-80", "--json"],
        ["fuse", "resnet18", "--json"],
        ["pipeline", "sd21", "--json"],
        ["ops"],
        ["devices", "--json"],
        ["lenet", "-f", "netron"],
        ["graph", "nosuch.onnx"],
        ["resnet5"],
        ["lenet", "--batch", "0"],
    ]);
    const cut = join(folder, "cut.onnx");
    writeFileSync(
        cut,
        readFileSync(join(root, "tests/cli/models/quant_cnn.onnx")).subarray(0, 300),
    );
    compareMany(run, "a damaged file", [json(cut)]);
    check("profile()", profile("lenet", { batch: 2 }).total_parameters === 61706);
    const bytes = readFileSync(join(root, "tests/cli/models/types.onnx"));
    check("profile() of bytes", profile(bytes).schema === "assay.profile/1");
    let code = 0;
    try {
        profile(new Uint8Array([1, 2, 3]));
    } catch (error) {
        code = error instanceof AssayError ? error.code : -1;
    }
    check("profile() refuses bytes of no model", code > 0, String(code));
}

function compareCommandLines(at) {
    const npx = (...args) =>
        spawnSync("node", [join(at, "cli.mjs"), ...args], {
            env: { ...process.env, ...env },
            cwd: folder,
        });
    const native = spawnSync(assay, ["lenet"], { env });
    check("npx assay lenet", npx("lenet").stdout.equals(native.stdout));
    check("npx assay of no model", npx("nosuch").status === 2);
    for (const words of ["completion bash", "bench lenet", "serve", "help check"]) {
        const left = npx(...words.split(" "));
        const says = left.status === 4 && /needs the native program/.test(left.stderr);
        check(`npx assay ${words} says what it needs`, says, String(left.stderr));
    }
    const run = npx("compare", "lenet", "mlp", "--measure");
    check("what needs the native program says so", run.status === 5 && /native/.test(run.stderr));
    const refused = npx("compare", "lenet", "mlp", "--baseline", "old.json");
    check(
        "so does an option of native commands",
        refused.status === 2 && /native/.test(refused.stderr),
    );
    if (existsSync(join(at, "page.html"))) {
        npx("lenet", "-q", "-o", "lenet.html");
        const html = readFileSync(join(folder, "lenet.html"), "utf8");
        check(
            "HTML is whole",
            html.startsWith("<!doctype html>") && html.includes('id="assay-data"'),
        );
    }
}

function checkSizes() {
    const packed = (name) => gzipSync(readFileSync(join(built, name)), { level: 9 }).length;
    // Without wasm-opt it is larger, and no limit applies.
    if (!spawnSync("wasm-opt", ["--version"]).error)
        check(
            "assay.wasm below 950 kB",
            packed("assay.wasm") < 950e3,
            `${packed("assay.wasm")} bytes`,
        );
    if (existsSync(join(built, "assay.html")))
        check("assay.html below 2 MB", packed("assay.html") < 2e6, `${packed("assay.html")} bytes`);
}

try {
    const at = install();
    checkSizes();
    await comparePrograms(at);
    compareCommandLines(at);
    if (existsSync(join(built, "assay.html"))) {
        const { checkPage } = await import("./page.mjs");
        await checkPage({ program: assay, page: resolve(built, "assay.html"), check });
    }
} finally {
    rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length ? 1 : 0);
