// Writes the C source of the table of src/base/embedded.h for a compiler whose assembler has no
// .incbin:
//   node wasm/embed.mjs FILE... > embedded.c
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const files = process.argv.slice(2);
const lines = ['#include "base/embedded.h"'];
files.forEach((file, i) => {
    const bytes = [...readFileSync(file), 0].join(",").replace(/(.{1,96}),/g, "$1,\n");
    lines.push(`static const unsigned char embedded_data_${i}[] = {`, `${bytes}};`);
});
lines.push("const embedded_file embedded_files[] = {");
files.forEach((file, i) => {
    const size = readFileSync(file).length;
    const data = `(const char *)embedded_data_${i}`;
    lines.push(
        `    {.name = ${JSON.stringify(basename(file))}, .data = ${data}, .size = ${size}},`,
    );
});
lines.push("    {.name = 0, .data = 0, .size = 0},", "};", "");
process.stdout.write(lines.join("\n"));
