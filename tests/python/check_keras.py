#!/usr/bin/python3
"""Models of Keras: files of keras_models.py are exported, run and compared with numpy.

    check_keras.py ASSAY [NAME...]

Of each model: parameters, and what training does not change, are those of its weights, in .h5,
.keras and .json alike; the exported file passes python3-onnx's checker (opset 17) and profiles to
the same MACs; the outputs of the engine agree with numpy's within 1e-4. Without an engine, the
outputs
are left out. Exit 77 (skipped) where h5py or onnx is missing.
"""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, List

try:
    import h5py  # type: ignore[import]
    import numpy as np
    import onnx
except ImportError as missing:
    print(f"skipped: {missing.name} is not installed")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import keras_models  # noqa: E402

NO_ENGINE = 5
FIXED = ("moving_mean", "moving_variance")


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit {done.returncode}")
    return done.stdout


def counts(assay: str, path: str) -> Any:
    profile = json.loads(run(assay, "graph", path, "--json"))
    a = profile["architecture"]
    return a["total_parameters"], a["trainable_parameters"], a["buffers"], profile["total_macs"]


def expected(layers: List[Any]) -> Any:
    total = trained = fixed = 0
    for layer in layers:
        for name, data in layer.weights:
            if name in FIXED:
                fixed += data.size
            else:
                total += data.size
                trained += data.size if layer.config.get("trainable", True) else 0
    return total, trained, fixed


def check_outputs(assay: str, path: str, shape: List[Any], layers: List[Any], folder: str) -> bool:
    rng = np.random.default_rng(5)
    x = rng.standard_normal([1] + shape[1:]).astype(np.float32)
    if layers[0].cls == "Embedding":
        x = rng.integers(0, 20, [1] + shape[1:]).astype(np.float32)
    given, made = os.path.join(folder, "x.npy"), os.path.join(folder, "out")
    np.save(given, x)
    command = [
        assay,
        "bench",
        path,
        "--num-runs",
        "1",
        "--warmup-runs",
        "1",
        "--input",
        f"x={given}",
    ]
    done = subprocess.run(
        [*command, "--save-outputs", made, "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode == NO_ENGINE:
        return False
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    (name,) = os.listdir(made)
    got, want = np.load(os.path.join(made, name)), keras_models.whole(layers, x)
    os.remove(os.path.join(made, name))
    if got.shape != want.shape:
        raise RuntimeError(f"the output is {got.shape}, numpy's is {want.shape}")
    apart = float(np.max(np.abs(got - want) / np.maximum(1, np.abs(want))))
    if not apart < 1e-4:
        raise RuntimeError(f"the output differs by {apart} from numpy's")
    return True


def check_one(assay: str, name: str, shape: List[Any], layers: List[Any], folder: str) -> bool:
    files = [os.path.join(folder, name + end) for end in (".h5", ".keras", "_old.keras", ".json")]
    keras_models.write_h5(files[0], shape, layers)
    keras_models.write_keras(files[1], shape, layers)
    keras_models.write_keras(files[2], shape, layers, "2.14.0", "_layer_checkpoint_dependencies")
    with open(files[3], "w", encoding="utf-8") as f:
        json.dump(keras_models.model_json(shape, layers, "2.12.0"), f)
    got = [counts(assay, path) for path in files]
    if got[0][:3] != expected(layers) or any(g != got[0] for g in got):
        raise RuntimeError(f"counts are {got}, weights have {expected(layers)}")
    ran = False
    if name == "gates":
        apart = os.path.join(folder, "apart.h5")
        keras_models.write_h5(apart, shape, [keras_models.gates_apart(l) for l in layers], "1.2.2")
        files.insert(0, apart)
    for path in files[:2]:
        exported = os.path.join(folder, "exported.onnx")
        run(assay, "export", path, "-q", "-o", exported)
        onnx.checker.check_model(onnx.load(exported), full_check=True)
        if counts(assay, exported)[3] != got[0][3]:
            raise RuntimeError("the exported file has other MACs")
        ran = check_outputs(assay, path, shape, layers, folder)
    return ran


def main() -> int:
    assay, wanted = sys.argv[1], sys.argv[2:]
    failed = ran = 0
    models = keras_models.models()
    for name, (shape, layers) in models.items():
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                ran += check_one(assay, name, shape, layers, folder)
            except RuntimeError as why:
                print(f"{name}: {why}")
                failed += 1
    print(f"{len(models) - failed} of {len(models)} models are right, {ran} were run")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
