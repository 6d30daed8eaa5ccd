// node bench/node_llama_server.mjs MODEL.gguf [PARALLEL [THREADS]]: an OpenAI-compatible server made of node-llama-cpp,
// on a free port of 127.0.0.1, which it prints. It ends with its standard input. Requests beyond PARALLEL (4) wait in
// order of arrival. The npm package node-llama-cpp must be installed in a folder above this file. For a look at `assay
// load --curve` on a real server:
//
//     assay export smollm2-135m --quant q4_0 -o m.gguf
//     sleep 300 | node bench/node_llama_server.mjs m.gguf &
//     assay load http://127.0.0.1:PORT/v1/chat/completions --curve --generate 8 -o curve.html
import http from "node:http";
import { getLlama } from "node-llama-cpp";

const [file, parallel = "4", threads = "1"] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({ sequences: Number(parallel), contextSize: 512, threads: Number(threads) });
const free = Array.from({ length: Number(parallel) }, () => context.getSequence());
const waiting = [];

const take = () => (free.length ? Promise.resolve(free.pop()) : new Promise((r) => waiting.push(r)));
const give = (s) => (waiting.length ? waiting.shift()(s) : free.push(s));

async function* generate(sequence, tokens, most) {
    let n = 0;
    await sequence.clearHistory();
    for await (const token of sequence.evaluate(tokens, { temperature: 1, yieldEogToken: true })) {
        yield model.detokenize([token]) || " ";
        if (++n >= most) return;
    }
}

async function answer(request, response, body) {
    const asked = JSON.parse(body);
    const chat = request.url.startsWith("/v1/chat");
    const text = chat ? asked.messages.map((m) => m.content).join("\n") : asked.prompt;
    const tokens = model.tokenize(text).slice(0, 256);
    const most = Math.min(asked.max_tokens ?? 16, 200);
    const usage = { prompt_tokens: tokens.length, completion_tokens: 0 };
    const sequence = await take();
    const send = (x) => response.write(`data: ${JSON.stringify({ model: "tiny", ...x })}\n\n`);
    let whole = "";
    try {
        if (asked.stream) response.writeHead(200, { "Content-Type": "text/event-stream" });
        for await (const part of generate(sequence, tokens, most)) {
            usage.completion_tokens++;
            whole += part;
            if (response.destroyed) return;
            if (asked.stream)
                send({ choices: [{ index: 0, ...(chat ? { delta: { content: part } } : { text: part }) }] });
        }
    } finally {
        give(sequence);
    }
    if (!asked.stream) {
        response.writeHead(200, { "Content-Type": "application/json" });
        return response.end(JSON.stringify({ choices: [{ message: { content: whole }, text: whole }], usage }));
    }
    if (asked.stream_options?.include_usage) send({ choices: [], usage });
    response.end("data: [DONE]\n\n");
}

const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (d) => (body += d));
    request.on("end", () => {
        if (request.url.startsWith("/v1/models"))
            return response.end(JSON.stringify({ data: [{ id: "tiny" }] }));
        answer(request, response, body).catch((e) => {
            console.error(e.message);
            if (!response.headersSent) response.writeHead(500);
            response.end(JSON.stringify({ error: { message: e.message } }));
        });
    });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
