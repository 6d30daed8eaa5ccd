#!/usr/bin/env python3
"""Writes fuzz inputs with every operator that the tables of src/formats list, each once per file.

    make_layers.py FOLDER      as tests/fuzz/corpus: FOLDER/fuzz_ncnn/layers_0_3d, ...

The operators have inputs and attributes that most of them accept, not sensible ones. They are
seeds, not models. `fuzz_NAME -merge=1` keeps the files that reach something new.
"""
import pathlib
import re
import struct
import sys
from typing import Any, Iterator, List

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))
import make_coreml as ml  # type: ignore[import]  # noqa: E402
import make_tensorflow as tf  # type: ignore[import]  # noqa: E402
import make_tflite as lite  # type: ignore[import]  # noqa: E402

OUT = pathlib.Path(sys.argv[1])


def put(target: str, name: str, data: bytes) -> None:
    folder = OUT / f"fuzz_{target}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def operators(folder: str) -> List[str]:
    """First words of the rows of a format's tables: `{"Name", ...`, `SIMPLE("Name", ...`."""
    text = "".join(p.read_text() for p in sorted((ROOT / "src/formats" / folder).glob("*.c")))
    found = re.findall(r'^\s+(?:\{|[A-Z_]+\()"([A-Za-z][A-Za-z0-9_.]*)"', text, re.M)
    return sorted(set(found))


def ncnn() -> None:
    keys = (
        "0=4 1=3 11=3 2=1 3=1 4=1 5=1 6=432 7=2 9=1",
        "0=1 1=1 2=2 3=2 4=1 5=0 6=36 8=1",
        "0=2 1=0.5 -23300=2,3,-1 -23301=2,1,2 2=0",
        "0=0 1=2 2=0 3=1 4=1 5=1 -23309=2,0,1 -23310=2,2,3 -23311=2,1,2",
        "0=8 1=4 2=288 3=2 4=16 5=8 6=4 7=1",
    )
    several = {"BinaryOp": 2, "Concat": 2, "Eltwise": 2, "Einsum": 2, "MatMul": 2, "Crop": 2}
    several.update({"Gemm": 2, "SDPA": 3, "RotaryEmbed": 3, "MemoryData": 0})
    for k, key in enumerate(keys):
        for rank, dims in enumerate(("0=8", "0=8 1=6", "0=8 1=6 2=4"), 1):
            lines = [f"Input in 0 3 a b c {dims}"]
            for i, name in enumerate(n for n in operators("ncnn") if n != "Input"):
                n_in, n_out = several.get(name, 1), 2 if name in ("Split", "Slice") else 1
                names = ["abc"[j] for j in range(n_in)] + [f"y{j}_{i}" for j in range(n_out)]
                lines.append(" ".join([name, f"l{i}", str(n_in), str(n_out), *names, key]))
            text = f"7767517\n{len(lines)} 200\n" + "\n".join(lines) + "\n"
            put("ncnn", f"layers_{k}_{rank}d", text.encode())


DATA = (
    'strides="1,1" pads_begin="0,0" pads_end="0,0" dilations="1,1" auto_pad="explicit"'
    ' kernel="2,2" axis="1" axes="1" num_splits="2" exclude-pad="true" rounding_type="floor"'
    ' mode="{mode}" epsilon="0.1" eps="0.1" special_zero="true" keep_dims="true"'
    ' destination_type="f16" to="f32" block_size="2" group="2" alpha="0.5" beta="0.5" bias="1"'
    ' size="3" min="0" max="1" transpose_a="false" transpose_b="true" hidden_size="4"'
    ' direction="forward" levels="256" output_type="i64" index_element_type="i64" begin_mask="1,0"'
    ' end_mask="0,1" new_axis_mask="0" shrink_axis_mask="0" ellipsis_mask="0" num_groups="2"'
    ' normalize_variance="true" across_channels="true" eps_mode="add" batch_dims="0"'
    ' equation="bchw->bhwc" sort="value" interpolate_mode="nearest"'
    ' coordinate_transformation_mode="half_pixel" nearest_mode="floor"'
    ' shape_calculation_mode="scales" antialias="false" cube_coeff="-0.75"'
    ' depth_mode="blocks_first"'
    ' pad_mode="constant" auto_broadcast="numpy" element_type="f32" shape="1,4,6,6"'
)


def openvino_ports(first: int, shapes: List[str], tag: str) -> str:
    ports = "".join(
        f'<port id="{first + i}" precision="FP32">'
        + "".join(f"<dim>{d}</dim>" for d in s.split(","))
        + "</port>"
        for i, s in enumerate(shapes)
    )
    return f"<{tag}>{ports}</{tag}>" if ports else ""


def openvino_net(names: List[str], n_in: int, mode: str) -> bytes:
    shape = "1,4,6,6"
    data = DATA.format(mode=mode)
    layers = [
        f'<layer id="0" name="x" type="Parameter" version="opset1"><data shape="{shape}"'
        f' element_type="f32"/>{openvino_ports(0, [shape], "output")}</layer>'
    ]
    edges = []
    for i, name in enumerate(names, 1):
        ports = openvino_ports(0, [shape] * n_in, "input")
        ports += openvino_ports(n_in, [shape], "output")
        layers.append(f'<layer id="{i}" name="l{i}" type="{name}" version="opset1"><data {data}/>')
        layers[-1] += ports + "</layer>"
        edges += [
            f'<edge from-layer="0" from-port="0" to-layer="{i}" to-port="{j}"/>'
            for j in range(n_in)
        ]
    body = f'<layers>{"".join(layers)}</layers><edges>{"".join(edges)}</edges>'
    return f'<?xml version="1.0"?><net name="n" version="11">{body}</net>'.encode()


def pieces(names: List[str], n: int) -> Iterator[List[str]]:
    return (names[i : i + n] for i in range(0, len(names), n))


def openvino() -> None:
    for k, names in enumerate(pieces(operators("openvino"), 40)):
        for n_in, mode in ((1, "linear"), (2, "add"), (3, "nearest"), (4, "constant")):
            put("openvino", f"layers_{k}_{n_in}", openvino_net(names, n_in, mode))


def tensorflow() -> None:
    attrs = [
        *tf.window(tf.ints("strides", [1, 2, 2, 1]), tf.ints("ksize", [1, 2, 2, 1])),
        tf.ints("dilations", [1, 1, 1, 1]),
        tf.ints("squeeze_dims", [1]),
        tf.flag("keep_dims", 1),
        tf.kind("DstT", tf.FLOAT),
        tf.kind("out_type", 3),
        tf.attr("N", tf.num(3, 2)),
        tf.attr("num_split", tf.num(3, 2)),
        tf.attr("axis", tf.num(3, 1)),
        tf.attr("block_size", tf.num(3, 2)),
        tf.text("equation", "abcd,abcd->abd"),
        tf.text("mode", "REFLECT"),
    ]
    for k, given in enumerate(
        (["x"], ["x", "i"], ["x", "x"], ["x", "i", "i"], ["x", "i", "i", "i"])
    ):
        parts = [tf.placeholder("x", tf.FLOAT, [1, 4, 6, 8]), tf.const("i", 3, [2], tf.whole(1, 2))]
        for i, name in enumerate(operators("tensorflow")):
            parts.append(tf.node(f"l{i}", name, given, *attrs))
        put("tensorflow", f"layers_{k}", b"".join(parts))


def tflite() -> None:
    for k in range(5):
        model = lite.Model()
        g = model.subgraph("main")
        x = g.tensor("x", [1, 4, 6, 8])
        i = g.tensor("i", [2], lite.INT32, lite.ints(1, 2))
        w = g.tensor("w", [8, 3, 3, 8], data=lite.floats(576))
        given = ([x], [x, i], [x, x, x], [x, i, i, i], [x, w])[k]
        g.inputs = [x]
        for code in range(160):
            g.outputs.append(g.tensor(f"y{code}", [1, 4, 6, 8]))
            g.op(code, given, [g.outputs[-1]])
        path = OUT / "fuzz_tflite" / f"layers_{k}"
        path.parent.mkdir(parents=True, exist_ok=True)
        model.write(str(path))


def coreml_value(name: str, kind: int, value: bytes) -> Any:
    return ml.const(name, kind, [], ml.sub(3, ml.sub(1, value)))


def coreml() -> None:
    dims = [1, 4, 6, 6]
    names = {"x": "image", "y": "image", "axes": "i", "axis": "i", "perm": "p", "shape": "p"}
    names.update({"weight": "image", "strides": "i", "pad": "p", "kernel_sizes": "i", "begin": "p"})
    names.update({"end": "p", "size": "p", "values": "image", "indices": "p", "reps": "p"})
    names.update({"a": "image", "b": "image", "cond": "image", "alpha": "image", "epsilon": "i"})
    names.update({"gamma": "image", "mean": "image", "variance": "image", "data": "image"})
    block = [ml.sub(2, "out"), ml.ints("i", 1, 1), ml.ints("p", 0, 2, 3, 1)]
    mil = re.findall(
        r'^\s+\{"([a-z0-9_]+)"', (ROOT / "src/formats/coreml/coreml_mil_table.c").read_text(), re.M
    )
    block += [ml.op(name, f"y{i}", dims, **names) for i, name in enumerate(sorted(set(mil)))]
    main = ml.sub(
        2,
        ml.sub(1, *ml.named("image", ml.FLOAT16, *dims)),
        ml.sub(2, "CoreML5"),
        ml.sub(3, ml.sub(1, "CoreML5"), ml.sub(2, *block)),
    )
    inner = ml.num(1, 6) + ml.IMAGE + ml.sub(502, ml.num(1, 1), ml.sub(2, ml.sub(1, "main"), main))
    put("coreml", "operators", inner)
    params = [ml.num(f, 1) for f in (1, 2, 10)] + [ml.sub(20, b"\x02\x02"), ml.sub(30)]
    for k, given in enumerate(([], params, [ml.sub(1, b"\x01"), ml.weights(90, 4)])):
        layers = [ml.layer(f"l{f}", "image", f"y{f}", f, *given) for f in range(100, 1500, 5)]
        put("coreml", f"layers_{k}", ml.num(1, 1) + ml.IMAGE + ml.sub(500, *layers))


for make in (ncnn, openvino, tensorflow, tflite, coreml):
    make()
