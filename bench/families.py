#!/usr/bin/env python3
"""bench/families.py PROGRAM [families] [models] [NAME...]: GGUF files of `assay export` in
llama.cpp.

families: every architecture that is exported, at two layers and small sizes.
models: every built-in language model whose Q4_0 file is below LIMIT (4 GB), whole, one at a time.
NAME: these alone. Default: families.

Each file is written with random weights, read by `assay`, and loaded and run by llama.cpp (one
short prompt, one token). Checked: llama.cpp's number of parameters and bytes of tensors are those
that assay counts in the file; weights, KV cache, compute buffer and logits of the library are the
planned ones within 5 %. Families are run at several contexts, batches and cache types, with and
without flash attention; the largest difference of the compute buffer is printed. Skipped without
llama.cpp.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

LIMIT = os.environ.get("LIMIT", "4GB")
QUANT = os.environ.get("QUANT", "q4_0")
# Options of the runs of a family; a model has the first.
RUNS = [
    "--prompt-tokens 8 --context-depth 0",
    "--prompt-tokens 8 --context-depth 700",
    "--prompt-tokens 8 --context-depth 700 --flash-attention off",
    "--prompt-tokens 8 --context-depth 1800 --batch 3",
    "--prompt-tokens 8 --context-depth 500 --cache-dtype fp32",
    "--prompt-tokens 8 --context-depth 500 --cache-dtype int8",
]
SMALL = {
    "num_hidden_layers": 2,
    "vocab_size": 384,
    "hidden_size": 256,
    "intermediate_size": 256,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "max_position_embeddings": 2048,
}
OLD = {"vocab_size": 384, "n_layer": 2, "n_head": 4, "n_embd": 256, "hidden_size": 256}
LATENT = {
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "kv_lora_rank": 64,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 32,
    "v_head_dim": 32,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 64,
    "first_k_dense_replace": 1,
}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64}
# What a family needs beside SMALL.
FAMILIES = {
    "llama": {},
    "mistral": {},
    "mixtral": {"num_local_experts": 4},
    "qwen2": {},
    "qwen2_moe": {**EXPERTS, "shared_expert_intermediate_size": 64},
    "qwen3": {},
    "qwen3_moe": EXPERTS,
    "gemma": {},
    "gemma2": {},
    "gemma3_text": {},
    "phi3": {},
    "olmo": {},
    "olmo2": {},
    "olmo3": {},
    "olmoe": {"num_experts": 4, "num_experts_per_tok": 2, "num_key_value_heads": 4},
    "gpt_oss": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "deepseek_v2": {**LATENT, "q_lora_rank": 64, "n_group": 1, "topk_group": 1},
    "deepseek_v3": {**LATENT, "q_lora_rank": 64, "n_group": 2, "topk_group": 1},
    "gpt2": {**OLD, "n_positions": 2048},
    "gpt_neox": {"num_key_value_heads": 4},
    "bloom": OLD,
    "falcon": {"num_kv_heads": 1, "multi_query": True, "new_decoder_architecture": False},
    "smollm3": {},
    "starcoder2": {},
    "stablelm": {},
    "cohere": {},
    "cohere2": {},
    "granite": {},
    "nemotron": {},
    "arcee": {},
    "ernie4_5": {},
    "glm4": {},
}


class Failed(Exception):
    pass


def run(command):
    p = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    if p.returncode:
        raise Failed(f"exit {p.returncode}: {p.stderr.strip()[-300:]}")
    return p.stdout


def in_memory(g):
    """Of the planned weights. The mapped part reaches from the first to the last tensor that is
    used in place, so that it may contain tensors that were copied."""
    mapped, copies = g.get("weight_bytes", 0), g.get("repacked_bytes", 0)
    return min(mapped + copies, max(mapped, g["planned_weight_bytes"]))


def measured(program, path, options):
    short = "--generate 1 --num-runs 1 --warmup-runs 0".split()
    out = run([program, "bench", path, *options.split(), *short, "--json"])
    return json.loads(out)["generation"][0]


def memory_rows(g, options):
    """Of a run: what, by assay, by llama.cpp, the share that may differ."""
    return [
        (f"weights in memory ({options})", g["planned_weight_bytes"], in_memory(g), 0.05),
        *[
            (f"{what} ({options})", g[f"planned_{key}_bytes"], g.get(f"{key}_bytes", 0), 0.05)
            for what, key in (("KV cache", "cache"), ("compute", "compute"), ("logits", "output"))
        ],
    ]


def differs(a, b, within):
    """The library prints buffers in steps of 0.01 MiB, a cache in two parts."""
    return abs(a - b) > max(within * a, 2 * 10486 if within else 0)


def check(program, model, path, runs):
    """The differences found, and what was compared."""
    limits = ["--quant", QUANT, "--disk-limit", LIMIT]
    run([program, "export", model, *limits, "-q", "-o", path])
    all_runs = [measured(program, path, options) for options in runs]
    g, ours = all_runs[0], json.loads(run([program, path, "--json"]))["architecture"]
    rows = [
        ("parameters", ours["total_parameters"] + ours["buffers"], g["parameters"], 0),
        ("bytes of tensors", ours["weight_bytes"], g["model_bytes"], 0),
        ("file size", ours["file_size_bytes"], os.path.getsize(path), 0),
    ]
    for options, one in zip(runs, all_runs):
        rows += memory_rows(one, options)
    bad = [
        f"{what}: assay {a:,.0f}, llama.cpp {b:,.0f}"
        for what, a, b, within in rows
        if differs(a, b, within)
    ]
    worst = max(abs(x["planned_compute_bytes"] / x["compute_bytes"] - 1) for x in all_runs)
    return (
        bad,
        f"{g['parameters']:,} parameters, {g['model_bytes']:,} bytes, cache {g['cache_bytes']:,}, "
        f"compute buffer within {100 * worst:.2f} %",
    )


def check_one(program, name, model, folder, runs=RUNS[:1]):
    path = f"{folder}/model.gguf"
    try:
        bad, about = check(program, model, path, runs)
    except Failed as why:
        if "above the limit" in str(why) or "--disk-limit" in str(why):
            print(f"  {name:20} above {LIMIT}", flush=True)
            return None
        bad, about = [str(why)], ""
    finally:
        pathlib.Path(path).unlink(missing_ok=True)
    print(f"{'FAIL' if bad else 'ok':4}  {name:20} {about}{'; '.join(bad)}", flush=True)
    return not bad


def check_family(program, name, folder):
    config = pathlib.Path(folder) / "config.json"
    config.write_text(json.dumps({**SMALL, **FAMILIES[name], "model_type": name}))
    return check_one(program, name, str(config), folder, RUNS)


def language_models(program):
    models = json.loads(run([program, "models", "--json"]))
    families = set(FAMILIES) | {"gemma3"}
    found = [m for m in models if m["task"] == "language" and m["family"] in families]
    return [m["name"] for m in sorted(found, key=lambda m: m["parameters"])]


def main():
    program, asked = sys.argv[1], sys.argv[2:] or ["families"]
    try:
        run([program, "bench", "smollm2-135m", "--quant", "q4_0", "--memory-limit", "1MB"])
    except Failed as why:
        if "llama.cpp was not found" in str(why):
            print("skipped: no llama.cpp (tools/get_engine llama)")
            return 77
    done = []
    with tempfile.TemporaryDirectory() as folder:
        for word in asked:
            if word == "families":
                done += [check_family(program, name, folder) for name in FAMILIES]
            elif word in FAMILIES:
                done.append(check_family(program, word, folder))
            else:
                names = language_models(program) if word == "models" else [word]
                done += [check_one(program, name, name, folder) for name in names]
    done = [x for x in done if x is not None]
    print(f"{done.count(True)} of {len(done)} agree")
    return 0 if all(done) and done else 1


sys.exit(main())
