"""Operators of networks in numpy, straight from their definitions: data is [N, C, spatial...]."""

import itertools
from typing import Any, List, Sequence

import numpy as np

Ints = Sequence[int]


def pads_of(pads: Any, n: int) -> List[Any]:
    """[(begin, end), ...] of one number, of begins and ends, or of such pairs."""
    if isinstance(pads, int):
        return [(pads, pads)] * n
    if len(pads) == 2 * n and all(isinstance(p, int) for p in pads):
        return list(zip(pads[:n], pads[n:]))
    return list(pads)


def same_pads(sizes: Ints, kernel: Ints, strides: Ints, dilations: Ints) -> List[Any]:
    """SAME of TensorFlow: what is left over goes to the end."""
    out = []
    for s, k, t, d in zip(sizes, kernel, strides, dilations):
        total = max((-(-s // t) - 1) * t + (k - 1) * d + 1 - s, 0)
        out.append((total // 2, total - total // 2))
    return out


def windows(x: Any, kernel: Ints, strides: Ints, dilations: Ints) -> Any:
    """[N, C, out..., kernel...] of padded data."""
    n = len(kernel)
    outs = [
        (s - (k - 1) * d - 1) // t + 1
        for s, k, t, d in zip(x.shape[2:], kernel, strides, dilations)
    ]
    made = np.empty((*x.shape[:2], *outs, *kernel), x.dtype)
    for at in itertools.product(*map(range, kernel)):
        take = tuple(
            slice(p * d, p * d + (o - 1) * t + 1, t)
            for p, d, o, t in zip(at, dilations, outs, strides)
        )
        made[(slice(None),) * (2 + n) + at] = x[(slice(None), slice(None), *take)]
    return made


def conv(
    x: Any, w: Any, strides: Any = 1, pads: Any = 0, dilations: Any = 1, group: int = 1
) -> Any:
    """w: [outputs, inputs / group, kernel...]"""
    n = w.ndim - 2
    strides = [strides] * n if isinstance(strides, int) else strides
    dilations = [dilations] * n if isinstance(dilations, int) else dilations
    x = np.pad(x, [(0, 0), (0, 0), *pads_of(pads, n)])
    v = windows(x, w.shape[2:], strides, dilations)
    inputs, outputs = w.shape[1], w.shape[0] // group
    parts = []
    for g in range(group):
        a = v[:, g * inputs : (g + 1) * inputs]
        b = w[g * outputs : (g + 1) * outputs]
        axes = ([1, *range(2 + n, 2 + 2 * n)], [1, *range(2, 2 + n)])
        parts.append(np.moveaxis(np.tensordot(a, b, axes), -1, 1))
    return np.concatenate(parts, 1)


def conv_transpose(
    x: Any, w: Any, strides: Any = 1, pads: Any = 0, group: int = 1, extra: Any = 0
) -> Any:
    """w: [inputs, outputs / group, kernel...]; extra: rows that are added at the end."""
    n = w.ndim - 2
    strides = [strides] * n if isinstance(strides, int) else strides
    extra = [extra] * n if isinstance(extra, int) else extra
    full = [(s - 1) * t + k + e for s, t, k, e in zip(x.shape[2:], strides, w.shape[2:], extra)]
    inputs, outputs = w.shape[0] // group, w.shape[1]
    y = np.zeros((x.shape[0], outputs * group, *full), x.dtype)
    for g in range(group):
        a, b = x[:, g * inputs : (g + 1) * inputs], w[g * inputs : (g + 1) * inputs]
        for at in itertools.product(*map(range, w.shape[2:])):
            put = tuple(
                slice(p, p + (s - 1) * t + 1, t) for p, s, t in zip(at, x.shape[2:], strides)
            )
            part = np.moveaxis(
                np.tensordot(a, b[(slice(None), slice(None), *at)], ([1], [0])), -1, 1
            )
            y[(slice(None), slice(g * outputs, (g + 1) * outputs), *put)] += part
    cut = tuple(slice(b, s - e) for (b, e), s in zip(pads_of(pads, n), full))
    return y[(slice(None), slice(None), *cut)]


def pool(
    x: Any,
    kind: str,
    kernel: Ints,
    strides: Ints,
    pads: Any = 0,
    counts_pads: bool = False,
    ceil: bool = False,
) -> Any:
    """kind: max or avg. Windows that begin behind the data and its begin are left out."""
    n = len(kernel)
    pads = pads_of(pads, n)
    more = []
    for s, k, t, (b, e) in zip(x.shape[2:], kernel, strides, pads):
        out = -(-(s + b + e - k) // t) + 1 if ceil else (s + b + e - k) // t + 1
        if ceil and (out - 1) * t >= s + b:
            out -= 1
        more.append((b, max(e, (out - 1) * t + k - s - b)))
    empty = -np.inf if kind == "max" else 0
    v = windows(np.pad(x, [(0, 0), (0, 0), *more], constant_values=empty), kernel, strides, [1] * n)
    axes = tuple(range(2 + n, 2 + 2 * n))
    if kind == "max":
        return v.max(axes)
    ones = np.ones((1, 1, *x.shape[2:]), x.dtype)
    if counts_pads:
        ones = np.pad(ones, [(0, 0), (0, 0), *pads], constant_values=1)
        more = [(0, m[1] - p[1]) for m, p in zip(more, pads)]
    count = windows(np.pad(ones, [(0, 0), (0, 0), *more]), kernel, strides, [1] * n).sum(axes)
    return v.sum(axes) / count


def resize(x: Any, sizes: Ints, kind: str, where: str) -> Any:
    """kind: nearest or linear; where: half_pixel, asymmetric or align_corners."""
    for axis, size in enumerate(sizes, 2):
        old = x.shape[axis]
        i = np.arange(size)
        if where == "align_corners":
            at = i * (old - 1) / max(size - 1, 1)
        elif where == "half_pixel":
            at = (i + 0.5) * old / size - 0.5
        else:
            at = i * old / size
        if kind == "nearest":
            at = np.floor(at + 0.5) if where != "asymmetric" else np.floor(at)
            x = np.take(x, np.clip(at, 0, old - 1).astype(int), axis)
            continue
        at = np.clip(at, 0, old - 1)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, old - 1)
        t = (at - low).reshape([-1 if d == axis else 1 for d in range(x.ndim)])
        x = np.take(x, low, axis) * (1 - t) + np.take(x, high, axis) * t
    return x


def softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def by_channel(v: Any, n: int) -> Any:
    return v.reshape(1, -1, *[1] * (n - 2))


def normalize(x: Any, axes: Any, epsilon: float) -> Any:
    d = x - x.mean(axes, keepdims=True)
    return d / np.sqrt((d * d).mean(axes, keepdims=True) + epsilon)


def last(x: Any) -> Any:
    """Channels last."""
    return np.moveaxis(x, 1, -1)


def first(x: Any) -> Any:
    return np.moveaxis(x, -1, 1)
