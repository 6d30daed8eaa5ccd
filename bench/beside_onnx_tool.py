#!/usr/bin/python3
"""`assay graph` beside onnx-tool on models as torch exports them: whole processes, the least of
several runs.

    bench/beside_onnx_tool.py [RUNS]     5 unless given; $ASSAY is the program, build/release/assay
                                         unless set

Needs torchvision (Debian: python3-torchvision) and onnx-tool (PyPI; $PYTHONPATH may name a checkout
of it, which also needs python3-tabulate). Weights are random and stay in the files, as an exporter
writes them. One process after the other, so that whatever slows the machine slows both. Exit 1 when
the geometric mean of the ratios is below AIM.
"""
import importlib.util
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ASSAY = os.environ.get("ASSAY", os.path.join(ROOT, "build", "release", "assay"))
AIM = 200
MODELS = (
    "alexnet vgg16 resnet18 resnet50 resnext50_32x4d wide_resnet50_2 densenet121 squeezenet1_1 "
    "googlenet mobilenet_v2 mobilenet_v3_small mnasnet1_0 shufflenet_v2_x1_0 efficientnet_b0 "
    "regnet_y_400mf convnext_tiny "
    "vit_b_16 swin_t swin_v2_t inception_v3"
).split()
SIDES = {"inception_v3": 299, "swin_v2_t": 256}
PROFILE = "import sys, onnx_tool; onnx_tool.model_profile(sys.argv[1])"


def zero(g, x):
    """aten::zero_, which swin_v2 uses and the exporter does not know."""
    import torch

    return g.op("Mul", x, g.op("Constant", value_t=torch.tensor(0.0)))


def export(name, path):
    import torch
    import torchvision

    side = SIDES.get(name, 224)
    module = getattr(torchvision.models, name)(weights=None).eval()
    torch.onnx.register_custom_op_symbolic("aten::zero", zero, 9)
    torch.onnx.export(module, torch.zeros(1, 3, side, side), path, opset_version=17)


def run_ms(command):
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return 1e3 * (time.perf_counter() - began) if done.returncode == 0 else math.nan


def compare(path, runs):
    """Least milliseconds of assay and of onnx-tool; nan when one fails."""
    ours = [ASSAY, "graph", path]
    theirs = [sys.executable, "-c", PROFILE, path]
    pairs = [(run_ms(ours), run_ms(theirs)) for _ in range(runs)]
    return [min(column) for column in zip(*pairs)]


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    missing = [m for m in ("torchvision", "onnx_tool") if not importlib.util.find_spec(m)]
    if missing:
        print(
            "beside_onnx_tool: needs the Python modules " + " and ".join(missing), file=sys.stderr
        )
        return 2
    warnings.filterwarnings("ignore")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        for name in MODELS:
            export(name, path)
            ours, theirs = compare(path, runs)
            print(
                f"{name:20} assay {ours:8.2f} ms  onnx-tool {theirs:9.1f} ms  "
                f"{theirs / ours:6.0f} times",
                flush=True,
            )
            if not math.isnan(theirs / ours):
                ratios.append(theirs / ours)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean over {len(ratios)} models: {mean:.0f} times (aim {AIM})")
    return mean < AIM


if __name__ == "__main__":
    sys.exit(main())
