#!/usr/bin/python3
"""Makes the seeds of fuzz_profile: tiny models that together touch most operators (python3-onnx).

    tests/fuzz/make_profile_corpus.py tests/fuzz/corpus/fuzz_profile
"""
import os
import sys

from onnx import TensorProto as T
from onnx import helper as h

KINDS = {
    "f": T.FLOAT,
    "i": T.INT64,
    "j": T.INT32,
    "b": T.BOOL,
    "u": T.UINT8,
    "s": T.STRING,
    "h": T.FLOAT16,
    "c": T.INT8,
}


def tensor(name, kind, dims, values=None):
    n = 1
    for d in dims:
        n *= d
    if values is None:
        values = [0] * n
    return h.make_tensor(name, KINDS[kind], dims, values)


class Net:
    """Inputs and constants come with the operands: ("x", "f", 1, 3, 8, 8) is a graph input, a list
    is an int64 constant, ("w", "f", 4, 3, 3, 3, None) a weight of zeros, a plain string an earlier
    value.
    """

    def __init__(self, opset=17, domains=()):
        self.nodes, self.inputs, self.inits, self.outputs, self.n = [], [], [], [], 0
        self.opsets = [h.make_opsetid("", opset)] + [h.make_opsetid(d, 1) for d in domains]

    def operand(self, x):
        if isinstance(x, str):
            return x
        self.n += 1
        name = "v%d" % self.n
        if isinstance(x, list):
            self.inits.append(tensor(name, "i", [len(x)], x))
        elif isinstance(x, (int, float)):
            self.inits.append(tensor(name, "i" if isinstance(x, int) else "f", [], [x]))
        elif x[-1] is None:
            self.inits.append(tensor(name, x[0], list(x[1:-1])))
        else:
            self.inputs.append(h.make_tensor_value_info(name, KINDS[x[0]], list(x[1:])))
        return name

    def add(self, op, *operands, outs=1, **attrs):
        names = [self.operand(x) for x in operands]
        out = []
        for _ in range(outs):
            self.n += 1
            out.append("v%d" % self.n)
        self.nodes.append(h.make_node(op, names, out, **attrs))
        self.outputs.append(out[0])
        return out[0] if outs == 1 else out

    def graph(self, name="g"):
        outs = [h.make_empty_tensor_value_info(o) for o in self.outputs]
        return h.make_graph(self.nodes, name, self.inputs, outs, self.inits)

    def bytes(self, **more):
        return h.make_model(self.graph(), opset_imports=self.opsets, **more).SerializeToString()


MODELS = {}


def model(f):
    MODELS[f.__name__] = f
    return f


X = ("f", 1, 3, 8, 8)


@model
def conv():
    n = Net()
    y = n.add(
        "Conv", X, ("f", 4, 3, 3, 3, None), ("f", 4, None), pads=[1, 1, 1, 1], kernel_shape=[3, 3]
    )
    y = n.add("BatchNormalization", y, *[("f", 4, None)] * 4)
    y = n.add("Relu", y)
    y = n.add("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2])
    y = n.add("ConvTranspose", y, ("f", 4, 2, 2, 2, None), strides=[2, 2])
    y = n.add("GlobalAveragePool", y)
    y = n.add("Flatten", y)
    n.add("Gemm", y, ("f", 2, 5, None), ("f", 5, None))
    return n.bytes()


@model
def conv_symbolic():
    n = Net(11)
    y = n.add(
        "Conv", ("f", "N", 3, "H", "W"), ("f", 4, 1, 3, 3, None), group=1, auto_pad="SAME_UPPER"
    )
    n.add("Resize", y, ("f", 0, None), ("f", 4, None), mode="linear")
    n.add("AveragePool", y, kernel_shape=[3, 3], ceil_mode=1)
    return n.bytes()


@model
def conv3d_1d():
    n = Net()
    n.add("Conv", ("f", 1, 2, 4, 4, 4), ("f", 2, 2, 2, 2, 2, None), dilations=[1, 1, 2])
    n.add("Conv", ("f", 1, 2, 9), ("f", 4, 1, 3, None), group=2, strides=[2])
    n.add("LpPool", ("f", 1, 2, 9), kernel_shape=[3], p=2)
    n.add("GlobalLpPool", ("f", 1, 2, 9))
    n.add("MaxPool", ("f", 1, 2, 9), kernel_shape=[3], outs=2)
    return n.bytes()


@model
def shape_arithmetic():
    n = Net()
    x = n.operand(("f", "batch", 16, 32))
    s = n.add("Shape", x)
    a = n.add("Gather", s, 0)
    b = n.add("Slice", s, [1], [3], [0])
    u = n.add("Unsqueeze", a, [0])
    c = n.add("Concat", u, b, [-1], axis=0)
    m = n.add("ReduceProd", b, keepdims=1)
    d = n.add("Div", m, [4])
    e = n.add("Concat", u, d, [4], axis=0)
    n.add("Reshape", x, e)
    n.add("Expand", ("f", 1), c)
    n.add("ConstantOfShape", s)
    n.add("Range", 0, a, 1)
    n.add("Size", x)
    n.add("Cast", c, to=T.FLOAT)
    return n.bytes()


@model
def more_arithmetic():
    n = Net()
    s = n.add("Shape", ("f", 2, 5))
    f = n.add("Cast", s, to=T.FLOAT)
    g = n.add("Floor", n.add("Mul", f, 1.5))
    i = n.add("Cast", g, to=T.INT64)
    e = n.add("Equal", i, [3, 7])
    n.add("Where", e, i, [1, 1])
    n.add("NonZero", i)
    n.add("Mod", i, [2, 3])
    n.add("Min", i, [4, 4])
    n.add("Max", i, [4, 4])
    n.add("Tile", ("f", 2, 2), i)
    n.add("Pow", i, [2])
    n.add("Abs", i)
    n.add("Neg", i)
    n.add("Sign", i)
    n.add("Ceil", f)
    n.add("Sqrt", f)
    n.add("TopK", f, [1], outs=2)
    return n.bytes()


@model
def elementwise():
    n = Net()
    x = n.operand(("f", 2, 3))
    for op in (
        "Relu Sigmoid Tanh Exp Log Sqrt Erf Elu Selu Softplus Softsign LeakyRelu HardSigmoid "
        "HardSwish Celu ThresholdedRelu Reciprocal Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh "
        "Acosh Atanh Round Identity IsNaN IsInf"
    ).split():
        n.add(op, x)
    return n.bytes()


@model
def binary():
    n = Net()
    x = n.operand(("f", 2, 1, 3))
    y = n.operand(("f", 4, 1))
    for op in (
        "Add Sub Mul Div Pow Greater Less Equal GreaterOrEqual LessOrEqual PRelu Sum Mean Max Min"
    ).split():
        n.add(op, x, y)
    b = n.operand(("b", 3))
    for op in "And Or Xor".split():
        n.add(op, b, b)
    n.add("Not", b)
    n.add("Clip", x, 0.0, 6.0)
    n.add("BitShift", ("u", 3), ("u", 3), direction="LEFT")
    return n.bytes()


@model
def reductions():
    n = Net(13)
    x = n.operand(("f", 2, 3, 4))
    for op in "Max Min Mean Prod L1 L2 LogSum LogSumExp SumSquare".split():
        n.add("Reduce" + op, x, axes=[1], keepdims=0)
    n.add("ReduceSum", x, [0, -1])
    n.add("ArgMax", x, axis=1)
    n.add("ArgMin", x, axis=-1, keepdims=0)
    n.add("CumSum", x, 1)
    n.add("Softmax", x, axis=-1)
    n.add("LogSoftmax", x)
    n.add("Hardmax", x)
    return n.bytes()


@model
def normalisation():
    n = Net(17)
    n.add("LayerNormalization", ("f", 2, 3, 8), ("f", 8, None), ("f", 8, None), axis=-1, outs=3)
    n.add("InstanceNormalization", X, ("f", 3, None), ("f", 3, None))
    n.add("LRN", X, size=3)
    n.add("MeanVarianceNormalization", X)
    n.add("LpNormalization", X)
    n.add("Dropout", X, outs=2)
    n.add("BatchNormalization", X, *[("f", 3, None)] * 4, training_mode=1, outs=3)
    return n.bytes()


@model
def new_normalisation():
    n = Net(23)
    n.add("GroupNormalization", ("f", 2, 4, 8), ("f", 4, None), ("f", 4, None), num_groups=2)
    n.add("RMSNormalization", ("f", 2, 4, 8), ("f", 8, None))
    n.add("Gelu", X)
    n.add("Mish", X)
    n.add("Swish", X)
    n.add("BitwiseAnd", ("i", 3), ("i", 3))
    n.add("BitwiseNot", ("i", 3))
    return n.bytes()


@model
def attention():
    n = Net(24)
    n.add("Attention", ("f", 1, 2, 4, 8), ("f", 1, 2, 6, 8), ("f", 1, 2, 6, 8), is_causal=1)
    n.add(
        "Attention",
        ("f", 1, 4, 16),
        ("f", 1, 6, 8),
        ("f", 1, 6, 8),
        q_num_heads=4,
        kv_num_heads=2,
        outs=3,
    )
    n.add("RotaryEmbedding", ("f", 1, 2, 4, 8), ("f", 10, 4), ("f", 10, 4), ("i", 1, 4))
    n.add("TensorScatter", ("f", 1, 2, 8, 4), ("f", 1, 2, 1, 4), ("i", 1))
    return n.bytes()


@model
def matmul():
    n = Net()
    x = n.operand(("f", "B", "S", 16))
    n.add("MatMul", x, ("f", 16, 8, None))
    n.add("MatMul", ("f", 2, 3, 4), ("f", 2, 4, 5))
    n.add("Einsum", ("f", 2, 3, 4), ("f", 2, 4, 5), equation="bij,bjk->bik")
    n.add("Einsum", ("f", 3, 3), equation="ii->i")
    n.add("Einsum", ("f", 2, 3), ("f", 3, 4), equation="...a,ab")
    n.add("Gemm", ("f", 4, 3), ("f", 5, 4), transA=1, transB=1)
    n.add("Det", ("f", 3, 3))
    return n.bytes()


@model
def quantised():
    n = Net()
    q = n.add("QuantizeLinear", ("f", 1, 4, 6, 6), ("f", None), ("u", None))
    n.add("DequantizeLinear", q, ("f", None), ("u", None))
    n.add(
        "QLinearConv",
        q,
        ("f", None),
        ("u", None),
        ("u", 4, 4, 1, 1, None),
        ("f", None),
        ("u", None),
        ("f", None),
        ("u", None),
    )
    n.add(
        "QLinearMatMul",
        ("u", 2, 3),
        ("f", None),
        ("u", None),
        ("u", 3, 4, None),
        ("f", None),
        ("u", None),
        ("f", None),
        ("u", None),
    )
    n.add("MatMulInteger", ("u", 2, 3), ("c", 3, 4))
    n.add("ConvInteger", ("u", 1, 2, 4, 4), ("u", 2, 2, 2, 2))
    n.add("DynamicQuantizeLinear", ("f", 3, 4), outs=3)
    w = n.add("DequantizeLinear", ("c", 8, 4, None), ("f", 4, None), ("c", 4, None), axis=1)
    n.add("MatMul", ("f", 2, 8), w)
    return n.bytes()


@model
def movement():
    n = Net()
    x = n.operand(("f", 2, 4, 6))
    n.add("Transpose", x, perm=[2, 0, 1])
    n.add("Split", x, [1, 3], axis=1, outs=2)
    n.add("Pad", x, [0, 0, 1, 0, 0, 1])
    n.add("Squeeze", ("f", 1, 3, 1), [0])
    n.add("Gather", x, ("i", 2, 2), axis=1)
    n.add("GatherElements", x, ("i", 2, 4, 2), axis=2)
    n.add("GatherND", x, ("i", 5, 2))
    n.add("ScatterND", x, ("i", 5, 1), ("f", 5, 4, 6))
    n.add("ScatterElements", x, ("i", 2, 4, 1), ("f", 2, 4, 1), axis=2, reduction="add")
    n.add("Compress", x, ("b", 4), axis=1)
    n.add("DepthToSpace", ("f", 1, 8, 2, 2), blocksize=2)
    n.add("SpaceToDepth", ("f", 1, 2, 4, 4), blocksize=2)
    n.add("ReverseSequence", ("f", 4, 2), ("i", 2))
    n.add("Trilu", ("f", 4, 4))
    n.add("EyeLike", ("f", 3, 4))
    n.add("OneHot", ("i", 5), 7, ("f", 2))
    n.add("Unique", ("f", 9), outs=4)
    n.add("Concat", x, x, axis=-1)
    return n.bytes()


@model
def old_forms():
    n = Net(7)
    x = n.operand(("f", 2, 4, 6))
    n.add("Slice", x, starts=[0], ends=[2], axes=[1])
    n.add("Squeeze", ("f", 1, 3), axes=[0])
    n.add("Unsqueeze", x, axes=[0, 2])
    n.add("Pad", x, pads=[0, 0, 1, 0, 0, 1])
    n.add("Upsample", ("f", 1, 2, 4, 4), scales=[1.0, 1.0, 2.0, 2.0])
    n.add("TopK", x, k=2, outs=2)
    n.add("Split", x, split=[2, 2], axis=1, outs=2)
    n.add("ReduceSum", x, axes=[1])
    n.add("Dropout", x)
    n.add("Gemm", ("f", 2, 3), ("f", 3, 4, None), ("f", 4, None))
    n.add("BatchNormalization", X, *[("f", 3, None)] * 4)
    return n.bytes()


@model
def oldest_forms():
    n = Net(1)
    n.add("Reshape", ("f", 2, 6), shape=[3, -1])
    n.add("Add", ("f", 2, 3, 4), ("f", 3), broadcast=1, axis=1)
    n.add("Cast", ("f", 3), to="INT32")
    n.add("Tile", ("f", 3), 2, 0)
    n.add("Clip", ("f", 3), min=0.0, max=1.0)
    return n.bytes()


@model
def recurrent():
    n = Net()
    n.add(
        "LSTM",
        ("f", "T", 2, 5),
        ("f", 2, 12, 5, None),
        ("f", 2, 12, 3, None),
        ("f", 2, 24, None),
        hidden_size=3,
        direction="bidirectional",
        outs=3,
    )
    n.add("GRU", ("f", 7, 2, 5), ("f", 1, 9, 5, None), ("f", 1, 9, 3, None), hidden_size=3, outs=2)
    n.add("RNN", ("f", 7, 2, 5), ("f", 1, 3, 5, None), ("f", 1, 3, 3, None), hidden_size=3, outs=2)
    return n.bytes()


@model
def detection():
    n = Net()
    n.add("NonMaxSuppression", ("f", 1, 20, 4), ("f", 1, 2, 20), 5, 0.5, 0.1)
    n.add("RoiAlign", X, ("f", 6, 4), ("i", 6), output_height=3, output_width=3)
    n.add("MaxRoiPool", X, ("f", 6, 5), pooled_shape=[2, 2])
    z = n.add("NonZero", ("f", 3, 4))
    n.add("Transpose", z, perm=[1, 0])
    n.add("GridSample", X, ("f", 1, 4, 5, 2))
    n.add("MaxUnpool", ("f", 1, 1, 2, 2), ("i", 1, 1, 2, 2), kernel_shape=[2, 2], strides=[2, 2])
    return n.bytes()


@model
def newer():
    n = Net(22)
    n.add("AffineGrid", ("f", 1, 2, 3), [1, 3, 4, 5])
    n.add("Col2Im", ("f", 1, 12, 4), [4, 4], [2, 2], strides=[2, 2])
    n.add("CenterCropPad", ("f", 8, 9, 3), [10, 5], axes=[0, 1])
    n.add("DeformConv", X, ("f", 4, 3, 3, 3, None), ("f", 1, 18, 6, 6))
    n.add("ImageDecoder", ("u", 100))
    n.add("Resize", X, "", "", [1, 3, 16, 16])
    n.add("Resize", X, "", "", [16, 16], axes=[2, 3], keep_aspect_ratio_policy="not_larger")
    n.add("Split", ("f", 10), num_outputs=3, outs=3)
    return n.bytes()


@model
def signal():
    n = Net(17)
    n.add("STFT", ("f", 1, 128, 1), 16, "", 32)
    n.add("DFT", ("f", 1, 16, 1), axis=1, onesided=1)
    n.add("HannWindow", 10)
    n.add("MelWeightMatrix", 8, 16, 16000, 0.0, 8000.0)
    return n.bytes()


@model
def random_and_strings():
    n = Net(20)
    n.add("RandomNormal", shape=[2, 3])
    n.add("RandomUniformLike", ("f", 3))
    n.add("Bernoulli", ("f", 3))
    n.add("Multinomial", ("f", 2, 5), sample_size=3)
    n.add("StringNormalizer", ("s", 4))
    n.add(
        "TfIdfVectorizer",
        ("i", 9),
        max_gram_length=1,
        max_skip_count=0,
        min_gram_length=1,
        mode="TF",
        ngram_counts=[0],
        ngram_indexes=[0, 1],
        pool_int64s=[2, 3],
    )
    n.add("StringConcat", ("s", 2), ("s", 2))
    n.add("StringSplit", ("s", 2), outs=2)
    n.add("RegexFullMatch", ("s", 2), pattern="a.*")
    return n.bytes()


@model
def losses():
    n = Net(13)
    n.add("SoftmaxCrossEntropyLoss", ("f", 4, 5), ("i", 4), outs=2)
    n.add("NegativeLogLikelihoodLoss", ("f", 4, 5, 3), ("i", 4, 3), reduction="none")
    return n.bytes()


@model
def sequences():
    n = Net()
    s = n.add("SequenceConstruct", ("f", 2, 3), ("f", 1, 3))
    n.add("SequenceLength", s)
    n.add("SequenceAt", s, 1)
    n.add("ConcatFromSequence", s, axis=0)
    e = n.add("SequenceEmpty")
    n.add("SequenceInsert", e, ("f", 3))
    n.add("SequenceErase", s, 0)
    n.add("SplitToSequence", ("f", 6, 2), [2, 4])
    o = n.add("Optional", ("f", 3))
    n.add("OptionalHasElement", o)
    n.add("OptionalGetElement", o)
    return n.bytes()


def inner(name, inputs, op, operands, outs=("r",), more_outputs=(), **attrs):
    node = h.make_node(op, operands, list(outs), **attrs)
    values = [h.make_empty_tensor_value_info(i) for i in inputs]
    return h.make_graph(
        [node],
        name,
        values,
        [h.make_empty_tensor_value_info(o) for o in list(more_outputs) + list(outs)],
    )


@model
def branches():
    n = Net()
    x = n.operand(("f", 4, 4))
    w = n.operand(("f", 4, 8, None))
    n.add(
        "If",
        ("b",),
        then_branch=inner("t", [], "MatMul", [x, w]),
        else_branch=inner("e", [], "Relu", [x]),
    )
    c = n.add("Equal", 1, 1)
    n.add("If", c, then_branch=inner("t2", [], "Exp", [x]), else_branch=inner("e2", [], "Log", [x]))
    return n.bytes()


@model
def loops():
    n = Net()
    body = inner("body", ["it", "c", "s"], "Add", ["s", "s"], more_outputs=["c"])
    n.add("Loop", 5, "", ("f", 3), body=body)
    scanned = h.make_graph(
        [h.make_node("Add", ["s", "x"], ["t"]), h.make_node("Identity", ["t"], ["o"])],
        "scan",
        [h.make_empty_tensor_value_info(v) for v in "sx"],
        [h.make_empty_tensor_value_info(v) for v in "to"],
    )
    n.add("Scan", ("f", 3), ("f", 7, 3), body=scanned, num_scan_inputs=1, outs=2)
    seq = n.add("SequenceConstruct", ("f", 2, 3))
    n.add("SequenceMap", seq, body=inner("m", ["e"], "Relu", ["e"]))
    return n.bytes()


@model
def loop_of_loops():
    n = Net()
    deep = inner("deep", ["i2", "c2", "s2"], "Mul", ["s2", "s2"], more_outputs=["c2"])
    loop = h.make_node("Loop", ["trips", "", "s"], ["r"], body=deep)
    body = h.make_graph(
        [loop],
        "mid",
        [h.make_empty_tensor_value_info(v) for v in ("i", "c", "s")],
        [h.make_empty_tensor_value_info(v) for v in ("c", "r")],
    )
    n.inits.append(tensor("trips", "i", [], [3]))
    n.add("Loop", 4, "", ("f", 3), body=body)
    return n.bytes()


@model
def functions():
    n = Net(domains=("own",))
    n.add("Twice", ("f", 3, 4), domain="own", alpha=0.5)
    n.add("Once", ("f", 3), domain="own")
    leaky = h.make_node("LeakyRelu", ["a"], ["b"])
    ref = leaky.attribute.add()
    ref.name, ref.ref_attr_name, ref.type = "alpha", "alpha", 1
    once = h.make_function(
        "own", "Once", ["a"], ["b"], [leaky], [h.make_opsetid("", 17)], ["alpha"]
    )
    call = [
        h.make_node("Once", ["p"], ["q"], domain="own"),
        h.make_node("Once", ["q"], ["r"], domain="own"),
    ]
    twice = h.make_function("own", "Twice", ["p"], ["r"], call, n.opsets, ["alpha"])
    return n.bytes(functions=[once, twice])


@model
def trees():
    n = Net(domains=("ai.onnx.ml",))
    d = "ai.onnx.ml"
    n.add(
        "TreeEnsembleRegressor",
        ("f", 2, 3),
        domain=d,
        n_targets=1,
        nodes_treeids=[0],
        nodes_nodeids=[0],
        nodes_featureids=[0],
        nodes_modes=["LEAF"],
        nodes_values=[0.0],
        target_treeids=[0],
        target_nodeids=[0],
        target_ids=[0],
        target_weights=[1.0],
    )
    n.add(
        "LinearClassifier",
        ("f", 2, 3),
        domain=d,
        coefficients=[1.0] * 6,
        classlabels_ints=[0, 1],
        outs=2,
    )
    n.add("LinearRegressor", ("f", 2, 3), domain=d, coefficients=[1.0] * 3)
    n.add(
        "SVMRegressor",
        ("f", 2, 3),
        domain=d,
        coefficients=[1.0],
        support_vectors=[1.0] * 3,
        n_supports=1,
    )
    n.add("Scaler", ("f", 2, 3), domain=d, offset=[0.0], scale=[1.0])
    n.add("Normalizer", ("f", 2, 3), domain=d)
    n.add("ArrayFeatureExtractor", ("f", 2, 3), [0, 2], domain=d)
    n.add("OneHotEncoder", ("i", 4), domain=d, cats_int64s=[1, 2])
    n.add("LabelEncoder", ("i", 4), domain=d, keys_int64s=[1], values_floats=[0.5])
    n.add("Imputer", ("f", 2, 3), domain=d, imputed_value_floats=[0.0])
    n.add("ZipMap", ("f", 2, 2), domain=d, classlabels_int64s=[0, 1])
    n.add("Binarizer", ("f", 2), domain=d)
    return n.bytes()


MS = "com.microsoft"


@model
def contrib_attention():
    n = Net(domains=(MS,))
    n.add(
        "Attention",
        ("f", 1, 4, 8),
        ("f", 8, 24, None),
        ("f", 24, None),
        domain=MS,
        num_heads=2,
        outs=2,
    )
    n.add(
        "MultiHeadAttention", ("f", 1, 4, 8), ("f", 1, 6, 8), ("f", 1, 6, 8), domain=MS, num_heads=2
    )
    n.add(
        "GroupQueryAttention",
        ("f", 1, 1, 16),
        ("f", 1, 1, 8),
        ("f", 1, 1, 8),
        ("f", 1, 2, 9, 4),
        ("f", 1, 2, 9, 4),
        ("j", 1),
        ("j",),
        domain=MS,
        num_heads=4,
        kv_num_heads=2,
        outs=3,
    )
    n.add(
        "QAttention",
        ("u", 1, 4, 8),
        ("u", 8, 24, None),
        ("f", 24, None),
        ("f", None),
        ("f", None),
        domain=MS,
        num_heads=2,
    )
    n.add("RotaryEmbedding", ("f", 1, 4, 8), ("i", 1), ("f", 16, 4), ("f", 16, 4), domain=MS)
    n.add(
        "EmbedLayerNormalization",
        ("j", 1, 4),
        "",
        ("f", 9, 8, None),
        ("f", 9, 8, None),
        "",
        ("f", 8, None),
        ("f", 8, None),
        domain=MS,
        outs=2,
    )
    return n.bytes()


@model
def contrib_fused():
    n = Net(domains=(MS,))
    n.add(
        "SkipLayerNormalization", ("f", 1, 4, 8), ("f", 1, 4, 8), ("f", 8, None), domain=MS, outs=4
    )
    n.add("SimplifiedLayerNormalization", ("f", 1, 4, 8), ("f", 8, None), domain=MS)
    for op in ("FastGelu", "QuickGelu", "Gelu"):
        n.add(op, ("f", 1, 4, 8), domain=MS)
    n.add("BiasGelu", ("f", 1, 4, 8), ("f", 8, None), domain=MS)
    n.add("FusedConv", X, ("f", 2, 3, 3, 3, None), domain=MS, activation="Relu")
    n.add("FusedMatMul", ("f", 2, 3), ("f", 4, 3), domain=MS, transB=1)
    n.add("FusedGemm", ("f", 2, 3), ("f", 3, 4, None), domain=MS, activation="Relu")
    n.add(
        "MatMulNBits",
        ("f", 1, 2, 32),
        ("u", 8, 1, 16, None),
        ("f", 8, None),
        domain=MS,
        K=32,
        N=8,
        bits=4,
        block_size=32,
    )
    n.add(
        "GroupNorm",
        ("f", 1, 4, 4, 8),
        ("f", 8, None),
        ("f", 8, None),
        domain=MS,
        groups=2,
        activation=1,
    )
    n.add("NhwcConv", ("f", 1, 4, 4, 8), ("f", 4, 1, 1, 8, None), domain=MS)
    n.add(
        "QLinearAdd",
        ("u", 3),
        ("f", None),
        ("u", None),
        ("u", 3),
        ("f", None),
        ("u", None),
        ("f", None),
        ("u", None),
        domain=MS,
    )
    n.add("DynamicQuantizeMatMul", ("f", 2, 3), ("c", 3, 4, None), ("f", None), domain=MS)
    n.add(
        "MoE",
        ("f", 2, 4),
        ("f", 2, 2),
        ("f", 2, 4, 6, None),
        "",
        ("f", 2, 6, 4, None),
        domain=MS,
        k=1,
    )
    return n.bytes()


@model
def unknown():
    n = Net(domains=("some.domain",))
    y = n.add("Mystery", ("f", 2, 3), domain="some.domain", size=3)
    n.add("Relu", y)
    n.add("NoSuchOperator", ("f", 3))
    return n.bytes()


@model
def constants():
    n = Net()
    c = n.add("Constant", value=tensor("", "f", [2, 3]))
    n.add("Constant", value_ints=[1, 2, 3])
    n.add("Constant", value_float=1.5)
    n.add("Constant", value_string="text")
    s = h.make_sparse_tensor(tensor("v", "f", [2]), tensor("i", "i", [2], [1, 4]), [2, 3])
    n.add("Constant", sparse_value=s)
    n.add("Add", c, ("f", 2, 3))
    external = tensor("far", "f", [64])
    external.ClearField("float_data")
    external.data_location = T.EXTERNAL
    for k, v in (("location", "far.bin"), ("offset", "0"), ("length", "256")):
        e = external.external_data.add()
        e.key, e.value = k, v
    n.inits.append(external)
    n.add("Mul", "far", ("f", 64))
    return n.bytes()


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, build in MODELS.items():
        with open(os.path.join(folder, name + ".onnx"), "wb") as f:
            f.write(build())


main()
