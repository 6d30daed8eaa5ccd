"""Screens of several commands at several widths: readable, whatever the width.

    check_screens.py PROGRAM [--engine]

No line is wider than the screen, nothing is cut ("…"), and no two rows of a table have the same
label. With --engine also the screens of commands that run a model.
"""
import os
import re
import subprocess
import sys
from typing import Iterator, List

PROGRAM = sys.argv[1]
WIDTHS = (60, 80, 120, 200)
TWELVE = [
    *("resnet18", "resnet34", "resnet50", "resnet101", "vgg11", "vgg16", "mobilenet_v2"),
    *("efficientnet_b0", "vit_b_16", "swin_t", "densenet121", "convnext_tiny"),
]
SEGMENTERS = ["deeplabv3_resnet50", "deeplabv3_resnet101", "fcn_resnet50", "fcn_resnet101"]
RUN = ["--num-runs", "2", "--warmup-runs", "1", "--batch-sizes", "1,2"]
SCREENS = [
    ["compare", *TWELVE],
    ["compare", *TWELVE, "--budget", "flops:9G,memory:200MB,params:30M"],
    ["compare", *SEGMENTERS],
    ["compare", "resnet18", "resnet34"],
    ["models"],
    ["devices"],
    ["map", "efficientnet_b0", "--hardware", "all"],
    ["map", "efficientnet_b0", "--hardware", "jetson"],
    ["map", *TWELVE[:5], "--hardware", "all"],
    ["map", "resnet18", "--hardware", "t4,v100"],
    ["graph", "efficientnet_b0"],
    ["graph", "maxvit_t", "--verbose"],
    ["graph", "convnext_tiny", "--depth", "3"],
    ["models", "--task", "classification", "--hardware", "t4"],
    ["capacity", "llama-3.1-8b", "mistral-7b", "--hardware", "h100", "--target", "20rps"],
    ["pipeline", "llama-3.1-8b", "mistral-7b"],
    ["doctor", "--limits"],
]
MEASURED = [
    ["profile", "lenet", *RUN],
    ["profile", "lenet", *RUN, "--training", "--hardware", "t4", "--lens", "fvcore"],
    ["layers", "squeezenet1_1", "--input-shape", "1,3,64,64", *RUN[:4]],
]
# The first word of a table whose first column names things.
NAMED = re.compile(r"^ *(Model|model|Device|device|Layer|layer|Type|type)\b")
complaints: List[str] = []


def screen(args: List[str], columns: int) -> List[str]:
    env = {**os.environ, "COLUMNS": str(columns), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [PROGRAM, *args], env=env, capture_output=True, encoding="utf-8", timeout=240
    )
    assert done.returncode == 0, (args, done.stderr)
    return done.stdout.splitlines()


def tables(lines: List[str]) -> Iterator[List[str]]:
    """The rows below each title line, up to a line that is not one of them."""
    rows: List[str] = []
    titled = False
    for line in [*lines, ""]:
        if NAMED.match(line):
            titled, rows = True, []
        elif titled and re.match(r"^ *\S.*  ", line) and not re.search(r"[a-z]\.$", line):
            rows.append(line)
        elif titled:
            yield rows
            titled = False


def check(args: List[str], columns: int) -> None:
    lines = screen(args, columns)
    name = f"{' '.join(args[:3])} at {columns}"
    for line in lines:
        if len(line) > columns:
            complaints.append(f"{name}: {len(line)} columns: {line}")
        if "…" in line:
            complaints.append(f"{name}: cut: {line}")
    for rows in tables(lines):
        labels = [re.split(r"  +", row.strip())[0] for row in rows]
        for label in {x for x in labels if labels.count(x) > 1}:
            complaints.append(f"{name}: twice: {label}")


for each in SCREENS + (MEASURED if "--engine" in sys.argv else []):
    for width in WIDTHS:
        check(each, width)
print("\n".join(complaints) if complaints else "readable")
