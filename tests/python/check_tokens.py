#!/usr/bin/python3
"""Decoders with a cache, as optimum exports them: what is fed fits together, and throughput counts
tokens.

    check_tokens.py ASSAY

The models echo their inputs, so that what they were fed can be read from the outputs. Exit 77
(skipped) without python3-onnx or an engine.
"""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, List

try:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ASSAY = sys.argv[1]
VOCABULARY, WIDTH, HEADS, SIZE = 50, 8, 2, 4


def weight(name: str, *shape: int) -> Any:
    rng = numpy.random.default_rng(1)
    return numpy_helper.from_array(rng.standard_normal(shape).astype(numpy.float32), name)


def value(name: str, kind: Any, *dims: Any) -> Any:
    return helper.make_tensor_value_info(name, kind, dims)


def decoder(mask_dim: Any, mask_first: bool, switch: bool) -> Any:
    """One layer: embedding, keys and values joined to the past, attention under the mask."""
    batch, new, past = "batch_size", "sequence_length", "past_sequence_length"
    ids = value("input_ids", TensorProto.INT64, batch, new)
    mask = value("attention_mask", TensorProto.INT64, batch, mask_dim)
    places = value("position_ids", TensorProto.INT64, batch, new)
    caches = [
        value(f"past_key_values.0.{k}", TensorProto.FLOAT, batch, HEADS, past, SIZE)
        for k in ("key", "value")
    ]
    inputs = [ids, mask, places, *caches] if mask_first else [*caches, places, ids, mask]
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["e"]),
        helper.make_node("Gather", ["positions", "position_ids"], ["p"]),
        helper.make_node("Add", ["e", "p"], ["x"]),
        helper.make_node("Reshape", ["x", "split"], ["h"]),
        helper.make_node("Transpose", ["h"], ["q"], perm=[0, 2, 1, 3]),
        helper.make_node("Concat", ["past_key_values.0.key", "q"], ["present.0.key"], axis=2),
        helper.make_node("Concat", ["past_key_values.0.value", "q"], ["present.0.value"], axis=2),
        helper.make_node("Transpose", ["present.0.key"], ["kt"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "kt"], ["scores"]),
        helper.make_node("Cast", ["attention_mask"], ["m"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["m", "axes"], ["m4"]),
        helper.make_node("Mul", ["scores", "m4"], ["masked"]),
        helper.make_node("Softmax", ["masked"], ["w"], axis=-1),
        helper.make_node("MatMul", ["w", "present.0.value"], ["c"]),
        helper.make_node("Transpose", ["c"], ["ct"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["ct", "join"], ["y"]),
        helper.make_node("MatMul", ["y", "head"], ["logits"]),
        helper.make_node("Identity", ["input_ids"], ["seen_ids"]),
        helper.make_node("Identity", ["attention_mask"], ["seen_mask"]),
        helper.make_node("Identity", ["position_ids"], ["seen_positions"]),
    ]
    outputs = [
        value("logits", TensorProto.FLOAT, batch, new, VOCABULARY),
        value("present.0.key", TensorProto.FLOAT, batch, HEADS, "total", SIZE),
        value("present.0.value", TensorProto.FLOAT, batch, HEADS, "total", SIZE),
        value("seen_ids", TensorProto.INT64, batch, new),
        value("seen_mask", TensorProto.INT64, batch, mask_dim),
        value("seen_positions", TensorProto.INT64, batch, new),
    ]
    if switch:
        inputs.append(value("use_cache_branch", TensorProto.BOOL, 1))
        nodes.append(helper.make_node("Identity", ["use_cache_branch"], ["seen_switch"]))
        outputs.append(value("seen_switch", TensorProto.BOOL, 1))
    weights = [
        weight("words", VOCABULARY, WIDTH),
        weight("positions", 1024, WIDTH),
        weight("head", WIDTH, VOCABULARY),
        numpy_helper.from_array(numpy.array([0, -1, HEADS, SIZE], dtype=numpy.int64), "split"),
        numpy_helper.from_array(numpy.array([0, -1, WIDTH], dtype=numpy.int64), "join"),
        numpy_helper.from_array(numpy.array([1, 2], dtype=numpy.int64), "axes"),
    ]
    graph = helper.make_graph(nodes, "decoder", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def encoder() -> Any:
    inputs = [
        value("input_ids", TensorProto.INT64, "batch", "sequence"),
        value("attention_mask", TensorProto.INT64, "batch", "sequence"),
    ]
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["e"]),
        helper.make_node("Cast", ["attention_mask"], ["m"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["m", "axes"], ["m3"]),
        helper.make_node("Mul", ["e", "m3"], ["y"]),
    ]
    weights = [
        weight("words", VOCABULARY, WIDTH),
        numpy_helper.from_array(numpy.array([2], dtype=numpy.int64), "axes"),
    ]
    outputs = [value("y", TensorProto.FLOAT, "batch", "sequence", WIDTH)]
    graph = helper.make_graph(nodes, "encoder", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def bench(folder: str, model: Any, *options: str) -> Any:
    path, out, result = (os.path.join(folder, n) for n in ("model.onnx", "out", "r.json"))
    onnx.checker.check_model(model)
    onnx.save(model, path)
    done = subprocess.run(
        [
            ASSAY,
            "bench",
            path,
            "-q",
            "-o",
            result,
            "--num-runs",
            "3",
            "--warmup-runs",
            "1",
            "--save-outputs",
            out,
            *options,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with open(result, encoding="utf-8") as f:
        profile = json.load(f)
    return profile, lambda name: numpy.load(os.path.join(out, name + ".npy"))


def check_decoder(
    folder: str,
    mask_dim: Any,
    mask_first: bool,
    switch: bool,
    batch: int,
    new: int,
    past: int,
    *options: str,
) -> None:
    profile, seen = bench(folder, decoder(mask_dim, mask_first, switch), *options)
    assert seen("seen_ids").shape == (batch, new), seen("seen_ids").shape
    assert seen("seen_ids").min() >= 0 and seen("seen_ids").max() < VOCABULARY
    assert seen("seen_mask").shape == (batch, past + new) and seen("seen_mask").min() == 1, seen(
        "seen_mask"
    )
    assert (seen("seen_positions") == numpy.arange(past, past + new)).all(), seen("seen_positions")
    assert seen("present.0.key").shape == (batch, HEADS, past + new, SIZE)
    if switch:
        assert seen("seen_switch").all()
    check_rate(profile, batch * new, batch)


def check_rate(profile: Any, tokens: int, batch: int) -> None:
    rate = profile["throughput"]
    assert (
        abs(rate["tokens_per_second"] / rate["samples_per_second"] - tokens / batch) < 1e-3 * tokens
    ), rate
    mean = profile["latency"]["mean"]
    assert abs(rate["tokens_per_second"] * mean / 1000 / tokens - 1) < 0.01, (rate, mean)


def main() -> int:
    lenet = [ASSAY, "bench", "lenet", "-q", "--num-runs", "1", "--warmup-runs", "1"]
    if subprocess.run(lenet, capture_output=True, check=False).returncode == 5:
        print("skipped: no engine")
        return 77
    total = "past_sequence_length + sequence_length"
    cases: List[Any] = [
        (total, True, False, 1, 1, 128),
        (total, False, True, 1, 1, 128),
        ("total_sequence_length", True, False, 1, 1, 128),
        ("past_sequence_length + 1", False, False, 1, 1, 128),
        (total, True, False, 3, 1, 40, "--batch", "3", "--dim", "past_sequence_length=40"),
        (
            total,
            True,
            False,
            1,
            7,
            0,
            "--dim",
            "past_sequence_length=0",
            "--dim",
            "sequence_length=7",
        ),
        (
            total,
            True,
            True,
            2,
            5,
            16,
            "--input-shape",
            "past_key_values.0.key:2,2,16,4",
            "--dim",
            "sequence_length=5",
        ),
    ]
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="assay-tokens-") as folder:
            check_decoder(folder, *case)
    with tempfile.TemporaryDirectory(prefix="assay-tokens-") as folder:
        profile, _ = bench(folder, encoder(), "--batch", "2", "--dim", "sequence=32")
        check_rate(profile, 64, 2)
    print(f"{len(cases) + 1} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
