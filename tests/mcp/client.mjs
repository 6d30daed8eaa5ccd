// The MCP server before the client of @modelcontextprotocol/sdk, which checks every message against the protocol's own
// schemas; then lines that no client would send. Skipped where the SDK is missing (tools/web install --test).
//   node tests/mcp/client.mjs PROGRAM
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const program = resolve(process.argv[2]);
const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const sdk = join(root, "web/node_modules/@modelcontextprotocol/sdk/dist/esm/client");
const folder = mkdtempSync(join(tmpdir(), "assay-mcp-"));
let passed = 0;
let failed = 0;

async function load() {
    try {
        const { Client } = await import(pathToFileURL(join(sdk, "index.js")));
        const { StdioClientTransport } = await import(pathToFileURL(join(sdk, "stdio.js")));
        return { Client, StdioClientTransport };
    } catch {
        console.log("skipped: @modelcontextprotocol/sdk is missing");
        process.exit(77);
    }
}

async function test(name, body) {
    try {
        await body();
        passed++;
    } catch (e) {
        failed++;
        console.log(`FAILED: ${name}\n${e.stack}`);
    }
}

/** Stops the first process that a process starts, which then never ends by itself. */
async function stopChild(parent) {
    for (let own = ""; !own; await new Promise((ok) => setImmediate(ok))) {
        own = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim();
        if (own) process.kill(Number(own.split(" ")[0]), "SIGSTOP");
    }
}

/** The answers to lines, in order, of a server whose stdin ends after them. */
async function talk(lines, env = {}, meanwhile = () => {}) {
    const child = spawn(program, ["mcp"], { env: { ...process.env, ...env } });
    let out = "";
    child.stdout.on("data", (d) => (out += d));
    const ended = new Promise((ok) => child.on("close", ok));
    child.stdin.on("error", () => {});
    child.stdin.end(
        Buffer.concat(lines.map((l) => Buffer.concat([Buffer.from(l), Buffer.from("\n")]))),
    );
    await meanwhile(child.pid);
    assert.equal(await ended, 0);
    return out
        .split("\n")
        .filter(Boolean)
        .map((l) => JSON.parse(l));
}

const json = (...words) =>
    JSON.parse(
        execFileSync(program, [...words, "--json"], {
            maxBuffer: 1 << 28,
            stdio: ["ignore", "pipe", "ignore"],
        }),
    );

const { Client, StdioClientTransport } = await load();
const client = new Client({ name: "assay-test", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: program, args: ["mcp"] }));

await test("initialize, ping and the list of tools", async () => {
    assert.equal(client.getServerVersion().name, "assay");
    assert.match(client.getInstructions(), /as data/);
    await client.ping();
    const { tools } = await client.listTools();
    const names = tools.map((t) => t.name);
    for (const name of ["list_models", "profile", "compare", "map", "explain_layer"])
        assert.ok(names.includes(name), name);
    for (const t of tools) {
        assert.equal(t.annotations.readOnlyHint, true);
        assert.equal(t.inputSchema.additionalProperties, false);
    }
});

const call = (name, args) => client.callTool({ name, arguments: args });

await test("the numbers are those of the program", async () => {
    const own = json("graph", "mobilenet_v2", "--batch", "2");
    const said = (await call("profile", { model: "mobilenet_v2", batch: 2 })).structuredContent;
    assert.equal(said.total_flops, own.total_flops);
    assert.deepEqual(said.architecture, own.architecture);
    assert.equal(said.conclusion, own.conclusion);
    const most = own.layers
        .map((l) => l.flops)
        .sort((a, b) => b - a)
        .slice(0, 10);
    assert.deepEqual(
        said.top_layers.map((l) => l.flops),
        most,
    );
    const layer = own.layers[7];
    const told = (
        await call("explain_layer", { model: "mobilenet_v2", batch: 2, layer: layer.name })
    ).structuredContent;
    assert.deepEqual(told.layer, layer);
    assert.ok(told.after.length > 0);
    const map = (await call("map", { model: "lenet", hardware: ["t4", "a100-80"] }))
        .structuredContent;
    assert.deepEqual(map.devices, json("map", "lenet", "--hardware", "t4,a100-80").devices);
    const both = (await call("compare", { models: ["resnet18", "resnet34"] })).structuredContent;
    assert.deepEqual(both.models, json("compare", "resnet18", "resnet34").models);
    const list = (await call("list_models", { pattern: "lenet" })).structuredContent;
    assert.ok(list.models.some((m) => m.name === "lenet"));
});

await test("a saved result can be asked about, and is not changed", async () => {
    const path = join(folder, "saved.json");
    execFileSync(program, ["graph", "lenet", "-q", "-o", path]);
    const said = (await call("profile", { model: path })).structuredContent;
    assert.equal(said.total_macs, json("graph", "lenet").total_macs);
    assert.equal((await call("profile", { model: path, batch: 4 })).isError, true);
});

await test("names from a model stay text", async () => {
    const name = "</script>\u001b[31m\n`ignore`";
    const path = join(folder, "names.json");
    execFileSync(program, ["graph", "lenet", "-q", "-o", path]);
    const saved = JSON.parse(execFileSync("cat", [path]));
    saved.layers[0].name = name;
    writeFileSync(path, JSON.stringify(saved));
    const said = await call("explain_layer", { model: path, layer: "1" });
    assert.equal(said.structuredContent.layer.name, name);
    assert.ok(!said.content[0].text.split("\n")[0].includes("\u001b"));
});

await test("faults are errors of the protocol, failed work is a result", async () => {
    await assert.rejects(call("no_such_tool", {}), (e) => e.code === -32602);
    await assert.rejects(call("profile", { model: 4 }), (e) => e.code === -32602);
    const said = await call("profile", { model: "resnet180" });
    assert.equal(said.isError, true);
    assert.match(said.content[0].text, /resnet18/);
});
await client.close();

await test("the server survives what is not a message", async () => {
    const lines = [
        "{",
        "\u0000",
        '"x"',
        "[1]",
        "",
        "   ",
        "\xff",
        "{}",
        "nul",
        "[".repeat(5000),
    ].map((l) => Buffer.from(l, "latin1"));
    for (let i = 0; i < 60; i++) {
        const line = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}');
        line[i % line.length] ^= 1 + ((i * 37) % 255);
        if (line[i % line.length] !== 10) lines.push(line);
    }
    lines.push('{"jsonrpc":"2.0","id":99,"method":"ping"}');
    const said = await talk(lines);
    assert.deepEqual(said.at(-1), { jsonrpc: "2.0", id: 99, result: {} });
    for (const s of said) assert.ok("result" in s !== "error" in s);
});

await test("limits on messages, results and time", async () => {
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    const long = JSON.stringify({ ...ping, params: { x: "x".repeat(3 << 20) } });
    let said = await talk([long, JSON.stringify(ping)]);
    assert.equal(said[0].error.code, -32600);
    assert.equal(said[1].id, 2);
    const profile = JSON.stringify({
        ...ping,
        method: "tools/call",
        params: { name: "profile", arguments: { model: "resnet50" } },
    });
    said = await talk([profile, JSON.stringify(ping)], { ASSAY_LIMITS: "mcp-result=2000" });
    assert.equal(said[0].result.isError, true);
    assert.deepEqual(said[1].result, {});
    // A model that keeps the process of the call busy until it is found and stopped.
    const layers = [];
    for (let i = 0; i < 99000; i++) layers.push({ conv: { out: 4, kernel: 1 } }, "relu");
    const path = join(folder, "long.json");
    writeFileSync(
        path,
        JSON.stringify({ schema: "assay.model/1", name: "long", input: [1, 4, 8, 8], layers }),
    );
    const stuck = JSON.stringify({
        ...ping,
        method: "tools/call",
        params: { name: "profile", arguments: { model: path } },
    });
    said = await talk([stuck, JSON.stringify(ping)], { ASSAY_LIMITS: "mcp-time=1" }, stopChild);
    assert.equal(said[0].result.isError, true);
    assert.match(said[0].result.content[0].text, /mcp-time/);
    assert.deepEqual(said[1].result, {});
});

rmSync(folder, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
