// Makes assay.html: the page of HTML reports with assay.wasm, its worker and no result in it.
//   node wasm/page.mjs PAGE.html ASSAY.wasm VERSION > assay.html
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const [page, program, version] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const { buildSync } = createRequire(join(here, "../web/package.json"))("esbuild");

const worker = buildSync({
    entryPoints: [join(here, "worker.mjs")],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2021",
    write: false,
}).outputFiles[0].text.replace(/<\/(script)/gi, "<\\/$1");
const packed = (bytes) => gzipSync(bytes, { level: 9 }).toString("base64");
const part = (id, text) => `<script type="text/plain" id="${id}">${text}</script>\n`;
const envelope = { mode: "browser", graphs: true, details: true, tool: version, documents: [] };

// The page may compile WebAssembly, and still talk to nobody.
const fill = {
    "script-src ": "script-src 'wasm-unsafe-eval' ",
    "@ASSAY_CONNECT@": "'none'",
    "@ASSAY_DATA@":
        part("assay-data", packed(JSON.stringify(envelope))) +
        part("assay-worker", worker) +
        part("assay-wasm", packed(readFileSync(program))),
};
let html = readFileSync(page, "utf8");
for (const [mark, text] of Object.entries(fill)) {
    const at = html.indexOf(mark);
    if (at < 0) throw new Error(`${page} does not hold ${mark}`);
    html = html.slice(0, at) + text + html.slice(at + mark.length);
}
process.stdout.write(html);
