"""Small models of Keras, written without Keras, and what they compute by numpy.

A model is a list of layers. Each has a class, its settings, its weights in the order in which Keras
makes them, and a function of its input. write_h5() and write_keras() write the two file formats as
Keras 2 and Keras 3 do; whole() runs the functions one after another.
"""

import io
import json
import zipfile
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import h5py  # type: ignore[import]
import numpy as np

Array = Any


class Layer(NamedTuple):
    cls: str
    config: Dict[str, Any]
    weights: List[Tuple[str, Array]]
    run: Callable[[Array], Array]
    path: str = ""  # where Keras 3 has its weights: "cell"


def act(name: str, x: Array) -> Array:
    if name == "relu":
        return np.maximum(x, 0)
    if name == "sigmoid":
        return 1 / (1 + np.exp(-x))
    if name == "tanh":
        return np.tanh(x)
    if name == "softmax":
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)
    if name == "swish":
        return x / (1 + np.exp(-x))
    if name == "elu":
        return np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1)
    assert name == "linear", name
    return x


class Maker:
    """Layers with random weights, numbered as Keras does."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.count: Dict[str, int] = {}

    def some(self, *shape: int, scale: float = 0.3) -> Array:
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def name(self, base: str) -> str:
        n = self.count.get(base, -1) + 1
        self.count[base] = n
        return base if n == 0 else f"{base}_{n}"

    def dense(self, inputs: int, units: int, activation: str = "linear", **more: Any) -> Layer:
        k, b = self.some(inputs, units), self.some(units)
        config = dict(name=self.name("dense"), units=units, activation=activation, use_bias=True)
        config.update(more)
        return Layer(
            "Dense", config, [("kernel", k), ("bias", b)], lambda x: act(activation, x @ k + b)
        )

    def conv(
        self,
        size: Tuple[int, ...],
        inputs: int,
        filters: int,
        activation: str = "linear",
        **more: Any,
    ) -> Layer:
        n = len(size)
        k, b = self.some(*size, inputs // more.get("groups", 1), filters), self.some(filters)
        config = dict(
            name=self.name(f"conv{n}d"), filters=filters, kernel_size=list(size), strides=[1] * n
        )
        config.update(
            padding="valid", dilation_rate=[1] * n, groups=1, activation=activation, use_bias=True
        )
        config.update(more)

        def run(x: Array) -> Array:
            return act(activation, convolve(x, k, config) + b)

        return Layer(f"Conv{n}D", config, [("kernel", k), ("bias", b)], run)

    def depthwise(self, size: int, inputs: int, times: int = 1, **more: Any) -> Layer:
        k, b = self.some(size, size, inputs, times), self.some(inputs * times)
        config: Dict[str, Any] = dict(name=self.name("depthwise_conv2d"))
        config.update(kernel_size=[size, size], strides=[1, 1])
        config.update(padding="same", depth_multiplier=times, dilation_rate=[1, 1], use_bias=True)
        config.update(activation="linear", **more)
        return Layer(
            "DepthwiseConv2D",
            config,
            [("depthwise_kernel", k), ("bias", b)],
            lambda x: convolve_depthwise(x, k, config) + b,
        )

    def separable(self, size: int, inputs: int, filters: int) -> Layer:
        d, p, b = (
            self.some(size, size, inputs, 1),
            self.some(1, 1, inputs, filters),
            self.some(filters),
        )
        config = dict(name=self.name("separable_conv2d"), filters=filters, kernel_size=[size, size])
        config.update(strides=[1, 1], padding="same", depth_multiplier=1, dilation_rate=[1, 1])
        config.update(activation="relu", use_bias=True)
        plain = dict(kernel_size=[1, 1], strides=[1, 1], dilation_rate=[1, 1], padding="valid")
        return Layer(
            "SeparableConv2D",
            config,
            [("depthwise_kernel", d), ("pointwise_kernel", p), ("bias", b)],
            lambda x: act("relu", convolve(convolve_depthwise(x, d, config), p, plain) + b),
        )

    def transposed(self, size: int, stride: int, inputs: int, filters: int, padding: str) -> Layer:
        k, b = self.some(size, size, filters, inputs), self.some(filters)
        config = dict(name=self.name("conv2d_transpose"), filters=filters, kernel_size=[size, size])
        config.update(strides=[stride, stride], padding=padding, output_padding=None, use_bias=True)
        config.update(dilation_rate=[1, 1], activation="linear")

        def run(x: Array) -> Array:
            h, w = x.shape[1:3]
            full = np.zeros((x.shape[0], (h - 1) * stride + size, (w - 1) * stride + size, filters))
            for i in range(h):
                for j in range(w):
                    part = np.einsum("nc,hwoc->nhwo", x[:, i, j], k)
                    full[:, i * stride : i * stride + size, j * stride : j * stride + size] += part
            want = [
                s * stride + (max(size - stride, 0) if padding == "valid" else 0) for s in (h, w)
            ]
            for axis in (0, 1):
                spare = full.shape[axis + 1] - want[axis]
                cut = slice(spare // 2, spare // 2 + want[axis]) if spare > 0 else slice(None)
                full = full[:, cut] if axis == 0 else full[:, :, cut]
                if spare < 0:
                    pad = [(0, 0)] * 4
                    pad[axis + 1] = (0, -spare)
                    full = np.pad(full, pad)
            return full.astype(np.float32) + b

        return Layer("Conv2DTranspose", config, [("kernel", k), ("bias", b)], run)

    def pool(self, kind: str, size: int, stride: int, padding: str = "valid") -> Layer:
        config = dict(
            name=self.name(f"{kind}_pooling2d"), pool_size=[size, size], strides=[stride, stride]
        )
        config.update(padding=padding)

        def run(x: Array) -> Array:
            fill = -np.inf if kind == "max" else np.nan
            how: Any = np.max if kind == "max" else np.nanmean
            return how(
                windows(x, [size, size], [stride, stride], [1, 1], padding, fill), axis=(1, 2)
            )

        return Layer("MaxPooling2D" if kind == "max" else "AveragePooling2D", config, [], run)

    def batch_norm(self, n: int, **more: Any) -> Layer:
        gamma, beta, mean = 1 + self.some(n), self.some(n), self.some(n)
        var = 0.5 + np.abs(self.some(n))
        config = dict(
            name=self.name("batch_normalization"), axis=[-1], epsilon=0.001, momentum=0.99
        )
        config.update(center=True, scale=True)
        config.update(more)
        weights = [
            ("gamma", gamma),
            ("beta", beta),
            ("moving_mean", mean),
            ("moving_variance", var),
        ]
        if more.get("scale") is False:
            weights, gamma = weights[1:], np.float32(1)
        return Layer(
            "BatchNormalization",
            config,
            weights,
            lambda x: (x - mean) / np.sqrt(var + 0.001) * gamma + beta,
        )

    def layer_norm(self, n: int) -> Layer:
        gamma, beta = 1 + self.some(n), self.some(n)
        config = dict(
            name=self.name("layer_normalization"), axis=-1, epsilon=0.001, center=True, scale=True
        )

        def run(x: Array) -> Array:
            mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
            return (x - mean) / np.sqrt(var + 0.001) * gamma + beta

        return Layer("LayerNormalization", config, [("gamma", gamma), ("beta", beta)], run)

    def layer_norm_over(self, axes: List[int], shape: List[int]) -> Layer:
        """LayerNormalization of other axes than the last; shape is that of its input without the
        batch."""
        sizes = [shape[a - 1] for a in axes]
        gamma, beta = 1 + self.some(*sizes), self.some(*sizes)
        wide = [n if i + 1 in axes else 1 for i, n in enumerate(shape)]
        config = dict(name=self.name("layer_normalization"), axis=axes, epsilon=0.001)

        def run(x: Array) -> Array:
            mean = x.mean(tuple(axes), keepdims=True)
            var = x.var(tuple(axes), keepdims=True)
            scaled = (x - mean) / np.sqrt(var + 0.001) * gamma.reshape(wide)
            return scaled + beta.reshape(wide)

        return Layer("LayerNormalization", config, [("gamma", gamma), ("beta", beta)], run)

    def local(self, size: int, stride: int, shape: List[int], filters: int) -> Layer:
        """LocallyConnected2D of an image [h, w, c]."""
        rows, columns = ((n - size) // stride + 1 for n in shape[:2])
        k = self.some(rows * columns, size * size * shape[2], filters)
        b = self.some(rows, columns, filters)
        config = dict(name=self.name("locally_connected2d"), filters=filters, implementation=1)
        config.update(kernel_size=[size, size], strides=[stride, stride], padding="valid")
        config.update(activation="relu", use_bias=True, data_format="channels_last")

        def run(x: Array) -> Array:
            y = np.zeros((len(x), rows, columns, filters), x.dtype)
            for i in range(rows):
                for j in range(columns):
                    at = x[:, i * stride : i * stride + size, j * stride : j * stride + size]
                    y[:, i, j] = at.reshape(len(x), -1) @ k[i * columns + j]
            return np.maximum(y + b, 0)

        return Layer("LocallyConnected2D", config, [("kernel", k), ("bias", b)], run)

    def adaptive(self, kind: str, sizes: List[int]) -> Layer:
        def run(x: Array) -> Array:
            for axis, n in enumerate(sizes, 1):
                m = x.shape[axis]
                parts = [
                    np.take(x, range(i * m // n, -(-(i + 1) * m // n)), axis) for i in range(n)
                ]
                take: Any = np.mean if kind == "Average" else np.max
                x = np.concatenate([take(p, axis=axis, keepdims=True) for p in parts], axis)
            return x

        return self.plain(f"Adaptive{kind}Pooling2D", run, output_size=sizes)

    def embedding(self, words: int, size: int) -> Layer:
        table = self.some(words, size)
        config = dict(
            name=self.name("embedding"), input_dim=words, output_dim=size, mask_zero=False
        )
        return Layer("Embedding", config, [("embeddings", table)], lambda x: table[x.astype(int)])

    def recurrent(self, cls: str, inputs: int, units: int, sequences: bool, **more: Any) -> Layer:
        gates = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}[cls]
        k, r = self.some(inputs, gates * units), self.some(units, gates * units)
        after = more.get("reset_after", False)
        b = self.some(2, 3 * units) if after else self.some(gates * units)
        name = self.name({"LSTM": "lstm", "GRU": "gru", "SimpleRNN": "simple_rnn"}[cls])
        config = dict(name=name, units=units, activation="tanh", recurrent_activation="sigmoid")
        config.update(
            use_bias=True, return_sequences=sequences, return_state=False, go_backwards=False
        )
        config.update(more)
        weights = [("kernel", k), ("recurrent_kernel", r), ("bias", b)]

        def run(x: Array) -> Array:
            if config["go_backwards"]:
                x = x[:, ::-1]
            y = recur(cls, x, k, r, b, units, after)
            return y if sequences else y[:, -1]

        return Layer(cls, config, weights, run, "cell")

    def bidirectional(self, cls: str, inputs: int, units: int, sequences: bool) -> Layer:
        forth = self.recurrent(cls, inputs, units, sequences)
        back = self.recurrent(cls, inputs, units, sequences, go_backwards=True)
        inner = dict(class_name=cls, config=forth.config)
        config = dict(name=self.name("bidirectional"), layer=inner, merge_mode="concat")

        def run(x: Array) -> Array:
            other = back.run(x)
            return np.concatenate([forth.run(x), other[:, ::-1] if sequences else other], -1)

        weights = [(f"forward/{n}", w) for n, w in forth.weights]
        weights += [(f"backward/{n}", w) for n, w in back.weights]
        return Layer("Bidirectional", config, weights, run, "bidirectional")

    def plain(self, cls: str, run: Callable[[Array], Array], **config: Any) -> Layer:
        return Layer(cls, dict(name=self.name(cls.lower()), **config), [], run)

    def flatten(self) -> Layer:
        return self.plain("Flatten", lambda x: x.reshape(len(x), -1), data_format="channels_last")

    def average(self) -> Layer:
        return self.plain("GlobalAveragePooling2D", lambda x: x.mean((1, 2)))

    def activation(self, name: str) -> Layer:
        return self.plain("Activation", lambda x: act(name, x), activation=name)


def windows(
    x: Array,
    size: List[int],
    stride: List[int],
    dilation: List[int],
    padding: str,
    fill: float = 0.0,
) -> Array:
    """[N,h,w,C] to [N,kh,kw,out_h,out_w,C]; two spatial axes."""
    pads = [(0, 0)]
    for d in range(2):
        reach = (size[d] - 1) * dilation[d] + 1
        whole = (-(-x.shape[d + 1] // stride[d]) - 1) * stride[d] + reach - x.shape[d + 1]
        whole = max(whole, 0) if padding == "same" else 0
        pads.append((whole // 2, whole - whole // 2))
    x = np.pad(x, pads + [(0, 0)], constant_values=fill)
    out = [(x.shape[d + 1] - (size[d] - 1) * dilation[d] - 1) // stride[d] + 1 for d in range(2)]
    rows = []
    for i in range(size[0]):
        row = []
        for j in range(size[1]):
            a, b = i * dilation[0], j * dilation[1]
            row.append(
                x[
                    :,
                    a : a + (out[0] - 1) * stride[0] + 1 : stride[0],
                    b : b + (out[1] - 1) * stride[1] + 1 : stride[1],
                ]
            )
        rows.append(np.stack(row, 1))
    return np.stack(rows, 1)


def two_axes(c: Dict[str, Any], x: Array, k: Array) -> Tuple[Array, Array, List[List[int]]]:
    """One spatial axis becomes two."""
    lists = [list(c["kernel_size"]), list(c["strides"]), list(c["dilation_rate"])]
    if k.ndim == 3:
        if c["padding"] == "causal":
            x = np.pad(x, [(0, 0), ((lists[0][0] - 1) * lists[2][0], 0), (0, 0)])
        return x[:, None], k[None], [[1] + v for v in lists]
    return x, k, lists


def convolve(x: Array, k: Array, c: Dict[str, Any]) -> Array:
    flat = k.ndim == 3
    x, k, (size, stride, dilation) = two_axes(c, x, k)
    padding = "valid" if c["padding"] == "causal" else c["padding"]
    w = windows(x, size, stride, dilation, padding)
    groups = c.get("groups", 1)
    per, out = k.shape[2], k.shape[3] // groups
    parts = [
        np.einsum(
            "nijhwc,ijco->nhwo", w[..., g * per : (g + 1) * per], k[..., g * out : (g + 1) * out]
        )
        for g in range(groups)
    ]
    y = np.concatenate(parts, -1)
    return y[:, 0] if flat else y


def convolve_depthwise(x: Array, k: Array, c: Dict[str, Any]) -> Array:
    w = windows(x, c["kernel_size"], c["strides"], c["dilation_rate"], c["padding"])
    y = np.einsum("nijhwc,ijcm->nhwcm", w, k)
    return y.reshape(*y.shape[:3], -1)


def recur(cls: str, x: Array, k: Array, r: Array, b: Array, u: int, after: bool) -> Array:
    h = np.zeros((len(x), u), np.float32)
    state, out = h, []
    for t in range(x.shape[1]):
        if cls == "SimpleRNN":
            h = np.tanh(x[:, t] @ k + h @ r + b)
        elif cls == "LSTM":
            z = x[:, t] @ k + h @ r + b
            i, f, g, o = (z[:, n * u : (n + 1) * u] for n in range(4))
            state = act("sigmoid", f) * state + act("sigmoid", i) * np.tanh(g)
            h = act("sigmoid", o) * np.tanh(state)
        else:
            bx, bh = (b[0], b[1]) if after else (b, np.zeros(3 * u))
            zx, zh = x[:, t] @ k + bx, h @ r + bh
            z, q = act("sigmoid", zx[:, :u] + zh[:, :u]), act(
                "sigmoid", zx[:, u : 2 * u] + zh[:, u : 2 * u]
            )
            if after:
                n = np.tanh(zx[:, 2 * u :] + q * zh[:, 2 * u :])
            else:
                n = np.tanh(zx[:, 2 * u :] + (q * h) @ r[:, 2 * u :])
            h = z * h + (1 - z) * n
        out.append(h)
    return np.stack(out, 1)


# ---- files ----


def model_json(shape: List[Optional[int]], layers: List[Layer], version: str) -> Dict[str, Any]:
    """The settings as Keras 2 (batch_input_shape) or 3 (batch_shape) writes them."""
    key = "batch_shape" if version.startswith("3") else "batch_input_shape"
    listed = [dict(class_name="InputLayer", config={key: shape, "dtype": "float32", "name": "x"})]
    listed += [dict(class_name=l.cls, config=l.config) for l in layers]
    return dict(
        class_name="Sequential",
        config=dict(name="sequential", layers=listed),
        keras_version=version,
        backend="tensorflow",
    )


def write_h5(
    path: str,
    shape: List[Optional[int]],
    layers: List[Layer],
    version: str = "2.12.0",
    whole_model: bool = True,
    **options: Any,
) -> None:
    with h5py.File(path, "w", **options) as f:
        base = f.create_group("model_weights") if whole_model else f
        f.attrs["keras_version"] = version
        f.attrs["backend"] = "tensorflow"
        if whole_model:
            f.attrs["model_config"] = json.dumps(model_json(shape, layers, version))
            f.create_group("optimizer_weights").create_dataset("iteration:0", data=np.int64(7))
        base.attrs["layer_names"] = [l.config["name"].encode() for l in layers]
        for layer in layers:
            group = base.create_group(layer.config["name"])
            names = [f"{layer.config['name']}/{n}:0" for n, _ in layer.weights]
            group.attrs["weight_names"] = [n.encode() for n in names]
            for name, (_, data) in zip(names, layer.weights):
                group.create_dataset(name, data=data)


def gates_apart(layer: Layer) -> Layer:
    """The weights of a recurrent layer as Keras 1 stores them: those of each gate apart."""
    letters = {"LSTM": "ifco", "GRU": "zrh"}.get(layer.cls, "")
    if not letters:
        return layer
    parts = {
        letter + g: np.split(data, len(letters), -1)[i]
        for letter, (_, data) in zip("WUb", layer.weights)
        for i, g in enumerate(letters)
    }
    order = "icfo" if layer.cls == "LSTM" else letters
    name = layer.config["name"]
    weights = [(f"{name}_{kind}_{g}", parts[kind + g]) for g in order for kind in "WUb"]
    return Layer(layer.cls, layer.config, weights, layer.run)


def places(layer: Layer) -> List[Tuple[str, Array]]:
    """Paths of a layer's weights within its group, as Keras 3 has them."""
    if layer.path == "bidirectional":
        n = len(layer.weights) // 2
        ways = [f"forward_layer/cell/vars/{i}" for i in range(n)]
        ways += [f"backward_layer/cell/vars/{i}" for i in range(n)]
        return [(p, w) for p, (_, w) in zip(ways, layer.weights)]
    inner = layer.path + "/" if layer.path else ""
    return [(f"{inner}vars/{i}", w) for i, (_, w) in enumerate(layer.weights)]


def snake(cls: str) -> str:
    out = ""
    for i, ch in enumerate(cls):
        after = cls[i + 1] if i + 1 < len(cls) else ""
        if ch.isupper() and i and (cls[i - 1].islower() or after.islower()) and out[-1] != "_":
            out += "_"
        out += ch.lower()
    return out


def write_keras(
    path: str,
    shape: List[Optional[int]],
    layers: List[Layer],
    version: str = "3.4.1",
    folder: str = "layers",
) -> None:
    """folder "_layer_checkpoint_dependencies" is that of Keras 2.13 to 2.15."""
    held, count = io.BytesIO(), {}  # type: ignore[var-annotated]
    with h5py.File(held, "w") as f:
        for layer in layers:
            base = snake(layer.cls)
            n = count.get(base, -1) + 1
            count[base] = n
            group = f"{folder}/{base if n == 0 else f'{base}_{n}'}"
            for place, data in places(layer):
                f.create_dataset(f"{group}/{place}", data=data)
        f.create_dataset("optimizer/vars/0", data=np.int64(3))
    with zipfile.ZipFile(path, "w") as z:
        z.writestr(
            "metadata.json",
            json.dumps(dict(keras_version=version, date_saved="2024-01-01@00:00:00")),
        )
        z.writestr("config.json", json.dumps(model_json(shape, layers, version)))
        z.writestr("model.weights.h5", held.getvalue())


def whole(layers: List[Layer], x: Array) -> Array:
    for layer in layers:
        x = layer.run(x)
    return x


def models() -> Dict[str, Tuple[List[Optional[int]], List[Layer]]]:
    """Name: the shape of the input, and the layers."""
    out: Dict[str, Tuple[List[Optional[int]], List[Layer]]] = {}
    m = Maker(1)
    out["mlp"] = (
        [None, 20],
        [m.dense(20, 16, "relu"), m.dense(16, 16, "tanh"), m.dense(16, 5, "softmax")],
    )
    m = Maker(2)
    out["cnn"] = (
        [None, 12, 12, 3],
        [
            m.conv((3, 3), 3, 8, "relu"),
            m.pool("max", 2, 2),
            m.conv((3, 3), 8, 4, "relu", padding="same"),
            m.flatten(),
            m.dense(100, 10, "softmax"),
        ],
    )
    m = Maker(3)
    out["strided"] = (
        [None, 11, 13, 2],
        [
            m.conv((3, 2), 2, 6, strides=[2, 3], padding="same"),
            m.batch_norm(6),
            m.activation("relu"),
            m.pool("average", 3, 2, "same"),
            m.average(),
            m.dense(6, 3),
        ],
    )
    m = Maker(4)
    out["mobile"] = (
        [None, 8, 8, 4],
        [
            m.depthwise(3, 4, 2),
            m.batch_norm(8, scale=False),
            m.separable(3, 8, 6),
            m.average(),
            m.dense(6, 2, "sigmoid"),
        ],
    )
    m = Maker(5)
    out["dilated"] = (
        [None, 10, 10, 4],
        [
            m.conv((3, 3), 4, 6, "elu", dilation_rate=[2, 2]),
            m.conv((3, 3), 6, 6, "swish", groups=2),
            m.flatten(),
            m.dense(96, 2),
        ],
    )
    m = Maker(6)
    out["sequence"] = (
        [None, 15, 3],
        [
            m.conv((3,), 3, 8, "relu"),
            m.conv((5,), 8, 4, "relu", padding="causal", dilation_rate=[2]),
            m.plain("GlobalMaxPooling1D", lambda x: x.max(1)),
            m.dense(4, 2),
        ],
    )
    m = Maker(7)
    out["decoder"] = (
        [None, 4, 4, 3],
        [
            m.transposed(3, 2, 3, 5, "same"),
            m.plain("UpSampling2D", lambda x: x.repeat(2, 1).repeat(2, 2), size=[2, 2]),
            m.transposed(2, 3, 5, 2, "valid"),
            m.plain(
                "ZeroPadding2D",
                lambda x: np.pad(x, [(0, 0), (1, 2), (0, 3), (0, 0)]),
                padding=[[1, 2], [0, 3]],
            ),
        ],
    )
    m = Maker(20)
    out["local"] = (
        [None, 9, 8, 3],
        [
            m.layer_norm_over([1, 3], [9, 8, 3]),
            m.local(3, 2, [9, 8, 3], 4),
            m.layer_norm_over([1], [4, 3, 4]),
            m.flatten(),
            m.dense(48, 2),
        ],
    )
    m = Maker(21)
    out["adaptive"] = (
        [None, 11, 8, 3],
        [
            m.adaptive("Average", [5, 3]),
            m.conv((2, 2), 3, 4, padding="same"),
            m.adaptive("Max", [2, 2]),
            m.flatten(),
            m.dense(16, 2),
        ],
    )
    m = Maker(8)
    out["lstm"] = (
        [None, 7, 3],
        [m.recurrent("LSTM", 3, 5, True), m.recurrent("LSTM", 5, 4, False), m.dense(4, 2)],
    )
    m = Maker(22)
    out["gates"] = (
        [None, 6, 4],
        [m.recurrent("LSTM", 4, 4, True), m.recurrent("GRU", 4, 3, False), m.dense(3, 2)],
    )
    m = Maker(9)
    out["gru"] = (
        [None, 6, 3],
        [
            m.recurrent("GRU", 3, 5, True, reset_after=True),
            m.recurrent("GRU", 5, 4, True),
            m.recurrent("SimpleRNN", 4, 3, True, go_backwards=True),
            m.layer_norm(3),
        ],
    )
    m = Maker(10)
    out["two_ways"] = (
        [None, 6, 3],
        [m.bidirectional("LSTM", 3, 4, True), m.bidirectional("GRU", 8, 2, False), m.dense(4, 2)],
    )
    m = Maker(11)
    out["words"] = (
        [None, 5],
        [m.embedding(20, 6), m.dense(6, 4, "relu"), m.flatten(), m.dense(20, 2)],
    )
    m = Maker(12)
    out["frozen"] = ([None, 6], [m.dense(6, 4, trainable=False), m.batch_norm(4), m.dense(4, 1)])
    m = Maker(13)
    out["normed"] = (
        [None, 9, 9, 3],
        [
            m.batch_norm(3),
            m.conv((1, 1), 3, 4),
            m.batch_norm(4),
            m.activation("relu"),
            m.pool("max", 3, 2, "same"),
            m.flatten(),
            m.batch_norm(100),
            m.dense(100, 3),
        ],
    )
    return out
