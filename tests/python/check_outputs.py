#!/usr/bin/python3
"""Outputs of files of other formats, run through their export, against reference numbers.

    check_outputs.py ASSAY [NAME...]

A case is a file, its inputs and the outputs that it must have. Those of integer.tflite and
dynamic.tflite were computed by LiteRT (@litertjs/core 2.5.3, XNNPACK); the integers must be equal,
step for step. The others are numpy's. Those of foreign_cases.py have many outputs, by name.
Without an engine, or without numpy, the check is skipped (exit 77).
"""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Callable, Dict, List, Tuple

try:
    import numpy as np
except ImportError:
    print("skipped: python3-numpy is not installed")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data")
sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
import foreign_cases  # noqa: E402
import make_coreml  # type: ignore[import]  # noqa: E402
import make_tflite  # type: ignore[import]  # noqa: E402

NO_ENGINE = 5
Arrays = Dict[str, Any]


def run_file(assay: str, path: str, inputs: Arrays, folder: str) -> Any:
    """The outputs by their file name, or None without an engine."""
    made = os.path.join(folder, "out")
    command = [assay, "bench", path, "--num-runs", "1", "--warmup-runs", "1", "--json"]
    for i, (name, data) in enumerate(inputs.items()):
        given = os.path.join(folder, f"in{i}.npy")
        np.save(given, data)
        command += ["--input", f"{name}={given}"]
    done = subprocess.run(
        [*command, "--save-outputs", made], capture_output=True, text=True, check=False
    )
    if done.returncode == NO_ENGINE:
        return None
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return {name[:-4]: np.load(os.path.join(made, name)) for name in sorted(os.listdir(made))}


def integer_tflite(folder: str) -> Tuple[str, Arrays, List[Any]]:
    path = os.path.join(DATA, "tflite", "integer.tflite")
    counted = np.arange(8 * 8 * 4)
    x = ((counted * 73 + 19) % 256 - 128).astype(np.int8).reshape(1, 8, 8, 4)
    with open(os.path.join(DATA, "tflite", "integer_litert.json"), encoding="utf-8") as f:
        moved, dense = json.load(f)
    return path, {"input": x}, [np.array(dense).reshape(1, 6), np.array(moved).reshape(1, 4, 4, 4)]


def write_dynamic(path: str) -> None:
    """Real data and int8 weights: what is rounded together differs by operator."""
    t, m = make_tflite, make_tflite.Model()
    g = m.subgraph("main")

    def weights(name: str, shape: List[int], count: int, axis: int) -> int:
        scales = ([0.002 + 0.001 * i for i in range(count)], [0] * count, axis)
        values = t.signed(int(np.prod(shape)), len(name))
        return int(g.tensor(name, shape, t.INT8, values, scales))

    x, c = g.tensor("x", [2, 6, 6, 4]), g.tensor("c", [2, 3, 3, 4])
    d, p = g.tensor("d", [2, 3, 3, 4]), g.tensor("p", [2, 3, 3, 8])
    up, rows = g.tensor("up", [2, 6, 6, 3]), g.tensor("rows", [2, 6, 6, 5])
    dense = g.tensor("dense", [2, 6])
    size = g.tensor("size", [4], t.INT32, t.ints(2, 6, 6, 3))
    bias, wide = g.tensor("bias", [4], data=t.floats(4)), g.tensor("wide", [8], data=t.floats(8))
    g.inputs, g.outputs = [x], [dense, rows]
    g.op(3, [x, weights("conv", [4, 3, 3, 4], 4, 0), bias], [c], t.conv_options(2, activation=1))
    one = {1: t.Int(4, 1), 2: t.Int(4, 1), 3: t.Int(4, 1)}
    g.op(4, [c, weights("depth", [1, 3, 3, 4], 4, 3), bias], [d], one)
    g.op(3, [d, weights("pixels", [8, 1, 1, 4], 1, 0), wide], [p], t.conv_options(1))
    stride = {0: t.Int(1, 0), 1: t.Int(4, 2), 2: t.Int(4, 2)}
    g.op(67, [size, weights("transposed", [3, 3, 3, 8], 3, 0), p], [up], stride)
    keep = {0: t.Int(1, 0), 2: t.Int(1, 1)}
    g.op(9, [up, weights("rows_kernel", [5, 3], 5, 0), -1], [rows], keep)
    g.op(9, [rows, weights("dense_kernel", [6, 180], 1, 0), -1], [dense], {0: t.Int(1, 0)})
    m.write(path)


def dynamic_tflite(folder: str) -> Tuple[str, Arrays, List[Any]]:
    path = os.path.join(folder, "dynamic.tflite")
    write_dynamic(path)
    counted = np.arange(2 * 6 * 6 * 4)
    x = (((counted * 73 + 19) % 256 - 90) / 64).astype(np.float32).reshape(2, 6, 6, 4)
    with open(os.path.join(DATA, "tflite", "dynamic_litert.json"), encoding="utf-8") as f:
        dense, rows = json.load(f)
    return path, {"x": x}, [np.array(dense).reshape(2, 6), np.array(rows).reshape(2, 6, 6, 5)]


def quantise_tflite(folder: str) -> Tuple[str, Arrays, List[Any]]:
    """Halfway between two steps, a division by the scale rounds others than its inverse does."""
    path, scale = os.path.join(folder, "quantise.tflite"), np.float32(0.0235)
    m = make_tflite.Model()
    g = m.subgraph("main")
    x = g.tensor("x", [240])
    y = g.tensor("y", [240], make_tflite.INT8, quant=([float(scale)], [-3], 0))
    g.inputs, g.outputs = [x], [y]
    g.op(114, [x], [y])
    m.write(path)
    data = (np.arange(240) - 119.5).astype(np.float32) * scale
    return path, {"x": data}, [np.rint(data * (np.float32(1) / scale)) - 3]


def floor_tflite(folder: str) -> Tuple[str, Arrays, List[Any]]:
    path = os.path.join(folder, "floor.tflite")
    m = make_tflite.Model()
    g = m.subgraph("main")
    x = g.tensor("x", [7], make_tflite.INT32)
    by = g.tensor("by", [7], make_tflite.INT32, make_tflite.ints(2, 2, -3, -3, 5, 5, 4))
    y = g.tensor("y", [7], make_tflite.INT32)
    g.inputs, g.outputs = [x], [y]
    g.op(90, [x, by], [y])
    m.write(path)
    data = np.array([-7, 7, -7, 7, -10, 0, -1], np.int32)
    return path, {"x": data}, [np.floor_divide(data, [2, 2, -3, -3, 5, 5, 4])]


STABLEHLO = """
module @checks {
  func.func public @main(%arg0: tensor<3x4xf32>, %arg1: tensor<5xi32>)
      -> (tensor<3xf32>, tensor<3xf32>, tensor<5xi32>) {
    %0 = stablehlo.constant dense<2.5> : tensor<f32>
    %1 = stablehlo.constant dense<0.75> : tensor<f32>
    %2 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add across dimensions = [1]
        : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %3 = stablehlo.reduce(%arg0 init: %1) applies stablehlo.maximum across dimensions = [1]
        : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %4 = stablehlo.constant dense<3> : tensor<5xi32>
    %5 = stablehlo.remainder %arg1, %4 : tensor<5xi32>
    return %2, %3, %5 : tensor<3xf32>, tensor<3xf32>, tensor<5xi32>
  }
}
"""


def stablehlo_reduce(folder: str) -> Tuple[str, Arrays, List[Any]]:
    path = os.path.join(folder, "reduce.mlir")
    with open(path, "w", encoding="utf-8") as f:
        f.write(STABLEHLO)
    x = np.random.default_rng(3).standard_normal((3, 4)).astype(np.float32)
    i = np.array([-7, -3, 0, 4, 8], np.int32)
    sums, most = x.sum(1) + 2.5, np.maximum(x.max(1), 0.75)
    return path, {"arg0": x, "arg1": i}, [sums, most, np.fmod(i, 3)]


def coreml_net(folder: str) -> Tuple[str, Arrays, List[Any]]:
    """net.mlmodel behind two activations: a convolution, pooling, a linear layer, softmax."""
    c, path = make_coreml, os.path.join(folder, "net.mlmodel")
    first = c.layer("linear", "image", "l", 130, c.sub(5, c.flt(1, 0.5), c.flt(2, -0.25)))
    curve = c.layer("curve", "l", "curve", 130, c.sub(31, c.flt(1, 1.5), c.flt(2, 0.75)))
    net = c.network().replace(b"image", b"curve")
    layers = first + curve + net[4:]  # behind the field number and the size of two bytes each
    with open(path, "wb") as f:
        f.write(c.num(1, 1) + c.IMAGE + c.sub(500, layers))
    x = np.random.default_rng(4).standard_normal((1, 3, 8, 8)).astype(np.float32)
    y = 1.5 * np.tanh(0.75 * (0.5 * x[0] - 0.25))
    kernel = np.frombuffer(c.floats(108), "<f4").reshape(4, 3, 3, 3)
    padded = np.pad(y, ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (1, 3, 3))[:, :, :, 0]
    y = np.einsum("chwij,ocij->ohw", windows, kernel)
    y = np.maximum(y + np.frombuffer(c.floats(4), "<f4")[:, None, None], 0)
    y = y.reshape(4, 4, 2, 4, 2).max((2, 4)).ravel()
    y = (np.arange(320).reshape(5, 64) / 512) @ y + np.frombuffer(c.floats(5), "<f4")
    e = np.exp(y - y.max())
    return path, {"image": x}, [(e / e.sum()).astype(np.float32)]


def window_lrn(x: Any, axes: List[int]) -> Any:
    """Of parts.xml: size 3, alpha 0.1, bias 2, beta 0.5."""
    total = np.pad(x * x, [(1, 1) if d in axes else (0, 0) for d in range(x.ndim)])
    for axis in axes:
        total = sum(np.take(total, np.arange(x.shape[axis]) + k, axis) for k in range(3))
    return x / np.sqrt(2 + 0.1 / 3 ** len(axes) * total)


def frames(signal: Any) -> Any:
    window = np.array([(i % 7 - 3) / 16 for i in range(16)])
    parts = np.stack([np.fft.rfft(signal[i : i + 16] * window) for i in range(0, 49, 8)])
    return np.stack([parts.real, parts.imag], -1)


def openvino_parts(folder: str) -> Tuple[str, Arrays, Arrays]:
    path = os.path.join(DATA, "openvino", "parts.xml")
    x = (np.arange(160) * 37 % 41 / 16 - 1).astype(np.float32).reshape(1, 8, 4, 5)
    sound = (np.arange(128) * 29 % 31 / 16 - 1).astype(np.float32).reshape(2, 64)
    turned = x[:, ::-1, :, ::-1]
    want = {
        "Reverse4": turned,
        "Reverse7": turned,
        "Pad11": np.pad(x, [(0, 0), (0, 1), (2, 1), (0, 3)], mode="symmetric"),
        "Gather15": x[:, [0, 2, 5]],
        "STFT20": np.stack([frames(s) for s in sound]),
        "STFT22": frames(sound[0]).transpose(1, 0, 2),
        "LRN25": window_lrn(x, [2, 3]),
        "LRN28": window_lrn(x, [1, 2]),
    }
    return path, {"map": x, "sound": sound, "one": sound[0]}, want


CASES: Dict[str, Callable[[str], Tuple[str, Arrays, Any]]] = {
    "tflite integers": integer_tflite,
    "tflite dynamic range": dynamic_tflite,
    "tflite quantise": quantise_tflite,
    "tflite floor division": floor_tflite,
    "stablehlo reduce": stablehlo_reduce,
    "core ml network": coreml_net,
    "openvino parts": openvino_parts,
    **foreign_cases.CASES,
}


def pairs(got: Arrays, want: Any) -> List[Tuple[str, Any, Any]]:
    """Outputs by their name, or in the order of their names."""
    if not isinstance(want, dict):
        return [(name, a, b) for (name, a), b in zip(got.items(), want)]
    if set(got) != set(want):
        raise RuntimeError(f"outputs are {sorted(got)}, expected {sorted(want)}")
    return [(name, got[name], b) for name, b in want.items()]


def compare(got: Arrays, want: Any) -> None:
    if len(got) != len(want):
        raise RuntimeError(f"{len(got)} outputs, {len(want)} expected")
    for name, a, b in pairs(got, want):
        a = a.reshape(b.shape) if a.size == b.size and b.ndim == 1 else a
        if a.shape != b.shape:
            raise RuntimeError(f"{name} is {a.shape}, {b.shape} expected")
        apart = np.abs(a.astype(np.float64) - b.astype(np.float64))
        exact = np.issubdtype(a.dtype, np.integer)
        if np.any(apart > (0 if exact else 1e-4 * np.maximum(1, np.abs(b)))):
            raise RuntimeError(f"{name} differs by up to {apart.max()}: {a.ravel()} {b.ravel()}")


def main() -> int:
    assay, wanted = sys.argv[1], sys.argv[2:]
    failed = ran = 0
    for name, case in CASES.items():
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                path, inputs, want = case(folder)
                got = run_file(assay, path, inputs, folder)
                if got is None:
                    print("skipped: no engine")
                    return 77
                compare(got, want)
                ran += 1
            except RuntimeError as why:
                print(f"{name}: {why}")
                failed += 1
    print(f"{ran} files have the outputs of their reference, {failed} do not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
