// Zip archives that a user drops: the files inside. Stored ones are ranges of the archive and are
// not read; deflated ones are unpacked by the browser. Only a file named .zip is taken for one:
// models of PyTorch and Keras are archives as well, and are read as they are.
import type { NamedFile } from "./files";

const END = 0x06054b50; // of the directory: its last record
const ENTRY = 0x02014b50;
const MOST_ENTRIES = 10000;
const MOST_BYTES = 2 ** 31; // unpacked, in all

interface Entry {
    name: string;
    method: number;
    packed: number;
    size: number;
    header: number;
    locked: boolean;
}

const view = async (of: Blob, from: number, to: number): Promise<DataView> =>
    new DataView(await of.slice(Math.max(0, from), to).arrayBuffer());

function refuse(path: string, why: string): never {
    throw new Error(`${path}: ${why}`);
}

function entryAt(v: DataView, at: number): Entry & { next: number } {
    const n = v.getUint16(at + 28, true);
    const name = new TextDecoder().decode(new Uint8Array(v.buffer, v.byteOffset + at + 46, n));
    return {
        name,
        locked: (v.getUint16(at + 8, true) & 1) !== 0,
        method: v.getUint16(at + 10, true),
        packed: v.getUint32(at + 20, true),
        size: v.getUint32(at + 24, true),
        header: v.getUint32(at + 42, true),
        next: at + 46 + n + v.getUint16(at + 30, true) + v.getUint16(at + 32, true),
    };
}

function listOf(v: DataView, count: number): Entry[] {
    const list: Entry[] = [];
    for (let at = 0; list.length < count;) {
        if (v.getUint32(at, true) !== ENTRY) throw new RangeError("no entry");
        const e = entryAt(v, at);
        list.push(e);
        at = e.next;
    }
    return list;
}

async function directory({ path, file }: NamedFile): Promise<Entry[]> {
    const tail = await view(file, file.size - 65557, file.size);
    let at = tail.byteLength - 22;
    while (at >= 0 && tail.getUint32(at, true) !== END) at--;
    if (at < 0) refuse(path, "not a zip archive");
    const count = tail.getUint16(at + 10, true);
    const size = tail.getUint32(at + 12, true);
    const start = tail.getUint32(at + 16, true);
    if (count === 0xffff || start === 0xffffffff)
        refuse(path, "zip64 archives are not unpacked. Drop the folder itself.");
    if (count > MOST_ENTRIES) refuse(path, `more than ${MOST_ENTRIES} files`);
    try {
        return listOf(await view(file, start, start + size), count);
    } catch {
        return refuse(path, "the directory of the zip archive is damaged");
    }
}

async function contentOf({ path, file }: NamedFile, e: Entry): Promise<Blob> {
    const head = await view(file, e.header, e.header + 30);
    if (head.byteLength < 30) refuse(path, `'${e.name}' is damaged`);
    const from = e.header + 30 + head.getUint16(26, true) + head.getUint16(28, true);
    const packed = file.slice(from, from + e.packed);
    if (e.locked) refuse(path, `'${e.name}' is encrypted`);
    if (e.method === 0) return packed;
    if (e.method !== 8) refuse(path, `'${e.name}' is compressed by an unknown method`);
    try {
        return await inflate(packed, e.size);
    } catch {
        return refuse(path, `'${e.name}' is damaged`);
    }
}

// No more bytes than the directory says.
async function inflate(packed: Blob, size: number): Promise<Blob> {
    const reader = packed.stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    for (let n = 0; ;) {
        const { done, value } = await reader.read();
        if (done && n !== size) throw new RangeError("short");
        if (done) return new Blob(pieces);
        n += value.length;
        if (n > size) throw new RangeError("long");
        pieces.push(value as Uint8Array<ArrayBuffer>);
    }
}

export async function isArchive(f: NamedFile): Promise<boolean> {
    if (!/\.zip$/i.test(f.path)) return false;
    const names = (await directory(f)).map((e) => e.name);
    return !names.some((n) => /(^|\/)data\.pkl$/.test(n)); // PyTorch's own
}

export async function unpack(f: NamedFile): Promise<NamedFile[]> {
    const entries = (await directory(f)).filter((e) => !e.name.endsWith("/"));
    if (entries.reduce((n, e) => n + e.size, 0) > MOST_BYTES)
        refuse(f.path, "more than 2 GiB. Drop the folder itself.");
    const files: NamedFile[] = [];
    for (const e of entries) files.push({ path: e.name, file: await contentOf(f, e) });
    return files;
}
