// assay as a module of Node (docs/browser.md): the static analysis of models by assay.wasm.
import { readFileSync } from "node:fs";
import { nodeFiles } from "./files_node.mjs";
import { runKept } from "./host.mjs";

let module = null;
const program = () =>
    (module ??= new WebAssembly.Module(readFileSync(new URL("./assay.wasm", import.meta.url))));

export class AssayError extends Error {
    constructor(message, code) {
        super(message);
        this.name = "AssayError";
        this.code = code;
    }
}

// {batch: 4, lens: "fvcore", training: true, set: ["a=1", "b=2"]} as options of the command line.
function optionWords(options) {
    return Object.entries(options).flatMap(([key, value]) => {
        const name = "--" + key.replace(/[A-Z]/g, (c) => "-" + c.toLowerCase());
        if (value === false || value === undefined || value === null) return [];
        if (value === true) return [name];
        return (Array.isArray(value) ? value : [value]).flatMap((v) => [name, String(v)]);
    });
}

// Bytes are a file of their own, under a name that says nothing.
function withBytes(model) {
    if (typeof model === "string") return { word: model, files: nodeFiles };
    const bytes = new Uint8Array(model.buffer ?? model, model.byteOffset ?? 0, model.byteLength);
    const word = "/assay-model";
    const stat = { kind: "file", size: bytes.length, mtimeMs: 0 };
    const read = (into, offset) => {
        const part = bytes.subarray(offset, offset + into.length);
        into.set(part);
        return part.length;
    };
    const files = {
        ...nodeFiles,
        stat: (path) => (path === word ? stat : null),
        open: (path) => (path === word ? { size: () => bytes.length, read } : null),
        list: () => [],
        real: (path) => (path === word ? path : null),
    };
    return { word, files };
}

export function run(args, { env = {}, files = nodeFiles } = {}) {
    const kept = runKept(program(), { args: ["assay", ...args], env, files });
    const decoder = new TextDecoder();
    return {
        code: kept.code,
        stdout: decoder.decode(kept.stdout),
        stderr: decoder.decode(kept.stderr),
    };
}

function result(args, files) {
    const done = run([...args, "--format", "json"], { files });
    if (done.code === 0) return JSON.parse(done.stdout);
    throw new AssayError(done.stderr.replace(/^assay: /, "").trim(), done.code);
}

export function profile(model, options = {}) {
    const { word, files } = withBytes(model);
    return result(["graph", word, ...optionWords(options)], files);
}

export function compare(models, options = {}) {
    return result(["compare", ...models, ...optionWords(options)], nodeFiles);
}

export function models() {
    return result(["models"], nodeFiles);
}
