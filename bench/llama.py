#!/usr/bin/env python3
"""bench/llama.py PROGRAM LLAMA_BENCH: `assay bench` beside llama-bench, on the same libraries.

LLAMA_BENCH is built from the source of the release that tools/get_engine fetches (the npm package
node-llama-cpp has it as llama/gitRelease.bundle), linked with the libllama and libggml files of
build/engine/llama, and placed in a folder with links to all of them: it looks for the library of
this processor beside itself. Without it the bench is skipped.

For files of random weights in F16, Q8_0 and Q4_K, rounds of assay, llama-bench and assay again: the
ratio of prefill and decode tokens/s of each pair, and of the two runs of assay (A/A). A median
within 2 % of 1, or inside the range of A/A, passes.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

QUANTS = ("f16", "q8_0", "q4_k")
PROMPT, GENERATE, REPEATS = 64, 16, 3
ROUNDS = int(os.environ.get("ROUNDS", "5"))
MODEL = os.environ.get("MODEL", "smollm2-135m")
THREADS = os.environ.get("THREADS", "2")


def run(command):
    p = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if p.returncode:
        raise SystemExit(f"{command[0]}: exit {p.returncode}: {p.stderr[-300:]}")
    return p.stdout


def run_assay(program, path):
    sizes = ["--prompt-tokens", str(PROMPT), "--generate", str(GENERATE), "--context-depth", "0"]
    out = run(
        [program, "bench", path, *sizes, "--num-runs", str(REPEATS), "--threads", THREADS, "--json"]
    )
    g = json.loads(out)["generation"][0]
    return g["prefill_tokens_per_second"], g["decode_tokens_per_second"]


def run_llama_bench(program, path):
    sizes = ["-p", str(PROMPT), "-n", str(GENERATE), "-r", str(REPEATS), "-t", THREADS]
    rows = json.loads(run([program, "-m", path, *sizes, "-o", "json"]))
    rate = {
        "prefill" if r["n_prompt"] else "decode": (r["n_prompt"] or r["n_gen"]) * 1e9 / r["avg_ns"]
        for r in rows
    }
    return rate["prefill"], rate["decode"]


def span(values):
    return f"{statistics.median(values):.3f} [{min(values):.3f}, {max(values):.3f}]"


def compare(program, peer, path, quant):
    first, theirs, second = [], [], []
    for _ in range(ROUNDS):
        first.append(run_assay(program, path))
        theirs.append(run_llama_bench(peer, path))
        second.append(run_assay(program, path))
    good = True
    for i, what in enumerate(("prefill", "decode")):
        pair = [a[i] / b[i] for a, b in zip(first + second, theirs + theirs)]
        same = [a[i] / b[i] for a, b in zip(first, second)]
        middle = statistics.median(pair)
        passed = abs(middle - 1) <= 0.02 or min(same) <= middle <= max(same)
        good = good and passed
        rate = statistics.median(a[i] for a in first + second)
        print(
            f"{quant:5} {what:8} assay {rate:8.1f}/s  assay/llama-bench {span(pair)}"
            f"  A/A {span(same)}  {'pass' if passed else 'FAIL'}",
            flush=True,
        )
    return good


def main():
    if len(sys.argv) < 3 or not pathlib.Path(sys.argv[2]).exists():
        print("skipped: no llama-bench. Use bench/llama.py PROGRAM LLAMA_BENCH.")
        return 77
    program, peer = sys.argv[1:3]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for quant in os.environ.get("QUANTS", ",".join(QUANTS)).split(","):
            path = f"{folder}/{quant}.gguf"
            run([program, "export", MODEL, "--quant", quant, "-q", "-o", path])
            good = compare(program, peer, path, quant) and good
            os.remove(path)
    return 0 if good else 1


sys.exit(main())
