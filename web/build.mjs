// Makes one file of HTML of src/: scripts and styles inlined, nothing fetched when it is opened.
//   node build.mjs FOLDER      writes page.html, licenses.txt and packages.txt (name, version
//                              and licence of each package in it; tools/sbom reads it)
// The page carries a content security policy that names its one script by hash: whatever a model's
// names hold, no other script runs, and a report talks to nobody. @ASSAY_CONNECT@ and @ASSAY_DATA@
// stay for the C side.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) {
    console.error("node build.mjs FOLDER");
    process.exit(2);
}

// What ends up in the bundle, with the notices that must stay with it.
const parts = [
    { name: "Apache ECharts", folder: "echarts", files: ["NOTICE", "LICENSE"] },
    { name: "ZRender", folder: "zrender", files: ["LICENSE"] },
    { name: "tslib", folder: "tslib", files: ["LICENSE.txt", "CopyrightNotice.txt"] },
    { name: "dagre", folder: "@dagrejs/dagre", files: ["LICENSE"] },
    { name: "graphlib", folder: "@dagrejs/graphlib", files: ["LICENSE"] },
];

function licenses() {
    return parts
        .map(({ name, folder, files }) => {
            const root = join(here, "node_modules", folder);
            const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
            const texts = files.map((f) =>
                readFileSync(join(root, f), "utf8")
                    .replace(/^\uFEFF/, "")
                    .trim(),
            );
            return `${name} ${version}\n\n${texts.join("\n\n")}\n`;
        })
        .join("\n" + "-".repeat(78) + "\n\n");
}

// The packages whose files are in the bundle, as esbuild reports them: none may lack its notice.
function packages(inputs) {
    const found = new Set();
    for (const file of Object.keys(inputs)) {
        const m = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file);
        if (m) found.add(m[1]);
    }
    for (const folder of found)
        if (!parts.some((p) => p.folder === folder))
            throw new Error(`${folder} is in the bundle: add it to the parts with notices`);
    return [...found].sort().map((folder) => {
        const text = readFileSync(join(here, "node_modules", folder, "package.json"), "utf8");
        const { name, version, license } = JSON.parse(text);
        return `${name} ${version} ${license}\n`;
    });
}

const inputs = {}; // of all bundles
async function bundle(entry, define) {
    const { outputFiles, metafile } = await build({
        absWorkingDir: here,
        entryPoints: [entry],
        bundle: true,
        minify: true,
        charset: "utf8",
        format: "iife",
        target: "es2021",
        legalComments: "none", // the notices are whole, in the page's own dialog
        define: { "process.env.NODE_ENV": '"production"', ...define },
        loader: { ".css": "text" },
        metafile: true,
        write: false,
        logLevel: "error",
    });
    Object.assign(inputs, metafile.inputs);
    return outputFiles[0].text.trim();
}

const notices = licenses();
// The worker is a text of the page, which starts it from there.
const worker = await bundle("src/graph/layout_worker.ts", {});
const made = await bundle("src/main.ts", {
    __LICENSES__: JSON.stringify(notices),
    __LAYOUT_WORKER__: JSON.stringify(worker),
});
// "</script" inside a string would end the element.
const script = made.replace(/<\/(script)/gi, "<\\/$1");
const style = (
    await build({
        absWorkingDir: here,
        entryPoints: ["src/style.css"],
        bundle: true,
        minify: true,
        charset: "utf8",
        write: false,
        logLevel: "error",
    })
).outputFiles[0].text.trim();

const hash = createHash("sha256").update(script, "utf8").digest("base64");
const fill = { "@SCRIPT_HASH@": `'sha256-${hash}'`, "@STYLE@": style, "@SCRIPT@": script };
const html = readFileSync(join(here, "src/page.html"), "utf8").replace(
    /@(SCRIPT_HASH|STYLE|SCRIPT)@/g,
    (m) => fill[m],
);
for (const mark of ["@ASSAY_CONNECT@", "@ASSAY_DATA@"])
    if (html.split(mark).length !== 2) throw new Error(`page.html must hold ${mark} once`);

mkdirSync(out, { recursive: true });
writeFileSync(join(out, "licenses.txt"), notices);
writeFileSync(join(out, "packages.txt"), packages(inputs).join(""));
writeFileSync(join(out, "page.html"), html);
