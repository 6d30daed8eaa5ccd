#!/usr/bin/python3
"""Makes the graph-only ONNX fixtures of this folder, their true shapes and their facts.

    NODE_PATH=.../node_modules tests/models/make.py [NAME...]

Needs Debian's python3-torch, python3-torchvision and python3-onnx, and for the true shapes a node
with the package onnxruntime-node. README.md says what the files hold.
"""
import copy
import json
import os
import subprocess
import sys
import tempfile
import warnings

import onnx
import torch
import torchvision
from onnx import TensorProto, numpy_helper
from torch import nn
from torch.onnx import TrainingMode
from torch.utils._python_dispatch import TorchDispatchMode
from torchvision import models

HERE = os.path.dirname(os.path.abspath(__file__))
KEEP_BYTES = 256  # a constant up to this size stays in the file: shape arithmetic needs it
TV = "torchvision 0.15 model documentation"


class TextClassifier(nn.Module):
    """Embedding, two bidirectional LSTM layers, a linear head on the last step."""

    def __init__(self, vocabulary=1000, width=64, hidden=96, classes=5):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * hidden, classes)

    def forward(self, tokens):
        states, _ = self.lstm(self.embedding(tokens))
        return self.head(states[:, -1])


class GruTagger(nn.Module):
    """Embedding, a GRU, a linear tag per step: sequence first."""

    def __init__(self, vocabulary=500, width=48, hidden=80, tags=9):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.gru = nn.GRU(width, hidden)
        self.head = nn.Linear(hidden, tags)

    def forward(self, tokens):
        states, last = self.gru(self.embedding(tokens))
        return self.head(states), last


class Encoder(nn.Module):
    """Token and position embeddings, torch.nn.TransformerEncoder, mean over the sequence."""

    def __init__(self, vocabulary=2000, width=128, heads=4, layers=3, positions=512):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(positions, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, batch_first=True, activation="gelu"
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, 10)

    def forward(self, tokens):
        at = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.positions(at)[None]
        return self.head(self.encoder(x).mean(1))


class Segmenter(nn.Module):
    """Only the tensor of a segmentation model's dictionary."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, image):
        out = self.inner(image)
        return out["out"], out["aux"]


class Unet(nn.Module):
    """Down and up with transposed convolutions, group normalisation and a skip connection."""

    def __init__(self, width=16):
        super().__init__()

        def block(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(4, b), nn.SiLU())

        self.first = block(3, width)
        self.down = nn.Conv2d(width, 2 * width, 3, 2, 1)
        self.mid = block(2 * width, 2 * width)
        self.up = nn.ConvTranspose2d(2 * width, width, 4, 2, 1)
        self.last = block(2 * width, width)
        self.head = nn.Conv2d(width, 3, 1)

    def forward(self, x):
        skip = self.first(x)
        y = self.up(self.mid(self.down(skip)))
        y = self.last(torch.cat([y, skip], 1))
        y = nn.functional.interpolate(
            self.head(y), scale_factor=2.0, mode="bilinear", align_corners=False
        )
        return torch.sigmoid(y)


class Deterministic(nn.Module):
    """A detection model takes a list of images and gives a list of dictionaries."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, image):
        out = self.inner([image])[0]
        return out["boxes"], out["scores"], out["labels"]


def image(*shape):
    return lambda: torch.randn(*shape)


def tokens(*shape):
    return lambda: torch.randint(0, 500, shape)


def row(build, example, **more):
    return dict(build=build, example=example, **more)


def tv(name, *args, **more):
    """A torchvision classifier: example size as published."""
    build = more.pop("build", getattr(models, name, None))
    size = more.pop("size", (1, 3, 224, 224))
    return row(lambda: build(weights=None), image(*size), **more)


DYNAMIC_BATCH = {"input": {0: "batch"}}
ROWS = {
    "resnet18": tv("resnet18", published=1.814, parameters=11689512, opset=11),
    "resnet50": tv("resnet50", published=4.089, parameters=25557032, opset=13, keep_bn=True),
    "mobilenet_v2": tv(
        "mobilenet_v2",
        published=0.301,
        parameters=3504872,
        opset=10,
        keep_bn=True,
        dynamic=DYNAMIC_BATCH,
        run_at={"input": (3, 3, 224, 224)},
    ),
    "mobilenet_v3_small": tv("mobilenet_v3_small", published=0.057, parameters=2542856, opset=14),
    "efficientnet_b0": tv("efficientnet_b0", published=0.386, parameters=5288548, opset=16),
    "densenet121": tv("densenet121", published=2.834, parameters=7978856, opset=9, numbered=True),
    "shufflenet_v2": tv(
        "shufflenet_v2_x0_5",
        published=0.040,
        parameters=1366792,
        opset=12,
        dynamic={"input": {0: "batch", 2: "height", 3: "width"}},
        run_at={"input": (2, 3, 160, 192)},
        published_at=(1, 3, 224, 224),
    ),
    "vit_b_16": tv(
        "vit_b_16",
        published=17.564,
        parameters=86567656,
        opset=14,
        numbered=True,
        dynamic=DYNAMIC_BATCH,
        run_at={"input": (1, 3, 224, 224)},
    ),
    "swin_t": tv(
        "swin_t",
        published=4.491,
        parameters=28288354,
        opset=13,
        numbered=True,
        extra=(308016, "each bias table of 169 rows is folded to the 49x49 that it stands for"),
    ),
    "swin_v2_t": tv(
        "swin_v2_t",
        published=5.940,
        parameters=28351570,
        opset=16,
        size=(1, 3, 256, 256),
        extra=(1890, "coordinates fed to an MLP, and zeros written over a part of a bias"),
    ),
    "convnext_tiny": tv("convnext_tiny", published=4.456, parameters=28589128, opset=17),
    "r3d_18": tv(
        "r3d_18",
        build=models.video.r3d_18,
        published=40.697,
        parameters=33371472,
        opset=15,
        size=(1, 3, 16, 112, 112),
    ),
    "deeplabv3_mobilenet": row(
        lambda: Segmenter(
            models.segmentation.deeplabv3_mobilenet_v3_large(
                weights=None, weights_backbone=None, aux_loss=True
            )
        ),
        image(1, 3, 520, 520),
        published=10.452,
        parameters=11029328,
        opset=11,
        dynamic={"input": {0: "batch", 2: "height", 3: "width"}},
        run_at={"input": (1, 3, 520, 520)},
    ),
    "ssdlite320": row(
        lambda: Deterministic(
            models.detection.ssdlite320_mobilenet_v3_large(
                weights=None, weights_backbone=None, num_classes=6
            )
        ),
        image(3, 320, 320),
        opset=11,
        numbered=True,
        data_dependent=True,
        extra=(82, "mean and deviation of the image, sizes of anchors"),
    ),
    "fasterrcnn_320": row(
        lambda: Deterministic(
            models.detection.fasterrcnn_mobilenet_v3_large_320_fpn(
                weights=None, weights_backbone=None
            )
        ),
        image(3, 320, 320),
        opset=11,
        data_dependent=True,
        extra=(186, "mean and deviation of the image, anchors"),
    ),
    "lstm_text": row(
        TextClassifier,
        tokens(2, 20),
        opset=14,
        dynamic={"input": {0: "batch", 1: "sequence"}},
        run_at={"input": (3, 37)},
    ),
    "gru_tagger": row(
        GruTagger,
        tokens(12, 2),
        opset=9,
        extra=(160, "zeros of the first hidden state, made by Expand"),
    ),
    "transformer_encoder": row(
        Encoder,
        tokens(2, 16),
        opset=17,
        dynamic={"input": {0: "batch", 1: "sequence"}},
        run_at={"input": (2, 41)},
    ),
    "unet": row(
        Unet,
        image(1, 3, 32, 32),
        opset=11,
        extra=(24, "GroupNorm is InstanceNormalization with ones and zeros, then Mul and Add"),
        dynamic={"input": {0: "batch", 2: "height", 3: "width"}},
        run_at={"input": (2, 3, 48, 64)},
    ),
}


class MacCounter(TorchDispatchMode):
    """Multiply-accumulates of every contraction that aten really calls."""

    def __init__(self):
        super().__init__()
        self.macs = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func._overloadpacket.__name__
        if name in ("convolution", "_convolution"):
            x, w, transposed = args[0], args[1], args[6]
            places = x if transposed else out
            self.macs += places.shape[0] * places[0, 0].numel() * w.numel()
        elif name in ("mm", "bmm"):
            self.macs += args[0].numel() * args[1].shape[-1]
        elif name in ("addmm", "baddbmm"):
            self.macs += args[1].numel() * args[2].shape[-1]
        elif name in ("mv", "dot", "einsum", "matmul") or "attention" in name or "lstm" in name:
            raise RuntimeError("no rule for " + name)
        return out


def count_macs(model, given):
    with MacCounter() as counter, torch.enable_grad():
        model(given)
    return counter.macs


def fill(model):
    """Distinct values everywhere: the exporter merges weights of equal content."""
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn_like(p) * (0.5 / max(1, p[0].numel() if p.dim() > 1 else 4) ** 0.5))
        for name, b in model.named_buffers():
            if name.endswith("running_mean"):
                b.copy_(torch.randn_like(b) * 0.1)
            elif name.endswith("running_var"):
                b.copy_(torch.rand_like(b) + 0.5)


def zero(g, x):
    """aten::zero_, which swin_v2 uses on a part of a bias and the exporter does not know."""
    return g.op("Mul", x, g.op("Constant", value_t=torch.tensor(0.0)))


def export(spec, model, given, path):
    torch.onnx.export(
        model,
        (given,),
        path,
        opset_version=spec["opset"],
        input_names=["input"],
        training=TrainingMode.PRESERVE if spec.get("keep_bn") else TrainingMode.EVAL,
        do_constant_folding=True,
        dynamic_axes=spec.get("dynamic"),
    )


def tensors_of(graph):
    yield from graph.initializer
    for node in graph.node:
        for attr in node.attribute:
            if attr.type == onnx.AttributeProto.TENSOR:
                yield attr.t
            elif attr.type == onnx.AttributeProto.GRAPH:
                yield from tensors_of(attr.g)


def graphs_of(graph):
    yield graph
    for node in graph.node:
        for attr in node.attribute:
            if attr.type == onnx.AttributeProto.GRAPH:
                yield from graphs_of(attr.g)


def strip(model, name):
    """The graph without its weights: they become external data of a file that is not there."""
    at = 0
    for t in tensors_of(model.graph):
        n = len(t.raw_data) or len(numpy_helper.to_array(t).tobytes())
        if n <= KEEP_BYTES:
            continue
        for field in (
            "raw_data",
            "float_data",
            "int32_data",
            "int64_data",
            "double_data",
            "uint64_data",
        ):
            t.ClearField(field)
        t.data_location = TensorProto.EXTERNAL
        for key, value in (("location", name + ".weights"), ("offset", at), ("length", n)):
            entry = t.external_data.add()
            entry.key, entry.value = key, str(value)
        at += n
    for graph in graphs_of(model.graph):
        del graph.value_info[:]
        graph.doc_string = ""
        for node in graph.node:
            node.doc_string = ""
    return model


def number_names(model):
    """Names as older exporters write them: "Conv_12" and "123". Half the size of module paths."""
    names = {x.name: x.name for x in list(model.graph.input) + list(model.graph.output)}

    def short(name):
        return name and names.setdefault(name, str(len(names)))

    for graph in graphs_of(model.graph):
        for x in list(graph.initializer) + list(graph.input) + list(graph.output):
            x.name = short(x.name)
        for k, node in enumerate(graph.node):
            node.name = "%s_%d" % (node.op_type, k)
            node.input[:] = map(short, node.input)
            node.output[:] = map(short, node.output)
    return model


def run_shapes(model, feeds, work):
    """{name: (dtype, dims)} of every value of the main graph, from a real run."""
    whole = copy.deepcopy(model)
    seen = {o.name for o in whole.graph.output}
    for node in whole.graph.node:
        for out in node.output:
            if out and out not in seen:
                seen.add(out)
                whole.graph.output.append(onnx.ValueInfoProto(name=out))
    path = os.path.join(work, "whole.onnx")
    onnx.save(whole, path)
    for name, x in feeds.items():
        x.numpy().tofile(os.path.join(work, name + ".bin"))
    job = {
        "model": path,
        "feeds": {
            name: {
                "file": os.path.join(work, name + ".bin"),
                "dims": list(x.shape),
                "type": str(x.dtype).replace("torch.", ""),
            }
            for name, x in feeds.items()
        },
    }
    answer = subprocess.run(
        ["node", os.path.join(HERE, "run.js")],
        input=json.dumps(job),
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    )
    return {name: (t, tuple(dims)) for name, t, dims in json.loads(answer.stdout)}


def inferred_shapes(model):
    """{name: (dtype, dims)} of what onnx.shape_inference knows to the last dim."""
    found = {}
    clean = copy.deepcopy(model)
    for graph in graphs_of(clean.graph):
        del graph.value_info[:]
    done = onnx.shape_inference.infer_shapes(clean, data_prop=True)
    for v in list(done.graph.value_info):
        t = v.type.tensor_type
        if t.HasField("shape") and all(d.HasField("dim_value") for d in t.shape.dim):
            dtype = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[t.elem_type].name
            found[v.name] = (dtype, tuple(d.dim_value for d in t.shape.dim))
    return found


def true_shapes(spec, model, feeds, work):
    truth = run_shapes(model, feeds, work)
    fixed = model if not spec.get("dynamic") else None
    if fixed:
        for name, (dtype, dims) in inferred_shapes(fixed).items():
            if name not in truth:
                truth[name] = (dtype, dims)
            elif truth[name] != (dtype, dims):
                raise RuntimeError(
                    "%s: run %s, onnx.shape_inference %s" % (name, truth[name], (dtype, dims))
                )
    return truth


def write_shapes(path, model, truth):
    with open(path, "w") as f:
        for node in model.graph.node:
            if node.op_type == "Constant":
                continue
            for name in node.output:
                if name:
                    dtype, dims = truth[name]
                    f.write("%s %s %s\n" % (name, dtype, ",".join(map(str, dims)) or "-"))


def batchnorm_channels(model):
    kinds = (nn.modules.batchnorm._BatchNorm, torchvision.ops.FrozenBatchNorm2d)
    return [m.running_mean.numel() for m in model.modules() if isinstance(m, kinds)]


def graph_batchnorm_channels(model):
    sizes = {t.name: t.dims[0] for t in model.graph.initializer if len(t.dims) == 1}
    return [sizes[n.input[1]] for n in model.graph.node if n.op_type == "BatchNormalization"]


def write_facts(path, spec, model, module, feeds):
    channels, kept = sum(batchnorm_channels(module)), sum(graph_batchnorm_channels(model))
    total = sum(p.numel() for p in module.parameters())
    lines = ["# made by make.py; see README.md"]
    for name, x in feeds.items():
        lines.append("input %s %s" % (name, ",".join(map(str, x.shape))))
    lines.append("nodes %d" % len(model.graph.node))
    lines.append("torch_parameters %d" % total)
    if spec.get("parameters"):
        assert total == spec["parameters"], (total, spec["parameters"])
        lines.append("published_parameters %d # %s" % (spec["parameters"], TV))
    # Folding a BatchNorm of C channels into a convolution without bias turns 2C parameters into C.
    lines.append("parameters %d" % (total - (channels - kept)))
    lines.append("buffers %d" % (2 * kept))
    if spec.get("extra"):
        lines.append("extra_constants %d # %s" % spec["extra"])
    if spec.get("data_dependent"):
        lines.append("data_dependent 1")
    else:
        lines.append("macs %d # torch dispatch" % count_macs(module, next(iter(feeds.values()))))
        if spec.get("published"):
            at = spec.get("published_at") or tuple(spec["example"]().shape)
            macs = count_macs(module, torch.randn(*at))
            assert round(macs / 1e9, 3) == spec["published"], (macs, spec["published"])
            lines.append(
                "published_gmacs %.3f # %s, at %s" % (spec["published"], TV, ",".join(map(str, at)))
            )
            lines.append("macs_at_published %d # torch dispatch" % macs)
            lines.append("published_input input %s" % ",".join(map(str, at)))
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")


def make(name, spec, work):
    torch.manual_seed(1)
    module = spec["build"]().eval()
    fill(module)
    given = spec["example"]()
    full = os.path.join(work, "full.onnx")
    export(spec, module, given, full)
    model = onnx.load(full)
    if spec.get("numbered"):
        model = number_names(model)
    at = spec.get("run_at", {}).get("input")
    if at:
        given = torch.randn(*at) if given.is_floating_point() else torch.randint(0, 500, at)
    feeds = {"input": given}
    truth = true_shapes(spec, model, feeds, work)
    stem = os.path.join(HERE, name)
    write_shapes(stem + ".shapes", model, truth)
    write_facts(stem + ".facts", spec, model, module, feeds)
    onnx.save(strip(model, name), stem + ".onnx")
    sizes = [os.path.getsize(stem + s) for s in (".onnx", ".shapes", ".facts")]
    print(name, len(model.graph.node), "nodes", sizes, flush=True)


def main():
    torch.onnx.register_custom_op_symbolic("aten::zero", zero, 9)
    warnings.filterwarnings("ignore")
    for name in sys.argv[1:] or ROWS:
        with tempfile.TemporaryDirectory() as work:
            make(name, ROWS[name], work)


if __name__ == "__main__":
    main()
