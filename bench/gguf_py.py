#!/usr/bin/env python3
"""bench/gguf_py.py PROGRAM GGUF_PY: files of `assay export` in the reader of gguf-py.

GGUF_PY is the folder gguf-py of the source of llama.cpp; numpy is needed. A small model with
experts is written in every quantisation. gguf-py reads the tensors and dequantises them; the
numbers are compared with those of the float32 file. The error of a tensor is given in steps of its
format: the largest of |x - y| over the step of the block of x. Rounding is half a step; formats
with an uneven range (-8 to 7) clip the value at its open end by up to one; scales that are rounded
themselves (Q6_K) add up to a half. An error above LIMIT steps, or a tensor that is missing, fails.
"""

import subprocess
import sys
import tempfile

QUANTS = "f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 q4_k q4_k_m q5_k q5_k_m q6_k mxfp4".split()
MODEL = (
    "qwen3-30b-a3b --set num_hidden_layers=2 --set vocab_size=300 --set hidden_size=256 "
    "--set intermediate_size=512 --set moe_intermediate_size=256 --set num_experts=4 "
    "--set num_experts_per_tok=2"
).split()
# Of a type: numbers with one scale, levels from zero (or, offset: from the least) to the largest.
FORMATS = {
    "Q8_0": (32, 127, False, 0.51),
    "Q4_0": (32, 8, False, 1.01),
    "Q5_0": (32, 16, False, 1.01),
    "Q6_K": (16, 32, False, 1.5),
    "Q4_1": (32, 15, True, 0.51),
    "Q5_1": (32, 31, True, 0.51),
    "Q4_K": (32, 15, True, 0.55),
    "Q5_K": (32, 31, True, 0.55),
}
RELATIVE = {
    "F32": 0,
    "F16": 2**-11,
    "BF16": 2**-8,
    "MXFP4": 0.26,
}  # of the largest of the tensor


def error_of(np, kind, x, y):
    """In steps, or relative to the largest; and its limit."""
    if kind in RELATIVE:
        block = 32 if kind == "MXFP4" else x.size
        most = np.abs(x.reshape(-1, block)).max(1)
        error = np.abs(x - y).reshape(-1, block).max(1) / np.where(most > 0, most, 1)
        return error.max(), RELATIVE[kind]
    block, levels, offset, limit = FORMATS[kind]
    rows = x.reshape(-1, block)
    if not offset:
        span = np.abs(rows).max(1)
    elif kind.endswith("_K"):
        span = rows.max(1) - np.minimum(rows.min(1), 0)
    else:
        span = rows.max(1) - rows.min(1)
    step = np.where(span > 0, span, 1) / levels
    return (np.abs(x - y).reshape(-1, block).max(1) / step).max(), limit


def main():
    if len(sys.argv) < 3:
        print("skipped: no gguf-py. Use bench/gguf_py.py PROGRAM GGUF_PY.")
        return 77
    sys.path.insert(0, sys.argv[2])
    try:
        import numpy as np
        from gguf import GGUFReader
        from gguf.quants import dequantize
    except ImportError as why:
        print(f"skipped: {why}")
        return 77

    def read(folder, quant):
        path = f"{folder}/{quant}.gguf"
        command = [sys.argv[1], "export", *MODEL, "--quant", quant, "-q", "-o", path]
        subprocess.run(command, check=True, timeout=600)
        return {
            t.name: (t.tensor_type.name, dequantize(t.data, t.tensor_type).astype(float).ravel())
            for t in GGUFReader(path).tensors
        }

    good = True
    with tempfile.TemporaryDirectory() as folder:
        whole = read(folder, "f32")
        for quant in QUANTS:
            tensors, worst = read(folder, quant), {}
            good = good and tensors.keys() == whole.keys()
            for name, (kind, y) in tensors.items():
                error, limit = error_of(np, kind, whole[name][1], y)
                n, most, _ = worst.get(kind, (0, 0, 0))
                worst[kind] = (n + 1, max(most, error), limit)
            shown = [f"{k} x {n}: {e:.4g} of {m:.4g}" for k, (n, e, m) in worst.items()]
            passed = all(e <= m for _, e, m in worst.values())
            good = good and passed
            print(f"{quant:7} {'pass' if passed else 'FAIL'}  {'; '.join(shown)}", flush=True)
    return 0 if good else 1


sys.exit(main())
