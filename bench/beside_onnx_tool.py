#!/usr/bin/python3
"""`assay graph` beside onnx-tool on models as torch exports them: whole processes, the least of
several runs.

    bench/beside_onnx_tool.py [RUNS [FOLDER]]    5 unless given; $ASSAY is the program,
                                                 build/release/assay unless set; exports are kept
                                                 in FOLDER, and taken from there

Times are elapsed time and, behind it, time of the processor (user and system), which other work on
the machine changes less. Needs torchvision (Debian: python3-torchvision) and onnx-tool (PyPI;
$PYTHONPATH may name a checkout of it, which also needs python3-tabulate). Weights are random and
stay in the files, as an exporter writes them. One process after the other, so that whatever slows
the machine slows both. Exit 1 when the geometric mean of the ratios is below AIM.
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
    """Elapsed and processor milliseconds; nan when it fails."""
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    elapsed = time.perf_counter() - began
    child.returncode = status
    if status != 0:
        return math.nan, math.nan
    return 1e3 * elapsed, 1e3 * (used.ru_utime + used.ru_stime)


def compare(path, runs):
    """Least milliseconds: assay elapsed and processor, onnx-tool elapsed and processor."""
    ours = [ASSAY, "graph", path]
    theirs = [sys.executable, "-c", PROFILE, path]
    pairs = [run_ms(ours) + run_ms(theirs) for _ in range(runs)]
    return [min(column) for column in zip(*pairs)]


def geometric_mean(ratios):
    known = [r for r in ratios if not math.isnan(r)]
    return math.exp(sum(map(math.log, known)) / len(known))


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
    with tempfile.TemporaryDirectory() as temporary:
        folder = sys.argv[2] if len(sys.argv) > 2 else temporary
        for name in MODELS:
            path = os.path.join(folder, name + ".onnx")
            if not os.path.exists(path):
                export(name, path)
            ours, ours_cpu, theirs, theirs_cpu = compare(path, runs)
            print(
                f"{name:20} assay {ours:8.2f} ms ({ours_cpu:7.2f})  "
                f"onnx-tool {theirs:9.1f} ms ({theirs_cpu:8.1f})  "
                f"{theirs / ours:6.0f} times ({theirs_cpu / ours_cpu:4.0f})",
                flush=True,
            )
            ratios.append((theirs / ours, theirs_cpu / ours_cpu))
            if folder == temporary:
                os.remove(path)
    mean, mean_cpu = (geometric_mean(column) for column in zip(*ratios))
    print(f"geometric mean of {len(ratios)} models: {mean:.0f} times ({mean_cpu:.0f}); aim {AIM}")
    return mean < AIM


if __name__ == "__main__":
    sys.exit(main())
