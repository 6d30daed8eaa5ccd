// One figure reads the same on the console and on the page: src/base/text.c and
// src/report/view_text.c against web/src/format.ts, number by number:
//   node tests/page/format.mjs FORMAT_VALUES
// Exits 77 and says why where esbuild, which reads TypeScript, is missing.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const esbuild = join(root, "web/node_modules/esbuild/lib/main.js");
if (!existsSync(esbuild)) {
    console.log("skipped: esbuild is not installed (tools/web install)");
    process.exit(77);
}
const { transformSync } = (await import(pathToFileURL(esbuild).href)).default;
const source = readFileSync(join(root, "web/src/format.ts"), "utf8");
const code = transformSync(source, { loader: "ts", format: "esm" }).code;
const f = await import("data:text/javascript," + encodeURIComponent(code));

// ---- numbers: ties, both sides of every edge, and many at random ----

const bits = new DataView(new ArrayBuffer(8));
function next(v, by) {
    bits.setFloat64(0, v);
    bits.setBigInt64(0, bits.getBigInt64(0) + BigInt(by));
    return bits.getFloat64(0);
}
let seed = 12345;
function random() {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
}

const edges = [
    0.01,
    0.1,
    1,
    9.995,
    10,
    99.95,
    100,
    999.5,
    1000,
    1023.995,
    1024,
    9999.95,
    1e4,
    999500,
    1e6,
    1023.995 * 1024,
    2 ** 20,
    2 ** 30,
    1e9,
    1e12,
];
const plain = [
    0, 0.004, 0.005, 0.015, 0.125, 0.5, 1.005, 1.45, 2.5, 2.675, 5e-5, 1023.7, 1.0049999999999999,
    12.5, 62.5,
];
for (const e of edges) plain.push(e, next(e, -1), next(e, 1));
for (let i = 0; i < 400; i++) plain.push(i / 8, i + 0.5, i * 125); // halves and eighths: ties
for (let i = 0; i < 4000; i++) plain.push(10 ** (18 * random() - 4));
const signed = [...plain, ...plain.map((v) => -v)];
const counts = [6422528, 4096 * 1568, 0, 1, 1023, 1024, 1048570, 1048571, 1048575, 2 ** 50 - 1];
for (let i = 0; i < 4000; i++) counts.push(Math.floor(2 ** (52 * random())), 8192 * i + 1280);

const rows = [
    ["si", (v) => f.si(v), signed],
    ["whole", f.whole, signed],
    ["bytes", f.bytes, [...signed, ...counts]],
    ["ms", f.ms, signed],
    ["percent", (v) => f.percent(v), signed],
    ["percent0", (v) => f.percent(v, 0), signed],
    ["percent2", (v) => f.percent(v, 2), signed],
    ["fixed1", (v) => f.fixed(v, 1), signed],
    ["fixed2", (v) => f.fixed(v), signed],
    ["fixed3", (v) => f.fixed(v, 3), signed],
    ["ratio", f.ratio, signed],
    ["intensity", f.intensity, signed],
    ["rate", f.rate, signed],
    ["console-si", (v) => f.si(v), plain.filter((v) => v === 0 || v >= 0.01)],
    ["console-bytes", f.bytes, counts],
    ["console-ms", f.ms, plain.filter((v) => v > 0)],
].map(([unit, page, list]) => [unit, page, list.filter((v) => Math.abs(v) < 1e12)]);

// ---- both ----

const asked = rows.flatMap(([unit, page, list]) => list.map((v) => ({ unit, page, v })));
const input = asked.map(({ unit, v }) => `${unit} ${v}`).join("\n") + "\n";
const said = execFileSync(resolve(process.argv[2]), { input, maxBuffer: 1 << 28 })
    .toString()
    .split("\n");
const wrong = asked
    .map(({ unit, page, v }, i) => ({
        unit,
        v,
        console: said[i],
        page: page(v).replaceAll("\u202f", " "),
    }))
    .filter((r) => r.console !== r.page);
for (const r of wrong.slice(0, 20))
    console.log(`${r.unit} of ${r.v}: "${r.console}" on the console, "${r.page}" on the page`);
console.log(`${asked.length - wrong.length} of ${asked.length} numbers read the same`);
process.exit(wrong.length || said.length !== asked.length + 1 ? 1 : 0);
