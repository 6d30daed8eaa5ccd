// A manifest of `assay sweep --on kubernetes` against the schemas of the API that the package kubernetes-models has
// (Job of batch/v1, ConfigMap of v1):   node check_job_schema.mjs FILE...
// A line per object, with what is wrong with it. Exit 77: the package is not installed. check_manifest.py looks for keys
// that the API does not know, which these schemas allow.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
let kinds;
try {
    const { Job } = require("kubernetes-models/batch/v1");
    const { ConfigMap } = require("kubernetes-models/v1");
    kinds = { "batch/v1 Job": Job, "v1 ConfigMap": ConfigMap };
} catch {
    console.log("kubernetes-models is not installed (tools/web install --test)");
    process.exit(77);
}

function check(item) {
    const kind = `${item.apiVersion} ${item.kind}`;
    try {
        new kinds[kind](item).validate();
        return `${kind}: valid`;
    } catch (error) {
        return `${kind}: ${error.message}`;
    }
}

for (const file of process.argv.slice(2)) {
    for (const item of JSON.parse(readFileSync(file, "utf8")).items) {
        console.log(check(item));
    }
}
