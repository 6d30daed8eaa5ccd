#!/usr/bin/env python3
"""Writes small OpenVINO models for the tests.

  make_openvino.py FOLDER

net.xml    IR 11: convolutions (plain, grouped, half weights behind Convert), slices, splits,
           resize, reduction
loop.xml   IR 10: a TensorIterator over the axis of time, an LSTMSequence, an If
rare.xml   IR 11: one layer for each of the operators that few models have; ports by the
           specification of the operator sets
parts.xml  IR 11: operators that become several of ONNX (frames, mirrors, windows, batches of
           indices)
old.xml    IR 7: weights as blobs
layers.xml IR 7: layers without an equal in later versions
"""

import struct
import sys


class Net:
    def __init__(self, name, version):
        self.name, self.version = name, version
        self.layers, self.edges, self.data = [], [], bytearray()
        self.shapes = {}
        self.precision = ' precision="FP32"' if version < 10 else ""

    def text(self):
        parts = "".join(self.layers)
        return f"<layers>{parts}</layers><edges>{''.join(self.edges)}</edges>"

    def add(self, kind, inputs, outputs, name="", extra="", types=None, opset=1, **attrs):
        at = len(self.layers)
        data = "".join(f' {k.replace("__", "-")}="{v}"' for k, v in attrs.items())
        data = f"<data{data}/>" if data else ""
        ports = "".join(
            f'<port id="{i}">{dims(self.shapes[s])}</port>' for i, s in enumerate(inputs)
        )
        n = len(inputs)
        outs = "".join(
            f'<port id="{n + i}" precision="{(types or {}).get(i, "FP32")}">{dims(s)}</port>'
            for i, s in enumerate(outputs)
        )
        ins = f"<input>{ports}</input>" if ports else ""
        outs = f"<output>{outs}</output>" if outs else ""
        self.layers.append(
            f'<layer id="{at}" name="{name or kind + str(at)}" type="{kind}"'
            f' version="opset{opset}"{self.precision}>'
            f"{data}{ins}{outs}{extra}</layer>"
        )
        for i, (layer, port) in enumerate(inputs):
            self.edges.append(
                f'<edge from-layer="{layer}" from-port="{port}" to-layer="{at}" to-port="{i}"/>'
            )
        made = [(at, n + i) for i in range(len(outputs))]
        for port, shape in zip(made, outputs):
            self.shapes[port] = shape
        return made[0] if len(made) == 1 else made

    def const(self, shape, values, code="f", kind="f32", name=""):
        offset = len(self.data)
        self.data += struct.pack(f"<{len(values)}{code}", *values)
        size = len(self.data) - offset
        text = ",".join(map(str, shape))
        upper = {"f32": "FP32", "f16": "FP16", "i64": "I64", "i32": "I32", "boolean": "BOOL"}[kind]
        return self.add(
            "Const",
            [],
            [shape],
            name,
            types={0: upper},
            element_type=kind,
            shape=text,
            offset=offset,
            size=size,
        )

    def ints(self, *values):
        return self.const([len(values)], values, "q", "i64")

    def scalar(self, value):
        return self.const([], [value], "q", "i64")

    def weights(self, shape, code="f", kind="f32", name=""):
        n = 1
        for d in shape:
            n *= d
        return self.const(shape, [(i % 7 - 3) / 16 for i in range(n)], code, kind, name)

    def write(self, folder, file):
        with open(f"{folder}/{file}.xml", "w") as f:
            f.write(f'<?xml version="1.0"?>\n<net name="{self.name}" version="{self.version}">')
            f.write(self.text().replace("</layer>", "</layer>\n") + "</net>\n")
        with open(f"{folder}/{file}.bin", "wb") as f:
            f.write(self.data)


def dims(shape):
    return "".join(f"<dim>{d}</dim>" for d in shape)


CONV = dict(strides="1,1", dilations="1,1", pads_begin="1,1", pads_end="1,1", auto_pad="explicit")


def make_net(folder):
    n = Net("net &amp; more", 11)
    x = n.add("Parameter", [], [[1, 3, 8, 8]], "image", shape="1,3,8,8", element_type="f32")
    half = n.weights([4, 3, 3, 3], "e", "f16", "conv.weight")
    w = n.add("Convert", [half], [[4, 3, 3, 3]], destination_type="f32")
    y = n.add("Convolution", [x, w], [[1, 4, 8, 8]], "conv", **CONV)
    y = n.add("Swish", [y], [[1, 4, 8, 8]], "swish")
    y = n.add("GroupConvolution", [y, n.weights([4, 1, 1, 3, 3])], [[1, 4, 8, 8]], "deep", **CONV)
    y = n.add("PReLU", [y, n.weights([4])], [[1, 4, 8, 8]], "prelu")
    a, b = n.add(
        "VariadicSplit", [y, n.scalar(1), n.ints(1, -1)], [[1, 1, 8, 8], [1, 3, 8, 8]], "split"
    )
    b = n.add(
        "StridedSlice",
        [b, n.ints(0, 1, 0), n.ints(0, 3, 8), n.ints(1, 1, 2)],
        [[1, 2, 4, 8]],
        "slice",
        begin_mask="1,0,1",
        end_mask="1,0,1",
        new_axis_mask="0,0,0",
        shrink_axis_mask="0,0,0",
        ellipsis_mask="0,0,0",
    )
    b = n.add(
        "Interpolate",
        [b, n.ints(8, 8), n.const([2], [2, 1]), n.ints(2, 3)],
        [[1, 2, 8, 8]],
        "resize",
        mode="nearest",
        shape_calculation_mode="sizes",
        coordinate_transformation_mode="half_pixel",
        nearest_mode="floor",
    )
    y = n.add("Concat", [a, b], [[1, 3, 8, 8]], "concat", axis=1)
    y = n.add("Transpose", [y, n.ints(0, 2, 3, 1)], [[1, 8, 8, 3]], "transpose")
    y = n.add("ReduceMean", [y, n.ints(1, 2)], [[1, 3]], "mean", keep_dims="false")
    y = n.add("MatMul", [y, n.weights([5, 3])], [[1, 5]], "dense", transpose_b="true")
    y = n.add("SoftMax", [y], [[1, 5]], "softmax", axis=1)
    n.add("Result", [y], [])
    n.write(folder, "net")


def make_loop(folder):
    body = Net("body", 10)
    x = body.add("Parameter", [], [[2, 1, 3]], "step", shape="2,1,3", element_type="f32")
    h = body.add("Parameter", [], [[2, 4]], "state", shape="2,4", element_type="f32")
    n = Net("loop", 10)
    body.data = n.data
    s = body.add("Squeeze", [x, body.ints(1)], [[2, 3]], "squeezed")
    s = body.add("MatMul", [s, body.weights([3, 4])], [[2, 4]], "project")
    s = body.add("Add", [s, h], [[2, 4]], "sum")
    body.add("Result", [s], [], "last")
    wide = body.add("Unsqueeze", [s, body.ints(1)], [[2, 1, 4]], "wide")
    body.add("Result", [wide], [], "each")
    ids = {
        name: i
        for i, layer in enumerate(body.layers)
        for name in ("step", "state", "last", "each")
        if f'name="{name}"' in layer
    }
    ports = (
        f'<port_map><input external_port_id="0" internal_layer_id="{ids["step"]}" axis="1" '
        f'stride="1" start="0" end="-1" part_size="1"/>'
        f'<input external_port_id="1" internal_layer_id="{ids["state"]}"/>'
        f'<output external_port_id="2" internal_layer_id="{ids["last"]}"/>'
        f'<output external_port_id="3" internal_layer_id="{ids["each"]}" axis="1" stride="1" '
        f'start="0" end="-1" part_size="1"/></port_map>'
        f'<back_edges><edge from-layer="{ids["last"]}" to-layer="{ids["state"]}"/></back_edges>'
        f"<body>{body.text()}</body>"
    )
    x = n.add("Parameter", [], [[2, 5, 3]], "x", shape="2,5,3", element_type="f32")
    h = n.add("Parameter", [], [[2, 4]], "h", shape="2,4", element_type="f32")
    last, each = n.add("TensorIterator", [x, h], [[2, 4], [2, 5, 4]], "iterator", ports)
    states = [n.weights([2, 1, 4]), n.weights([2, 1, 4])]
    lengths = n.const([2], [5, 5], "i", "i32")
    gates = [n.weights([1, 16, 4]), n.weights([1, 16, 4]), n.weights([1, 16])]
    outs = n.add(
        "LSTMSequence",
        [each, *states, lengths, *gates],
        [[2, 1, 5, 4], [2, 1, 4], [2, 1, 4]],
        "lstm",
        hidden_size=4,
        direction="forward",
    )
    n.add("Result", [outs[0]], [])
    n.add("Result", [last], [])
    n.write(folder, "loop")


def rare_detection(n, image, small, put):
    """Boxes and regions."""
    size, scale = n.ints(4, 5), n.ints(64, 80)
    # Ratios 1, 2, 1/2, 3, 1/3 with one size and one largest size: 6 boxes for each of 20 places.
    put(
        "PriorBox",
        [size, scale],
        [[2, 480]],
        min_size="16.0",
        max_size="32.0",
        aspect_ratio="2.0,3.0",
        flip="true",
        scale_all_sizes="true",
    )
    put("PriorBoxClustered", [size, scale], [[2, 240]], width="8,16,24", height="8,16,24")
    deltas, scores = n.weights([1, 240]), n.weights([1, 180])
    priors = n.weights([1, 2, 240])
    # 60 boxes of 3 classes
    put(
        "DetectionOutput",
        [deltas, scores, priors],
        [[1, 1, 20, 7]],
        num_classes=3,
        keep_top_k=20,
        top_k=100,
        normalized="true",
    )
    put(
        "DetectionOutput",
        [deltas, scores, priors],
        [[1, 1, 180, 7]],
        opset=8,
        keep_top_k=-1,
        top_k=-1,
        normalized="true",
    )
    put(
        "Proposal",
        [n.weights([2, 6, 4, 5]), n.weights([2, 12, 4, 5]), n.weights([3])],
        [[60, 5], [60]],
        opset=4,
        post_nms_topn=30,
    )
    rois = n.weights([7, 5])
    put("ROIPooling", [small, rois], [[7, 8, 3, 2]], pooled_h=3, pooled_w=2, method="max")
    put(
        "PSROIPooling",
        [small, rois],
        [[7, 2, 2, 2]],
        output_dim=2,
        group_size=2,
        mode="average",
    )
    boxes, which = n.weights([7, 4]), n.const([7], [0] * 7, "q", "i64")
    for mode in ("asymmetric", "half_pixel", "half_pixel_for_nn"):
        put(
            "ROIAlign",
            [small, boxes, which],
            [[7, 8, 3, 2]],
            opset=9,
            pooled_h=3,
            pooled_w=2,
            sampling_ratio=2,
            spatial_scale=0.5,
            mode="avg",
            aligned_mode=mode,
        )
    put("RegionYolo", [image], [[1, 768]], axis=1, end_axis=3, do_softmax="true", classes=7)
    put(
        "RegionYolo",
        [small],
        [[1, 16, 4, 5]],
        classes=3,
        coords=4,
        num=3,
        mask="0,1",
        do_softmax="false",
    )
    put("ReorgYolo", [image], [[1, 12, 8, 8]], stride=2)
    put(
        "ExperimentalDetectronPriorGridGenerator",
        [n.weights([3, 4]), small, image],
        [[60, 4]],
        opset=6,
        flatten="true",
        h=0,
        w=0,
    )
    put(
        "ExperimentalDetectronROIFeatureExtractor",
        [boxes, small],
        [[7, 8, 6, 6], [7, 4]],
        opset=6,
        output_size=6,
        sampling_ratio=2,
    )
    put(
        "ExperimentalDetectronDetectionOutput",
        [boxes, n.weights([7, 12]), n.weights([7, 3]), n.weights([1, 3])],
        [[9, 4], [9], [9]],
        types={1: "I32"},
        opset=6,
        max_detections_per_image=9,
    )
    put(
        "ExperimentalDetectronGenerateProposalsSingleImage",
        [n.weights([3]), n.weights([60, 4]), n.weights([12, 4, 5]), n.weights([3, 4, 5])],
        [[11, 4], [11]],
        opset=6,
        post_nms_count=11,
    )
    put("ExperimentalDetectronTopKROIs", [boxes, n.weights([7])], [[5, 4]], opset=6, max_rois=5)
    one, most = n.weights([2, 10, 4]), n.scalar(4)
    each = n.weights([2, 3, 10])
    put("NonMaxSuppression", [one, each, most], [[24, 3]], types={0: "I64"}, opset=4)


def rare_other(n, image, small, put):
    """Sequences, embeddings, blocks, transforms, sizes."""
    table, picks = n.weights([10, 6]), n.const([5], range(5), "q", "i64")
    put("EmbeddingBagOffsetsSum", [table, picks, n.ints(0, 2)], [[2, 6]], opset=3)
    put("EmbeddingBagPackedSum", [table, n.const([2, 3], range(6), "q", "i64")], [[2, 6]], opset=3)
    put(
        "EmbeddingSegmentsSum",
        [table, picks, n.ints(0, 0, 1, 1, 2), n.scalar(4)],
        [[4, 6]],
        opset=3,
    )
    put("CTCGreedyDecoder", [n.weights([9, 2, 4]), n.weights([9, 2])], [[2, 9, 1, 1]])
    put(
        "CTCGreedyDecoderSeqLen",
        [n.weights([2, 9, 4]), n.ints(9, 9)],
        [[2, 9], [2]],
        types={0: "I32", 1: "I32"},
        opset=6,
        classes_index_type="i32",
        sequence_length_type="i32",
    )
    put(
        "SpaceToBatch",
        [image, n.ints(1, 1, 2, 4), n.ints(0, 0, 0, 1), n.ints(0, 0, 2, 3)],
        [[8, 3, 9, 5]],
        opset=2,
    )
    put(
        "BatchToSpace",
        [n.weights([8, 3, 9, 5]), n.ints(1, 1, 2, 4), n.ints(0, 0, 0, 1), n.ints(0, 0, 2, 3)],
        [[1, 3, 16, 16]],
        opset=2,
    )
    put(
        "ExtractImagePatches",
        [image],
        [[1, 27, 3, 3]],
        opset=3,
        sizes="3,3",
        strides="5,5",
        rates="1,1",
        auto_pad="valid",
    )
    put("Bucketize", [small, n.weights([3])], [[1, 8, 4, 5]], types={0: "I64"}, opset=3)
    put("GatherTree", [n.weights([3, 2, 4])] * 2 + [n.weights([2]), n.weights([])], [[3, 2, 4]])
    put("GRN", [small], [[1, 8, 4, 5]], bias=1e-6)
    put("Roll", [small, n.ints(1), n.ints(2)], [[1, 8, 4, 5]], opset=7)
    put("DFT", [n.weights([4, 8, 2]), n.ints(0, 1), n.ints(4, 16)], [[4, 16, 2]], opset=7)
    put("RDFT", [n.weights([4, 8]), n.ints(1)], [[4, 5, 2]], opset=9)
    put("IRDFT", [n.weights([4, 5, 2]), n.ints(1)], [[4, 8]], opset=9)
    put("Eye", [n.scalar(3), n.scalar(4), n.scalar(0)], [[3, 4]], opset=9, output_type="f32")
    put(
        "RandomUniform",
        [n.ints(2, 3), n.weights([1]), n.weights([1])],
        [[2, 3]],
        opset=8,
        output_type="f32",
    )
    put("GridSample", [image, n.weights([1, 5, 6, 2])], [[1, 3, 5, 6]], opset=9, mode="bilinear")
    put("IsFinite", [small], [[1, 8, 4, 5]], types={0: "BOOL"}, opset=10)
    put("Inverse", [n.weights([2, 3, 3])], [[2, 3, 3]], opset=14)
    put("Col2Im", [n.weights([1, 12, 9]), n.ints(4, 4), n.ints(2, 2)], [[1, 3, 4, 4]], opset=15)
    q, k = n.weights([1, 2, 5, 4]), n.weights([1, 2, 6, 4])
    put("ScaledDotProductAttention", [q, k, k], [[1, 2, 5, 4]], opset=13, causal="true")
    put("AdaptiveAvgPool", [image, n.ints(5, 3)], [[1, 3, 5, 3]], opset=8)
    put("NV12toRGB", [n.weights([1, 12, 8, 1])], [[1, 8, 8, 3]], opset=8)


def make_rare(folder):
    n = Net("rare", 11)

    def put(kind, inputs, outputs, **more):
        made = n.add(kind, inputs, outputs, **more)
        for port in [made] if isinstance(made, tuple) else made:
            n.add("Result", [port], [])

    image = n.add("Parameter", [], [[1, 3, 16, 16]], "image", shape="1,3,16,16", element_type="f32")
    small = n.add("Parameter", [], [[1, 8, 4, 5]], "map", shape="1,8,4,5", element_type="f32")
    rare_detection(n, image, small, put)
    rare_other(n, image, small, put)
    n.write(folder, "rare")


def make_parts(folder):
    n = Net("parts", 11)

    def put(kind, inputs, shape, **more):
        n.add("Result", [n.add(kind, inputs, [shape], **more)], [])

    x = n.add("Parameter", [], [[1, 8, 4, 5]], "map", shape="1,8,4,5", element_type="f32")
    sound = n.add("Parameter", [], [[2, 64]], "sound", shape="2,64", element_type="f32")
    one = n.add("Parameter", [], [[64]], "one", shape="64", element_type="f32")
    put("Reverse", [x, n.ints(1, 3)], [1, 8, 4, 5], mode="index")
    mask = n.const([4], [0, 1, 0, 1], "?", "boolean")
    put("Reverse", [x, mask], [1, 8, 4, 5], mode="mask")
    pads = [n.ints(0, 0, 2, 0), n.ints(0, 1, 1, 3)]
    put("Pad", [x, *pads], [1, 9, 7, 8], pad_mode="symmetric")
    picks = n.const([1, 3], [0, 2, 5], "i", "i32")
    put("Gather", [x, picks, n.ints(1)], [1, 3, 4, 5], opset=8, batch_dims=1)
    window = n.weights([16])
    frames = [window, n.scalar(16), n.scalar(8)]
    put("STFT", [sound, *frames], [2, 7, 9, 2], opset=15, transpose_frames="false")
    put("STFT", [one, *frames], [9, 7, 2], opset=15, transpose_frames="true")
    lrn = dict(alpha=0.1, beta=0.5, bias=2, size=3)
    put("LRN", [x, n.ints(2, 3)], [1, 8, 4, 5], **lrn)
    put("LRN", [x, n.ints(1, 2)], [1, 8, 4, 5], **lrn)
    n.write(folder, "parts")


def make_layers(folder):
    n = Net("layers", 7)
    n.data += struct.pack("<8f", *range(8))
    scale = '<blobs><weights offset="0" size="32"/></blobs>'
    x = n.add("Input", [], [[1, 8, 4, 6]], "data")
    x = n.add("Normalize", [x], [[1, 8, 4, 6]], extra=scale, across_spatial=0, channel_shared=0)
    x = n.add("Norm", [x], [[1, 8, 4, 6]], region="same", local__size=3, alpha=0.1, beta=0.5, k=1)
    x = n.add("MVN", [x], [[1, 8, 4, 6]], across_channels=0, normalize_variance=1, eps=1e-6)
    x = n.add("Interp", [x], [[1, 8, 8, 12]], align_corners=0, height=8, width=12)
    nearest = "caffe.ResampleParameter.NEAREST"
    x = n.add("Resample", [x], [[1, 8, 16, 24]], factor=2, type=nearest, antialias=0)
    x = n.add("Crop", [x], [[1, 8, 10, 20]], axis="2,3", offset="1,2", dim="10,20")
    n.add("Tile", [x], [[1, 24, 10, 20]], axis=1, tiles=3)
    n.write(folder, "layers")


def make_old(folder):
    weights = [(i % 5) / 8 for i in range(2 * 3 * 9 + 2 + 5 * 32 + 5)]
    with open(f"{folder}/old.bin", "wb") as f:
        f.write(struct.pack(f"<{len(weights)}f", *weights))

    def layer(at, name, kind, data, blobs, source, shape):
        ins = f'<input><port id="0">{dims(source)}</port></input>' if source else ""
        return (
            f'<layer id="{at}" name="{name}" type="{kind}" precision="FP32">{data}{ins}'
            f'<output><port id="1">{dims(shape)}</port></output>{blobs}</layer>\n'
        )

    blobs = '<blobs><weights offset="{}" size="{}"/><biases offset="{}" size="{}"/></blobs>'
    text = (
        '<?xml version="1.0"?>\n<net name="old" version="7" precision="FP32"><layers>'
        + layer(0, "data", "Input", "", "", None, [1, 3, 4, 4])
        + layer(
            1,
            "conv",
            "Convolution",
            '<data kernel="3,3" strides="1,1" dilations="1,1" pads_begin="1,1" '
            'pads_end="1,1" group="1" output="2"/>',
            blobs.format(0, 216, 216, 8),
            [1, 3, 4, 4],
            [1, 2, 4, 4],
        )
        + layer(2, "relu", "ReLU", '<data negative_slope="0.1"/>', "", [1, 2, 4, 4], [1, 2, 4, 4])
        + layer(
            3,
            "dense",
            "FullyConnected",
            '<data out-size="5"/>',
            blobs.format(224, 640, 864, 20),
            [1, 2, 4, 4],
            [1, 5],
        )
        + layer(4, "region", "SimplerNMS", '<data num="5"/>', "", [1, 5], [1, 5])
        + "</layers><edges>"
        + "".join(
            f'<edge from-layer="{i}" from-port="1" to-layer="{i + 1}" to-port="0"/>'
            for i in range(4)
        )
        + "</edges></net>\n"
    )
    with open(f"{folder}/old.xml", "w") as f:
        f.write(text)


if __name__ == "__main__":
    for make in (make_net, make_loop, make_rare, make_parts, make_old, make_layers):
        make(sys.argv[1])
