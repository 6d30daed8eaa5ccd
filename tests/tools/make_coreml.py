#!/usr/bin/env python3
"""Writes small Core ML models for the tests: net.mlmodel (a neural network), program.mlpackage
(an ML program in a pipeline), packed.mlmodel (a program with compressed weights), trees.mlmodel (a
model without a network).

  make_coreml.py FOLDER
"""

import os
import struct
import sys


def varint(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def num(field, v):
    return varint(field << 3) + varint(v)


def sub(field, *parts):
    body = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    return varint(field << 3 | 2) + varint(len(body)) + body


def flt(field, v):
    return varint(field << 3 | 5) + struct.pack("<f", v)


def floats(n):
    return struct.pack(f"<{n}f", *[(i % 7 - 3) / 16 for i in range(n)])


def weights(field, n):
    return sub(field, sub(1, floats(n)))


def layer(name, source, to, kind, *params):
    return sub(1, sub(1, name), sub(2, source), sub(3, to), sub(kind, *params))


IMAGE = sub(2, sub(1, sub(1, "image"), sub(3, sub(4, num(1, 8), num(2, 8), num(3, 20)))))


def network():
    conv = [num(1, 4), num(2, 3), num(10, 1), sub(20, varint(3), varint(3))]
    conv += [sub(51), num(70, 1), weights(90, 108), weights(91, 4)]
    half = sub(20, sub(2, struct.pack("<320e", *[i / 512 for i in range(320)])))
    return sub(
        500,
        layer("conv", "image", "a", 100, *conv),
        layer("relu", "a", "b", 130, sub(10)),
        layer("pool", "b", "c", 120, sub(10, b"\x02\x02"), sub(20, b"\x02\x02"), sub(30)),
        layer("flat", "c", "d", 301),
        layer("dense", "d", "e", 140, num(1, 64), num(2, 5), num(10, 1), half, weights(21, 5)),
        layer("softmax", "e", "out", 175),
    )


FLOAT16, INT8, INT32, UINT8, STRING = 10, 21, 23, 31, 2


def tensor_type(dtype, *dims):
    parts = [num(1, dtype), num(2, len(dims))]
    return sub(1, *parts, *[sub(3, sub(1, num(1, d))) for d in dims])


def named(name, dtype, *dims):
    return sub(1, name), sub(2, tensor_type(dtype, *dims))


def const(name, dtype, dims, value):
    attr = sub(5, sub(1, "val"), sub(2, sub(2, tensor_type(dtype, *dims)), value))
    return sub(3, sub(1, "const"), sub(3, *named(name, dtype, *dims)), attr)


def ints(name, *values):
    packed = sub(1, b"".join(varint(v) for v in values))
    return const(name, INT32, [len(values)], sub(3, sub(1, sub(2, packed))))


def op(kind, name, dims, **inputs):
    args = [sub(2, sub(1, k), sub(2, sub(1, sub(1, v)))) for k, v in inputs.items()]
    return sub(3, sub(1, kind), *args, sub(3, *named(name, FLOAT16, *dims)))


def program(folder):
    data = struct.pack("<108e", *[(i % 7 - 3) / 16 for i in range(108)])
    head = struct.pack("<IIQQ", 0xDEADBEEF, 1, len(data), 128).ljust(64, b"\0")
    os.makedirs(f"{folder}/weights", exist_ok=True)
    with open(f"{folder}/weights/weight.bin", "wb") as f:
        f.write(b"\0" * 64 + head + data)
    blob = sub(5, sub(1, "@model_path/weights/weight.bin"), num(2, 64))
    same = sub(3, sub(1, sub(4, sub(1, "same"))))
    block = sub(
        2,
        sub(2, "out"),
        const("w", FLOAT16, [4, 3, 3, 3], blob),
        const("same", STRING, [], same),
        ints("strides", 2, 2),
        ints("perm", 0, 2, 3, 1),
        op("conv", "a", [1, 4, 4, 4], x="image", weight="w", strides="strides", pad_type="same"),
        op("silu", "b", [1, 4, 4, 4], x="a"),
        op("transpose", "c", [1, 4, 4, 4], x="b", perm="perm"),
        op("mystery", "out", [1, 7], x="c"),
    )
    main = sub(
        2,
        sub(1, *named("image", FLOAT16, 1, 3, 8, 8)),
        sub(2, "CoreML5"),
        sub(3, sub(1, "CoreML5"), block),
    )
    inner = num(1, 6) + IMAGE + sub(502, num(1, 1), sub(2, sub(1, "main"), main))
    suppress = num(1, 6) + sub(2) + sub(610)
    return num(1, 6) + IMAGE + sub(202, sub(1, inner), sub(1, suppress))


def attribute(name, dtype, dims, data):
    value = sub(3, sub(1, sub(5, sub(1, data))))
    return sub(5, sub(1, name), sub(2, sub(2, tensor_type(dtype, *dims)), value))


def packed():
    """Palettes: in attributes (iOS 16), and as constants that the operation takes (iOS 18)."""
    first = sub(
        3,
        sub(1, "constexpr_lut_to_dense"),
        attribute("indices", UINT8, [54], b"\x12" * 54),
        attribute("lut", FLOAT16, [16], b"\0\x3c" * 16),
        sub(3, *named("w", FLOAT16, 4, 3, 3, 3)),
    )
    data = sub(3, sub(1, sub(5, sub(1, b"\x01" * 16))))
    lut = sub(3, sub(1, sub(5, sub(1, b"\0\x3c" * 4))))
    scale = sub(3, sub(1, sub(5, sub(1, b"\0\x3c" * 4))))
    block = sub(
        2,
        sub(2, "out"),
        first,
        const("indices", UINT8, [4, 4, 1, 1], data),
        const("lut", FLOAT16, [1, 1, 1, 1, 4, 1], lut),
        op("constexpr_lut_to_dense", "v", [4, 4, 1, 1], indices="indices", lut="lut"),
        const("bytes", INT8, [4, 4, 1, 1], data),
        const("scale", FLOAT16, [4, 1, 1, 1], scale),
        op("constexpr_blockwise_shift_scale", "u", [4, 4, 1, 1], data="bytes", scale="scale"),
        op("conv", "a", [1, 4, 6, 6], x="image", weight="w"),
        op("conv", "b", [1, 4, 6, 6], x="a", weight="v"),
        op("conv", "out", [1, 4, 6, 6], x="b", weight="u"),
    )
    image = sub(1, *named("image", FLOAT16, 1, 3, 8, 8))
    body = image + sub(2, "CoreML8") + sub(3, sub(1, "CoreML8"), block)
    return num(1, 9) + IMAGE + sub(502, num(1, 1), sub(2, sub(1, "main"), sub(2, body)))


def main(folder):
    with open(f"{folder}/packed.mlmodel", "wb") as f:
        f.write(packed())
    with open(f"{folder}/net.mlmodel", "wb") as f:
        f.write(num(1, 1) + IMAGE + network())
    with open(f"{folder}/trees.mlmodel", "wb") as f:
        f.write(num(1, 1) + IMAGE + sub(402))
    inner = f"{folder}/program.mlpackage/Data/com.apple.CoreML"
    os.makedirs(inner, exist_ok=True)
    with open(f"{inner}/model.mlmodel", "wb") as f:
        f.write(program(inner))


if __name__ == "__main__":
    main(sys.argv[1])
