"""Small models of OpenVINO, NCNN, TensorFlow and StableHLO, made here, and their outputs by numpy.

Each builder has a value beside each tensor of the file, which its numpy expression gives; so a case
is the model and what it must compute. No runtime of these formats is needed.
"""

import os
import struct
from typing import Any, Callable, Dict, List, Tuple

import make_openvino  # type: ignore[import]
import make_tensorflow as tf  # type: ignore[import]
import numpy as np
import numpy_ops as ops

Case = Tuple[str, Dict[str, Any], Dict[str, Any]]


def numbers(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


# ---- NCNN ----


class Ncnn:
    """Lines of the .param and the weights behind them; blobs have no batch."""

    def __init__(self, **inputs: Any) -> None:
        self.lines: List[str] = []
        self.data = b""
        self.values = dict(inputs)
        self.inputs, self.outputs = inputs, {}  # type: ignore[var-annotated]
        for name, x in inputs.items():
            keys = {1: [0], 2: [1, 0], 3: [2, 1, 0]}[x.ndim]
            sizes = " ".join(f"{k}={s}" for k, s in zip(keys, x.shape))
            self.lines.append(f"Input {name} 0 1 {name} {sizes}")

    def weight(self, w: Any, tagged: bool = True) -> None:
        self.data += (b"\0\0\0\0" if tagged else b"") + np.ascontiguousarray(w, "<f4").tobytes()

    def add(self, kind: str, inputs: str, value: Any, keys: str = "", outs: int = 1) -> str:
        name = f"l{len(self.lines)}"
        names = [name] + [f"{name}_{i}" for i in range(1, outs)]
        ins = inputs.split()
        made = f"{len(ins)} {outs} {' '.join(ins + names)}"
        self.lines.append(f"{kind} {name} {made} {keys}")
        for n, v in zip(names, value if outs > 1 else [value]):
            self.outputs[n] = self.values[n] = v
        for n in ins:
            self.outputs.pop(n, None)
        return name

    def conv(self, x: str, w: Any, keys: str, value: Any, kind: str = "Convolution") -> str:
        b = numbers(w.size, value.shape[0])
        self.weight(w)
        self.weight(b, False)
        k = w.shape[-2:] if w.ndim > 3 else (1, w.shape[-1])
        keys += f" 0={value.shape[0]} 1={k[1]} 5=1 6={w.size}" + (
            f" 11={k[0]}" if w.ndim > 3 else ""
        )
        return self.add(kind, x, value + b.reshape(-1, *[1] * (value.ndim - 1)), keys)

    def write(self, folder: str) -> Case:
        path = os.path.join(folder, "net.param")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"7767517\n{len(self.lines)} 99\n" + "\n".join(self.lines) + "\n")
        with open(os.path.join(folder, "net.bin"), "wb") as g:
            g.write(self.data)
        given = {n: x[None] for n, x in self.inputs.items()}
        return path, given, {n: v[None] for n, v in self.outputs.items()}


def one(x: Any, value: Callable[[Any], Any]) -> Any:
    """Of a blob without a batch."""
    return value(x[None])[0]


def ncnn_windows(folder: str) -> Case:
    x, w, g = numbers(1, 4, 9, 8), numbers(2, 6, 4, 3, 2), numbers(3, 4, 2, 3, 3)
    d, up, dw = numbers(4, 8, 1, 3, 3), numbers(5, 5, 4, 3, 3), numbers(6, 4, 1, 2, 2)
    n = Ncnn(x=x)
    n.add("Split", "x", [x] * 8, outs=8)
    s = ["l1"] + [f"l1_{i}" for i in range(1, 8)]
    n.conv(
        s[0],
        w,
        "3=2 13=1 4=1 15=0 14=1 16=2",
        one(x, lambda a: ops.conv(a, w, [1, 2], [(1, 2), (1, 0)])),
    )
    n.conv(
        s[1],
        g,
        "7=2 4=1 2=2 12=1",
        one(x, lambda a: ops.conv(a, g, 1, [(1, 1), (1, 1)], [1, 2], 2)),
        "ConvolutionDepthWise",
    )
    n.conv(s[2], d, "7=4 4=1", one(x, lambda a: ops.conv(a, d, 1, 1, 1, 4)), "ConvolutionDepthWise")
    turned = np.swapaxes(up, 0, 1)
    n.conv(
        s[3], up, "3=2 4=1", one(x, lambda a: ops.conv_transpose(a, turned, 2, 1)), "Deconvolution"
    )
    n.conv(
        s[4],
        dw,
        "7=4 3=2",
        one(x, lambda a: ops.conv_transpose(a, dw, 2, 0, 4)),
        "DeconvolutionDepthWise",
    )
    n.add(
        "Pooling",
        s[5],
        one(x, lambda a: ops.pool(a, "max", [3, 3], [2, 2], 1, ceil=True)),
        "0=0 1=3 2=2 3=1",
    )
    n.add(
        "Pooling",
        s[6],
        one(x, lambda a: ops.pool(a, "avg", [3, 3], [2, 2], 1)),
        "0=1 1=3 2=2 3=1 5=1",
    )
    n.add(
        "Pooling",
        s[7],
        one(x, lambda a: ops.pool(a, "avg", [2, 2], [2, 2], 1, True)),
        "0=1 1=2 2=2 3=1 5=1 6=1",
    )
    return n.write(folder)


def ncnn_layers(folder: str) -> Case:
    x = numbers(7, 4, 6, 5)
    n = Ncnn(x=x)
    n.add("Split", "x", [x] * 11, outs=11)
    s = ["l1"] + [f"l1_{i}" for i in range(1, 11)]
    group, scale, shift = (
        ops.normalize(x.reshape(2, -1), 1, 1e-3).reshape(x.shape),
        numbers(8, 4),
        numbers(9, 4),
    )
    c = (4, 1, 1)
    n.weight(scale, False)
    n.weight(shift, False)
    n.add("GroupNorm", s[0], group * scale.reshape(c) + shift.reshape(c), "0=2 1=4")
    n.add("InstanceNorm", s[1], ops.normalize(x, (1, 2), 1e-5), "0=4 1=1e-5 2=0")
    wide, low = numbers(10, 5), numbers(11, 5)
    n.weight(wide, False)
    n.weight(low, False)
    n.add("LayerNorm", s[2], ops.normalize(x, -1, 1e-5) * wide + low, "0=5 1=1e-5 2=1")
    n.weight(wide, False)
    n.add(
        "RMSNorm",
        s[3],
        x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * wide,
        "0=5 1=1e-5 2=1",
    )
    n.add(
        "Interp",
        s[4],
        one(x, lambda a: ops.resize(a, (12, 10), "nearest", "asymmetric")),
        "0=1 1=2.0 2=2.0",
    )
    n.add(
        "Interp",
        s[5],
        one(x, lambda a: ops.resize(a, (9, 10), "linear", "half_pixel")),
        "0=2 3=9 4=10",
    )
    n.add("Softmax", s[6], ops.softmax(x, 0), "0=0 1=1")
    n.add("Reduction", s[7], x.mean((1, 2), keepdims=True), "0=3 1=0 -23303=2,1,2 4=1 5=1")
    n.add("Tile", s[8], np.tile(x, (2, 1, 3)), "-23302=3,2,1,3")
    n.add("Permute", s[9], np.transpose(x, (2, 1, 0)), "0=5")
    mean, var, bias = numbers(12, 4), numbers(13, 4) ** 2 + 1, numbers(14, 4)
    for w in (scale, mean, var, bias):
        n.weight(w, False)
    norm = (x - mean.reshape(c)) / np.sqrt(var.reshape(c)) * scale.reshape(c) + bias.reshape(c)
    n.add("BatchNorm", s[10], norm, "0=4")
    return n.write(folder)


def lstm(x: Any, w: Any, r: Any, b: Any, reverse: bool) -> Any:
    """Gates of NCNN: input, forget, output, cell."""
    h = c = np.zeros(r.shape[1], np.float32)
    out = []
    for row in x[::-1] if reverse else x:
        i, f, o, g = np.split(w @ row + r @ h + b, 4)
        c = ops.sigmoid(f) * c + ops.sigmoid(i) * np.tanh(g)
        h = ops.sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.array(out[::-1] if reverse else out)


def gru(x: Any, w: Any, r: Any, b: Any) -> Any:
    """Gates of NCNN: reset, update, new; the fourth bias is that of the state in the new one."""
    h = np.zeros(r.shape[1], np.float32)
    (wr, wu, wn), (rr, ru, rn), out = np.split(w, 3), np.split(r, 3), []
    for row in x:
        reset, update = ops.sigmoid(wr @ row + rr @ h + b[0]), ops.sigmoid(wu @ row + ru @ h + b[1])
        new = np.tanh(wn @ row + b[2] + reset * (rn @ h + b[3]))
        h = (1 - update) * new + update * h
        out.append(h)
    return np.array(out)


def ncnn_recurrent(folder: str) -> Case:
    x = numbers(15, 6, 3)
    n = Ncnn(x=x)
    n.add("Split", "x", [x] * 3, outs=3)
    w, r, b = numbers(16, 2, 16, 3), numbers(17, 2, 16, 4), numbers(18, 2, 16)
    for part in (w, b, r):
        n.weight(part)
    both = np.concatenate([lstm(x, w[d], r[d], b[d], d == 1) for d in range(2)], 1)
    n.add("LSTM", "l1", both, "0=4 1=96 2=2")
    w, r, b = numbers(19, 12, 3), numbers(20, 12, 4), numbers(21, 4, 4)
    for part in (w, b, r):
        n.weight(part)
    n.add("GRU", "l1_1", gru(x, w, r, b), "0=4 1=36 2=0")
    w, b = numbers(22, 5, 3), numbers(23, 5)
    n.weight(w)
    n.weight(b, False)
    n.add("InnerProduct", "l1_2", x @ w.T + b, "0=5 1=1 2=15")
    return n.write(folder)


def ncnn_attention(folder: str) -> Case:
    q, k, v = numbers(24, 4, 5, 6), numbers(25, 2, 5, 6), numbers(26, 2, 5, 6)
    past_k, past_v, mask = numbers(27, 2, 3, 6), numbers(28, 2, 3, 6), numbers(29, 5, 8)
    cos, sin = numbers(30, 5, 3), numbers(31, 5, 3)
    n = Ncnn(q=q, k=k, v=v, pk=past_k, pv=past_v, mask=mask, cos=cos, sin=sin)
    n.add("Split", "cos", [cos] * 2, outs=2)
    n.add("Split", "sin", [sin] * 2, outs=2)
    a, b = q[..., :3], q[..., 3:]
    turned = np.concatenate([a * cos - b * sin, a * sin + b * cos], -1)
    rope = n.add("RotaryEmbed", "q l8 l9", turned, "0=0")
    a, b = k[..., ::2], k[..., 1::2]
    woven = np.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(k.shape)
    keys = n.add("RotaryEmbed", "k l8_1 l9_1", woven, "0=1")
    all_k, all_v = np.concatenate([past_k, woven], 1), np.concatenate([past_v, v], 1)
    scores = turned @ np.repeat(all_k, 2, 0).swapaxes(1, 2) * 0.5 + mask
    mixed = ops.softmax(scores) @ np.repeat(all_v, 2, 0)
    n.add("SDPA", f"{rope} {keys} v mask pk pv", [mixed, all_k, all_v], "5=1 6=0.5 7=1", outs=3)
    return n.write(folder)


# ---- OpenVINO ----


class OpenVino(make_openvino.Net):  # type: ignore[misc]
    def __init__(self, **inputs: Any) -> None:
        super().__init__("net", 11)
        self.inputs, self.ports = inputs, {}
        self.outputs: Dict[str, Any] = {}
        for name, x in inputs.items():
            text = ",".join(map(str, x.shape))
            kind = {"shape": text, "element_type": "f32"}
            self.ports[name] = self.add("Parameter", [], [x.shape], name, **kind)

    def constant(self, x: Any) -> Any:
        code, kind = ("f", "f32") if x.dtype == np.float32 else ("q", "i64")
        return self.const(x.shape, x.ravel().tolist(), code, kind)

    def layer(self, kind: str, inputs: List[Any], value: Any, **attrs: Any) -> None:
        """A layer of the inputs (names) and constants (arrays), and a Result of it."""
        ports = [self.ports[i] if isinstance(i, str) else self.constant(i) for i in inputs]
        name = f"out{len(self.outputs)}"
        text = {
            k: ",".join(map(str, v)) if isinstance(v, (list, tuple)) else v
            for k, v in attrs.items()
        }
        port = self.add(kind, ports, [value.shape], name, **text)
        self.add("Result", [port], [], name + "/result")
        self.outputs[name] = value

    def case(self, folder: str) -> Case:
        self.write(folder, "net")
        return os.path.join(folder, "net.xml"), self.inputs, self.outputs


def whole(*v: int) -> Any:
    return np.array(v, np.int64)


def openvino_windows(folder: str) -> Case:
    x = numbers(40, 2, 4, 9, 8)
    n = OpenVino(x=x)
    w, g, up = numbers(41, 6, 4, 3, 2), numbers(42, 2, 3, 2, 3, 3), numbers(43, 4, 5, 3, 3)
    up_g = numbers(44, 2, 2, 3, 3, 3)

    def window(
        strides: Any, begin: Any, end: Any, dilations: Any = (1, 1), auto: str = "explicit"
    ) -> Any:
        return dict(
            strides=strides, pads_begin=begin, pads_end=end, dilations=dilations, auto_pad=auto
        )

    n.layer(
        "Convolution",
        ["x", w],
        ops.conv(x, w, [1, 2], [(1, 2), (1, 0)]),
        **window((1, 2), (1, 1), (2, 0)),
    )
    same = ops.same_pads((9, 8), (3, 2), (2, 2), (1, 1))
    n.layer(
        "Convolution",
        ["x", w],
        ops.conv(x, w, 2, same),
        **window((2, 2), (0, 0), (0, 0), auto="same_upper"),
    )
    lower = [(b, a) for a, b in same]
    n.layer(
        "Convolution",
        ["x", w],
        ops.conv(x, w, 2, lower),
        **window((2, 2), (0, 0), (0, 0), auto="same_lower"),
    )
    flat = g.reshape(6, 2, 3, 3)
    n.layer(
        "GroupConvolution",
        ["x", g],
        ops.conv(x, flat, 1, 1, [1, 2], 2),
        **window((1, 1), (1, 1), (1, 1), (1, 2)),
    )
    n.layer(
        "ConvolutionBackpropData",
        ["x", up],
        ops.conv_transpose(x, up, 2, 1, 1, 1),
        output_padding=(1, 1),
        **window((2, 2), (1, 1), (1, 1)),
    )
    n.layer(
        "GroupConvolutionBackpropData",
        ["x", up_g],
        ops.conv_transpose(x, up_g.reshape(4, 3, 3, 3), 2, 0, 2),
        **window((2, 2), (0, 0), (0, 0)),
    )
    pooled = dict(
        strides=(2, 2), pads_begin=(1, 1), pads_end=(1, 1), kernel=(3, 3), auto_pad="explicit"
    )
    n.layer(
        "MaxPool", ["x"], ops.pool(x, "max", [3, 3], [2, 2], 1), rounding_type="floor", **pooled
    )
    n.layer(
        "MaxPool",
        ["x"],
        ops.pool(x, "max", [3, 3], [2, 2], 1, ceil=True),
        rounding_type="ceil",
        **pooled,
    )
    for counts in (False, True):
        y = ops.pool(x, "avg", [3, 3], [2, 2], 1, counts)
        skip = "false" if counts else "true"
        n.layer("AvgPool", ["x"], y, exclude__pad=skip, rounding_type="floor", **pooled)
    return n.case(folder)


def openvino_shapes(folder: str) -> Case:
    x = numbers(45, 2, 4, 6, 5)
    n = OpenVino(x=x)
    n.layer("Transpose", ["x", whole(0, 2, 3, 1)], ops.last(x))
    n.layer("Reshape", ["x", whole(0, -1, 5)], x.reshape(2, 24, 5), special_zero="true")
    n.layer("Unsqueeze", ["x", whole(1, -1)], x[:, None, ..., None])
    n.layer("Concat", ["x", "x"], np.concatenate([x, x], 2), axis=2)
    n.layer(
        "StridedSlice",
        ["x", whole(0, 1, 0, 4), whole(0, 3, 5, 0), whole(1, 1, 2, -1)],
        x[:, 1:3, 0:5:2, 4:0:-1],
        begin_mask="1,0,0,0",
        end_mask="1,0,0,0",
        new_axis_mask="",
        shrink_axis_mask="",
        ellipsis_mask="",
    )
    n.layer("Slice", ["x", whole(1, 0), whole(4, 5), whole(1, 2), whole(1, 3)], x[:, 1:4, :, 0:5:2])
    n.layer("Gather", ["x", whole(3, 0), whole(1)], x[:, [3, 0]], batch_dims=0)
    n.layer(
        "Pad",
        ["x", whole(0, 1, 2, 0), whole(0, 0, 1, 1), np.array(0.5, np.float32)],
        np.pad(x, [(0, 0), (1, 0), (2, 1), (0, 1)], constant_values=0.5),
        pad_mode="constant",
    )
    n.layer(
        "Pad",
        ["x", whole(0, 0, 2, 1), whole(0, 0, 1, 1)],
        np.pad(x, [(0, 0), (0, 0), (2, 1), (1, 1)], "reflect"),
        pad_mode="reflect",
    )
    n.layer("Tile", ["x", whole(1, 2, 1, 1)], np.tile(x, (1, 2, 1, 1)))
    d2s = x.reshape(2, 2, 2, 1, 6, 5).transpose(0, 3, 4, 1, 5, 2).reshape(2, 1, 12, 10)
    n.layer("DepthToSpace", ["x"], d2s, mode="blocks_first", block_size=2)
    shuffled = x.reshape(2, 2, 2, 6, 5).swapaxes(1, 2).reshape(x.shape)
    n.layer("ShuffleChannels", ["x"], shuffled, axis=1, group=2)
    return n.case(folder)


def openvino_math(folder: str) -> Case:
    x = numbers(47, 2, 4, 6, 5)
    n = OpenVino(x=x, m=numbers(48, 2, 3, 5))
    m, k = numbers(48, 2, 3, 5), numbers(49, 4, 5)
    n.layer("MatMul", ["m", k], m @ k.T, transpose_a="false", transpose_b="true")
    n.layer(
        "MatMul",
        ["m", numbers(50, 3, 2)],
        m.swapaxes(1, 2) @ numbers(50, 3, 2),
        transpose_a="true",
        transpose_b="false",
    )
    n.layer("ReduceMean", ["x", whole(1, 3)], x.mean((1, 3)), keep_dims="false")
    n.layer("ReduceMax", ["x", whole(2)], x.max(2, keepdims=True), keep_dims="true")
    n.layer("ReduceL2", ["x", whole(1)], np.sqrt((x * x).sum(1)), keep_dims="false")
    n.layer("SoftMax", ["x"], ops.softmax(x, 1), axis=1)
    n.layer("LogSoftmax", ["x"], np.log(ops.softmax(x, -1)), axis=-1)
    n.layer(
        "MVN",
        ["x", whole(2, 3)],
        ops.normalize(x, (2, 3), 1e-5),
        eps="1e-5",
        eps_mode="INSIDE_SQRT",
        normalize_variance="true",
    )
    gamma, beta = numbers(51, 4), numbers(52, 4)
    groups = ops.normalize(x.reshape(2, 2, -1), 2, 1e-5).reshape(x.shape)
    n.layer(
        "GroupNormalization",
        ["x", gamma, beta],
        groups * ops.by_channel(gamma, 4) + ops.by_channel(beta, 4),
        num_groups=2,
        epsilon="1e-5",
    )
    mean, var = numbers(53, 4), numbers(54, 4) ** 2 + 1
    norm = (x - ops.by_channel(mean, 4)) / np.sqrt(ops.by_channel(var, 4) + 1e-3)
    n.layer(
        "BatchNormInference",
        [gamma, beta, "x", mean, var],
        norm * ops.by_channel(gamma, 4) + ops.by_channel(beta, 4),
        epsilon="0.001",
    )
    ends = [np.array(v, np.float32).reshape(1, 1, 1, 1) for v in (-1, 1.5, -0.5, 0.75)]
    level = np.round((np.clip(x, -1, 1.5) + 1) / 2.5 * 15) / 15
    n.layer("FakeQuantize", ["x", *ends], level * 1.25 - 0.5, levels=16)
    n.layer("PReLU", ["x", gamma], np.where(x > 0, x, x * ops.by_channel(gamma, 4)))
    n.layer("Clamp", ["x"], np.clip(x, -0.5, 1), min=-0.5, max=1)
    n.layer("Elu", ["x"], np.where(x > 0, x, 0.7 * (np.exp(x) - 1)), alpha=0.7)
    n.layer("Swish", ["x"], x * ops.sigmoid(x))
    n.layer("HSwish", ["x"], x * np.clip(x + 3, 0, 6) / 6)
    n.layer("Mish", ["x"], x * np.tanh(np.log1p(np.exp(x))))
    n.layer(
        "SquaredDifference", ["x", gamma.reshape(1, 4, 1, 1)], (x - ops.by_channel(gamma, 4)) ** 2
    )
    return n.case(folder)


def openvino_resize(folder: str) -> Case:
    x = numbers(55, 1, 2, 5, 4)
    n = OpenVino(x=x)
    scales = np.array([2, 2.25], np.float32)
    modes = [
        ("nearest", "asymmetric", "floor"),
        ("linear_onnx", "half_pixel", "round_prefer_floor"),
        ("linear_onnx", "align_corners", "round_prefer_floor"),
        ("linear_onnx", "asymmetric", "round_prefer_floor"),
    ]
    for mode, where, rounding in modes:
        kind = "nearest" if mode == "nearest" else "linear"
        n.layer(
            "Interpolate",
            ["x", whole(10, 9), scales, whole(2, 3)],
            ops.resize(x, (10, 9), kind, where),
            mode=mode,
            shape_calculation_mode="sizes",
            coordinate_transformation_mode=where,
            nearest_mode=rounding,
            antialias="false",
            pads_begin="0,0,0,0",
            pads_end="0,0,0,0",
            cube_coeff="-0.75",
        )
    return n.case(folder)


# ---- TensorFlow ----


class TensorFlow:
    """A GraphDef of nodes with channels last."""

    def __init__(self, **inputs: Any) -> None:
        self.inputs, self.outputs = inputs, {}  # type: ignore[var-annotated]
        self.data = b"".join(tf.placeholder(n, tf.FLOAT, x.shape) for n, x in inputs.items())

    def constant(self, x: Any) -> str:
        name = f"c{len(self.data)}"
        kind, code = (tf.FLOAT, "<f4") if x.dtype == np.float32 else (tf.INT32, "<i4")
        self.data += tf.const(name, kind, x.shape, tf.sub(4, x.astype(code).tobytes()))
        return name

    def layer(self, op: str, inputs: List[Any], value: Any, *attrs: bytes) -> None:
        names = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        name = f"out{len(self.outputs)}"
        self.data += tf.node(name, op, names, tf.kind("T", tf.FLOAT), *attrs)
        self.outputs[name] = value

    def case(self, folder: str) -> Case:
        path = os.path.join(folder, "net.pb")
        with open(path, "wb") as f:
            f.write(self.data)
        return path, self.inputs, self.outputs


def window(padding: str, strides: Any, *more: bytes) -> List[bytes]:
    return [tf.text("padding", padding), tf.ints("strides", (1, *strides, 1)), *more]


def real(key: str, v: float) -> bytes:
    made: bytes = tf.attr(key, tf.varint(4 << 3 | 5) + struct.pack("<f", v))
    return made


def tensorflow_windows(folder: str) -> Case:
    x = numbers(60, 2, 9, 8, 4)
    c, w = ops.first(x), numbers(61, 3, 2, 4, 6)
    n = TensorFlow(x=x)
    oihw = w.transpose(3, 2, 0, 1)
    same = ops.same_pads((9, 8), (3, 2), (2, 2), (1, 1))
    n.layer("Conv2D", ["x", w], ops.last(ops.conv(c, oihw, 2, same)), *window("SAME", (2, 2)))
    n.layer(
        "Conv2D",
        ["x", w],
        ops.last(ops.conv(c, oihw, 1, 0, [2, 1])),
        *window("VALID", (1, 1)),
        tf.ints("dilations", (1, 2, 1, 1)),
    )
    n.layer(
        "Conv2D",
        ["x", w],
        ops.last(ops.conv(c, oihw, [1, 2], [(1, 2), (0, 1)])),
        *window("EXPLICIT", (1, 2)),
        tf.ints("explicit_paddings", (0, 0, 1, 2, 0, 1, 0, 0)),
    )
    d = numbers(62, 3, 3, 4, 2)
    deep = d.reshape(3, 3, 8).transpose(2, 0, 1)[:, None]
    near = ops.same_pads((9, 8), (3, 3), (1, 1), (1, 1))
    n.layer(
        "DepthwiseConv2dNative",
        ["x", d],
        ops.last(ops.conv(c, deep, 1, near, 1, 4)),
        *window("SAME", (1, 1)),
    )
    up = numbers(63, 3, 3, 5, 4)
    iohw = up.transpose(3, 2, 0, 1)
    n.layer(
        "Conv2DBackpropInput",
        [np.array([2, 18, 16, 5]), up, "x"],
        ops.last(ops.conv_transpose(c, iohw, 2, [(0, 1), (0, 1)])),
        *window("SAME", (2, 2)),
    )
    n.layer(
        "Conv2DBackpropInput",
        [np.array([2, 16, 15, 5]), up, "x"],
        ops.last(ops.conv_transpose(c, iohw, 2, [(2, 1), (1, 1)])),
        *window("EXPLICIT", (2, 2)),
        tf.ints("explicit_paddings", (0, 0, 2, 1, 1, 1, 0, 0)),
    )
    k = tf.ints("ksize", (1, 3, 3, 1))
    wide = ops.same_pads((9, 8), (3, 3), (2, 2), (1, 1))
    n.layer(
        "MaxPool",
        ["x"],
        ops.last(ops.pool(c, "max", [3, 3], [2, 2], wide)),
        k,
        *window("SAME", (2, 2)),
    )
    n.layer(
        "AvgPool",
        ["x"],
        ops.last(ops.pool(c, "avg", [3, 3], [2, 2], wide)),
        k,
        *window("SAME", (2, 2)),
    )
    n.layer(
        "AvgPool", ["x"], ops.last(ops.pool(c, "avg", [3, 3], [2, 2])), k, *window("VALID", (2, 2))
    )
    return n.case(folder)


def tensorflow_math(folder: str) -> Case:
    x = numbers(64, 2, 6, 5, 4)
    m = numbers(65, 3, 4)
    n = TensorFlow(x=x, m=m)
    gamma, beta, mean, var = numbers(66, 4), numbers(67, 4), numbers(68, 4), numbers(69, 4) ** 2 + 1
    fixed = (x - mean) / np.sqrt(var + 1e-3) * gamma + beta
    n.layer(
        "FusedBatchNormV3",
        ["x", gamma, beta, mean, var],
        fixed,
        real("epsilon", 1e-3),
        tf.flag("is_training", 0),
    )
    batch = ops.normalize(x, (0, 1, 2), 1e-3) * gamma + beta
    n.layer(
        "FusedBatchNormV3",
        ["x", gamma, beta, mean, var],
        batch,
        real("epsilon", 1e-3),
        tf.flag("is_training", 1),
    )
    w = numbers(70, 5, 4)
    n.layer("MatMul", ["m", w], m @ w.T, tf.flag("transpose_b", 1))
    n.layer("MatMul", ["m", numbers(71, 3, 2)], m.T @ numbers(71, 3, 2), tf.flag("transpose_a", 1))
    n.layer("Mean", ["x", np.array([1, 2])], x.mean((1, 2)), tf.flag("keep_dims", 0))
    n.layer("Max", ["x", np.array([3])], x.max(3, keepdims=True), tf.flag("keep_dims", 1))
    n.layer("ConcatV2", ["x", "x", np.array(3)], np.concatenate([x, x], 3))
    n.layer("Softmax", ["x"], ops.softmax(x))
    n.layer("Elu", ["x"], np.where(x > 0, x, np.exp(x) - 1))
    n.layer("LeakyRelu", ["x"], np.where(x > 0, x, 0.3 * x), real("alpha", 0.3))
    n.layer("Relu6", ["x"], np.clip(x, 0, 6))
    n.layer("SquaredDifference", ["x", mean], (x - mean) ** 2)
    n.layer("Transpose", ["x", np.array([0, 3, 1, 2])], ops.first(x))
    n.layer(
        "Pad",
        ["x", np.array([[0, 0], [1, 2], [0, 1], [0, 0]])],
        np.pad(x, [(0, 0), (1, 2), (0, 1), (0, 0)]),
    )
    n.layer(
        "MirrorPad",
        ["x", np.array([[0, 0], [1, 2], [0, 1], [0, 0]])],
        np.pad(x, [(0, 0), (1, 2), (0, 1), (0, 0)], "reflect"),
        tf.text("mode", "REFLECT"),
    )
    n.layer(
        "StridedSlice",
        ["x", np.array([0, 1, 4]), np.array([2, 5, 0]), np.array([1, 2, -1])],
        x[:, 1:5:2, 4:0:-1],
        tf.attr("begin_mask", tf.num(3, 1)),
        tf.attr("end_mask", tf.num(3, 1)),
    )
    n.layer(
        "DepthToSpace",
        ["x"],
        x.reshape(2, 6, 5, 2, 2, 1).transpose(0, 1, 3, 2, 4, 5).reshape(2, 12, 10, 1),
        tf.attr("block_size", tf.num(3, 2)),
    )
    return n.case(folder)


def tensorflow_resize(folder: str) -> Case:
    x = numbers(72, 1, 5, 4, 2)
    n = TensorFlow(x=x)
    for op, kind in (("ResizeBilinear", "linear"), ("ResizeNearestNeighbor", "nearest")):
        for where in ("asymmetric", "align_corners", "half_pixel"):
            if (kind, where) == ("nearest", "half_pixel"):
                continue  # rounds halves up: the same as asymmetric of the centres
            attrs = [tf.flag("align_corners", where == "align_corners")]
            attrs += [tf.flag("half_pixel_centers", where == "half_pixel")]
            y = ops.last(ops.resize(ops.first(x), (10, 9), kind, where))
            n.layer(op, ["x", np.array([10, 9])], y, *attrs)
    return n.case(folder)


# ---- StableHLO ----

STABLEHLO = """
module @layers {
  func.func public @main(%arg0: tensor<1x5x4x3xf32>, %arg1: tensor<2x6xf32>, %arg2: tensor<2x6xi32>)
      -> (tensor<1x9x8x2xf32>, tensor<1x3x2x3xf32>, tensor<2x6xf32>, tensor<2x6xi32>,
          tensor<2x6xf32>, tensor<2x6xf32>, tensor<2xi1>, tensor<2x2xf32>) {
    %k = stablehlo.constant dense<"0xKERNEL"> : tensor<3x2x3x2xf32>
    %0 = stablehlo.convolution(%arg0, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x5x4x3xf32>, tensor<3x2x3x2xf32>) -> tensor<1x9x8x2xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %init = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %init) <{
        padding = dense<[[0, 0], [1, 1], [1, 0], [0, 0]]> : tensor<4x2xi64>,
        window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %m = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %m : tensor<f32>
    }) : (tensor<1x5x4x3xf32>, tensor<f32>) -> tensor<1x3x2x3xf32>
    %2:2 = "stablehlo.sort"(%arg1, %arg2) <{dimension = 1 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
        %g = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %g : tensor<i1>
    }) : (tensor<2x6xf32>, tensor<2x6xi32>) -> (tensor<2x6xf32>, tensor<2x6xi32>)
    %3 = stablehlo.cbrt %arg1 : tensor<2x6xf32>
    %4 = stablehlo.round_nearest_afz %arg1 : tensor<2x6xf32>
    %zero = stablehlo.constant dense<0.5> : tensor<2x6xf32>
    %5 = stablehlo.compare GT, %arg1, %zero : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xi1>
    %off = stablehlo.constant dense<false> : tensor<i1>
    %6 = stablehlo.reduce(%5 init: %off) across dimensions = [1]
        : (tensor<2x6xi1>, tensor<i1>) -> tensor<2xi1>
      reducer(%a: tensor<i1>, %b: tensor<i1>) {
        %yes = stablehlo.constant dense<true> : tensor<i1>
        %no = stablehlo.constant dense<false> : tensor<i1>
        %e = stablehlo.or %a, %b : tensor<i1>
        %f = stablehlo.select %e, %yes, %no : tensor<i1>, tensor<i1>
        stablehlo.return %f : tensor<i1>
    }
    %7 = "stablehlo.einsum"(%arg1, %arg1) {einsum_config = "ik,jk->ij"}
        : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x2xf32>
    return %0, %1, %2#0, %2#1, %3, %4, %6, %7
        : tensor<1x9x8x2xf32>, tensor<1x3x2x3xf32>, tensor<2x6xf32>,
        tensor<2x6xi32>, tensor<2x6xf32>, tensor<2x6xf32>, tensor<2xi1>, tensor<2x2xf32>
  }
}
"""


def stablehlo_layers(folder: str) -> Case:
    x, v, w = numbers(80, 1, 5, 4, 3), numbers(81, 2, 6), numbers(82, 3, 2, 3, 2)
    places = np.arange(12, dtype=np.int32).reshape(2, 6)
    path = os.path.join(folder, "layers.mlir")
    with open(path, "w", encoding="utf-8") as f:
        f.write(STABLEHLO.replace("KERNEL", w.astype("<f4").tobytes().hex().upper()))
    c = ops.first(x)
    apart = np.zeros((1, 3, 9, 7), np.float32)
    apart[:, :, ::2, ::2] = c
    order = np.argsort(-v, 1, kind="stable")
    expected = {
        "convolution_0": ops.last(ops.conv(apart, w.transpose(3, 2, 0, 1), 1, 1)),
        "reduce_window_1": ops.last(ops.pool(c, "max", [3, 3], [2, 2], [(1, 1), (1, 0)])),
        "sort_2": np.take_along_axis(v, order, 1),
        "sort_2_1": np.take_along_axis(places, order, 1),
        "cbrt_3": np.cbrt(v),
        "round_nearest_afz_4": np.sign(v) * np.floor(np.abs(v) + 0.5),
        "reduce_6": (v > 0.5).any(1),
        "einsum_7": v @ v.T,
    }
    return path, {"arg0": x, "arg1": v, "arg2": places}, expected


QUANTISED = """
module {
  func.func public @main(%arg0: tensor<2x6xf32>) -> tensor<2x6xf32> {
    %0 = stablehlo.uniform_quantize %arg0
        : (tensor<2x6xf32>) -> tensor<2x6x!quant.uniform<i8:f32, 2.5e-01:3>>
    %1 = stablehlo.add %0, %0 : tensor<2x6x!quant.uniform<i8:f32, 2.5e-01:3>>
    %2 = stablehlo.uniform_dequantize %1
        : (tensor<2x6x!quant.uniform<i8:f32, 2.5e-01:3>>) -> tensor<2x6xf32>
    return %2 : tensor<2x6xf32>
  }
}
"""


def stablehlo_quantised(folder: str) -> Case:
    """A sum of real numbers, not of the stored ones, which have a zero point."""
    path, x = os.path.join(folder, "quantised.mlir"), numbers(83, 2, 6)
    with open(path, "w", encoding="utf-8") as f:
        f.write(QUANTISED)

    def stored(v: Any) -> Any:
        return np.clip(np.round(v / 0.25) + 3, -128, 127)

    twice = 2 * (stored(x) - 3) * 0.25
    return path, {"arg0": x}, {"uniform_dequantize_2": (stored(twice) - 3) * np.float32(0.25)}


CASES: Dict[str, Callable[[str], Case]] = {
    "ncnn windows": ncnn_windows,
    "ncnn layers": ncnn_layers,
    "ncnn recurrent layers": ncnn_recurrent,
    "ncnn attention": ncnn_attention,
    "openvino windows": openvino_windows,
    "openvino shapes": openvino_shapes,
    "openvino math": openvino_math,
    "openvino resize": openvino_resize,
    "tensorflow windows": tensorflow_windows,
    "tensorflow math": tensorflow_math,
    "tensorflow resize": tensorflow_resize,
    "stablehlo layers": stablehlo_layers,
    "stablehlo quantised types": stablehlo_quantised,
}
