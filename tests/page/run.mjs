// Tests of the page in a real browser:  node tests/page/run.mjs PROGRAM [PART OF A NAME]
// Ends with "N passed, M failed"; exits 77 and says why where the browser or its driver is missing.
import { existsSync } from "node:fs";
import { start, tests } from "./lib.mjs";

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

let failed = 0;
let passed = 0;
for (const { name, run } of tests) {
    if (only && !name.includes(only)) continue;
    const began = Date.now();
    try {
        await run(world);
        passed++;
        console.log(`ok    ${name} (${Date.now() - began} ms)`);
    } catch (error) {
        failed++;
        console.log(`FAIL  ${name}\n${String(error.stack ?? error).replace(/^/gm, "      ")}`);
    }
    await world.closeAll();
}
await world.stop();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
