// Tests of the page in a real browser:  node tests/page/run.mjs PROGRAM [PART OF A NAME]
// Ends with "N passed, M failed"; exits 77 and says why where the browser or its driver is missing.
import { existsSync } from "node:fs";
import { runAll, start } from "./lib.mjs";

const [program, only] = process.argv.slice(2);
if (!program || !existsSync(program)) {
    console.error("node tests/page/run.mjs PROGRAM [PART OF A NAME]");
    process.exit(2);
}
const world = await start(program);
if (typeof world === "string") {
    console.log(world);
    process.exit(77);
}
await import("./report.mjs");
await import("./documents.mjs");
await import("./kinds.mjs");
await import("./graph.mjs");
await import("./dashboard.mjs");
await import("./layout.mjs");
process.exit((await runAll(world, only)) ? 1 : 0);
