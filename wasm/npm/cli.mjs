#!/usr/bin/env node
// The command line: npx assay model.onnx
import fs from "node:fs";
import { nodeFiles } from "./files_node.mjs";
import { runModule } from "./host.mjs";
import { pageWriter, withPages } from "./pages.mjs";

// A pipe takes what it has room for.
function writeAll(fd, bytes) {
    let done = 0;
    while (done < bytes.length)
        try {
            done += fs.writeSync(fd, bytes, done);
        } catch (error) {
            if (error.code !== "EAGAIN") throw error;
        }
}

const program = new WebAssembly.Module(fs.readFileSync(new URL("./assay.wasm", import.meta.url)));
const out = pageWriter(writeAll);
const columns = process.stdout.columns;
process.exitCode = runModule(program, {
    args: ["assay", ...process.argv.slice(2)],
    env: columns && !process.env.COLUMNS ? { ...process.env, COLUMNS: columns } : process.env,
    files: withPages(nodeFiles),
    stdin: () => new Uint8Array(fs.readFileSync(0)),
    tty: [0, 1, 2].map((fd) => [process.stdin, process.stdout, process.stderr][fd].isTTY === true),
    write: out.write,
});
out.end();
