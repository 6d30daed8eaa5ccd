// The worker of assay.html: runs assay.wasm on files that the page hands over. Bytes are read in
// ranges and when they are needed (FileReaderSync), so that a file may be larger than memory.
import { runKept } from "./host.mjs";

let module = null;
const reader = new FileReaderSync();

function filesOf(list) {
    const byPath = new Map(list.map(({ path, file }) => [path, file]));
    const plain = (path) =>
        path
            .split("/")
            .filter((part) => part && part !== ".")
            .join("/");
    const find = (path) => byPath.get(plain(path));
    // The names in a folder.
    const inside = (path) => {
        const folder = plain(path) && `${plain(path)}/`;
        return [...byPath.keys()]
            .filter((p) => p.startsWith(folder))
            .map((p) => p.slice(folder.length).split("/")[0]);
    };
    const isFolder = (path) => !plain(path) || inside(path).length > 0;
    return {
        stat(path) {
            const file = find(path);
            if (file) return { kind: "file", size: file.size, mtimeMs: file.lastModified ?? 0 };
            return isFolder(path) ? { kind: "folder", size: 0, mtimeMs: 0 } : null;
        },
        open(path, how) {
            const file = how.write ? null : find(path);
            if (!file) return null;
            const read = (bytes, offset) => {
                const part = file.slice(offset, offset + bytes.length);
                bytes.set(new Uint8Array(reader.readAsArrayBuffer(part)));
                return part.size;
            };
            return { size: () => file.size, read };
        },
        list: (path) => [...new Set(inside(path))],
        real: (path) => (find(path) || isFolder(path) ? "/" + plain(path) : null),
        makeFolder() {},
        rename() {},
        remove() {},
    };
}

function run(args, files) {
    const decoder = new TextDecoder();
    try {
        const env = { COLUMNS: "100", LC_ALL: "C.UTF-8" };
        const kept = runKept(module, { args: ["assay", ...args], env, files: filesOf(files) });
        const out = decoder.decode(kept.stdout);
        return { code: kept.code, out, error: decoder.decode(kept.stderr) };
    } catch (error) {
        return { code: 1, out: "", error: `assay: ${error.message}` };
    }
}

onmessage = (e) => {
    if (e.data.program) module = new WebAssembly.Module(e.data.program);
    else postMessage({ id: e.data.id, done: run(e.data.args, e.data.files) });
};
