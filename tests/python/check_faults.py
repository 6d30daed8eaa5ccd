#!/usr/bin/env python3
"""One fault at a time: the n-th allocation, read, write, ... of a command fails.

    check_faults.py PROGRAM [--full] [--lasting] [--only COMMAND] [--kind KIND] [--jobs N]

PROGRAM is built with ASSAY_FAULTS (src/base/fault.c). For each command of COMMANDS and every n
(with --full; else a sample of them), the outcome must be one of two:

* the same bytes on stdout, stderr and in the output files, and the same exit code as without the
  fault;
* exit 1, a sentence on stderr that names the real cause, and no output file (a whole one, if what
  failed is stdout).

A call that was interrupted or did half of its work (`interrupt`, `short`) must not show at all.
--lasting makes all calls behind the n-th fail, too. Prints a table of points per command, and every
point that is neither.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests" / "models"

# Where fsync() costs nothing.
FAST = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

# What the sentence must say; an empty one: the fault must not show.
CAUSES = {
    "memory": "[Oo]ut of memory|Cannot allocate memory",
    "open": "Too many open files",
    "read": "Input/output error",
    "write": "No space left on device",
    "sync": "Input/output error",
    "rename": "Operation not permitted",
    "sqlite": "out of memory",
    "interrupt": "",
    "short": "",
}

# Name: words behind the program. {in} holds the inputs; h.db and s.db are fresh copies of the
# histories.
COMMANDS = {
    "graph": "graph {in}/lstm_text.onnx -o out.json -q",
    "graph-console": "graph {in}/transformer_encoder.onnx --batch 2 --hardware t4 --training"
    " --depth 2",
    "graph-zoo": "graph resnet18 -o out.csv",
    "graph-sandbox": "graph {in}/lstm_text.onnx --sandbox -o out.json -q",
    "graph-files": "graph lenet -q -o out.json -o out.csv -o out.md",
    "export-data": "export lenet --external-data -o out.onnx",
    "scale": "scale {in}/lstm_text.onnx --dim batch=1..8 -o out.json",
    "fuse": "fuse {in}/resnet18.onnx -o out.json",
    "memory": "memory {in}/mobilenet_v2.onnx -o out.md",
    "html": "report {in}/r.json -o out.html -q",
    "report": "report {in}/r.json",
    "report-json": "report {in}/b.json -f json",
    "compare": "compare {in}/r.json {in}/lstm_text.onnx -o out.json",
    "map": "map {in}/lstm_text.onnx --hardware t4,a100-80 -o out.json",
    "pipeline": "pipeline sd15 -o out.json",
    "capacity": "capacity {in}/b.json --target 100",
    "validate": "validate --models lenet,resnet18 -o out.json",
    "check": "check {in}/r.json --threshold flops:1TFLOP --baseline {in}/r.json --junit out.xml",
    "export": "export lenet -o out.onnx",
    "export-file": "export {in}/lstm_text.onnx --seed 1 --precision fp16 -o out.onnx",
    "history-save": "graph lenet -q --save --db h.db --tag a --tag b",
    "history-new": "graph lenet -q --save --db new.db",
    "history-list": "history list --db h.db --json",
    "history-show": "history show 1 --db h.db -o out.json -q",
    "history-tag": "history tag 1 one two --db h.db",
    "history-export": "history export --db h.db -o out.jsonl",
    "history-import": "history import {in}/lines.jsonl --db h.db",
    "trend": "trend resnet18 --metric flops --db h.db --json",
    "history-copy": "history copy {in}/other.db h.db",
    "history-prune": "history prune --keep 1d --db h.db",
    "history-changes": "history changes --since 1d --db h.db --json",
    "regressions": "history regressions --metric flops --db h.db --json",
    "sweep-plan": "sweep --models lenet,{in}/lstm_text.onnx --batch-sizes 1,2 -o out.json -q",
    "sweep-request": "sweep {in}/request.json -o out.json",
    "sweep-status": "sweep status {in}/part.json --db s.db --json",
    "sweep-missing": "sweep missing {in}/part.json --db s.db",
    "sweep-report": "sweep report {in}/whole.json --db s.db -o out.json",
    "devices": "devices --json",
    "models": "models --json",
    "choose": "models --task classification --hardware t4 --budget latency:5ms --json",
    "netron": "graph {in}/resnet18.onnx -q -o out.netron.json",
    "gguf": "export gpt2 --set num_hidden_layers=1 --quant q8_0 -o out.gguf",
    "ops": "graph {in}/lstm_text.onnx -q --ops {in}/rules.json -o out.json",
    "tflite": "graph {in}/tflite/quantised.tflite -q -o out.json",
    "tflite-export": "export {in}/tflite/float.tflite -o out.onnx",
    "keras": "graph {in}/keras/tiny.h5 -q -o out.json",
    "keras-zip": "graph {in}/keras/packed.keras -q -o out.json",
    "torch": "graph {in}/torch/checkpoint.ckpt -q -o out.json",
    "torch-shards": "graph {in}/torch/sharded -q -o out.json",
    "torchscript": "graph {in}/torch/script.pt -q -o out.json",
    "pt2": "graph {in}/pt2/archive.pt2 -q -o out.json",
    "openvino": "graph {in}/openvino/net.xml -q -o out.json",
    "ncnn": "graph {in}/ncnn/net.param -q -o out.json",
    "coreml": "graph {in}/coreml/program.mlpackage -q -o out.json",
    "tensorflow": "graph {in}/tensorflow/saved -q -o out.json",
    "stablehlo": "graph {in}/stablehlo/loop.mlir -q -o out.json",
}

# Folders of tests/data with models of other formats.
FORMATS = (
    "coreml",
    "keras",
    "ncnn",
    "openvino",
    "pt2",
    "stablehlo",
    "tensorflow",
    "tflite",
    "torch",
)

# A file of --ops.
RULES = """{"schema": "assay.ops/1", "operators": [{"op": "Relu", "inputs": ["x"],
    "outputs": [{"shape": "x"}], "cost": {"int_ops": "size(x)"}}]}"""

# A file of `assay sweep`.
REQUEST = """{"models": ["lenet", "mlp"], "batch_sizes": [1, 8], "repeat": 2, "num_runs": 3,
    "threads": [1, 2]}"""

# Commands that change a history: what is in it after a failure is what was in it before.
CHANGES = (
    "history-save",
    "history-new",
    "history-tag",
    "history-import",
    "history-copy",
    "history-prune",
)


class Outcome(NamedTuple):
    code: int  # HANGS: it did not end
    out: bytes
    err: bytes
    files: Dict[str, bytes]
    records: Optional[List[Any]]


HANGS = -1000


def environment(**more: str) -> Dict[str, str]:
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "LD_LIBRARY_PATH")}
    pinned = {
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "SOURCE_DATE_EPOCH": "0",
        "HOME": "/nowhere",
    }
    return {**keep, **pinned, **more}


def records_of(path: pathlib.Path) -> List[Any]:
    """The records of a history with their tags and documents."""
    if not path.exists():
        return []
    with sqlite3.connect(path) as db:
        if db.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            return ["damaged"]
        tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
        if "runs" not in tables:
            return []
        found = db.execute("SELECT model FROM runs ORDER BY id").fetchall()
        found += db.execute("SELECT run, tag FROM tags ORDER BY 1, 2").fetchall()
        found += db.execute("SELECT digest FROM documents ORDER BY run").fetchall()
        return found


class Worker:
    """A folder of its own, in which a command is run again and again."""

    def __init__(self, program: str, inputs: pathlib.Path, folder: pathlib.Path) -> None:
        self.program, self.inputs, self.folder = program, inputs, folder
        folder.mkdir()

    def run(
        self, name: str, fault: Optional[str] = None, count: Optional[pathlib.Path] = None
    ) -> Outcome:
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        words = COMMANDS[name].format(**{"in": "../../in"}).split()
        for history in {"h.db", "s.db"}.intersection(words):
            shutil.copy(self.inputs / history, work / history)
        more = {"ASSAY_FAULT": fault} if fault else {}
        if count:
            more["ASSAY_FAULT_COUNT"] = str(count)
        try:
            done = subprocess.run(
                [self.program, *words],
                cwd=work,
                env=environment(**more),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                close_fds=False,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Outcome(HANGS, b"", b"", {}, None)
        histories = [p for p in work.iterdir() if re.match(r"(h|s|new)\.db", p.name)]
        files = {p.name: p.read_bytes() for p in work.iterdir() if p not in histories}
        records = None
        if name in CHANGES:
            records = records_of(work / ("new.db" if "new.db" in words else "h.db"))
        return Outcome(done.returncode, done.stdout, done.stderr, files, records)


def judge(kind: str, good: Outcome, before: List[Any], got: Outcome) -> Optional[str]:
    """Nothing when the outcome is one of the two; else what is wrong."""
    if got == good:
        return None
    if got.code == good.code:
        what = [
            f for f in ("out", "err", "files", "records") if getattr(got, f) != getattr(good, f)
        ]
        return f"exit {got.code}, but another {', '.join(what)}"
    said = got.err.decode("utf-8", "replace").strip()
    if not CAUSES[kind]:
        return f"exit {got.code}: {said}"
    if got.code != 1:
        return f"exit {got.code}: {said}"
    if not re.search(CAUSES[kind], said):
        return f"names another cause: {said}"
    if got.files and not (got.files == good.files and "stdout" in said):
        return f"leaves {', '.join(got.files)} behind: {said}"
    if got.records not in (before, good.records):
        return f"the history is neither as before nor as it should be: {said}"
    return None


def points(count: int, full: bool, sample: int) -> List[int]:
    if full or count <= sample:
        return list(range(1, count + 1))
    return sorted({1 + i * (count - 1) // (sample - 1) for i in range(sample)})


class Torture:
    def __init__(self, options: argparse.Namespace, folder: pathlib.Path) -> None:
        self.options, self.folder = options, folder
        self.bad: List[str] = []
        self.inputs = folder / "in"
        self.prepare()
        self.workers = [
            Worker(options.program, self.inputs, folder / f"w{i}") for i in range(options.jobs)
        ]

    def assay(self, *words: str) -> None:
        subprocess.run(
            [self.options.program, *words],
            cwd=self.inputs,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )

    def prepare(self) -> None:
        self.inputs.mkdir()
        for model in ("lstm_text", "transformer_encoder", "resnet18", "mobilenet_v2"):
            shutil.copy(MODELS / f"{model}.onnx", self.inputs)
        for kind in FORMATS:
            shutil.copytree(ROOT / "tests" / "data" / kind, self.inputs / kind)
        (self.inputs / "rules.json").write_text(RULES)
        self.assay("graph", "resnet18", "-q", "-o", "r.json")
        for model, tag in (("resnet18", "nightly"), ("lenet", "b"), ("resnet18", "c")):
            self.assay("graph", model, "-q", "--save", "--db", "h.db", "--tag", tag)
        self.assay("graph", "vgg11", "-q", "--save", "--db", "other.db", "--tag", "x")
        self.assay("history", "export", "--db", "other.db", "-q", "-o", "lines.jsonl")
        shutil.copy(
            ROOT / "tests" / "data" / "results" / "profile-0.1.json", self.inputs / "b.json"
        )
        self.prepare_sweeps()

    def prepare_sweeps(self) -> None:
        """A sweep with a record of each task, and one with a record of its first."""
        (self.inputs / "request.json").write_text(REQUEST)
        document = json.loads((self.inputs / "b.json").read_text())
        lines: List[Any] = [{"schema": "assay.history/1"}]
        for name, n_tasks, n_records in (("whole", 2, 2), ("part", 6, 1)):
            words = ("--models", "lenet,mlp", "--repeat", str(n_tasks // 2), "--sweep-name", name)
            self.assay("sweep", *words, "-q", "-o", f"{name}.json")
            plan = json.loads((self.inputs / f"{name}.json").read_text())
            lines += [
                {
                    "sweep": plan["id"],
                    "task": task["task"],
                    "machine": "n1@0",
                    "document": {**document, "model": f"{name} {task['model']}"},
                }
                for task in plan["tasks"][:n_records]
            ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self.inputs / "sweeps.jsonl").write_text(text)
        self.assay("history", "import", "sweeps.jsonl", "--db", "s.db", "-q")

    def counts(self, name: str) -> Tuple[Outcome, Dict[str, int]]:
        path = self.folder / "counts"
        good = self.workers[0].run(name, count=path)
        rows = (line.split() for line in path.read_text().splitlines())
        return good, {kind: int(n) for kind, n in rows}

    def check(self, name: str) -> Dict[str, int]:
        options = self.options
        good, counts = self.counts(name)
        if good.code not in (0, 6):
            self.bad.append(f"{name}: exit {good.code} without a fault: {good.err.decode()}")
            return {}
        before = records_of(self.inputs / "h.db") if "h.db" in COMMANDS[name].split() else []
        plan = [
            (kind, n)
            for kind, count in counts.items()
            if options.kind in (None, kind)
            for n in points(count, options.full, options.sample)
        ]
        tally: Dict[str, int] = collections.Counter()
        for (kind, n), got in self.run_all(name, plan):
            wrong = judge(kind, good, before, got)
            tally[kind] += 1
            tally["same"] += got == good
            tally["refused"] += got != good and not wrong
            if wrong:
                tally["wrong"] += 1
                self.bad.append(f"{name} {kind}:{n}: {wrong}")
        return tally

    def run_all(
        self, name: str, plan: List[Tuple[str, int]]
    ) -> Iterator[Tuple[Tuple[str, int], Outcome]]:
        lasting = "+" if self.options.lasting else ""

        def share(k: int) -> List[Tuple[Tuple[str, int], Outcome]]:
            mine = plan[k :: len(self.workers)]
            return [(p, self.workers[k].run(name, f"{p[0]}:{p[1]}{lasting}")) for p in mine]

        with concurrent.futures.ThreadPoolExecutor(len(self.workers)) as pool:
            for part in pool.map(share, range(len(self.workers))):
                yield from part


def check_forbidden(torture: Torture) -> List[str]:
    """A confined process that tries what is forbidden ends, and the user is told."""
    bad = []
    for what in ("open", "socket", "exec"):
        done = subprocess.run(
            [torture.options.program, "graph", "lstm_text.onnx", "--sandbox", "-o", "none.json"],
            cwd=torture.inputs,
            env=environment(ASSAY_FAULT_TRY=what),
            capture_output=True,
            check=False,
        )
        said = done.stderr.decode()
        missing = done.returncode == 4 and "cannot confine" in said
        good = done.returncode == 3 and "sandbox" in said and not done.stdout
        if not missing and (not good or (torture.inputs / "none.json").exists()):
            bad.append(f"forbidden {what}: exit {done.returncode}: {said}")
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--full", action="store_true", help="every point, not a sample")
    parser.add_argument("--sample", type=int, default=9, help="points per command and kind")
    parser.add_argument("--lasting", action="store_true", help="all calls behind it fail, too")
    parser.add_argument("--only", action="append", choices=sorted(COMMANDS))
    parser.add_argument("--kind", choices=sorted(CAUSES))
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS", "2")))
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    kinds = [options.kind] if options.kind else list(CAUSES)
    columns = [*kinds, "same", "refused", "wrong"]
    print(f"{'command':16}" + "".join(f"{c:>10}" for c in columns), flush=True)
    total: Dict[str, int] = collections.Counter()
    failed = 0
    with tempfile.TemporaryDirectory(dir=FAST) as folder:
        torture = Torture(options, pathlib.Path(folder))
        torture.bad += check_forbidden(torture)
        for name in options.only or COMMANDS:
            known = len(torture.bad)
            tally = torture.check(name)
            failed += len(torture.bad) > known
            for key, n in tally.items():
                total[key] += n
            print(f"{name:16}" + "".join(f"{tally.get(c, 0):10}" for c in columns), flush=True)
    print(f"{'all':16}" + "".join(f"{total.get(c, 0):10}" for c in columns))
    for line in torture.bad[:200]:
        print(line)
    print(f"{len(options.only or COMMANDS) - failed} passed, {failed} failed")
    return 1 if torture.bad else 0


if __name__ == "__main__":
    sys.exit(main())
