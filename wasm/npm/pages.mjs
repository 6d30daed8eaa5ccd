// HTML of the program is the data alone: the page around it is a file of this package. Both writers
// below put it there.
import fs from "node:fs";

const MARK = new TextEncoder().encode("'none'<script ");
const CONNECT = 6; // bytes of 'none'
const isData = (bytes) => MARK.every((b, i) => bytes[i] === b);

function wholePage(data) {
    const page = fs.readFileSync(new URL("./page.html", import.meta.url), "utf8");
    const [head, rest] = page.split("@ASSAY_CONNECT@");
    const [middle, foot] = rest.split("@ASSAY_DATA@");
    const parts = [head, data.subarray(0, CONNECT), middle, data.subarray(CONNECT), foot];
    return Buffer.concat(parts.map((p) => Buffer.from(p)));
}

// Files are complete when they get their name.
export const withPages = (files) => ({
    ...files,
    rename(from, to) {
        const bytes =
            fs.statSync(from).size > MARK.length ? fs.readFileSync(from) : new Uint8Array();
        if (isData(bytes)) fs.writeFileSync(from, wholePage(bytes));
        files.rename(from, to);
    },
});

// stdout is held back from the first bytes on if they are such data; end() writes it.
export function pageWriter(write) {
    const held = [];
    return {
        write(fd, bytes) {
            if (fd === 1 && (held.length || isData(bytes))) held.push(Buffer.from(bytes));
            else write(fd, bytes);
        },
        end() {
            if (held.length) write(1, wholePage(Buffer.concat(held)));
        },
    };
}
