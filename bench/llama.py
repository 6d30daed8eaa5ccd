#!/usr/bin/env python3
"""bench/llama.py PROGRAM LLAMA_BENCH: `assay bench` beside llama-bench, on the same libraries.

LLAMA_BENCH is built from the source of the release that tools/get_engine fetches (the npm package
node-llama-cpp has it as llama/gitRelease.bundle), linked with the libllama and libggml files of
build/engine/llama, and placed in a folder with links to all of them: it looks for the library of
this processor beside itself. Without it the bench is skipped.

For files of random weights in F16, Q8_0 and Q4_K, on one pinned thread and on all:

1. Both do the same work: parameters, bytes, batch, threads, cache type, flash attention, and the
   library of kernels that the loader opened.
2. Rounds of assay, llama-bench, llama-bench, assay. Of each run the fastest repetition counts. A
   round gives one ratio of prefill and one of decode (means of two and two: a drift cancels), and
   two A/A ratios (first to second run of one program). Medians have bootstrap intervals of 95 %.
   A median within 2 % of 1, or inside the A/A interval, passes.
3. On one thread, CPU seconds of a repetition, as the difference between runs of many repetitions
   and of one: it does not depend on waiting for a processor. Within 2 %, or the A/A interval.

ROUNDS, MODEL, QUANTS, THREADS (a list) of the environment change the sizes. A quiet machine with
two processors needs about six minutes.
"""

import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

PROMPT, GENERATE, REPEATS, MANY = 64, 16, 3, 7
ROUNDS = int(os.environ.get("ROUNDS", "8"))
CPU_ROUNDS = int(os.environ.get("CPU_ROUNDS", "4"))
MODEL = os.environ.get("MODEL", "smollm2-135m")
QUANTS = os.environ.get("QUANTS", "f16,q8_0,q4_k").split(",")
PROCESSORS = sorted(os.sched_getaffinity(0))
THREADS = os.environ.get("THREADS", f"1,{len(PROCESSORS)}").split(",")


class Run:
    """Tokens per second of the fastest repetition, and the CPU seconds of the whole process."""

    def __init__(self, prefill, decode, cpu_s, about):
        self.rates, self.cpu_s, self.about = (prefill, decode), cpu_s, about


def start(command, threads, environment=None):
    """Output and CPU seconds of a program on the last processors."""
    mine = PROCESSORS[-threads:]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as words:
        p = subprocess.Popen(
            command,
            stdout=out,
            stderr=words,
            env={**os.environ, **(environment or {})},
            preexec_fn=lambda: os.sched_setaffinity(0, mine),
        )
        _, status, use = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        words.seek(0)
        if p.returncode:
            reason = words.read().decode()[-300:]
            raise SystemExit(f"{command[0]}: exit {p.returncode}: {reason}")
        return out.read().decode(), use.ru_utime + use.ru_stime


def assay_command(program, path, threads, repeats):
    sizes = f"--prompt-tokens {PROMPT} --generate {GENERATE} --context-depth 0 --num-runs {repeats}"
    return [program, "bench", path, *sizes.split(), "--threads", str(threads), "--json"]


def peer_command(program, path, threads, repeats):
    sizes = f"-p {PROMPT} -n {GENERATE} -r {repeats} -t {threads} -o json"
    return [program, "-m", path, *sizes.split()]


def run_assay(program, path, threads, repeats=REPEATS):
    out, cpu_s = start(assay_command(program, path, threads, repeats), threads)
    d = json.loads(out)
    g, steps = d["generation"][0], d["latency"]["samples_ms"]
    each = [sum(steps[i : i + GENERATE]) for i in range(0, len(steps), GENERATE)]
    return Run(PROMPT * 1e3 / g["ttft"]["min"], GENERATE * 1e3 / min(each), cpu_s, g)


def run_peer(program, path, threads, repeats=REPEATS):
    out, cpu_s = start(peer_command(program, path, threads, repeats), threads)
    prefill, decode = sorted(json.loads(out), key=lambda r: r["n_gen"])
    return Run(
        PROMPT * 1e9 / min(prefill["samples_ns"]),
        GENERATE * 1e9 / min(decode["samples_ns"]),
        cpu_s,
        decode,
    )


# ---- the same work ----


def kernels_of(command, threads):
    """The libggml-cpu file in use: ggml opens all to rank them, and the best once more at the
    end."""
    with tempfile.TemporaryDirectory() as folder:
        start(command, threads, {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": f"{folder}/log"})
        logs = [p.read_text(errors="replace") for p in pathlib.Path(folder).iterdir()]
    opened = [re.findall(r"calling init: (\S*libggml-cpu\S*)", text) for text in logs]
    last = {os.path.realpath(names[-1]) for names in opened if names}
    return ", ".join(sorted(last)) or "unknown"


def check_work(program, peer, path, threads):
    ours, theirs = (
        run_assay(program, path, threads, 1).about,
        run_peer(peer, path, threads, 1).about,
    )
    rows = [
        ("parameters", ours["parameters"], theirs["model_n_params"]),
        ("bytes of tensors", ours["model_bytes"], theirs["model_size"]),
        ("batch", (2048, 512), (theirs["n_batch"], theirs["n_ubatch"])),
        ("cache", ours["cache_dtype"], {"f16": "float16"}.get(theirs["type_k"])),
        ("flash attention", ours["flash_attention"], {-1: "auto"}.get(theirs["flash_attn"])),
        ("threads", threads, theirs["n_threads"]),
        ("depth", ours["context_depth"], theirs["n_depth"]),
        (
            "kernels",
            kernels_of(assay_command(program, path, threads, 1), threads),
            kernels_of(peer_command(peer, path, threads, 1), threads),
        ),
    ]
    bad = [f"{what}: assay {a}, llama-bench {b}" for what, a, b in rows if a != b]
    print(f"  same work: {'; '.join(bad) or 'yes, ' + os.path.basename(rows[-1][1])}", flush=True)
    return not bad


# ---- ratios ----


def interval(values):
    """Median, and the bootstrap interval of it."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(2000))
    return statistics.median(values), medians[50], medians[-51]


def show(values):
    return "{:.3f} [{:.3f}, {:.3f}]".format(*interval(values))


def judge(label, pairs, same):
    middle, (_, low, high) = statistics.median(pairs), interval(same)
    passed = abs(middle - 1) <= 0.02 or low <= middle <= high
    print(
        f"  {label:24} assay/llama-bench {show(pairs)}  A/A {show(same)}  "
        f"{'pass' if passed else 'FAIL'}",
        flush=True,
    )
    return passed


def compare_rates(program, peer, path, threads):
    rounds = []
    for _ in range(ROUNDS):
        a, b = run_assay(program, path, threads), run_peer(peer, path, threads)
        c, d = run_peer(peer, path, threads), run_assay(program, path, threads)
        rounds.append((a, b, c, d))
    good = True
    for i, what in enumerate(("prefill", "decode")):
        four = [[x.rates[i] for x in r] for r in rounds]
        pairs = [math.sqrt(a * d / (b * c)) for a, b, c, d in four]
        same = [a / d for a, _, _, d in four] + [b / c for _, b, c, _ in four]
        rate = statistics.median(math.sqrt(a * d) for a, _, _, d in four)
        good = judge(f"{what} {rate:.1f}/s", pairs, same) and good
    return good


def cpu_of(run, program, path):
    """CPU seconds of a repetition (a prompt and its tokens), on one thread."""
    many, one = run(program, path, 1, MANY), run(program, path, 1, 1)
    return (many.cpu_s - one.cpu_s) / (MANY - 1)


def compare_cpu(program, peer, path):
    pairs, same = [], []
    for _ in range(CPU_ROUNDS):
        a, b = cpu_of(run_assay, program, path), cpu_of(run_peer, peer, path)
        c, d = cpu_of(run_peer, peer, path), cpu_of(run_assay, program, path)
        pairs.append(math.sqrt(a * d / (b * c)))
        same += [a / d, b / c]
    return judge("CPU time, 1 thread", pairs, same)


def compare(program, peer, path, quant):
    good = True
    for threads in dict.fromkeys(int(t) for t in THREADS):
        print(f"{quant}, {threads} thread{'s' if threads > 1 else ''}")
        good = check_work(program, peer, path, threads) and good
        good = compare_rates(program, peer, path, threads) and good
        if threads == 1:
            good = compare_cpu(program, peer, path) and good
    return good


def main():
    if len(sys.argv) < 3 or not pathlib.Path(sys.argv[2]).exists():
        print("skipped: no llama-bench. Use bench/llama.py PROGRAM LLAMA_BENCH.")
        return 77
    program, peer = sys.argv[1:3]
    good = True
    load = "{:.1f}, {:.1f}, {:.1f}".format(*os.getloadavg())
    print(f"{MODEL}, {len(PROCESSORS)} processors, load {load}, {ROUNDS} rounds")
    with tempfile.TemporaryDirectory() as folder:
        for quant in QUANTS:
            path = f"{folder}/{quant}.gguf"
            start([program, "export", MODEL, "--quant", quant, "-q", "-o", path], 1)
            good = compare(program, peer, path, quant) and good
            os.remove(path)
    return 0 if good else 1


sys.exit(main())
