#!/usr/bin/env python3
"""bench/gguf_py.py PROGRAM GGUF_PY: files of `assay export` in the reader of gguf-py.

GGUF_PY is the folder gguf-py of the source of llama.cpp; numpy is needed. A small model with
experts is written in every quantisation. gguf-py reads the tensors and dequantises them; the
numbers y are compared with those of the float32 file, x.

The limits follow from the formats. A block stores its levels: low + k * step, k = 0 to n, with low
and step from the scales in the file (read here from its bytes, not from the dequantised numbers).

- x between the lowest and the highest level: |x - y| is at most half a step.
- x outside: y is the nearer end, and x is no further away than the rounding of the scales allows.
  A scale of float16 is wrong by 2^-11 of itself (2^-25 if it is small), and so are all n steps. A
  scale in whole units of another one (K formats) is wrong by half a unit. Formats with levels from
  -n/2 - 1 to n/2 are open at one end by a step.

F16, BF16: half a unit in the last place. MXFP4: half the distance to the next of its 15 values;
its scale is a power of two, so that values up to 8 (a largest value of 6) may be cut: by 2 units.
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
HALF, LEAST = 2.0**-11, 2.0**-25  # rounding to float16: of normal numbers, of small ones
FLOAT = 2.0**-20  # some roundings of float32, each 2^-24
ADDED = 2.0**-15  # of a step: levels are rounded after 256.5 was added in float32


def rounding(np, d):
    """How far a number may be from the float16 d that it was rounded to."""
    return np.maximum(np.abs(d) * HALF, LEAST)


def half(np, data, at):
    return data[:, at : at + 2].copy().view("<f2").astype(float)[:, 0]


def simple(np, data, low_level, levels, offset):
    """One scale for 32 numbers: low, step, levels, how far a number may be outside."""
    d = half(np, data, 0)
    if offset:
        m = half(np, data, 2)
        return m, d, levels, levels * rounding(np, d) + rounding(np, m)
    open_end = d * 0 if 2 * low_level == -levels else np.abs(d)
    return low_level * d, d, levels, levels * rounding(np, d) + open_end


def k_mins(np, data, levels):
    """Q4_K, Q5_K: eight blocks of 32 with scales and minima of 6 bits."""
    s = data[:, 4:16].astype(int)
    d, least = half(np, data, 0)[:, None], half(np, data, 2)[:, None]
    scales = np.concatenate([s[:, 0:4] & 63, (s[:, 8:12] & 15) | (s[:, 0:4] >> 6 << 4)], 1)
    minima = np.concatenate([s[:, 4:8] & 63, (s[:, 8:12] >> 4) | (s[:, 4:8] >> 6 << 4)], 1)
    outside = levels * (d / 2 + scales * rounding(np, d)) + least / 2 + minima * rounding(np, least)
    return (-least * minima).ravel(), (d * scales).ravel(), levels, outside.ravel()


def k_signed(np, data):
    """Q6_K: sixteen blocks of 16 with scales of -128 to 127 units; 127 may have been 128."""
    d, scales = half(np, data, 208)[:, None], data[:, 192:208].copy().view("i1").astype(float)
    step = d * scales
    units = np.where(scales == 127, 1, 0.5)
    outside = 32 * (np.abs(d) * units + np.abs(scales) * rounding(np, d)) + np.abs(step)
    return (-32 * step).ravel(), step.ravel(), 63, outside.ravel()


# Numbers of a block of levels, bytes of a block of the file, its levels.
FORMATS = {
    "Q8_0": (32, 34, lambda np, b: simple(np, b, -127, 254, False)),
    "Q4_0": (32, 18, lambda np, b: simple(np, b, -8, 15, False)),
    "Q5_0": (32, 22, lambda np, b: simple(np, b, -16, 31, False)),
    "Q4_1": (32, 20, lambda np, b: simple(np, b, 0, 15, True)),
    "Q5_1": (32, 24, lambda np, b: simple(np, b, 0, 31, True)),
    "Q4_K": (32, 144, lambda np, b: k_mins(np, b, 15)),
    "Q5_K": (32, 176, lambda np, b: k_mins(np, b, 31)),
    "Q6_K": (16, 210, k_signed),
}


def by_levels(np, kind, x, y, data):
    """Errors over their limits, of all numbers."""
    block, size, levels_of = FORMATS[kind]
    low, step, levels, outside = levels_of(np, data.reshape(-1, size))
    x, y = x.reshape(-1, block), y.reshape(-1, block)
    ends = np.sort(np.stack([low, low + levels * step]), 0)
    beyond = np.maximum(ends[0][:, None] - x, x - ends[1][:, None])
    inside = np.abs(step)[:, None] * (0.5 + ADDED)
    limit = np.where(beyond > inside, np.minimum(beyond, outside[:, None]), inside)
    return np.abs(x - y) / np.maximum(limit + np.abs(x) * FLOAT, 1e-12)


def by_floats(np, kind, x, y, data):
    if kind == "MXFP4":
        unit = 2.0 ** (data.reshape(-1, 17)[:, :1].astype(float) - 127)
        x, y = x.reshape(-1, 32), y.reshape(-1, 32)
        size = np.abs(x) / unit
        gap = np.where(size > 6, 4, np.where(size > 4, 2, np.where(size > 2, 1, 0.5)))
        return np.abs(x - y) / (gap * unit * (0.5 + FLOAT))
    ulp = {"F32": 0, "F16": HALF, "BF16": 2.0**-8}[kind]
    least = LEAST if kind == "F16" else 0
    return np.abs(x - y) / np.maximum(np.abs(x) * ulp, max(least, 1e-300))


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
        out = {}
        for t in GGUFReader(path).tensors:
            numbers = dequantize(t.data, t.tensor_type).astype(float).ravel()
            raw = np.frombuffer(t.data.tobytes(), dtype=np.uint8)
            out[t.name] = (t.tensor_type.name, numbers, raw)
        return out

    good = True
    with tempfile.TemporaryDirectory() as folder:
        whole = read(folder, "f32")
        for quant in QUANTS:
            tensors, worst = read(folder, quant), {}
            good = good and tensors.keys() == whole.keys()
            for name, (kind, y, data) in tensors.items():
                errors = (by_levels if kind in FORMATS else by_floats)(
                    np, kind, whole[name][1], y, data
                )
                n, most = worst.get(kind, (0, 0))
                worst[kind] = (n + 1, max(most, errors.max()))
            shown = [f"{k} x {n}: {e:.4f} of the limit" for k, (n, e) in worst.items()]
            passed = all(e <= 1 for _, e in worst.values())
            good = good and passed
            print(f"{quant:7} {'pass' if passed else 'FAIL'}  {'; '.join(shown)}", flush=True)
    return 0 if good else 1


sys.exit(main())
