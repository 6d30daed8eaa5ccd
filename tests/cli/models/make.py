"""Makes the small models of the command line tests (needs python3-onnx):
tests/cli/models/make.py"""
import os

from onnx import TensorProto, helper

HERE = os.path.dirname(os.path.abspath(__file__))
FLOAT = TensorProto.FLOAT


def save(name, nodes, inputs, outputs, constants=(), domains=()):
    opsets = [helper.make_opsetid("", 17)] + [helper.make_opsetid(d, 1) for d in domains]
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
    model = helper.make_model(graph, opset_imports=opsets, producer_name="make.py")
    model.ir_version = 8
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(model.SerializeToString())


def value(name, shape):
    return helper.make_tensor_value_info(name, FLOAT, shape)


def weight(name, shape):
    n = 1
    for d in shape:
        n *= d
    return helper.make_tensor(name, FLOAT, shape, [0.01 * i for i in range(n)])


# A name that would colour the terminal, ring it, break a line of CSV and be a formula.
HOSTILE = "\x1b[31mred\x1b[0m\x07\n=cmd|'/c calc'!A1,\"q\"\u202e\u65e5\u672c\u8a9e"
save(
    "hostile.onnx",
    [
        helper.make_node("Conv", ["x", "w"], ["a"], name=HOSTILE),
        helper.make_node("Relu", ["a"], ["y"], name="/deep/deep.er/deep.er.still/relu/Relu"),
    ],
    [value("x", [1, 3, 32, 32])],
    [value("y", None)],
    [weight("w", [8, 3, 3, 3])],
)

save(
    "unknown.onnx",
    [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="product"),
        helper.make_node("Mystery", ["a"], ["b"], name="mystery", domain="my.domain"),
        helper.make_node("Relu", ["a"], ["y"], name="relu"),
    ],
    [value("x", [4, 8])],
    [value("y", [4, 16]), value("b", None)],
    [weight("w", [8, 16])],
    ["my.domain"],
)

save(
    "symbolic.onnx",
    [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="product"),
        helper.make_node("Softmax", ["a"], ["y"], name="softmax"),
    ],
    [value("x", ["batch", "sequence", 8])],
    [value("y", ["batch", "sequence", 16])],
    [weight("w", [8, 16])],
)

save(
    "clash.onnx",
    [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")],
    [value("x", [2, 3])],
    [value("y", None)],
    [weight("w", [4, 5])],
)


# What engines are fed with besides floats: one input of each type, joined; a sequence and strings
# come out.
TYPES = [
    "INT8",
    "UINT8",
    "INT16",
    "UINT16",
    "INT32",
    "UINT32",
    "INT64",
    "UINT64",
    "BOOL",
    "DOUBLE",
    "FLOAT16",
    "BFLOAT16",
]


def typed(name, dtype, shape):
    return helper.make_tensor_value_info(name, getattr(TensorProto, dtype), shape)


save(
    "types.onnx",
    [helper.make_node("Cast", [t.lower()], ["f_" + t], name="cast_" + t, to=FLOAT) for t in TYPES]
    + [
        helper.make_node(
            "Concat", ["f_" + t for t in TYPES] + ["empty"], ["all"], name="join", axis=1
        ),
        helper.make_node("SplitToSequence", ["all"], ["parts"], name="split", axis=1),
        helper.make_node("Cast", ["all"], ["words"], name="words", to=TensorProto.STRING),
    ],
    [typed(t.lower(), t, [2, 3]) for t in TYPES] + [value("empty", [2, 0])],
    [
        helper.make_tensor_sequence_value_info("parts", FLOAT, None),
        typed("words", "STRING", [2, 3 * len(TYPES)]),
    ],
)

save(
    "words.onnx",
    [helper.make_node("Identity", ["x"], ["y"], name="same")],
    [typed("x", "STRING", [2])],
    [typed("y", "STRING", [2])],
)

save(
    "parts.onnx",
    [helper.make_node("ConcatFromSequence", ["x"], ["y"], name="join", axis=0)],
    [helper.make_tensor_sequence_value_info("x", FLOAT, None)],
    [value("y", None)],
)


def integers(name, content):
    return helper.make_tensor(name, TensorProto.INT64, [len(content)], content)


# A decoder step as GPT-2 is exported: keys of the past and of the new tokens, a causal table of 16
# positions cut to them, a mask over both. No usual size of the three lengths fits.
save(
    "past.onnx",
    [
        helper.make_node("Gather", ["words", "input_ids"], ["x"], name="embed"),
        helper.make_node("MatMul", ["x", "w_q"], ["q"], name="query"),
        helper.make_node("MatMul", ["x", "w_k"], ["new"], name="key"),
        helper.make_node("Concat", ["past_0", "new"], ["k"], name="present", axis=1),
        helper.make_node("Transpose", ["k"], ["k_t"], name="turn", perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "k_t"], ["scores"], name="scores"),
        helper.make_node("Shape", ["past_0"], ["past_shape"], name="past_shape"),
        helper.make_node("Gather", ["past_shape", "one"], ["past_len"], name="past_len"),
        helper.make_node("Shape", ["k"], ["k_shape"], name="k_shape"),
        helper.make_node("Gather", ["k_shape", "one"], ["k_len"], name="k_len"),
        helper.make_node("Slice", ["causal", "past_len", "k_len", "one"], ["rows"], name="rows"),
        helper.make_node("Slice", ["rows", "zero", "k_len", "two"], ["table"], name="table"),
        helper.make_node("Mul", ["scores", "table"], ["causal_scores"], name="causal"),
        helper.make_node("Unsqueeze", ["attention_mask", "one"], ["wide_mask"], name="widen"),
        helper.make_node("Add", ["causal_scores", "wide_mask"], ["masked"], name="mask"),
        helper.make_node("Softmax", ["masked"], ["y"], name="softmax"),
    ],
    [
        typed("input_ids", "INT64", ["batch", "seq_len"]),
        value("past_0", ["batch", "past_seq_len", 8]),
        value("attention_mask", ["batch", "total_len"]),
    ],
    [value("y", ["batch", "seq_len", "total_len"])],
    [
        weight("words", [10, 8]),
        weight("w_q", [8, 8]),
        weight("w_k", [8, 8]),
        weight("causal", [1, 16, 16]),
        integers("zero", [0]),
        integers("one", [1]),
        integers("two", [2]),
    ],
)

# The target shape is data, and the declared output has other elements than the input.
save(
    "reshape.onnx",
    [helper.make_node("Reshape", ["x", "shape"], ["y"], name="reshape")],
    [value("x", [3, 2]), typed("shape", "INT64", [2])],
    [value("y", [4, 1])],
)

# The same without a declared size.
save(
    "open.onnx",
    [helper.make_node("Reshape", ["x", "shape"], ["y"], name="reshape")],
    [value("x", [3, 2]), typed("shape", "INT64", [2])],
    [value("y", [None, None])],
)


# As brevitas exports quantised models: Quant(x, scale, zero point, bit width), under a domain that
# nobody knows.
def quantised(name, body, x, y, constants):
    nodes = []
    for node in body:
        for i in list(node.input)[:2]:
            if i != "c":
                nodes.append(quant(i))
        node.input[:2] = ["q_" + i if i != "c" else i for i in list(node.input)[:2]]
        nodes.append(node)
    numbers = [weight(n, []) for n in ("scale", "zero")]
    bits = helper.make_tensor("bits", FLOAT, [], [4.0])
    save(name, nodes, [x], [y], constants + numbers + [bits], ["my.quantisers"])


def quant(tensor):
    return helper.make_node(
        "Quant",
        [tensor, "scale", "zero", "bits"],
        ["q_" + tensor],
        name="quantise_" + tensor,
        domain="my.quantisers",
        signed=1,
        narrow=0,
    )


quantised(
    "quant_mlp.onnx",
    [
        helper.make_node("MatMul", ["x", "w1"], ["a"], name="first"),
        helper.make_node("MatMul", ["a", "w2"], ["y"], name="second"),
    ],
    value("x", [2, 8]),
    value("y", [2, 4]),
    [weight("w1", [8, 16]), weight("w2", [16, 4])],
)
quantised(
    "quant_cnn.onnx",
    [helper.make_node("Conv", ["x", "w"], ["y"], name="conv")],
    value("x", [1, 3, 8, 8]),
    value("y", [1, 4, 6, 6]),
    [weight("w", [4, 3, 3, 3])],
)
