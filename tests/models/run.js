// Runs a model whose outputs are all of its values, and prints [name, dtype, dims] of each.
// Job on stdin: {"model": path, "feeds": {name: {"file", "dims", "type"}}}. Used by make.py only.
const fs = require('fs');
const ort = require('onnxruntime-node');

const arrays = {float32: Float32Array, int64: BigInt64Array, int32: Int32Array};

function feed({file, dims, type}) {
    const bytes = fs.readFileSync(file);
    const data = new arrays[type](bytes.buffer, bytes.byteOffset, bytes.length / arrays[type].BYTES_PER_ELEMENT);
    return new ort.Tensor(type, data, dims);
}

async function main() {
    const job = JSON.parse(fs.readFileSync(0));
    const session = await ort.InferenceSession.create(job.model, {graphOptimizationLevel: 'disabled', logSeverityLevel: 4});
    const feeds = {};
    for (const name in job.feeds) feeds[name] = feed(job.feeds[name]);
    const out = await session.run(feeds);
    console.log(JSON.stringify(Object.keys(out).map((name) => [name, out[name].type, out[name].dims])));
}

main();
