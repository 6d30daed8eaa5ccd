#!/usr/bin/python3
"""Runs models on several releases of ONNX Runtime: what assay asks of the engine must be there in
each.

    check_engines.py ASSAY [VERSION...]

Each release comes by name from npm into build/engines (nothing of the package is run). Of every
model: the runs have times, fp16 and int8 run too, the ledger of layers is the run, every shape is
as inferred, and where this release tells its memory the measured peak is no less than the planned
one. Exit 77 (skipped) when no release could be fetched.
"""

import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
from typing import Any, Optional

RELEASES = [
    "1.17.0",
    "1.20.1",
    "1.23.2",
    "1.30.0",
]  # the oldest that is promised, to the one that is installed
MODELS = ["lenet", "mobilenet_v2", "distilbert-base-uncased"]
LIBRARY = "linux/x64/libonnxruntime.so."


def fetch(version: str, folder: pathlib.Path) -> Optional[pathlib.Path]:
    """The library's file, or None when the package could not be had."""
    target = folder / version / "libonnxruntime.so.1"
    if target.exists():
        return target
    with tempfile.TemporaryDirectory() as work:
        name = f"onnxruntime-node@{version}"
        done = subprocess.run(
            ["npm", "pack", "--silent", "--ignore-scripts", name], cwd=work, check=False
        )
        packed = list(pathlib.Path(work).glob("*.tgz"))
        if done.returncode != 0 or not packed:
            return None
        with tarfile.open(packed[0]) as tar:
            member = max((m for m in tar.getmembers() if LIBRARY in m.name), key=lambda m: m.size)
            target.parent.mkdir(parents=True, exist_ok=True)
            packed_file = tar.extractfile(member)
            assert packed_file
            target.write_bytes(packed_file.read())
    return target


def measured(assay: str, library: str, *command: str) -> Any:
    done = subprocess.run(
        [assay, *command, "--engine-lib", library, "--num-runs", "5", "-f", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(done.stderr.strip() or f"exit {done.returncode}")
    return json.loads(done.stdout)


def check_bench(assay: str, library: str, model: str) -> None:
    found = measured(assay, library, "bench", model, "--configs", "1:fp32,1:fp16,1:int8")
    for config in found["configurations"]:
        assert "error" not in config, f"{config['precision']}: {config['error']}"
        assert config["median_ms"] > 0, config


def check_layers(assay: str, library: str, model: str) -> None:
    ledger = measured(assay, library, "layers", model)["ledger"]
    parts = sum(ledger[k] for k in ("layers_ms", "engine_ms", "dispatch_ms", "unexplained_ms"))
    assert abs(parts - ledger["run_ms"]) < 1e-6 * ledger["run_ms"] + 1e-9, ledger


def check_memory(assay: str, library: str, model: str) -> None:
    plan = measured(assay, library, "memory", model, "--measure").get("plan_check")
    if plan:  # older releases do not tell
        assert plan["shapes_equal"] == plan["shapes_checked"] > 0, plan
        assert plan["measured_peak"] >= plan["planned_as_run"], plan


def main() -> int:
    assay, versions = sys.argv[1], sys.argv[2:] or RELEASES
    folder = pathlib.Path(__file__).resolve().parents[2] / "build" / "engines"
    libraries = {v: fetch(v, folder) for v in versions}
    failures = 0
    for version, library in libraries.items():
        if not library:
            print(f"{version:8} not fetched")
            continue
        for model in MODELS:
            for check in (check_bench, check_layers, check_memory):
                try:
                    check(assay, str(library), model)
                    print(f"{version:8} {model:14} {check.__name__[6:]:8} ok", flush=True)
                except (AssertionError, KeyError) as why:
                    failures += 1
                    print(
                        f"{version:8} {model:14} {check.__name__[6:]:8} FAILED: {why!r}", flush=True
                    )
    if not any(libraries.values()):
        sys.exit(77)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
