# Language models on llama.cpp: a GGUF file, and built-in models in quantisations. Skipped without the library.
folder=$(cd "$(dirname "$ASSAY")/.." && pwd)/engine/llama
for f in "${ASSAY_LLAMA_LIB:-}" "$folder"/libllama.v*.so; do
    [ ! -e "$f" ] || found=$f
done
[ -n "${found:-}" ] || { echo "no llama.cpp (tools/get_engine llama)" && exit 77; }
export ASSAY_LLAMA_LIB="$found"
tiny="--set num_hidden_layers=2 --set vocab_size=300 --set hidden_size=256 --set intermediate_size=256"
short="--prompt-tokens 8 --generate 2 --num-runs 2 --threads 1"
command -v python3 > /dev/null || { echo "python3 is missing"; exit 77; }
get() { # KEY...: of the first item of `generation`
    python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
for g in d["generation"]:
    print(*[g[k] for k in sys.argv[2:]])' "$@"
}
"$ASSAY" export llama-3.2-1b $tiny --quant q4_k -q -o tiny.gguf
"$ASSAY" bench tiny.gguf $short --context-depth 0,300 -q -o file.json
get file.json batch precision prompt_tokens generate context_depth context cache_dtype random_weights
python3 -c '
import json
d = json.load(open("file.json"))
g = d["generation"][0]
print(g["ttft"]["runs"], g["token_latency"]["runs"], d["latency"]["runs"], d["throughput"]["unit"])
print(g["prefill_tokens_per_second"] > 0, g["decode_tokens_per_second"] > 0, d["throughput"]["tokens_per_second"] > 0)
print(g["cache_bytes"] == g["planned_cache_bytes"], g["decode_gbytes_per_s"] > 0, d["context"]["engine"]["name"])'
# Weights as stored are what was planned; copies for the kernels are listed apart.
python3 -c '
import json
g = json.load(open("file.json"))["generation"][0]
print(abs(g["weight_bytes"] / g["planned_weight_bytes"] - 1) < 0.05, "repacked_bytes" in g or "none")' | cut -d" " -f1
# The library counts the parameters and bytes that were planned, in files of different families.
python3 "$(dirname "$CASES")/../../bench/families.py" "$ASSAY" llama gpt2 gpt_neox bloom falcon deepseek_v3 mixtral glm4 |
    sed 's/, cache.*//'
# Every command that measures runs a GGUF file on llama.cpp.
"$ASSAY" profile tiny.gguf $short --context-depth 0 --batch-sizes 1,2 -q -o profile.json
"$ASSAY" memory tiny.gguf --measure --num-runs 1 --threads 1 -q -o memory.json
python3 -c '
import json
for name in ("profile", "memory"):
    d = json.load(open(name + ".json"))
    print(d["context"]["engine"]["name"], [g["batch"] for g in d["generation"]])'
"$ASSAY" profile lenet --prompt-tokens 4 || echo "exit $?"
# Time of layers: every operator with weights, rotary positions, attention, activations and sums have a layer.
"$ASSAY" layers tiny.gguf --num-runs 2 --threads 1 -q -o layers.json
python3 -c '
import json
d = json.load(open("layers.json"))
l = d["ledger"]
own = sorted({k["op"] for k in l.get("engine_kernels", [])} - {"SET_ROWS", "CPY", "CONT", "GET_ROWS", "SCALE"})
print(d["context"]["engine"]["name"], d["latency"]["runs"], l["runs"], own, l["fused_kernels"] > 0)
print(abs(l["layers_ms"] + l["engine_ms"] + l["dispatch_ms"] + l["unexplained_ms"] - l["run_ms"]) < 1e-6 * l["run_ms"])
print(all(x.get("time_ms") is not None for x in d["layers"] if x["op"] == "MatMul"))'
"$ASSAY" layers lenet --quant q4_0 || echo "exit $?"
# Several quantisations of a built-in model, two sequences, another cache, no flash attention.
"$ASSAY" bench llama-3.2-1b $tiny --quant q8_0,f16 --batch 2 $short --cache-dtype fp32 --flash-attention off -q -o two.json
get two.json batch precision context_depth cache_dtype flash_attention random_weights
# The result is checked, compared, reported and stored like any other.
"$ASSAY" check file.json --threshold latency:1h throughput:0.0001 > check.txt && echo checked
"$ASSAY" compare file.json two.json | grep -c 'Throughput /s'
"$ASSAY" report file.json -f md | grep -c 'Generation'
"$ASSAY" bench tiny.gguf $short -q --save --db h.db && "$ASSAY" history list --db h.db | grep -c tiny.gguf
# What cannot be done.
"$ASSAY" bench tiny.gguf $short --concurrency 2 || echo "exit $?"
"$ASSAY" bench tiny.gguf $short --quant q4_0 || echo "exit $?"
"$ASSAY" bench lenet --context-depth 5 || echo "exit $?"
"$ASSAY" bench llama-3.2-1b $tiny --quant q4_0 $short --memory-limit 1MB > none.txt || echo "exit $?"
"$ASSAY" bench llama-3.2-1b $tiny --quant q4_0 $short --disk-limit 1MB > none.txt || echo "exit $?"
"$ASSAY" bench llama-3.2-1b $tiny --quant q4_0,q9 $short || echo "exit $?"
# A file on which the library aborts (two tokens are one), and no library: sentences, not crashes.
sed 's/assay260/assay261/' tiny.gguf > bad.gguf
"$ASSAY" bench bad.gguf $short > none.txt 2> why.txt || echo "exit $?"
grep -c "aborted.*GGML_ASSERT" why.txt
ASSAY_LLAMA_LIB=/nowhere/libllama.so "$ASSAY" bench tiny.gguf $short > none.txt 2> why.txt || echo "exit $?"
grep -c ASSAY_LLAMA_LIB why.txt
