#!/usr/bin/python3
"""Writes every model of tests/models at every precision and asks python3-onnx about each file.

    check_precision.py ASSAY [NAME...]

The checker and strict shape inference must agree with the file as far as their opset goes (that of
bf16 is newer than Debian 12's: there only the wire format, the types of tensors and the Casts are
looked at). The types that a precision is named after must be there, inputs and outputs must stay
what they were. int8 runs the model, so that it is done with small ones, and left out without an
engine. Exit 77 (skipped) where the onnx package is missing.
"""

import glob
import os
import subprocess
import sys
import tempfile
from typing import Any

try:
    import onnx
except ImportError:
    print("skipped: python3-onnx is not installed")
    sys.exit(77)

SMALL_PARAMETERS = 6_000_000
TYPES = {
    "fp16": onnx.TensorProto.FLOAT16,
    "bf16": onnx.TensorProto.BFLOAT16,
    "int8-dynamic": onnx.TensorProto.INT8,
    "int8": onnx.TensorProto.INT8,
}
NOTHING = "no MatMul or Gemm"


def borders(model: Any) -> Any:
    held = {t.name for t in model.graph.initializer}
    return [
        (v.name, v.type.tensor_type.elem_type)
        for v in list(model.graph.input) + list(model.graph.output)
        if v.name not in held
    ]


def parameters_of(path: str) -> int:
    with open(path[:-5] + ".facts", encoding="utf-8") as facts:
        return next(int(line.split()[1]) for line in facts if line.startswith("parameters"))


def check_file(source: str, path: str, kind: str) -> None:
    model = onnx.load(path, load_external_data=False)
    opset = next(o.version for o in model.opset_import if o.domain == "")
    if kind not in {t.data_type for t in model.graph.initializer}:
        raise RuntimeError("no weight has the type of the precision")
    if borders(model) != borders(onnx.load(source, load_external_data=False)):
        raise RuntimeError("inputs or outputs changed")
    if opset > onnx.defs.onnx_opset_version():
        return
    onnx.checker.check_model(path)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)


def check_one(assay: str, source: str, precision: str, folder: str) -> Any:
    path = os.path.join(folder, "m.onnx")
    weights = ["--seed", "1", "--external-data"] if precision == "int8" else ["--holes"]
    done = subprocess.run(
        [assay, "export", source, "--precision", precision, "-q", "-o", path, *weights],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 5 or (
        done.returncode == 4 and precision == "int8-dynamic" and NOTHING in done.stderr
    ):
        return
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit {done.returncode}")
    check_file(source, path, TYPES[precision])


def main() -> int:
    assay, wanted = sys.argv[1], sys.argv[2:]
    failures = files = 0
    with tempfile.TemporaryDirectory(prefix="assay-precision-") as folder:
        for source in sorted(glob.glob("tests/models/*.onnx")):
            name = os.path.basename(source)[:-5]
            if wanted and name not in wanted:
                continue
            for precision in TYPES:
                if precision == "int8" and parameters_of(source) > SMALL_PARAMETERS:
                    continue
                files += 1
                try:
                    check_one(assay, source, precision, folder)
                except Exception as error:  # the checker has its own kinds
                    failures += 1
                    print(f"{name} as {precision}: {str(error)[:600]}")
    print(f"{files} files, {failures} failures")
    return 1 if failures or not files else 0


if __name__ == "__main__":
    sys.exit(main())
