// Runs assay.wasm: the part of WASI (wasi_snapshot_preview1) that it uses. The same file serves
// Node, the worker of the browser page and the npm package. Files are objects of the caller, which
// give ranges of their bytes:
//
//   files.stat(path)    {kind: "file" | "folder" | "other", size, mtimeMs}, or null
//   files.open(path, how)   how: {write, create, exclusive, truncate}; null: none. A handle:
//       {size(), read(bytes, offset) -> count, write?(bytes, offset), resize?(size), close?()}
//   files.list(path), files.real(path), files.makeFolder(path), files.rename(a, b),
//   files.remove(path)
//
// An error with a `code` of Node ("EACCES") becomes the error of that name. Paths are what was
// written.
const ERRORS = {
    E2BIG: 1,
    EACCES: 2,
    EBADF: 8,
    EBUSY: 10,
    EEXIST: 20,
    EFBIG: 22,
    EINVAL: 28,
    EIO: 29,
    EISDIR: 31,
    ELOOP: 32,
    EMFILE: 33,
    ENAMETOOLONG: 37,
    ENOENT: 44,
    ENOMEM: 48,
    ENOSPC: 51,
    ENOSYS: 52,
    ENOTDIR: 54,
    ENOTEMPTY: 55,
    ENOTSUP: 58,
    EPERM: 63,
    EPIPE: 64,
    EROFS: 69,
    ESPIPE: 70,
};
const KINDS = { folder: 3, file: 4, other: 0 };
const TTY = 2;
const RIGHT_WRITE = 1n << 6n;
const FIRST = 4; // descriptors 0 to 2 are streams, 3 is the root of all paths

class Exit extends Error {
    constructor(code) {
        super(`exit ${code}`);
        this.code = code;
    }
}
class Failure extends Error {
    constructor(code) {
        super(code);
        this.code = code;
    }
}

const text = new TextEncoder();

class Host {
    constructor({ args, env, files, stdin, write, tty, now }) {
        this.args = args.map((a) => text.encode(a + "\0"));
        this.env = Object.entries(env).map(([k, v]) => text.encode(`${k}=${v}\0`));
        Object.assign(this, { files, stdin, write, tty, now });
        this.open = new Map();
        this.next = FIRST;
        this.stdinAt = 0;
    }

    get view() {
        return new DataView(this.memory.buffer);
    }
    bytes(at, n) {
        return new Uint8Array(this.memory.buffer, at >>> 0, n >>> 0);
    }
    path(at, n) {
        return new TextDecoder().decode(this.bytes(at, n).slice());
    }
    file(fd) {
        const f = this.open.get(fd);
        if (!f) throw new Failure("EBADF");
        return f;
    }
    // The ranges of memory that a list of iovec names.
    ranges(at, n) {
        const v = this.view;
        const list = [];
        for (let i = 0; i < n; i++)
            list.push(this.bytes(v.getUint32(at + 8 * i, true), v.getUint32(at + 8 * i + 4, true)));
        return list;
    }
    putStrings(list, pointers, at) {
        for (const s of list) {
            this.view.setUint32(pointers, at, true);
            this.bytes(at, s.length).set(s);
            pointers += 4;
            at += s.length;
        }
    }
    putSizes(list, count, size) {
        this.view.setUint32(count, list.length, true);
        this.view.setUint32(
            size,
            list.reduce((n, s) => n + s.length, 0),
            true,
        );
    }
    putStat(at, s) {
        const v = this.view;
        this.bytes(at, 64).fill(0);
        v.setUint8(at + 16, KINDS[s.kind]);
        v.setBigUint64(at + 24, 1n, true);
        v.setBigUint64(at + 32, BigInt(s.size), true);
        const ns = BigInt(Math.round((s.mtimeMs ?? 0) * 1e6));
        for (const field of [40, 48, 56]) v.setBigUint64(at + field, ns, true);
    }
    read(f, ranges, offset) {
        let n = 0;
        for (const r of ranges) {
            const got = f.handle.read(r, offset + n);
            n += got;
            if (got < r.length) break;
        }
        return n;
    }
    readStdin(ranges) {
        const all = (this.stdin = typeof this.stdin === "function" ? this.stdin() : this.stdin);
        let n = 0;
        for (const r of ranges) {
            const part = all.subarray(this.stdinAt, this.stdinAt + r.length);
            r.set(part);
            this.stdinAt += part.length;
            n += part.length;
        }
        return n;
    }
}

// The calls: each returns nothing, or throws a Failure.
const calls = {
    args_sizes_get: (h, count, size) => h.putSizes(h.args, count, size),
    args_get: (h, pointers, at) => h.putStrings(h.args, pointers, at),
    environ_sizes_get: (h, count, size) => h.putSizes(h.env, count, size),
    environ_get: (h, pointers, at) => h.putStrings(h.env, pointers, at),
    clock_time_get: (h, id, precision, out) => h.view.setBigUint64(out, h.now(id === 0), true),
    proc_exit: (h, code) => {
        throw new Exit(code);
    },
    fd_advise: () => {},
    fd_fdstat_set_flags: () => {},
    fd_prestat_get: () => {
        throw new Failure("EBADF");
    },
    fd_close: (h, fd) => {
        h.file(fd).handle.close?.();
        h.open.delete(fd);
    },
    fd_fdstat_get: (h, fd, out) => {
        const kind =
            fd < 3 ? (h.tty[fd] ? TTY : 0) : fd === 3 ? KINDS.folder : KINDS[h.file(fd).kind];
        h.bytes(out, 24).fill(0);
        h.view.setUint8(out, kind);
        // A terminal cannot seek: that is how the C library knows one.
        const rights = fd < 3 ? ~0n & ~(1n << 2n) & ~(1n << 5n) : ~0n;
        h.view.setBigUint64(out + 8, BigInt.asUintN(64, rights), true);
        h.view.setBigUint64(out + 16, BigInt.asUintN(64, ~0n), true);
    },
    fd_filestat_get: (h, fd, out) => {
        if (fd < 3) return h.putStat(out, { kind: "other", size: 0 });
        const f = h.file(fd);
        h.putStat(out, { kind: f.kind, size: f.handle ? f.handle.size() : 0, mtimeMs: f.mtimeMs });
    },
    fd_filestat_set_size: (h, fd, size) => h.file(fd).handle.resize(Number(size)),
    fd_pread: (h, fd, iovs, n, offset, out) => {
        h.view.setUint32(out, h.read(h.file(fd), h.ranges(iovs, n), Number(offset)), true);
    },
    fd_read: (h, fd, iovs, n, out) => {
        const ranges = h.ranges(iovs, n);
        if (fd === 0) return h.view.setUint32(out, h.readStdin(ranges), true);
        const f = h.file(fd);
        if (f.kind === "folder") throw new Failure("EISDIR");
        const got = h.read(f, ranges, f.at);
        f.at += got;
        h.view.setUint32(out, got, true);
    },
    fd_write: (h, fd, iovs, n, out) => {
        let done = 0;
        const f = fd < 3 ? null : h.file(fd);
        for (const r of h.ranges(iovs, n)) {
            if (f) f.handle.write(r, f.at + done);
            else h.write(fd, r.slice());
            done += r.length;
        }
        if (f) f.at += done;
        h.view.setUint32(out, done, true);
    },
    fd_seek: (h, fd, offset, whence, out) => {
        if (fd < 3) throw new Failure("ESPIPE");
        const f = h.file(fd);
        const from = [0, f.at, f.handle.size()][whence];
        f.at = from + Number(offset);
        h.view.setBigUint64(out, BigInt(f.at), true);
    },
    // Entries from the cookie on; a full buffer says that there are more.
    fd_readdir: (h, fd, at, room, cookie, out) => {
        const names = h.file(fd).names;
        const entries = names.slice(Number(cookie)).map((name, i) => {
            const bytes = text.encode(name);
            const e = new Uint8Array(24 + bytes.length);
            new DataView(e.buffer).setBigUint64(0, cookie + BigInt(i) + 1n, true);
            new DataView(e.buffer).setUint32(16, bytes.length, true);
            e.set(bytes, 24);
            return e;
        });
        let used = 0;
        for (const e of entries) {
            const n = Math.min(e.length, room - used);
            h.bytes(at + used, n).set(e.subarray(0, n));
            used += n;
        }
        h.view.setUint32(out, used, true);
    },
    path_filestat_get: (h, fd, flags, at, n, out) => {
        const s = h.files.stat(h.path(at, n));
        if (!s) throw new Failure("ENOENT");
        h.putStat(out, s);
    },
    path_open: (h, fd, look, at, n, oflags, rights, inherited, flags, out) => {
        const path = h.path(at, n);
        const s = h.files.stat(path);
        const f = { kind: s?.kind ?? "file", mtimeMs: s?.mtimeMs, at: 0 };
        if (f.kind === "folder") f.names = h.files.list(path);
        else if (oflags & 2) throw new Failure(s ? "ENOTDIR" : "ENOENT");
        else
            f.handle = h.files.open(path, {
                write: (rights & RIGHT_WRITE) !== 0n,
                create: (oflags & 1) !== 0,
                exclusive: (oflags & 4) !== 0,
                truncate: (oflags & 8) !== 0,
            });
        if (!f.handle && !f.names) throw new Failure("ENOENT");
        h.open.set(h.next, f);
        h.view.setUint32(out, h.next++, true);
    },
    path_create_directory: (h, fd, at, n) => h.files.makeFolder(h.path(at, n)),
    path_remove_directory: (h, fd, at, n) => h.files.remove(h.path(at, n)),
    path_unlink_file: (h, fd, at, n) => h.files.remove(h.path(at, n)),
    path_rename: (h, fd, at, n, fd2, at2, n2) => h.files.rename(h.path(at, n), h.path(at2, n2)),
};

function answer(h, call, args) {
    try {
        call(h, ...args);
        return 0;
    } catch (error) {
        if (error instanceof Exit || error instanceof WebAssembly.RuntimeError) throw error;
        return ERRORS[error?.code] ?? ERRORS.EIO;
    }
}

function realpath(h, at, n, out, room) {
    const found = h.files.real(h.path(at, n));
    const bytes = found === null ? [] : text.encode(found);
    if (bytes.length > room) return 0;
    h.bytes(out, bytes.length).set(bytes);
    return bytes.length;
}

const clock = (wall) =>
    wall ? BigInt(Date.now()) * 1000000n : BigInt(Math.round(performance.now() * 1e6));

// One run of the program: its exit code. Throws when the module itself fails (out of memory, a
// missing function).
export function runModule(module, options) {
    const host = new Host({
        env: {},
        stdin: new Uint8Array(),
        tty: [false, false, false],
        now: clock,
        ...options,
    });
    const wasi = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module))
        if (from === "wasi_snapshot_preview1")
            wasi[name] = calls[name]
                ? (...args) => answer(host, calls[name], args)
                : () => ERRORS.ENOSYS;
    const instance = new WebAssembly.Instance(module, {
        wasi_snapshot_preview1: wasi,
        assay: { realpath: (...args) => realpath(host, ...args) },
    });
    host.memory = instance.exports.memory;
    try {
        instance.exports._start();
        return 0;
    } catch (error) {
        if (error instanceof Exit) return error.code;
        throw error;
    } finally {
        for (const f of host.open.values()) f.handle?.close?.();
    }
}

// The bytes of several pieces in one.
export function joined(pieces) {
    const all = new Uint8Array(pieces.reduce((n, p) => n + p.length, 0));
    let at = 0;
    for (const p of pieces) {
        all.set(p, at);
        at += p.length;
    }
    return all;
}

// A run whose streams are kept: {code, stdout, stderr}, both as bytes.
export function runKept(module, options) {
    const streams = [[], [], []];
    const code = runModule(module, { ...options, write: (fd, bytes) => streams[fd].push(bytes) });
    return { code, stdout: joined(streams[1]), stderr: joined(streams[2]) };
}
