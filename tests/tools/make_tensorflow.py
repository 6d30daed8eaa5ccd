#!/usr/bin/env python3
"""Writes small TensorFlow models for the tests:

frozen.pb  a GraphDef: convolutions, a branch with a constant and one with a computed condition
loop.pb    a GraphDef with a loop of TensorFlow 1 that reads and fills TensorArrays
parts.pb   a GraphDef of operators that become several: resize with a convolution, a mirror, batches
           of indices, a table, values of quantised data
saved/     a SavedModel: functions, variables in a checkpoint, If, While with TensorLists

  make_tensorflow.py FOLDER
"""

import os
import struct
import sys

FLOAT, INT32, STRING, INT64, BOOL, QUINT8, RESOURCE, VARIANT = 1, 3, 7, 9, 10, 12, 20, 21


def varint(v):
    v &= (1 << 64) - 1
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


def shape(dims):
    return b"".join(sub(2, num(1, d)) for d in dims)


def attr(key, value):
    return sub(5, sub(1, key), sub(2, value))


def kind(key, t):
    return attr(key, num(6, t))


def flag(key, v):
    return attr(key, num(5, v))


def text(key, v):
    return attr(key, sub(2, v))


def ints(key, v):
    return attr(key, sub(1, sub(3, *[varint(i) for i in v])))


def func(key, name):
    return attr(key, sub(10, sub(1, name)))


def node(name, op, inputs=(), *attrs, field=1):
    return sub(field, sub(1, name), sub(2, op), *[sub(3, i) for i in inputs], *attrs)


def tensor(t, dims, *content):
    return num(1, t) + sub(2, shape(dims)) + b"".join(content)


def const(name, t, dims, *content, field=1, after=()):
    value = attr("value", sub(8, tensor(t, dims, *content)))
    return node(name, "Const", after, kind("dtype", t), value, field=field)


def floats(n):
    return sub(4, struct.pack(f"<{n}f", *[(i % 7 - 3) / 16 for i in range(n)]))


def whole(*v):
    return sub(7, *[varint(i) for i in v])


def placeholder(name, t, dims):
    return node(name, "Placeholder", (), kind("dtype", t), attr("shape", sub(7, shape(dims))))


def window(*more):
    return (kind("T", FLOAT), text("padding", "SAME"), text("data_format", "NHWC"), *more)


def frozen():
    parts = [
        placeholder("image", FLOAT, [-1, 8, 8, 3]),
        placeholder("sign", BOOL, []),
        const("kernel", FLOAT, [3, 3, 3, 4], floats(108)),
        node("kernel/read", "Identity", ["kernel"], kind("T", FLOAT)),
        node("conv", "Conv2D", ["image", "kernel/read"], *window(ints("strides", [1, 2, 2, 1]))),
        const("ones", FLOAT, [4], sub(5, struct.pack("<f", 1))),  # one number, four times
        const("mean", FLOAT, [4], floats(4)),
        node(
            "norm",
            "FusedBatchNormV3",
            ["conv", "ones", "mean", "mean", "ones"],
            kind("T", FLOAT),
            flag("is_training", 0),
            text("data_format", "NHWC"),
            attr("epsilon", varint(4 << 3 | 5) + struct.pack("<f", 0.001)),
        ),
        const("training", BOOL, [], sub(11, b"\0")),
        node("norm/Switch", "Switch", ["norm", "training"], kind("T", FLOAT)),
        const("rate", FLOAT, [], sub(5, struct.pack("<f", 2)), after=["^norm/Switch"]),
        node("drop", "Mul", ["norm/Switch:1", "rate"], kind("T", FLOAT)),
        node("norm/Merge", "Merge", ["norm/Switch", "drop"], kind("T", FLOAT)),
        node("relu", "Relu6", ["norm/Merge"], kind("T", FLOAT)),
        const("deep", FLOAT, [3, 3, 4, 2], floats(72)),
        node(
            "depthwise",
            "DepthwiseConv2dNative",
            ["relu", "deep"],
            *window(ints("strides", [1, 1, 1, 1])),
        ),
        node(
            "pool",
            "MaxPool",
            ["depthwise"],
            *window(ints("ksize", [1, 2, 2, 1]), ints("strides", [1, 2, 2, 1])),
        ),
        node("pool/Shape", "Shape", ["pool"], kind("T", FLOAT), kind("out_type", INT32)),
        const("zero", INT32, [1], whole(0)),
        const("one", INT32, [1], whole(1)),
        node(
            "batch",
            "StridedSlice",
            ["pool/Shape", "zero", "one", "one"],
            attr("shrink_axis_mask", num(3, 1)),
            kind("T", INT32),
        ),
        const("rest", INT32, [], whole(-1)),
        node("flat/shape", "Pack", ["batch", "rest"], kind("T", INT32)),
        node("flat", "Reshape", ["pool", "flat/shape"], kind("T", FLOAT)),
        const("dense", FLOAT, [32, 5], floats(160)),
        node("dense/MatMul", "MatMul", ["flat", "dense"], kind("T", FLOAT)),
        node("cond/Switch", "Switch", ["dense/MatMul", "sign"], kind("T", FLOAT)),
        node("cond/Neg", "Neg", ["cond/Switch:1"], kind("T", FLOAT)),
        node("cond/Abs", "Abs", ["cond/Switch"], kind("T", FLOAT)),
        node("cond/Merge", "Merge", ["cond/Abs", "cond/Neg"], kind("T", FLOAT)),
        node("prob", "Softmax", ["cond/Merge"], kind("T", FLOAT)),
        const("names", STRING, [2], sub(8, "a"), sub(8, "b")),
        node("save", "SaveV2", ["names", "names", "names", "kernel"]),
        sub(4, num(1, 27)),
    ]
    return b"".join(parts)


def parts():
    none, some = [0] * 8, [0, 0, 2, 1, 0, 3, 0, 0]
    return b"".join(
        [
            placeholder("image", FLOAT, [1, 4, 5, 3]),
            const("size", INT32, [2], whole(8, 10)),
            const("none", INT32, [4, 2], whole(*none)),
            const("some", INT32, [4, 2], whole(*some)),
            const("kernel", FLOAT, [3, 3, 3, 4], floats(108)),
            node(
                "conv",
                "FusedResizeAndPadConv2D",
                ["image", "size", "none", "kernel"],
                kind("T", FLOAT),
                text("padding", "SAME"),
                text("mode", "REFLECT"),
                ints("strides", [1, 1, 1, 1]),
            ),
            node(
                "pad",
                "MirrorPad",
                ["image", "some"],
                kind("T", FLOAT),
                text("mode", "SYMMETRIC"),
            ),
            placeholder("rows", INT32, [1, 2]),
            const("axis", INT32, [], whole(1)),
            node(
                "pick",
                "GatherV2",
                ["image", "rows", "axis"],
                attr("batch_dims", num(3, 1)),
            ),
            placeholder("keys", STRING, [2, 3]),
            node("table", "HashTableV2", (), kind("key_dtype", STRING), kind("value_dtype", INT64)),
            const("absent", INT64, [], sub(10, varint(7))),
            node("find", "LookupTableFindV2", ["table", "keys", "absent"], kind("Tout", INT64)),
            placeholder("bytes", QUINT8, [2, 6]),
            const("low", FLOAT, [], sub(5, struct.pack("<f", -1))),
            const("high", FLOAT, [], sub(5, struct.pack("<f", 2))),
            node(
                "real",
                "Dequantize",
                ["bytes", "low", "high"],
                kind("T", QUINT8),
                text("mode", "MIN_COMBINED"),
            ),
            sub(4, num(1, 1994)),
        ]
    )


def loop():
    parts = [
        placeholder("x", FLOAT, [5, 2, 3]),
        const("zero", INT32, [], whole(0)),
        const("one", INT32, [], whole(1)),
        const("five", INT32, [], whole(5)),
        const("all", INT32, [5], whole(0, 1, 2, 3, 4)),
        const("start", FLOAT, [2, 4], sub(5, struct.pack("<f", 0))),
        const("w", FLOAT, [7, 4], floats(28)),
        node("in", "TensorArrayV3", ["five"], kind("dtype", FLOAT)),
        node("out", "TensorArrayV3", ["five"], kind("dtype", FLOAT)),
        node("unstack", "TensorArrayScatterV3", ["in", "all", "x", "in:1"], kind("T", FLOAT)),
    ]
    for i, init in enumerate(("zero", "out:1", "start")):
        parts += [
            node(f"Enter{i}", "Enter", [init], text("frame_name", "f")),
            node(f"Merge{i}", "Merge", [f"Enter{i}", f"Next{i}"]),
            node(f"Switch{i}", "Switch", [f"Merge{i}", "cond"]),
            node(f"Identity{i}", "Identity", [f"Switch{i}:1"]),
            node(f"Exit{i}", "Exit", [f"Switch{i}"]),
        ]
    for name, init in (
        ("limit", "five"),
        ("w/in", "w"),
        ("ta", "in"),
        ("flow", "unstack"),
        ("to", "out"),
    ):
        parts.append(node(name, "Enter", [init], text("frame_name", "f"), flag("is_constant", 1)))
    parts += [
        node("less", "Less", ["Merge0", "limit"], kind("T", INT32)),
        node("cond", "LoopCond", ["less"]),
        const("by", INT32, [], whole(1), after=["^Identity0"]),
        const("axis", INT32, [], whole(1), after=["^Identity0"]),
        node("read", "TensorArrayReadV3", ["ta", "Identity0", "flow"], kind("dtype", FLOAT)),
        node("join", "ConcatV2", ["read", "Identity2", "axis"], kind("T", FLOAT)),
        node("step", "MatMul", ["join", "w/in"], kind("T", FLOAT)),
        node("state", "Tanh", ["step"], kind("T", FLOAT)),
        node(
            "write",
            "TensorArrayWriteV3",
            ["to", "Identity0", "state", "Identity1"],
            kind("T", FLOAT),
        ),
        node("count", "AddV2", ["Identity0", "by"], kind("T", INT32)),
        node("Next0", "NextIteration", ["count"]),
        node("Next1", "NextIteration", ["write"]),
        node("Next2", "NextIteration", ["state"]),
        node("stack", "TensorArrayGatherV3", ["out", "all", "Exit1"], kind("dtype", FLOAT)),
        node("last", "Identity", ["Exit2"], kind("T", FLOAT)),
        sub(4, num(1, 27)),
    ]
    return b"".join(parts)


def function(name, args, outs, nodes, ret):
    signature = sub(1, name) + b"".join(sub(2, sub(1, a), num(3, t)) for a, t in args)
    signature += b"".join(sub(3, sub(1, o), num(3, t)) for o, t in outs)
    rets = [sub(4, sub(1, k), sub(2, v)) for k, v in ret.items()]
    return sub(1, sub(1, signature), *nodes, *rets)


def inner(name, op, inputs=(), *attrs):
    return node(name, op, inputs, *attrs, field=3)


def library():
    dense = function(
        "dense_fn",
        [("x", FLOAT), ("w", RESOURCE), ("b", RESOURCE)],
        [("y", FLOAT)],
        [
            inner("MatMul/Read", "ReadVariableOp", ["w"], kind("dtype", FLOAT)),
            inner("MatMul", "MatMul", ["x", "MatMul/Read:value:0"], kind("T", FLOAT)),
            inner("Bias/Read", "ReadVariableOp", ["b"], kind("dtype", FLOAT)),
            inner(
                "BiasAdd", "BiasAdd", ["MatMul:product:0", "Bias/Read:value:0"], kind("T", FLOAT)
            ),
        ],
        {"y": "BiasAdd:output:0"},
    )
    cond = function(
        "cond_fn",
        [("i", INT32), ("out", VARIANT), ("in", VARIANT), ("h", FLOAT)],
        [("go", BOOL)],
        [
            const("limit", INT32, [], whole(5), field=3),
            inner("Less", "Less", ["i", "limit:output:0"], kind("T", INT32)),
        ],
        {"go": "Less:z:0"},
    )
    body = function(
        "body_fn",
        [("i", INT32), ("out", VARIANT), ("in", VARIANT), ("h", FLOAT)],
        [("i2", INT32), ("out2", VARIANT), ("in2", VARIANT), ("h2", FLOAT)],
        [
            const("by", INT32, [], whole(1), field=3),
            const("item", INT32, [2], whole(2, 3), field=3),
            inner("add", "AddV2", ["i", "by:output:0"], kind("T", INT32)),
            inner(
                "get",
                "TensorListGetItem",
                ["in", "i", "item:output:0"],
                kind("element_dtype", FLOAT),
            ),
            inner("sum", "AddV2", ["get:item:0", "h"], kind("T", FLOAT)),
            inner(
                "set", "TensorListSetItem", ["out", "i", "sum:z:0"], kind("element_dtype", FLOAT)
            ),
        ],
        {"i2": "add:z:0", "out2": "set:output_handle:0", "in2": "in", "h2": "sum:z:0"},
    )
    then = function(
        "then_fn",
        [("v", FLOAT)],
        [("r", FLOAT)],
        [inner("Neg", "Neg", ["v"], kind("T", FLOAT))],
        {"r": "Neg:y:0"},
    )
    other = function(
        "else_fn",
        [("v", FLOAT)],
        [("r", FLOAT)],
        [inner("Exp", "Exp", ["v"], kind("T", FLOAT))],
        {"r": "Exp:y:0"},
    )
    serve = function(
        "serve_fn",
        [("x", FLOAT), ("w", RESOURCE), ("b", RESOURCE)],
        [("y", FLOAT), ("all", FLOAT)],
        [
            const("zero", INT32, [], whole(0), field=3),
            const("five", INT32, [], whole(5), field=3),
            const("item", INT32, [2], whole(2, 3), field=3),
            const("start", FLOAT, [2, 3], sub(5, struct.pack("<f", 0)), field=3),
            inner(
                "list", "TensorListFromTensor", ["x", "item:output:0"], kind("element_dtype", FLOAT)
            ),
            inner(
                "room",
                "TensorListReserve",
                ["item:output:0", "five:output:0"],
                kind("element_dtype", FLOAT),
            ),
            inner(
                "while",
                "StatelessWhile",
                ["zero:output:0", "room:handle:0", "list:output_handle:0", "start:output:0"],
                func("cond", "cond_fn"),
                func("body", "body_fn"),
            ),
            inner(
                "stack",
                "TensorListStack",
                ["while:output:1", "item:output:0"],
                kind("element_dtype", FLOAT),
            ),
            const("axes", INT32, [2], whole(0, 1), field=3),
            inner("mean", "Mean", ["stack:tensor:0", "axes:output:0"], kind("T", FLOAT)),
            const("limit", FLOAT, [], sub(5, struct.pack("<f", 0)), field=3),
            const("zeros", INT32, [1], whole(0), field=3),
            const("ones", INT32, [1], whole(1), field=3),
            inner(
                "pick",
                "StridedSlice",
                ["mean:output:0", "zeros:output:0", "ones:output:0", "ones:output:0"],
                attr("shrink_axis_mask", num(3, 1)),
                kind("T", FLOAT),
            ),
            inner("test", "Greater", ["pick:output:0", "limit:output:0"], kind("T", FLOAT)),
            inner(
                "if",
                "StatelessIf",
                ["test:z:0", "while:output:3"],
                func("then_branch", "then_fn"),
                func("else_branch", "else_fn"),
            ),
            inner(
                "dense/StatefulPartitionedCall",
                "StatefulPartitionedCall",
                ["if:output:0", "w", "b"],
                func("f", "dense_fn"),
            ),
            inner("out", "Identity", ["dense/StatefulPartitionedCall:output:0"], kind("T", FLOAT)),
        ],
        {"y": "out:output:0", "all": "stack:tensor:0"},
    )
    restore = function(
        "restore_fn",
        [("file", STRING), ("w", RESOURCE), ("b", RESOURCE)],
        [],
        [
            const(
                "keys",
                STRING,
                [2],
                sub(8, "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE"),
                sub(8, "layer/bias/.ATTRIBUTES/VARIABLE_VALUE"),
                field=3,
            ),
            const("slices", STRING, [2], sub(8, ""), sub(8, ""), field=3),
            inner("RestoreV2", "RestoreV2", ["file", "keys:output:0", "slices:output:0"]),
            inner("Identity", "Identity", ["RestoreV2:tensors:0"], kind("T", FLOAT)),
            inner("Identity_1", "Identity", ["RestoreV2:tensors:1"], kind("T", FLOAT)),
            inner("Assign", "AssignVariableOp", ["w", "Identity:output:0"]),
            inner("Assign_1", "AssignVariableOp", ["b", "Identity_1:output:0"]),
        ],
        {},
    )
    return sub(2, dense, cond, body, then, other, serve, restore)


def variable(name, dims):
    known = attr("shape", sub(7, shape(dims) if dims else num(3, 1)))
    return node(name, "VarHandleOp", (), kind("dtype", FLOAT), known, text("shared_name", name))


def saved():
    graph = b"".join(
        [
            variable("dense/kernel", [3, 4]),
            variable("dense/bias", None),  # its shape is in the checkpoint
            variable("Adam/m", [3, 4]),
            node(
                "serving_default_x",
                "Placeholder",
                (),
                kind("dtype", FLOAT),
                attr("shape", sub(7, shape([5, 2, 3]))),
            ),
            node(
                "StatefulPartitionedCall",
                "StatefulPartitionedCall",
                ["serving_default_x", "dense/kernel", "dense/bias"],
                func("f", "serve_fn"),
            ),
            placeholder("saver_filename", STRING, []),
            node(
                "StatefulPartitionedCall_1",
                "StatefulPartitionedCall",
                ["saver_filename", "dense/kernel", "dense/bias"],
                func("f", "restore_fn"),
            ),
            library(),
            sub(4, num(1, 1994)),
        ]
    )

    def info(field, key, name, dims):
        entry = sub(1, name) + num(2, FLOAT) + sub(3, shape(dims))
        return sub(field, sub(1, key), sub(2, entry))

    serving = info(1, "x", "serving_default_x:0", [5, 2, 3])
    serving += info(2, "y", "StatefulPartitionedCall:0", [2, 4])
    serving += info(2, "all", "StatefulPartitionedCall:1", [5, 2, 3])
    signatures = sub(5, sub(1, "__saved_model_init_op"), sub(2))
    signatures += sub(5, sub(1, "serving_default"), sub(2, serving))
    meta = sub(1, sub(4, "serve"), sub(5, "2.11.0")) + sub(2, graph) + signatures
    return num(1, 1) + sub(2, meta)


def block(entries):
    """A block of a table without compression: entries share no prefixes but the second's."""
    out, last = b"", b""
    for key, value in entries:
        shared = len(os.path.commonprefix([last, key]))
        out += varint(shared) + varint(len(key) - shared) + varint(len(value))
        out += key[shared:] + value
        last = key
    return out + struct.pack("<II", 0, 1)


def checkpoint():
    data = struct.pack("<4f", 1, 2, 3, 4) + struct.pack("<12f", *[i / 8 for i in range(12)])

    def entry(dims, offset, size):
        return num(1, FLOAT) + sub(2, shape(dims)) + num(4, offset) + num(5, size)

    rows = block(
        [
            (b"", num(1, 1)),
            (b"layer/bias/.ATTRIBUTES/VARIABLE_VALUE", entry([4], 0, 16)),
            (b"layer/kernel/.ATTRIBUTES/VARIABLE_VALUE", entry([3, 4], 16, 48)),
        ]
    )
    trailer = b"\0" + bytes(4)
    meta = block([])
    index = block([(b"z", varint(0) + varint(len(rows)))])
    out = rows + trailer + meta + trailer + index + trailer
    at = len(rows) + 5
    handles = varint(at) + varint(len(meta)) + varint(at + len(meta) + 5) + varint(len(index))
    magic = struct.pack("<Q", 0xDB4775248B80FB57)
    return out + handles + bytes(40 - len(handles)) + magic, data


def main():
    folder = sys.argv[1]
    os.makedirs(os.path.join(folder, "saved", "variables"), exist_ok=True)
    index, data = checkpoint()
    files = {
        "frozen.pb": frozen(),
        "loop.pb": loop(),
        "parts.pb": parts(),
        "saved/saved_model.pb": saved(),
        "saved/variables/variables.index": index,
        "saved/variables/variables.data-00000-of-00001": data,
    }
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(content)


if __name__ == "__main__":
    main()
