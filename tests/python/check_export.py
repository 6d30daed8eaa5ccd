#!/usr/bin/python3
"""Exports every built-in model and asks python3-onnx's checker about each file, one at a time.

    check_export.py ASSAY [NAME...]

Large models are written with holes (external files that take no space), small ones with real random
weights. The exported file must profile to the same parameters and MACs as the name. Exit 77
(skipped) where the onnx package is missing.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

try:
    import onnx
except ImportError:
    print("skipped: python3-onnx is not installed")
    sys.exit(77)

SMALL_PARAMETERS = 6_000_000  # below this with real weights


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit {done.returncode}")
    return done.stdout


def totals(assay: str, model: str) -> Any:
    profile = json.loads(run(assay, model, "--json"))
    return profile["total_parameters"], profile["total_macs"]


def check_one(assay: str, name: str, parameters: int, macs: int, folder: str) -> None:
    path = os.path.join(folder, name + ".onnx")
    try:
        run(
            assay,
            "export",
            name,
            "-q",
            "-o",
            path,
            *([] if parameters < SMALL_PARAMETERS else ["--holes"]),
        )
        model = onnx.load(path, load_external_data=False)
        if (model.ir_version, model.opset_import[0].version) != (8, 17):
            raise RuntimeError(f"IR {model.ir_version}, opset {model.opset_import[0].version}")
        onnx.checker.check_model(path)
        got = totals(assay, path)
        if got != (parameters, macs):
            raise RuntimeError(f"parameters and MACs were {(parameters, macs)}, the file has {got}")
    finally:
        for leftover in (path, path + ".data"):
            if os.path.exists(leftover):
                os.unlink(leftover)


def main() -> int:
    assay, wanted = sys.argv[1], sys.argv[2:]
    models = json.loads(run(assay, "models", "--json"))
    models = models if isinstance(models, list) else models["models"]
    failures = 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="assay-export-") as folder:
        for model in models:
            name = model["name"]
            if wanted and name not in wanted:
                continue
            try:
                check_one(assay, name, model["parameters"], model["macs"], folder)
            except Exception as error:  # the checker has its own kinds
                failures += 1
                print(f"{name}: {str(error)[:600]}")
    took = time.monotonic() - started
    print(f"{len(wanted) or len(models)} models, {failures} failures, {took:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
