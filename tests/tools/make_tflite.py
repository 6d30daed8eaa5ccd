#!/usr/bin/env python3
"""Writes the small TFLite models of tests/data/tflite, by the published schema.

  make_tflite.py FOLDER

A table is a dict of field number to value: Int(bytes, number), Float, a str, a list of ints (Ints),
a list of tables (Tables), Raw bytes or another dict. Parents are written before their children, so
that every offset points forward.
"""

import struct
import sys


class Int:
    def __init__(self, size, value):
        self.size, self.data = size, int(value).to_bytes(size, "little", signed=value < 0)


class Float:
    size = 4

    def __init__(self, value):
        self.data = struct.pack("<f", value)


class Ints:
    def __init__(self, values, size=4):
        self.data = b"".join(int(v).to_bytes(size, "little", signed=True) for v in values)
        self.count = len(values)


class Floats:
    def __init__(self, values):
        self.data, self.count = struct.pack(f"<{len(values)}f", *values), len(values)


class Raw:
    def __init__(self, data):
        self.data, self.count = data, len(data)


class Tables:
    def __init__(self, items):
        self.items = items


class Writer:
    def __init__(self):
        self.out = bytearray(8)

    def align(self, n):
        self.out += bytes(-len(self.out) % n)

    def patch(self, at, target):
        self.out[at : at + 4] = struct.pack("<I", target - at)

    def vector(self, count, data):
        self.out += bytes(-(len(self.out) + 4) % 16)
        at = len(self.out)
        self.out += struct.pack("<I", count) + data
        return at

    def table(self, fields):
        last = max(fields, default=-1)
        offsets, size = {}, 4
        for number, value in sorted(fields.items(), key=lambda f: -getattr(f[1], "size", 4)):
            n = getattr(value, "size", 4)
            size += -size % n
            offsets[number] = size
            size += n
        self.align(2)
        vtable = len(self.out)
        self.out += struct.pack("<HH", 4 + 2 * (last + 1), size)
        for number in range(last + 1):
            self.out += struct.pack("<H", offsets.get(number, 0))
        self.align(8)
        at = len(self.out)
        self.out += struct.pack("<i", at - vtable) + bytes(size - 4)
        children = []
        for number, value in fields.items():
            if hasattr(value, "size"):
                place = at + offsets[number]
                self.out[place : place + value.size] = value.data
            else:
                children.append((at + offsets[number], value))
        for place, value in children:
            self.patch(place, self.child(value))
        return at

    def child(self, value):
        if isinstance(value, dict):
            return self.table(value)
        if isinstance(value, str):
            return self.vector(len(value.encode()), value.encode() + b"\0")
        if isinstance(value, Tables):
            self.align(4)
            at = len(self.out)
            self.out += struct.pack("<I", len(value.items)) + bytes(4 * len(value.items))
            for i, item in enumerate(value.items):
                self.patch(at + 4 + 4 * i, self.table(item))
            return at
        return self.vector(value.count, value.data)


FLOAT32, FLOAT16, INT32, INT8, INT4, BOOL, VARIANT = 0, 1, 2, 9, 17, 6, 14


# The kind of options of an operator, in the union of the schema.
OPTIONS = {
    0: 11,
    1: 5,
    2: 10,
    3: 1,
    4: 2,
    9: 8,
    17: 5,
    18: 21,
    23: 15,
    25: 9,
    40: 27,
    67: 49,
    98: 75,
    119: 93,
}


class Model:
    """Subgraphs of tensors and operators; data becomes buffers."""

    def __init__(self):
        self.buffers, self.codes, self.subgraphs, self.outside = [{}], [], [], b""

    def subgraph(self, name):
        self.subgraphs.append(Subgraph(self, name))
        return self.subgraphs[-1]

    def code(self, number, custom=None):
        key = (number, custom)
        if key not in self.codes:
            self.codes.append(key)
        return self.codes.index(key)

    def signature(self, key):
        main = self.subgraphs[0]

        def named(indices):
            return Tables([{0: main.tensors[i][3], 1: Int(4, i)} for i in indices])

        return {0: named(main.inputs), 1: named(main.outputs), 2: key, 4: Int(4, 0)}

    def write(self, path, signature="serving_default", metadata=None, more=()):
        """metadata: the table of TFLITE_METADATA, a FlatBuffer of its own; more: keys of other
        subgraphs."""
        if metadata:
            own = Writer()
            root = own.table(metadata)
            own.out[0:8] = struct.pack("<I", root) + b"M001"
            self.buffers.append({0: Raw(bytes(own.out))})
        codes = []
        for number, custom in self.codes:
            code = {0: Int(1, min(number, 127)), 2: Int(4, 1), 3: Int(4, number)}
            if custom:
                code[1] = custom
            codes.append(code)
        model = {
            0: Int(4, 3),
            1: Tables(codes),
            2: Tables([s.table() for s in self.subgraphs]),
            3: "written by make_tflite.py",
            4: Tables(self.buffers),
            7: Tables([self.signature(signature)] + [{2: k, 4: Int(4, i)} for i, k in more]),
        }
        if metadata:
            model[6] = Tables([{0: "TFLITE_METADATA", 1: Int(4, len(self.buffers) - 1)}])
        w = Writer()
        root = w.table(model)
        w.out[0:8] = struct.pack("<I", root) + b"TFL3"
        data = bytes(w.out)
        if self.outside:
            at = len(data) + -len(data) % 16
            data = data.replace(struct.pack("<Q", 0x7777777777777777), struct.pack("<Q", at))
            data = data.ljust(at, b"\0") + self.outside
        with open(path, "wb") as f:
            f.write(data)


class Subgraph:
    def __init__(self, model, name):
        self.model, self.name = model, name
        self.tensors, self.operators, self.inputs, self.outputs = [], [], [], []

    def tensor(self, name, shape, dtype=FLOAT32, data=None, quant=None, signature=None, **more):
        buffer = 0
        if data is not None:
            self.model.buffers.append({0: Raw(data)})
            buffer = len(self.model.buffers) - 1
        t = {0: Ints(shape), 1: Int(1, dtype), 2: Int(4, buffer), 3: name, 8: Int(1, 1)}
        if quant:
            scales, zeros, axis = quant
            t[4] = {2: Floats(scales), 3: Ints(zeros, 8), 6: Int(4, axis)}
        if signature:
            t[7] = Ints(signature)
        t.update(more.get("fields", {}))
        self.tensors.append(t)
        return len(self.tensors) - 1

    def outside(self, name, shape, data):
        """A constant whose bytes lie behind the FlatBuffer."""
        self.model.outside = data
        at = {1: Int(8, 0x7777777777777777), 2: Int(8, len(data))}
        self.model.buffers.append(at)
        t = {0: Ints(shape), 1: Int(1, FLOAT32), 2: Int(4, len(self.model.buffers) - 1), 3: name}
        self.tensors.append(t)
        return len(self.tensors) - 1

    def op(self, code, inputs, outputs, options=None, custom=None, more=None):
        o = {0: Int(4, self.model.code(code, custom)), 1: Ints(inputs), 2: Ints(outputs)}
        if more is not None:
            o[5] = Raw(more)
        if options is not None:
            o[3], o[4] = Int(1, OPTIONS[code]), options
        self.operators.append(o)

    def table(self):
        return {
            0: Tables(self.tensors),
            1: Ints(self.inputs),
            2: Ints(self.outputs),
            3: Tables(self.operators),
            4: self.name,
        }


def floats(n, start=1):
    return struct.pack(f"<{n}f", *[((i * 7 + start) % 11 - 5) / 16 for i in range(n)])


def halves(n):
    return struct.pack(f"<{n}e", *[((i * 5 + 3) % 13 - 6) / 16 for i in range(n)])


def ints(*values):
    return struct.pack(f"<{len(values)}i", *values)


def conv_options(stride, activation=0, valid=0):
    return {0: Int(1, valid), 1: Int(4, stride), 2: Int(4, stride), 3: Int(1, activation)}


def write_float(path):
    """Conv (float16 weights behind DEQUANTIZE), depthwise, pooling, residual, linear, softmax."""
    m = Model()
    g = m.subgraph("main")
    x = g.tensor("image", [1, 8, 8, 3], signature=[-1, 8, 8, 3])
    w16 = g.tensor("conv/kernel", [4, 3, 3, 3], FLOAT16, halves(108))
    w = g.tensor("conv/kernel_dequantize", [4, 3, 3, 3])
    b = g.tensor("conv/bias", [4], data=floats(4))
    c = g.tensor("conv/Relu6", [1, 4, 4, 4])
    dw = g.tensor("depthwise/kernel", [1, 3, 3, 4], data=floats(36))
    d = g.tensor("depthwise/Conv2D", [1, 4, 4, 4])
    s = g.tensor("add", [1, 4, 4, 4])
    p = g.tensor("pool", [1, 2, 2, 4])
    axes = g.tensor("mean/axes", [2], INT32, ints(1, 2))
    mean = g.tensor("mean", [1, 4])
    fw = g.tensor("dense/kernel", [5, 4], data=floats(20))
    y = g.tensor("dense", [1, 5])
    out = g.tensor("softmax", [1, 5])
    g.inputs, g.outputs = [x], [out]
    g.op(6, [w16], [w])
    g.op(3, [x, w, b], [c], conv_options(2, activation=3))
    g.op(4, [c, dw, -1], [d], {1: Int(4, 1), 2: Int(4, 1), 3: Int(4, 1)})
    g.op(0, [c, d], [s], {0: Int(1, 1)})
    pool = {0: Int(1, 1), 1: Int(4, 2), 2: Int(4, 2), 3: Int(4, 2), 4: Int(4, 2)}
    g.op(17, [s], [p], pool)
    g.op(40, [p, axes], [mean], {0: Int(1, 0)})
    g.op(9, [mean, fw, -1], [y], {0: Int(1, 0)})
    g.op(25, [y], [out], {0: Float(1.0)})
    m.write(path)


def write_quantised(path):
    """int8 with one scale per output channel, QUANTIZE and DEQUANTIZE at the ends."""
    m = Model()
    g = m.subgraph("main")
    x = g.tensor("input", [1, 4, 4, 2])
    q = g.tensor("input_int8", [1, 4, 4, 2], INT8, quant=([0.05], [3], 0))
    scales = [0.01, 0.02, 0.03]
    w = g.tensor(
        "kernel", [3, 3, 3, 2], INT8, bytes(i % 7 for i in range(54)), (scales, [0] * 3, 0)
    )
    bias = g.tensor("bias", [3], INT32, ints(10, -20, 30), ([s * 0.05 for s in scales], [0] * 3, 0))
    c = g.tensor("conv", [1, 4, 4, 3], INT8, quant=([0.04], [-128], 0))
    y = g.tensor("output", [1, 4, 4, 3])
    g.inputs, g.outputs = [x], [y]
    g.op(114, [x], [q])
    g.op(3, [q, w, bias], [c], conv_options(1, activation=1))
    g.op(6, [c], [y])
    m.write(path)


def signed(n, start=1):
    return bytes((i * 37 + start * 11) % 251 & 255 for i in range(n))


def write_integer(path):
    """int8 from end to end: every operator that rounds in a way of its own."""
    m = Model()
    g = m.subgraph("main")

    def value(name, shape, scale, zero):
        return g.tensor(name, shape, INT8, quant=([scale], [zero], 0))

    x = value("input", [1, 8, 8, 4], 0.05, 3)
    scales = [0.002 + 0.001 * i for i in range(4)]
    w = g.tensor("conv/kernel", [4, 3, 3, 4], INT8, signed(144), (scales, [0] * 4, 0))
    biases = ([s * 0.05 for s in scales], [0] * 4, 0)
    b = g.tensor("conv/bias", [4], INT32, ints(900, -700, 500, -300), biases)
    c = value("conv", [1, 4, 4, 4], 0.03, -128)
    dw = g.tensor("depthwise/kernel", [1, 3, 3, 4], INT8, signed(36, 2), (scales, [0] * 4, 3))
    db = g.tensor("depthwise/bias", [4], INT32, ints(40, -50, 60, -70), biases)
    d = value("depthwise", [1, 4, 4, 4], 0.041, 7)
    s = value("add", [1, 4, 4, 4], 0.047, -9)
    k = value("mul", [1, 4, 4, 4], 0.09, 11)
    leaky = value("leaky", [1, 4, 4, 4], 0.07, -20)
    size = g.tensor("size", [2], INT32, ints(8, 8))
    big = value("resize", [1, 8, 8, 4], 0.07, -20)
    p = value("pool", [1, 4, 4, 4], 0.07, -20)
    moved = value("moved", [1, 4, 4, 4], 0.053, 5)
    fw = g.tensor("dense/kernel", [6, 64], INT8, signed(384, 3), ([0.004], [0], 0))
    fb = g.tensor("dense/bias", [6], INT32, ints(1, -2, 3, -4, 5, -6), ([0.053 * 0.004], [0], 0))
    y = value("dense", [1, 6], 0.11, -4)
    g.inputs, g.outputs = [x], [moved, y]
    g.op(3, [x, w, b], [c], conv_options(2, activation=3))
    g.op(4, [c, dw, db], [d], {1: Int(4, 1), 2: Int(4, 1), 3: Int(4, 1)})
    g.op(0, [c, d], [s], {0: Int(1, 0)})
    g.op(18, [s, d], [k], {0: Int(1, 1)})
    g.op(98, [k], [leaky], {0: Float(0.2)})
    g.op(23, [leaky, size], [big], {3: Int(1, 1)})
    pool = {0: Int(1, 1), 1: Int(4, 2), 2: Int(4, 2), 3: Int(4, 2), 4: Int(4, 2)}
    g.op(1, [big], [p], pool)
    g.op(114, [p], [moved])
    g.op(9, [moved, fw, fb], [y], {0: Int(1, 0)})
    m.write(path)


def write_loop(path):
    """WHILE of 5 trips: counter < 5, x = x * w."""
    m = Model()
    g = m.subgraph("main")
    x = g.tensor("x", [1, 4])
    i = g.tensor("start", [], INT32, ints(0))
    ni, nx = g.tensor("counter", [], INT32), g.tensor("y", [1, 4])
    g.inputs, g.outputs = [x], [nx]
    g.op(119, [i, x], [ni, nx], {0: Int(4, 1), 1: Int(4, 2)})
    c = m.subgraph("cond")
    ci, cx = c.tensor("i", [], INT32), c.tensor("x", [1, 4])
    limit = c.tensor("limit", [], INT32, ints(5))
    less = c.tensor("less", [], BOOL)
    c.inputs, c.outputs = [ci, cx], [less]
    c.op(58, [ci, limit], [less])
    b = m.subgraph("body")
    bi, bx = b.tensor("i", [], INT32), b.tensor("x", [1, 4])
    one, w = b.tensor("one", [], INT32, ints(1)), b.tensor("kernel", [4, 4], data=floats(16))
    nbi, nbx = b.tensor("i_next", [], INT32), b.tensor("x_next", [1, 4])
    b.inputs, b.outputs = [bi, bx], [nbi, nbx]
    b.op(0, [bi, one], [nbi], {0: Int(1, 0)})
    b.op(9, [bx, w, -1], [nbx], {0: Int(1, 0)})
    m.write(path)


def write_lists(path):
    """Two loops of 6 trips as a stack of Keras LSTMs has them: the first collects x, the second
    keeps its last item. SPARSE_TO_DENSE makes the shape of the end."""
    m = Model()
    g = m.subgraph("main")
    x = g.tensor("x", [1, 4], signature=[-1, 4])
    zero = g.tensor("start", [], INT32, ints(0))
    item = g.tensor("item_shape", [2], INT32, ints(-1, 4))
    six, once = g.tensor("six", [], INT32, ints(6)), g.tensor("once", [], INT32, ints(1))
    g.inputs = [x]
    stacks = []
    for k, length in enumerate((six, once)):
        empty = g.tensor(f"empty_{k}", [], VARIANT)
        i, filled, last = (
            g.tensor(f"i_{k}", [], INT32),
            g.tensor(f"list_{k}", [], VARIANT),
            g.tensor(f"last_{k}", [1, 4], signature=[-1, 4]),
        )
        stack = g.tensor(f"stack_{k}", [1, 1, 4], signature=[-1, -1, 4])
        g.op(32, [item, length], [empty], custom="FlexTensorListReserve")
        g.op(119, [zero, empty, x], [i, filled, last], {0: Int(4, 1), 1: Int(4, 2 + k)})
        g.op(32, [filled, item], [stack], custom="FlexTensorListStack")
        stacks.append(stack)
    both = g.tensor("both", [1, 1, 4], signature=[-1, -1, 4])
    g.op(2, stacks, [both], {0: Int(4, 0), 1: Int(1, 0)})
    indices = g.tensor("indices", [1, 1], INT32, ints(1))
    length, minus = g.tensor("length", [1], INT32, ints(2)), g.tensor("minus", [], INT32, ints(-1))
    four, shape = g.tensor("four", [1], INT32, ints(4)), g.tensor("shape", [2], INT32)
    g.op(68, [indices, length, four, minus], [shape])
    flat = g.tensor("flat", [1, 4], signature=[-1, 4])
    g.op(22, [both, shape], [flat])
    odd = g.tensor("odd", [1, 1, 4], signature=[-1, -1, 4])
    g.op(32, [flat], [odd], custom="FlexMystery")
    g.outputs = [flat, odd]
    c = m.subgraph("cond")
    ci, cl, cx = c.tensor("i", [], INT32), c.tensor("l", [], VARIANT), c.tensor("x", [1, 4])
    limit, less = c.tensor("limit", [], INT32, ints(6)), c.tensor("less", [], BOOL)
    c.inputs, c.outputs = [ci, cl, cx], [less]
    c.op(58, [ci, limit], [less])
    for k in range(2):
        b = m.subgraph(f"body_{k}")
        bi, bl = b.tensor("i", [], INT32), b.tensor("l", [], VARIANT)
        bx = b.tensor("x", [1, 4], signature=[-1, 4])
        one, same = b.tensor("one", [], INT32, ints(1)), b.tensor("same", [], INT32, ints(0))
        w = b.tensor("kernel", [4, 4], data=floats(16))
        nbi, nbl = b.tensor("i_next", [], INT32), b.tensor("l_next", [], VARIANT)
        nbx = b.tensor("x_next", [1, 4], signature=[-1, 4])
        b.inputs, b.outputs = [bi, bl, bx], [nbi, nbl, nbx]
        b.op(0, [bi, one], [nbi], {0: Int(1, 0)})
        b.op(9, [bx, w, -1], [nbx], {0: Int(1, 0)})
        b.op(32, [bl, bi if k == 0 else same, nbx], [nbl], custom="FlexTensorListSetItem")
    m.write(path)


def flex_map(entries):
    """A FlexBuffer with a map of small numbers; all widths are one byte."""
    out, starts = bytearray(), []
    names = sorted(entries)
    for name in names:
        starts.append(len(out))
        out += name.encode() + b"\0"
    out.append(len(names))
    keys = len(out)
    for start in starts:
        out.append(len(out) - start)
    out += bytes([len(out) - keys, 1, len(names)])
    values = len(out)
    out += bytes(entries[name] for name in names)
    out += bytes([1 << 2] * len(names))
    out.append(len(out) - values)
    return bytes(out + bytes([9 << 2, 1]))


def write_detection(path):
    """The end of an SSD model: sizes of the outputs are in the options only."""
    m = Model()
    g = m.subgraph("main")
    boxes, scores = g.tensor("boxes", [1, 30, 4]), g.tensor("scores", [1, 30, 3])
    anchors = g.tensor("anchors", [30, 4], data=floats(120))
    no_rank = {8: Int(1, 0)}
    outputs = [g.tensor(f"detection_{k}", [], fields=no_rank) for k in range(4)]
    options = flex_map({"max_detections": 10, "max_classes_per_detection": 2, "num_classes": 2})
    g.op(32, [boxes, scores, anchors], outputs, custom="TFLite_Detection_PostProcess", more=options)
    g.inputs, g.outputs = [boxes, scores], outputs
    m.write(path)


def write_described(path):
    """Metadata: names of the tensors, a normalisation, a file of labels; and a second signature."""
    m = Model()
    g = m.subgraph("main")
    x, y = g.tensor("x", [1, 4]), g.tensor("y", [1, 2])
    w = g.tensor("kernel", [2, 4], data=floats(8))
    g.inputs, g.outputs = [x], [y]
    g.op(9, [x, w, -1], [y], {0: Int(1, 0)})
    other = m.subgraph("other")
    a, b = other.tensor("a", [1, 4]), other.tensor("b", [1, 4])
    other.inputs, other.outputs = [a], [b]
    other.op(14, [a], [b])
    unit = {0: Int(1, 1), 1: {0: Floats([127.5]), 1: Floats([128.0])}}
    image = {0: "image", 1: "What to classify", 4: Tables([unit])}
    scores = {0: "scores", 6: Tables([{0: "labels.txt", 2: Int(1, 2)}])}
    about = {0: "pets", 1: "Tells cats and dogs apart", 2: "v2", 4: "nobody", 5: "none"}
    about[3] = Tables([{2: Tables([image]), 3: Tables([scores])}])
    m.write(path, "classify", about, [(1, "embed")])


def write_odd(path):
    """A custom operator, int4 and sparse weights, and a buffer outside the FlatBuffer."""
    m = Model()
    g = m.subgraph("main")
    x = g.tensor("x", [2, 4])
    far = g.outside("far/kernel", [4, 4], floats(16))
    a = g.tensor("far", [2, 4])
    w4 = g.tensor("int4/kernel", [4, 4], INT4, bytes(8), ([0.5], [0], 0))
    b = g.tensor("int4", [2, 4])
    sparse = {6: {0: Ints([0, 1])}}
    ws = g.tensor("sparse/kernel", [4, 4], data=floats(3), fields=sparse)
    dense = g.tensor("sparse/dense", [4, 4])
    c = g.tensor("sparse", [2, 4])
    y = g.tensor("mystery", [2, 7])
    g.inputs, g.outputs = [x], [y]
    g.op(9, [x, far, -1], [a], {0: Int(1, 0)})
    g.op(9, [a, w4, -1], [b], {0: Int(1, 0)})
    g.op(124, [ws], [dense])
    g.op(9, [b, dense, -1], [c], {0: Int(1, 0)})
    g.op(32, [c], [y], custom="Mystery")
    m.write(path)


if __name__ == "__main__":
    folder = sys.argv[1]
    write_float(f"{folder}/float.tflite")
    write_quantised(f"{folder}/quantised.tflite")
    write_integer(f"{folder}/integer.tflite")
    write_loop(f"{folder}/loop.tflite")
    write_described(f"{folder}/described.tflite")
    write_lists(f"{folder}/lists.tflite")
    write_detection(f"{folder}/detection.tflite")
    write_odd(f"{folder}/odd.tflite")
