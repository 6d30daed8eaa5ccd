// The files of Node for host.mjs: those of the system, by their paths.
import fs from "node:fs";

const kindOf = (s) => (s.isFile() ? "file" : s.isDirectory() ? "folder" : "other");

function statOf(path) {
    const s = fs.statSync(path, { throwIfNoEntry: false });
    return s ? { kind: kindOf(s), size: s.size, mtimeMs: s.mtimeMs } : null;
}

function flagsOf(how) {
    const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC } = fs.constants;
    return (
        (how.write ? O_RDWR : O_RDONLY) |
        (how.create ? O_CREAT : 0) |
        (how.exclusive ? O_EXCL : 0) |
        (how.truncate ? O_TRUNC : 0)
    );
}

function writeAll(fd, bytes, offset) {
    let done = 0;
    while (done < bytes.length)
        done += fs.writeSync(fd, bytes, done, bytes.length - done, offset + done);
}

export const nodeFiles = {
    stat: statOf,
    open(path, how) {
        const fd = fs.openSync(path, flagsOf(how), 0o666);
        return {
            size: () => fs.fstatSync(fd).size,
            read: (bytes, offset) => fs.readSync(fd, bytes, 0, bytes.length, offset),
            write: (bytes, offset) => writeAll(fd, bytes, offset),
            resize: (size) => fs.ftruncateSync(fd, size),
            close: () => fs.closeSync(fd),
        };
    },
    list: (path) => fs.readdirSync(path),
    real(path) {
        try {
            return fs.realpathSync(path);
        } catch {
            return null;
        }
    },
    makeFolder: (path) => fs.mkdirSync(path),
    rename: (from, to) => fs.renameSync(from, to),
    remove: (path) => fs.rmSync(path, { recursive: false }),
};
