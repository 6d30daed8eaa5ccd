#!/usr/bin/python3
"""Files that Debian's PyTorch writes: state dicts of torchvision's models are recognised as what
they are, whole
Sequential modules are rebuilt, programs of torch.export and TorchScript are read, and all of them
compute what PyTorch computes.

    check_torch.py ASSAY [all]

`all` makes a state dict of every torchvision model instead of a choice. Exit 77 (skipped) without
python3-torch.
Outputs are compared only where an engine is.
"""

import inspect
import json
import os
import subprocess
import sys
import tempfile
import types
import warnings
from typing import Any, Dict, List, Optional

warnings.filterwarnings("ignore")
try:
    import numpy
    import pt2_writer
    import torch
    import torch_modules
    from torch import nn
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
try:
    from torchvision import models
except ImportError:
    models = None

ASSAY = sys.argv[1]
EVERY = "all" in sys.argv[2:]
PROGRAMS = (
    "resnet18",
    "mobilenet_v3_small",
    "squeezenet1_1",
    "densenet121",
    "efficientnet_b0",
    "regnet_y_400mf",
    "mnasnet0_5",
    "mobilenet_v2",
)
CLASSES = 13
CHOICE = {
    "alexnet",
    "convnext_tiny",
    "densenet121",
    "efficientnet_b0",
    "googlenet",
    "inception_v3",
    "maxvit_t",
    "mnasnet0_5",
    "mobilenet_v2",
    "mobilenet_v3_small",
    "regnet_y_400mf",
    "resnet18",
    "resnext50_32x4d",
    "shufflenet_v2_x0_5",
    "squeezenet1_1",
    "swin_t",
    "vgg11_bn",
    "vit_b_32",
    "wide_resnet50_2",
    "lraspp_mobilenet_v3_large",
    "deeplabv3_mobilenet_v3_large",
    "ssdlite320_mobilenet_v3_large",
    "r3d_18",
    "raft_small",
}
wrong: List[str] = []


def check(what: str, good: bool, detail: Any = "") -> None:
    if not good:
        wrong.append(f"{what}: {detail}")


def profile(path: str, *options: str) -> Dict[str, Any]:
    done = subprocess.run(
        [ASSAY, "graph", path, "--json", *options], capture_output=True, text=True
    )
    check(path, done.returncode == 0, done.stderr)
    if done.returncode:
        return {"config": {}, "architecture": {}}
    found: Dict[str, Any] = json.loads(done.stdout)
    return found


def hollow(state: Dict[str, Any]) -> Dict[str, Any]:
    """The same names and shapes in a file of a few bytes."""
    return {
        k: v if v.numel() < 64 else torch.zeros(1, dtype=v.dtype).expand(v.shape)
        for k, v in state.items()
    }


def builders() -> Dict[str, Any]:
    found = {}
    for part in (
        models,
        models.segmentation,
        models.detection,
        models.video,
        models.optical_flow,
    ):
        for name, function in vars(part).items():
            builds = name[0].islower() and not name.startswith(("get_", "list_"))
            if builds and inspect.isfunction(function):
                found[name] = function
    return {k: v for k, v in found.items() if EVERY or k in CHOICE}


def make(name: str, function: Any) -> Any:
    options: Dict[str, Any] = {} if name.startswith("raft") else {"num_classes": CLASSES}
    if "weights_backbone" in inspect.signature(function).parameters:
        options["weights_backbone"] = None
    if name in ("googlenet", "inception_v3"):
        options["init_weights"] = False
    return function(weights=None, **options)


def check_recognised(folder: str) -> int:
    count = 0
    for name, function in builders().items():
        state = make(name, function).state_dict()
        path = os.path.join(folder, "state.pth")
        torch.save(hollow({"module." + k: v for k, v in state.items()}), path)
        result = profile(path)
        words = result["config"].get("recognised", "nothing").split()
        expected = [] if name.startswith("raft") else [f"num_classes={CLASSES}"]
        others = " ".join(
            w["text"] for w in result.get("warnings", []) if w["code"] == "recognised"
        )
        check(name, (words[0] == name or name in others) and words[1:2] == expected, words)
        check(
            name,
            not result.get("accounting", {}).get("weights_differ"),
            "weights differ",
        )
        elements = sum(v.numel() for v in state.values())
        check(name, result.get("inventory", {}).get("elements") == elements, "elements")
        count += 1
    return count


def settle(module: Any) -> Any:
    for part in module.modules():
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d)):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    return module.eval()


def has_engine(folder: str) -> bool:
    path = os.path.join(folder, "tiny.pt")
    torch.save(nn.Sequential(nn.Linear(2, 2)), path)
    command = [ASSAY, "bench", path, "--num-runs", "1", "--warmup-runs", "0", "-q"]
    return subprocess.run(command, capture_output=True).returncode == 0


def check_outputs(folder: str, name: str, path: str, module: Any, x: Any) -> None:
    given, out = os.path.join(folder, "x.npy"), os.path.join(folder, name)
    numpy.save(given, x.numpy())
    shape = ",".join(map(str, x.shape))
    command = [
        ASSAY,
        "bench",
        path,
        "--input",
        given,
        "--input-shape",
        shape,
        "--save-outputs",
        out,
    ]
    done = subprocess.run(
        [*command, "--num-runs", "1", "--warmup-runs", "0", "-q"],
        capture_output=True,
        text=True,
    )
    check(name, done.returncode == 0, done.stderr)
    if done.returncode == 0:
        got = numpy.load(os.path.join(out, os.listdir(out)[0]))
        with torch.no_grad():
            expected = module(x).numpy()
        check(
            name,
            got.shape == expected.shape and abs(got - expected).max() < 1e-4,
            got.shape,
        )


def sequences() -> Dict[str, Any]:
    inner = nn.Sequential(nn.Conv2d(8, 16, 3, stride=2, bias=False), nn.LeakyReLU(0.2))
    return {
        "cnn": (
            nn.Sequential(
                nn.Conv2d(1, 8, 3, padding=1),
                nn.BatchNorm2d(8),
                nn.ReLU(),
                nn.MaxPool2d(2),
                inner,
                nn.Flatten(),
                nn.Linear(16 * 6 * 6, 32),
                nn.GELU(),
                nn.Dropout(),
                nn.Linear(32, 10),
                nn.Softmax(dim=1),
            ),
            (1, 1, 28, 28),
        ),
        "mlp": (
            nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.Tanh(), nn.Linear(64, 3)),
            (1, 20),
        ),
        "pool": (
            nn.Sequential(
                nn.Conv2d(3, 8, 3, dilation=2),
                nn.SiLU(),
                nn.AdaptiveAvgPool2d(1),
                nn.Flatten(),
                nn.Linear(8, 5),
                nn.Sigmoid(),
            ),
            (1, 3, 32, 32),
        ),
        "line": (
            nn.Sequential(
                nn.Conv1d(4, 8, 5), nn.ELU(), nn.AvgPool1d(2), nn.Flatten(), nn.Linear(240, 2)
            ),
            (1, 4, 64),
        ),
        "up": (
            nn.Sequential(
                nn.Conv2d(3, 4, 3, padding=1),
                nn.Upsample(scale_factor=2),
                nn.ConvTranspose2d(4, 2, 2, stride=2),
                nn.Hardswish(),
            ),
            (1, 3, 32, 32),
        ),
    }


class Net(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Linear(3, 4)


def check_modules(folder: str, runs: bool) -> None:
    for name, (module, shape) in sequences().items():
        path = os.path.join(folder, name + ".pt")
        torch.save(settle(module), path)
        result = profile(path)
        parameters = sum(p.numel() for p in module.parameters())
        check(
            name,
            result["architecture"].get("total_parameters") == parameters,
            result["architecture"],
        )
        check(
            name,
            result["config"].get("recognised") == "torch.nn.Sequential",
            result["config"],
        )
        if runs:
            check_outputs(folder, name, path, module, torch.randn(shape))
    path = os.path.join(folder, "net.pt")
    torch.save(Net(), path)
    result = profile(path)
    check(
        "net",
        "recognised" not in result["config"] and result["inventory"]["alone"],
        result["config"],
    )


def check_weights(folder: str) -> None:
    """The numbers of a recognised file: zip, the older form, and half precision."""
    module = settle(models.resnet18(num_classes=10))
    for name, options in (
        ("zip", {}),
        ("legacy", {"_use_new_zipfile_serialization": False}),
    ):
        path = os.path.join(folder, name + ".pth")
        torch.save({"state_dict": module.state_dict(), "epoch": 1}, path, **options)
        check_outputs(folder, name, path, module, torch.randn(1, 3, 64, 64))
    module = module.half().float()
    path = os.path.join(folder, "half.pth")
    torch.save(
        {k: v.half() if v.is_floating_point() else v for k, v in module.state_dict().items()},
        path,
    )
    check_outputs(folder, "half", path, module, torch.randn(1, 3, 64, 64))


def check_programs(folder: str) -> None:
    """The graph of a program: torch.export's, and TorchScript's as traced and as scripted."""
    x = torch.randn(1, 3, 64, 64)
    for name in PROGRAMS if EVERY else PROGRAMS[:3]:
        module = settle(getattr(models, name)(num_classes=CLASSES))
        path = os.path.join(folder, f"{name}.pt2")
        pt2_writer.export(module, (x,), path)
        check_outputs(folder, f"{name}.pt2 outputs", path, module, x)
        for how, make in (("traced", torch.jit.trace), ("scripted", torch.jit.script)):
            path = os.path.join(folder, f"{name}.{how}.pt")
            (make(module, x) if how == "traced" else make(module)).save(path)
            check_outputs(folder, f"{name}.{how} outputs", path, module, x)


def check_written(folder: str, runs: bool) -> None:
    """Modules with code of their own, scripted, traced and as a program of torch.export."""
    for name, (build, shape) in torch_modules.MODULES.items():
        module, x = settle(build()), torch.randn(shape)
        ways = ["scripted", "traced", "frozen", "exported"]
        for how in ways[: 2 if name == "attention" else 4]:
            # Without gradients, attention is one fused operator of PyTorch, which is unknown.
            path = os.path.join(folder, f"{name}.{how}.{'pt2' if how == 'exported' else 'pt'}")
            if how == "exported":
                pt2_writer.export(module, (x,), path)
            else:
                traced = how == "traced"
                made = torch.jit.trace(module, x, check_trace=False) if traced else None
                made = made if traced else torch.jit.script(module)
                made = torch.jit.freeze(made) if how == "frozen" else made
                made.save(path)
            result = profile(path, "--input-shape", ",".join(map(str, shape)))
            parameters = sum(p.numel() for p in module.parameters())
            found = result["architecture"].get("total_parameters")
            if how != "frozen":  # its weights are constants, some of them computed
                check(f"{name}.{how}", found == parameters, f"{found}, not {parameters}")
            unknown = result.get("accounting", {}).get("unknown", "no graph")
            alone = result.get("inventory", {}).get("alone", False)
            check(f"{name}.{how}", unknown == 0 and not alone, f"{unknown} unknown, {alone}")
            if runs and unknown == 0 and not alone:
                check_outputs(folder, f"{name}.{how} outputs", path, module, x)


def of_class(module: str, name: str) -> Any:
    """An nn.Module whose class is that of a program which is not here; pickle finds it while this
    one runs."""
    sys.modules.setdefault(module.split(".")[0], types.ModuleType(module.split(".")[0]))
    place = sys.modules.setdefault(module, types.ModuleType(module))
    if not hasattr(place, name):
        setattr(place, name, type(name, (nn.Module,), {"__module__": module}))
    return getattr(place, name)()


def check_ultralytics(folder: str) -> None:
    """A table of layers with one step up, trained on images of 300 pixels, which are enlarged to
    320."""
    nc, anchors = 2, [[10, 13, 16, 30, 33, 23]] * 3
    sizes = [(3, 16, 3), (16, 16, 3), (16, 16, 3), (16, 32, 3), (32, 32, 3), (32, 16, 1)]
    backbone = [[-1, 1, "Conv", [n, k, 2]] for _, n, k in sizes[:5]]
    head: List[Any] = [[-1, 1, "Conv", [16, 1, 1]], [-1, 1, "nn.Upsample", ["None", 2, "nearest"]]]
    head += [[[-1, 3], 1, "Concat", [1]], [-1, 1, "Conv", [16, 1, 1]]]
    head += [[[2, 8, 4], 1, "Detect", ["nc", "anchors"]]]
    layers = []
    for a, b, k in [*sizes, (48, 16, 1)]:
        layer = of_class("models.common", "Conv")
        layer.conv, layer.bn = nn.Conv2d(a, b, k, bias=False), nn.BatchNorm2d(b)
        layers.append(layer)
    detect = of_class("models.yolo", "Detect")
    detect.register_buffer("anchors", torch.zeros(3, 3, 2))
    detect.m = nn.ModuleList([nn.Conv2d(n, 3 * (nc + 5), 1) for n in (16, 16, 32)])
    model = of_class("models.yolo", "DetectionModel")
    join = of_class("models.common", "Concat")
    model.model = nn.Sequential(*layers[:6], nn.Upsample(scale_factor=2), join, layers[6], detect)
    model.yaml = dict(nc=nc, depth_multiple=1.0, width_multiple=1.0, anchors=anchors)
    model.yaml.update(backbone=backbone, head=head, ch=3)
    model.names = ["cat", "dog"]
    path = os.path.join(folder, "best.pt")
    torch.save({"epoch": -1, "model": model, "opt": {"imgsz": 300}}, path)
    found = profile(path)
    shape = (found["config"].get("inputs") or [{}])[0].get("shape")
    check("best.pt", shape == [1, 3, 320, 320], shape)
    weights = sum(p.numel() for p in model.parameters())
    check("best.pt", found.get("total_parameters") == weights, found.get("total_parameters"))


def main() -> int:
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        runs = has_engine(folder)
        check_modules(folder, runs)
        check_ultralytics(folder)
        check_written(folder, runs)
        count = check_recognised(folder) if models else 0
        if models and runs:
            check_weights(folder)
            check_programs(folder)
    print(
        "\n".join(wrong)
        or f"{count} torchvision models recognised; outputs {'equal' if runs else 'not compared'}"
    )
    return 1 if wrong else 0


sys.exit(main())
