"""Every option x every command: it has an effect, or it is refused.

    check_options.py PROGRAM [COMMAND...]

The pairs come from `assay help --json`. A pair that a command does not take must exit 2 and name
the commands that take the option. A pair that it takes must show an effect on a sample below: by
default another output, exit code or file; where timings vary, a value of the result. A pair without
a sample fails, so a new option needs one. What no sample can show here is in HIDDEN, with the
reason. Pairs that run a model are skipped without an engine.
"""
import base64
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = Path(__file__).resolve().parents[2]
SMALL = str(ROOT / "tests/cli/models/symbolic.onnx")
TIMEOUT_S = 240


class Result:
    """What one command line did."""

    def __init__(
        self, args: List[str], done: subprocess.CompletedProcess[str], files: Dict[str, str]
    ) -> None:
        self.code, self.err, self.files = done.returncode, done.stderr, files
        command = "assay " + " ".join(args)  # recorded in results; never an effect by itself
        self.out = done.stdout.replace(json.dumps(command)[1:-1], "COMMAND")
        self.out = re.sub(r'"command": "(\\.|[^"\\])*"', '"command": ""', self.out)

    def json(self) -> Any:
        """The document on stdout, or that of the first .json file."""
        try:
            return json.loads(self.out)
        except ValueError:
            return next((json.loads(t) for p, t in self.files.items() if p.endswith(".json")), {})


Seen = Callable[[Result, Result], Any]  # whether an option made the difference


class Sample:
    """How to see an option's effect.

    value: of the option. also: more arguments, with and without the option. base: instead of the
    command's usual line. seen: of two results, whether the option made the difference. shows: of
    one document, whether it has the effect. runs: needs the engine.
    """

    def __init__(
        self,
        value: Optional[str] = None,
        also: Sequence[str] = (),
        base: Optional[List[str]] = None,
        seen: Optional[Seen] = None,
        runs: bool = False,
        shows: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        self.value, self.also, self.base, self.runs = value, list(also), base, runs
        self.seen = seen or (
            lambda a, b: b.code != 2 and (a.code, a.out, a.files) != (b.code, b.out, b.files)
        )
        if shows:
            self.seen = lambda a, b: b.code == 0 and not shows(a.json()) and bool(shows(b.json()))
            if "--json" not in self.also:
                self.also.append("--json")


folder = tempfile.TemporaryDirectory()
work = Path(folder.name)


def call(args: List[str]) -> Result:
    env = {
        **os.environ,
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "HOME": str(work / "home"),
        "SOURCE_DATE_EPOCH": "0",
        "ASSAY_MACHINE": str(work / "machine.json"),
    }
    for name in ("NO_COLOR", "ASSAY_DB", "XDG_DATA_HOME", "GITHUB_ACTIONS", "TERM"):
        env.pop(name, None)
    before = {p for p in work.rglob("*") if p.is_file()}
    done = subprocess.run(
        [PROGRAM, *args],
        cwd=work,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=TIMEOUT_S,
    )
    made = sorted(p for p in work.rglob("*") if p.is_file() and p not in before)
    files = {str(p.relative_to(work)): p.read_text(errors="replace") for p in made}
    for p in made:
        p.unlink()
    return Result(args, done, files)


# ---- samples ----

# Its weights are behind a link out of its directory.
LINKED = ["linked/model.onnx"]
ONE_LAYER = ["--set", "num_hidden_layers=1", "--set", "vocab_size=300"]
RUN = ["--num-runs", "3", "--warmup-runs", "1"]
BASES: Dict[str, List[str]] = {
    "graph": ["resnet18"],
    "profile": [SMALL, *RUN, "--batch-sizes", "1,2"],
    "bench": [SMALL, *RUN],
    "layers": [SMALL, *RUN],
    "memory": ["resnet18"],
    "compare": ["resnet18", "resnet34"],
    "check": ["resnet18", "--threshold", "params:30M", "flops:1T"],
    "report": ["graph.json"],
    "validate": ["resnet18"],
    "map": ["resnet18", "--hardware", "t4"],
    "fuse": ["resnet18"],
    "scale": ["resnet18", "--dim", "side=64..128:3"],
    "sweep": ["--models", "lenet"],
    "history": ["list", "--db", "h.db"],
    "trend": [SMALL, "--db", "h.db"],
    "capacity": ["bench.json", "--target", "100"],
    "serve": [],
    "mcp": [],
    "devices": [],
    "models": ["resnet1"],
    "export": ["lenet", "-o", "x.onnx"],
    "pipeline": ["sd15"],
    "ops": ["Conv"],
    "machine": ["--show"],
    "lenses": [],
    "doctor": [],
    "watch": ["-o", "watch.json", "-q"],
    "completion": ["bash"],
    "help": [],
    "version": [],
}
# A scripted server, until the check ends: its stdin closes then.
SERVER = subprocess.Popen(
    [sys.executable, str(Path(__file__).resolve().parent.parent / "cli" / "load_server.py")],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
)
assert SERVER.stdout
URL = f"http://127.0.0.1:{int(SERVER.stdout.readline())}"
BASES["load"] = [URL + "/fixed", "--num-requests", "3"]
TAILS = {"watch": ["--", "sleep", "0.4"]}
LANGUAGE = ["gpt2", "--prompt-tokens", "64"]
PLANNED = ["gpt2", "--hardware", "t4", "--target", "100"]
TINY = [
    *("gpt2", "--prompt-tokens", "4", "--generate", "2", "--set", "n_layer=1"),
    *("--set", "n_embd=32", "--set", "n_head=2", "--set", "vocab_size=100"),
]
SAVED = ["--save", "--db", "kept.db"]


def engine(key: str, value: Any) -> Callable[[Any], bool]:
    return lambda j: bool(j.get("context", {}).get("engine", {}).get(key) == value)


def runs_of(j: Any) -> Any:
    return j.get("latency", {}).get("runs", 0)


def wide(text: str) -> int:
    return max((len(line) for line in text.splitlines()), default=0)


def fewer_columns(a: Result, b: Result) -> bool:
    return b.code == a.code and (wide(b.out) < wide(a.out) or a.out != b.out)


def shown_text(r: Result) -> str:
    return r.out or r.err


def only_ascii(a: Result, b: Result) -> bool:
    return b.code == a.code and not shown_text(a).isascii() and shown_text(b).isascii()


def coloured(a: Result, b: Result) -> bool:
    return b.code == a.code and "\033[" not in shown_text(a) and "\033[" in shown_text(b)


def exits(code: int) -> Seen:
    return lambda a, b: a.code == 0 and b.code == code


# Refused without it. With it, an engine may still refuse the link.
FOLLOWED: Seen = lambda a, b: a.code == 4 and b.code != 4


def deep_module(r: Result) -> bool:
    return re.search(r"^  layer\d\.\d ", r.out, re.M) is not None


def longer(a: Result, b: Result) -> bool:
    return b.code == a.code and len(b.out) > len(a.out) + 200


def saves(a: Result, b: Result) -> bool:
    return a.code == 2 and "kept.db" in b.files


def kept(a: Result, b: Result) -> bool:
    return b.code in (0, 7) and a.files["kept.db"] != b.files["kept.db"]


def other_db(a: Result, b: Result) -> bool:
    return "other.db" in b.files


def flag_in_page(a: Result, b: Result) -> bool:
    """Settings come first in the compressed data of a page; the rest differs anyway."""

    def settings(r: Result) -> List[str]:
        data = re.search(r'data-encoding="gzip">([^<]*)<', r.out)
        page = gzip.decompress(base64.b64decode(data.group(1))).decode() if data else r.out
        return re.findall(r'"(?:graphs|details)":\s*(?:true|false)', page[:200])

    return b.code == a.code and len(settings(b)) == 2 and settings(a) != settings(b)


def curve(r: Result) -> int:
    """Columns of the longest curve on the screen."""
    return max(map(len, re.findall("[\u2581-\u2588]+", r.err)), default=0)


def looks(r: Result) -> int:
    return len(r.json()["watch"]["samples"])


OPTIONS = {
    "model": Sample("resnet34", base=[]),
    "model-path": Sample("resnet34", base=[]),
    "models": Sample("resnet34,lenet", base=[]),
    "input-shape": Sample("1,3,96,96"),
    "dim": Sample("sequence=64", base=[SMALL]),
    "ops": Sample("rules.json"),
    "batch": Sample("2"),
    "set": Sample("num_classes=10"),
    "config": Sample("train.json"),
    "precision": Sample("fp16"),
    "strict": Sample(base=[SMALL], seen=exits(4)),
    "follow-symlinks": Sample(base=LINKED, seen=FOLLOWED),
    # The same bytes by design (case graph_sandbox), but for what it refuses.
    "sandbox": Sample(also=["--follow-symlinks"], seen=lambda a, b: (a.code, b.code) == (0, 2)),
    "raise-limit": Sample("model-memory=1KB", seen=lambda a, b: (a.code, b.code) == (0, 1)),
    "sbom": Sample(),
    "lens": Sample("fvcore"),
    "training": Sample(),
    "patterns": Sample(base=["gpt2"]),
    "advice": Sample(),
    "no-advice": Sample(also=["-f", "md"]),
    "hardware": Sample("a100-80"),
    "goal": Sample("latency:5ms", also=["--json"]),
    "price": Sample("0.5"),
    "at": Sample("0"),
    "strategy": Sample("none"),
    "solve": Sample("memory<=1GB"),
    "threshold": Sample("params:1", seen=exits(6)),
    "target": Sample("200"),
    "latency": Sample("p50:1s"),
    "headroom": Sample("50"),
    "opset": Sample("13"),
    "external-data": Sample(),
    "quant": Sample("q8_0", base=["smollm2-135m", *ONE_LAYER, "-o", "x.gguf"]),
    "disk-limit": Sample("1KiB", base=["smollm2-135m", *ONE_LAYER, "-o", "x.gguf"]),
    "holes": Sample(),
    "height": Sample("256"),
    "width": Sample("256"),
    "steps": Sample("10"),
    "guidance-scale": Sample("1"),
    "strength": Sample("0.5"),
    "sweep": Sample("steps=10,20"),
    "generate": Sample("10", base=LANGUAGE),
    "cache-dtype": Sample("fp8", base=LANGUAGE),
    "prompt-tokens": Sample("10", base=LANGUAGE),
    "prompt": Sample("a cat", also=["-o", "generation_config.json"]),
    "pipeline-file": Sample("pipe.json", base=[]),
    "no-profiling": Sample(),
    "top": Sample("3"),
    "depth": Sample("2"),
    "view": Sample("memory"),
    "verbose": Sample(),
    "columns": Sample("60", seen=fewer_columns),
    "ascii": Sample(seen=only_ascii),
    "color": Sample("always", seen=coloured),
    "rows": Sample("groups", also=["-f", "csv"]),
    "no-graphs": Sample(also=["-f", "html"], seen=flag_in_page),
    "no-details": Sample(also=["-f", "html"], seen=flag_in_page),
    "output": Sample("out.json"),
    "output-dir": Sample("out"),
    "format": Sample("json"),
    "json": Sample(),
    "quiet": Sample(),
    "save": Sample(also=["--db", "kept.db"], seen=saves),
    "tag": Sample("x", also=SAVED, seen=kept),
    "db": Sample("other.db", also=["--save"], seen=other_db),
    "baseline": Sample("bench.json", also=["--json"]),
    "save-baseline": Sample("base.json"),
    "junit": Sample("j.xml"),
    "metrics": Sample("params", also=["--baseline", "graph.json"]),
    "help": Sample(seen=lambda a, b: b.code == 0 and a.out != b.out),
    "version": Sample(seen=lambda a, b: b.code == 0 and b.out.startswith("assay ")),
    "against-engine": Sample(runs=True),
    # measuring
    "num-runs": Sample("5", runs=True, shows=lambda j: runs_of(j) == 5),
    "warmup-runs": Sample("40", runs=True, shows=lambda j: j["latency"]["warmup_runs"] >= 40),
    "batch-sizes": Sample("3", runs=True, shows=lambda j: j["config"]["batch_sizes"] == [3]),
    "configs": Sample("3:fp32", runs=True, shows=lambda j: j["config"]["batch_sizes"] == [3]),
    "duration": Sample("0.3", runs=True, shows=lambda j: runs_of(j) > 3),
    "concurrency": Sample("2", runs=True, shows=engine("concurrency", 2)),
    "rate": Sample("50", runs=True, shows=engine("rate", 50)),
    "cold": Sample("2", runs=True, shows=lambda j: "cold_starts" in j),
    "seed": Sample("7", runs=True, shows=engine("seed", 7)),
    "threads": Sample("1", runs=True, shows=engine("threads", 1)),
    "no-spin": Sample(runs=True, shows=engine("spin", False)),
    "opt-level": Sample("1", runs=True, shows=engine("opt_level", 1)),
    "provider-option": Sample(
        "session.disable_prepacking=1",
        runs=True,
        shows=lambda j: j["context"]["engine"].get("provider_options"),
    ),
    "device": Sample("warp", runs=True, seen=exits(2)),
    "engine-lib": Sample("/nowhere/libonnxruntime.so", runs=True, seen=exits(5)),
    "input": Sample("x=nothing.npy", runs=True, seen=exits(1)),
    "unit": Sample("requests", runs=True, shows=lambda j: j["throughput"]["unit"] == "requests"),
    "memory-limit": Sample("1KiB", runs=True, seen=lambda a, b: a.code == 0 and b.code != 0),
    "save-outputs": Sample(
        "outputs", runs=True, seen=lambda a, b: any(p.startswith("outputs/") for p in b.files)
    ),
}
MODEL_RUN = {
    "input-shape": Sample("1,64,8", shows=lambda j: j["config"]["input_shapes"]["x"] == [1, 64, 8]),
    "dim": Sample("sequence=64", shows=lambda j: j["config"]["input_shapes"]["x"] == [1, 64, 8]),
    "ops": Sample("rules.json", shows=lambda j: j.get("user_operators")),
    "batch": Sample("2", shows=lambda j: j["config"]["input_shapes"]["x"][0] == 2),
    "set": Sample(
        "num_classes=7",
        base=["lenet", *RUN],
        shows=lambda j: j["config"]["outputs"][0]["shape"][-1] == 7,
    ),
    "config": Sample("tiny.json", base=["lenet", *RUN], shows=lambda j: j["config"]["config_file"]),
    "hardware": Sample("t4", shows=lambda j: j["bottlenecks"].get("hardware")),
    "verbose": Sample(shows=lambda j: j.get("values")),
    "lens": Sample("fvcore", shows=lambda j: j["lens"] == "fvcore"),
    "training": Sample(shows=lambda j: j.get("training")),
    "precision": Sample("fp16", shows=lambda j: j["config"]["precision"] == "float16"),
    "strict": Sample(seen=exits(4)),
    "no-advice": Sample(
        seen=lambda a, b: a.code == b.code and "ecommend" in a.out and len(b.out) < len(a.out)
    ),
    "top": Sample(
        "1", seen=lambda a, b: a.code == b.code and a.out.count("\n") != b.out.count("\n")
    ),
    "rows": Sample(
        "runs",
        also=["-f", "csv"],
        seen=lambda a, b: b.code == 0 and a.out.split("\n")[0] != b.out.split("\n")[0],
    ),
    "columns": Sample("60", seen=lambda a, b: b.code == a.code and wide(b.out) <= 60 < wide(a.out)),
    "output": Sample("out.json", seen=lambda a, b: "out.json" in b.files),
    "output-dir": Sample("out", seen=lambda a, b: any(p.startswith("out/") for p in b.files)),
    "format": Sample("json", seen=lambda a, b: b.out.startswith("{")),
    "json": Sample(seen=lambda a, b: b.out.startswith("{")),
    "quiet": Sample(seen=lambda a, b: b.code == 0 and a.out and not b.out),
    "model": Sample(SMALL, base=RUN, seen=lambda a, b: a.code == 2 and b.code == 0),
    "model-path": Sample(SMALL, base=RUN, seen=lambda a, b: a.code == 2 and b.code == 0),
    "db": Sample("other.db", also=["--save"], seen=lambda a, b: "other.db" in b.files),
    "baseline": Sample(
        "bench.json", seen=lambda a, b: b.code in (0, 6, 7) and len(b.out) > len(a.out)
    ),
    "save-baseline": Sample("saved.json", seen=lambda a, b: "saved.json" in b.files),
    "junit": Sample("j.xml", seen=lambda a, b: "j.xml" in b.files),
    "metrics": Sample(
        "params",
        also=["--baseline", "bench.json"],
        seen=lambda a, b: b.code == 0 and "arameters" in b.out and len(b.out) < len(a.out),
    ),
    "threshold": Sample("params:1", seen=exits(6)),
}
# Sections below the summary of profile.
PROFILED = ["lenet", *RUN, "--batch-sizes", "1"]
SECTIONS = {
    "top": Sample("1", base=PROFILED, seen=lambda a, b: longer(b, a)),
    "verbose": Sample(base=PROFILED, seen=longer),
    "training": Sample(base=PROFILED, seen=longer),
    "hardware": Sample("t4", base=PROFILED, seen=lambda a, b: "ridge of t4" in b.out),
}
# The console of a watched command is on stderr.
WATCH = {
    "output": Sample("w.json", base=["-q"], seen=lambda a, b: "w.json" in b.files),
    "quiet": Sample(base=[], seen=lambda a, b: a.err and not b.err),
    "format": Sample("json", base=[], seen=lambda a, b: b.out.startswith("{")),
    "json": Sample(base=[], seen=lambda a, b: b.out.startswith("{")),
    "duration": Sample(
        "0.05", base=["--json", "--interval", "10"], seen=lambda a, b: looks(b) < looks(a)
    ),
    "interval": Sample("10", base=["--json"], seen=lambda a, b: looks(b) > looks(a)),
    "columns": Sample("40", base=["--interval", "2"], seen=lambda a, b: curve(b) < curve(a)),
    "ascii": Sample(base=[], seen=only_ascii),
    "color": Sample("always", base=[], seen=coloured),
    "no-graphs": Sample(base=[], also=["-f", "html"], seen=flag_in_page),
    "no-details": Sample(base=[], also=["-f", "html"], seen=flag_in_page),
}
ENGINE_COMMANDS = ("profile", "bench", "layers", "history", "trend", "capacity")
PIPE = {"name": "mine", "height": 256, "components": [{"role": "denoiser", "model": "sd15-unet"}]}
RULES = {
    "schema": "assay.ops/1",
    "operators": [
        {"op": op, "inputs": ["x"], "outputs": [{"shape": "x"}], "cost": {"mac": "size(x)"}}
        for op in ("Relu", "Softmax")
    ],
}
MODEL_BASES: List[Tuple[str, str, List[str]]] = [
    ("map", "lenet", ["--hardware", "t4"]),
    ("scale", "lenet", ["--dim", "batch=1..4"]),
    ("export", "lenet", ["-o", "x.onnx"]),
    ("check", "resnet34", ["--threshold", "params:30M"]),
    ("pipeline", "sd15", []),
    ("compare", "lenet", ["resnet18"]),
]
CHAT = [URL + "/v1/chat/completions?usage=1", "--num-requests", "2"]
LOAD = {
    "model": Sample("other", base=CHAT, seen=exits(5)),
    "protocol": Sample(
        "openai-chat", base=[URL, "--num-requests", "1"], shows=lambda r: "ttft" in r
    ),
    "concurrency": Sample("2", shows=lambda r: r["settings"]["concurrency"] == 2),
    "rate": Sample("50", shows=lambda r: r["settings"]["mode"] == "open"),
    "duration": Sample("300ms", shows=lambda r: r["settings"].get("duration_s") == 0.3),
    "num-requests": Sample(
        "4",
        base=[URL + "/fixed", "--duration", "300ms"],
        shows=lambda r: r["requests"] == 4,
    ),
    "arrivals": Sample(
        "constant", also=["--rate", "50"], shows=lambda r: r["settings"]["arrivals"] == "constant"
    ),
    "slo": Sample("p99:1us", seen=exits(6)),
    "seed": Sample("7", shows=lambda r: r["settings"]["seed"] == 7),
    "generate": Sample("3", base=CHAT, shows=lambda r: r["output_tokens"] == 6),
    "prompt-tokens": Sample(
        "9", base=CHAT, shows=lambda r: r["settings"].get("prompt_tokens") == "9"
    ),
    "no-stream": Sample(base=CHAT, shows=lambda r: "ttft" not in r),
    "request-timeout": Sample("9s", shows=lambda r: r["settings"]["timeout_s"] == 9),
    "warmup": Sample("50ms", shows=lambda r: r["settings"].get("warmup_s") == 0.05),
    "expect": Sample("goodbye", seen=exits(5)),
    "header": Sample("X-Mine: 1", shows=lambda r: r["settings"].get("headers") == ["X-Mine"]),
    "data": Sample(
        "hello",
        base=[URL + "/echo", "--num-requests", "1", "--expect", "hello"],
        seen=lambda a, b: a.code == 5 and b.code == 0,
    ),
    "method": Sample("HEAD", base=[URL + "/status?code=204", "--num-requests", "1"]),
    "rows": Sample("cdf", also=["-f", "csv"]),
}
ON_KUBERNETES = ["--models", "lenet", "--on", "kubernetes", "--db", "s.db", "--image", "i"]
# Plans alone, and manifests of Kubernetes; no task runs.
SWEEP: Dict[str, Sample] = {
    "models": Sample("lenet", base=["missing.json"], seen=lambda a, b: a.code == 1 and b.code == 2),
    **{
        o: Sample(v, also=["--json"])
        for o, v in (
            ("sweep-name", "nightly"),
            ("batch-sizes", "1,2"),
            ("precisions", "fp32,fp16"),
            ("threads", "1,2"),
            ("device", "cpu,cuda"),
            ("node-class", "big"),
            ("repeat", "2"),
            ("num-runs", "7"),
            ("warmup-runs", "3"),
            ("duration", "2s"),
            ("concurrency", "2"),
            ("opt-level", "1"),
            ("no-spin", None),
            ("memory-limit", "1GiB"),
            ("seed", "3"),
        )
    },
    "engine-lib": Sample("/nowhere/lib.so", also=["--json"], runs=True),
    "columns": Sample("40", seen=fewer_columns),
    "ascii": Sample(base=["report", "plan.json", "--db", "h.db"], seen=only_ascii),
    "verbose": Sample(also=["--batch-sizes", ",".join(map(str, range(1, 80)))], seen=longer),
    "rows": Sample("cells", base=["report", "plan.json", "--db", "h.db", "-f", "csv"]),
    "db": Sample("s.db", base=["--models", "lenet", "--on", "kubernetes", "--image", "i"]),
    "on": Sample("kubernetes", also=["--db", "s.db", "--image", "i"]),
    "tasks": Sample("1", base=[*ON_KUBERNETES, "--repeat", "3"]),
    "throttle": Sample("1", base=[*ON_KUBERNETES, "--repeat", "3"]),
    "time-limit": Sample("7", base=ON_KUBERNETES),
    "image": Sample("other", base=ON_KUBERNETES),
    "secret": Sample("keys", base=ON_KUBERNETES),
    "manifest": Sample("m.yaml", base=ON_KUBERNETES),
}

PAIRS = {
    "pipeline raise-limit": Sample("analysis-memory=1KB"),
    "report raise-limit": Sample("document=100"),
    "doctor raise-limit": Sample("json=1KB", base=["--limits"]),
    "map follow-symlinks": Sample(base=[*LINKED, "--hardware", "t4"], seen=FOLLOWED),
    "scale follow-symlinks": Sample(base=[*LINKED, "--dim", "batch=1..2"], seen=FOLLOWED),
    "check follow-symlinks": Sample(base=[*LINKED, "--threshold", "flops:1T"], seen=FOLLOWED),
    "compare follow-symlinks": Sample(base=[*LINKED, "lenet"], seen=FOLLOWED),
    "profile follow-symlinks": Sample(base=[*LINKED, *RUN], seen=FOLLOWED, runs=True),
    "bench follow-symlinks": Sample(base=[*LINKED, *RUN], seen=FOLLOWED, runs=True),
    "layers follow-symlinks": Sample(base=[*LINKED, *RUN], seen=FOLLOWED, runs=True),
    "export follow-symlinks": Sample(base=[*LINKED, "-o", "followed.onnx"], seen=FOLLOWED),
    **{f"{c} {o}": s for c in ("profile", "bench", "layers") for o, s in MODEL_RUN.items()},
    **{f"profile {o}": s for o, s in SECTIONS.items()},
    "pipeline strict": Sample(base=["odd"], seen=exits(4)),
    "check ops": Sample("rules.json", also=["--json"]),
    "profile lens": Sample("torch", shows=lambda j: j["lens"] == "torch"),
    "profile columns": Sample(
        "60", base=["lenet", *RUN], seen=lambda a, b: a.code == b.code and wide(b.out) < wide(a.out)
    ),
    "report view": Sample("memory"),
    "profile precision": Sample(
        "fp16",
        base=["lenet", *RUN, "--batch-sizes", "1"],
        shows=lambda j: j["configurations"][0]["precision"] == "fp16",
    ),
    "layers depth": Sample(
        "1",
        base=["resnet18", "--input-shape", "1,3,32,32", *RUN],
        seen=lambda a, b: a.code == b.code == 0 and deep_module(a) and not deep_module(b),
    ),
    "layers layers": Sample(
        "conv",
        base=["lenet", *RUN],
        seen=lambda a, b: "relu1" in a.out and "relu1  relu" not in b.out,
    ),
    "layers no-advice": Sample(
        base=["lenet", *RUN], seen=lambda a, b: "ecommend" in a.out and "ecommend" not in b.out
    ),
    "layers columns": Sample(
        "60", base=["lenet", *RUN], seen=lambda a, b: a.code == b.code and wide(b.out) < wide(a.out)
    ),
    "map models": Sample("resnet34,lenet", base=["--hardware", "t4"]),
    "map runtime": Sample("eager"),
    "layers top": Sample(
        "1", base=["lenet", *RUN], seen=lambda a, b: "Slowest 1 of" in b.out and b.code == 0
    ),
    "models task": Sample("detection", base=["resnet"]),
    "models hardware": Sample("a100-80", base=["--task", "classification", "--hardware", "t4"]),
    "models runtime": Sample("eager", base=["--task", "classification", "--hardware", "t4"]),
    "models budget": Sample("latency:1ms", base=["--task", "classification", "--hardware", "t4"]),
    "map dim": Sample("sequence=64", base=[SMALL, "--hardware", "t4"]),
    "map strict": Sample(base=[SMALL, "--hardware", "t4"], seen=exits(4)),
    "map batch-sizes": Sample("3"),
    "map no-advice": Sample(),
    "validate lens": Sample("torchvision"),
    **{
        f"{c} {o}": Sample(v, base=base)
        for c, v, base in MODEL_BASES
        for o in ("model", "model-path")
    },
    "scale dim": Sample("batch=1..4:2"),
    "scale input-shape": Sample("1,3,96,96", base=["resnet18", "--dim", "batch=1..4"]),
    "scale strict": Sample(base=[SMALL, "--dim", "batch=1..4"], seen=exits(4)),
    "compare budget": Sample("flops:5G"),
    "compare dim": Sample("sequence=64", base=[SMALL, SMALL]),
    "compare rows": Sample("layers", also=["-f", "csv"]),
    "compare save": Sample(
        base=[SMALL, SMALL, "--measure", *RUN], also=["--db", "kept.db"], runs=True, seen=saves
    ),
    "compare tag": Sample(
        "x", base=[SMALL, SMALL, "--measure", *RUN], also=SAVED, runs=True, seen=kept
    ),
    "compare db": Sample(
        "other.db",
        base=[SMALL, SMALL, "--measure", *RUN],
        also=["--save"],
        runs=True,
        seen=other_db,
    ),
    "export input-shape": Sample("1,1,28,28", also=["--precision", "fp32"]),
    "export output": Sample(
        "y.onnx", base=["lenet"], seen=lambda a, b: a.code == 2 and "y.onnx" in b.files
    ),
    "export set": Sample("num_classes=7"),
    "export config": Sample("tiny.json"),
    "export seed": Sample("7"),
    "export weight-bits": Sample("7", also=["--precision", "int8"], runs=True),
    "export engine-lib": Sample(
        "/nowhere/lib.so", also=["--precision", "int8"], runs=True, seen=exits(5)
    ),
    "pipeline set": Sample("n_layer=2", base=LANGUAGE),
    "pipeline slo": Sample("itl:2ms", base=[*LANGUAGE, "--hardware", "t4"]),
    "pipeline hardware": Sample("t4", base=LANGUAGE),
    "pipeline precision": Sample("fp16", base=LANGUAGE),
    "pipeline memory-limit": Sample("1GiB", base=LANGUAGE),
    "pipeline engine-lib": Sample(
        "/nowhere/lib.so", base=[*TINY, "--measure", *RUN], runs=True, seen=exits(5)
    ),
    "pipeline measure": Sample(base=TINY, also=["--json"], runs=True),
    "check dim": Sample("sequence=64", base=[SMALL, "--threshold", "flops:1G"]),
    "check strict": Sample(base=[SMALL, "--threshold", "flops:1G"], seen=exits(4)),
    "check baseline": Sample("graph.json"),
    "check metrics": Sample("params", base=["resnet18"], also=["--baseline", "graph2.json"]),
    "check metric-tolerance": Sample(
        "params:9", base=["resnet18"], also=["--baseline", "graph2.json"]
    ),
    "check columns": Sample("40", also=["--baseline", "graph2.json"]),
    "check tolerance": Sample(
        "50",
        base=[SMALL, *RUN, "--baseline", "bench.json"],
        runs=True,
        seen=lambda a, b: "50.0 %" in b.out and "50.0 %" not in a.out,
    ),
    "check measure": Sample(
        base=[SMALL, "--save-baseline", "b.json"],
        also=RUN,
        runs=True,
        seen=lambda a, b: a.code == 2 and b.code == 0,
    ),
    "check save": Sample(also=["--db", "kept.db"], seen=saves),
    "memory dim": Sample("sequence=64", base=[SMALL]),
    "memory measure": Sample(base=[SMALL, "--json"], runs=True),
    "memory rows": Sample("slots", also=["-f", "csv"]),
    "report rows": Sample("runs", also=["-f", "csv"], base=["bench.json"]),
    "fuse rows": Sample("layers", also=["-f", "csv"]),
    "fuse engine-lib": Sample(
        "/nowhere/lib.so", also=["--against-engine"], runs=True, seen=exits(5)
    ),
    "fuse opt-level": Sample("0", also=["--against-engine"], runs=True),
    "fuse device": Sample(
        "warp", also=["--against-engine"], runs=True, seen=lambda a, b: a.code != b.code
    ),
    "history model": Sample("nothing"),
    "history tag": Sample("b"),
    "history since": Sample("2038-01-01"),
    "history query": Sample("nothing"),
    "history limit": Sample("1"),
    "history db": Sample("h.db", base=["list"]),
    "history machine": Sample("nothing"),
    "history metric": Sample("p95", base=["changes", "--db", "h.db"]),
    "history by": Sample("machine", base=["changes", "--db", "h.db", "--json"]),
    "history latency": Sample("p50:1ns", base=["cheapest", SMALL, "--db", "h.db"], seen=exits(6)),
    "history price": Sample("cpu=1", base=["cheapest", SMALL, "--db", "h.db"]),
    "history skip-bad": Sample(
        base=["import", "bad.jsonl", "--db", "bad.db"],
        seen=lambda a, b: a.code == 3 and b.code == 0,
    ),
    **{
        f"history {o}": Sample(v, base=["show", "1", "--db", "counts.db"])
        for o, v in (("top", "1"), ("depth", "2"), ("verbose", None))
    },
    "trend columns": Sample(
        "40", base=[SMALL, "--db", "h.db", "--alert", "p50 > 0ms"], seen=fewer_columns
    ),
    "trend tag": Sample("b"),
    "trend since": Sample("2038-01-01", seen=lambda a, b: a.code == 0 and b.code != 0),
    "trend limit": Sample("1"),
    "trend all": Sample(base=[SMALL, "--db", "mixed.db"]),
    "trend metric": Sample("p95"),
    "trend alert": Sample("p50 > 0ms", seen=exits(6)),
    "trend db": Sample("h.db", base=[SMALL]),
    "capacity db": Sample("h.db", base=["1", "--target", "100"]),
    "capacity hardware": Sample("t4,l4", base=PLANNED),
    "capacity slo": Sample("itl:2ms", base=PLANNED),
    "capacity prompt-tokens": Sample("200", base=PLANNED),
    "capacity generate": Sample("50", base=PLANNED),
    "capacity cache-dtype": Sample("fp8", base=PLANNED),
    "capacity precision": Sample("int8", base=PLANNED),
    "capacity set": Sample("n_layer=2", base=PLANNED),
    "machine save": Sample(also=["--db", "kept.db"], seen=saves),
    "serve help": Sample(base=["--port", "none"], seen=lambda a, b: a.code == 2 and b.code == 0),
    "serve version": Sample(base=["--port", "none"], seen=lambda a, b: a.code == 2 and b.code == 0),
    "devices hardware": Sample("t4"),
    "help man": Sample(),
    "doctor limits": Sample(),
    "help docs": Sample(),
    "version licenses": Sample(),
    **{f"watch {o}": s for o, s in WATCH.items()},
    **{f"load {o}": s for o, s in LOAD.items()},
    **{f"sweep {o}": s for o, s in SWEEP.items()},
}

# What no sample shows here, with the reason; "command option" or an option of any command.
HIDDEN = {
    "precision-target": "how many runs it takes cannot be foreseen",
    **{
        f"{c} tolerance": "moves a verdict that timings decide"
        for c in ("profile", "bench", "compare")
    },
    **{f"{c} metric-tolerance": "check shows it" for c in ("profile", "bench")},
    "weight-bits": "rounds int8 weights, which only the outputs show",
    "gpu-events": "needs a GPU",
    "no-nvtx": "needs a profiler of NVIDIA's",
    "live": "needs fvcore or thop",
    "show": "without it the machine is measured for seconds",
    "quick": "measures the machine for seconds",
    "calibrate": "measures the machine for a minute",
    "machine threads": "measures the machine for seconds",
    "machine engine-lib": "measures the machine for seconds",
    "pid": "needs another process",
    **{
        f"load {o}": "tests/cli/check_load.py shows it"
        for o in "curve rates trace speed requests body header-file insecure cacert cgroup".split()
    },
    **{
        f"bench {o}": "needs llama.cpp; the case run_llama shows it"
        for o in (
            "quant",
            "disk-limit",
            "prompt-tokens",
            "generate",
            "cache-dtype",
            "context-depth",
            "flash-attention",
        )
    },
    **{
        f"profile {o}": "needs llama.cpp; the case run_llama shows it"
        for o in "prompt-tokens generate cache-dtype context-depth flash-attention".split()
    },
    "map fit": "the case map_fit shows it",
    "mcp raise-limit": "the case mcp shows it",
    "sweep follow": "it ends when another program ends the sweep",
    "history keep": "test_store and the case history_server show it",
    "history keep-tagged": "test_store and the case history_server show it",
    "fuse threads": "the graph that the engine writes does not depend on it",
    **{
        f"{c} {o}": "the result does not tell; bench shows it"
        for c in ("compare", "pipeline")
        for o in (
            "num-runs",
            "warmup-runs",
            "seed",
            "threads",
            "no-spin",
            "opt-level",
            "provider-option",
            "device",
            "engine-lib",
            "memory-limit",
            "measure",
        )
        if f"{c} {o}" not in PAIRS
    },
    **{
        f"serve {o}": "starts a server"
        for o in (
            *("db", "port", "host", "token", "token-file", "allow-host", "timeout", "read-only"),
            "sweep-plan",
            *("no-sandbox", "raise-limit"),
        )
    },
}


def sample_of(command: str, option: str) -> Optional[Sample]:
    sample = PAIRS.get(f"{command} {option}") or OPTIONS.get(option)
    if (
        sample
        and sample.runs
        and f"{command} {option}" not in PAIRS
        and command in ("memory", "check")
    ):
        base = [SMALL, "--measure", *RUN] + (
            ["--save-baseline", "b.json"] if command == "check" else []
        )
        also = [a for a in sample.also if command != "check" or a != "--json"]
        return Sample(sample.value, also, base, sample.seen, True)
    return sample


# ---- the walk ----


def prepare() -> bool:
    """What samples read. Whether there is an engine."""
    (work / "home").mkdir()
    (work / "machine.json").write_bytes((ROOT / "tests/data/machine.json").read_bytes())
    (work / "train.json").write_text('{"model": {"net_type": "resnet18", "num_classes": 10}}')
    (work / "tiny.json").write_text('{"model": {"net_type": "lenet", "num_classes": 7}}')
    (work / "linked").mkdir()
    subprocess.run(
        [PROGRAM, "export", "lenet", "-q", "--external-data", "-o", "linked/model.onnx"],
        cwd=work,
        check=True,
    )
    (work / "linked" / "model.onnx.data").rename(work / "outside")
    (work / "linked" / "model.onnx.data").symlink_to("../outside")
    (work / "odd" / "unet").mkdir(parents=True)
    (work / "odd" / "model_index.json").write_text(
        '{"_class_name": "StableDiffusionPipeline", "unet": ["diffusers", "UNetOfTomorrow"]}'
    )
    (work / "odd" / "unet" / "config.json").write_text('{"_class_name": "UNetOfTomorrow"}')
    (work / "rules.json").write_text(json.dumps(RULES))
    (work / "bad.jsonl").write_text('{"schema": "assay.history/1"}\n{"tags": []}\n')
    (work / "pipe.json").write_text(json.dumps(PIPE))
    for args in (
        ["graph", "resnet18", "-o", "graph.json"],
        ["graph", "resnet18", "--set", "num_classes=9", "-o", "graph2.json"],
        ["sweep", "--models", "lenet", "-o", "plan.json"],
    ):
        keep(args)
    if call(["bench", SMALL, *RUN]).code != 0:
        return False
    keep(["bench", SMALL, "--num-runs", "30", "-o", "bench.json"])
    for tag in ("a", "b"):
        keep(["bench", SMALL, *RUN, "--save", "--db", "h.db", "--tag", tag])
    keep(["graph", "resnet18", "--save", "--db", "counts.db", "--tag", "a"])
    for batch in ("1", "2"):
        keep(["bench", SMALL, *RUN, "--save", "--db", "mixed.db", "--batch-sizes", batch])
    return True


def keep(args: List[str]) -> None:
    done = subprocess.run(
        [PROGRAM, *args, "-q"], cwd=work, capture_output=True, encoding="utf-8", timeout=TIMEOUT_S
    )
    assert done.returncode == 0, (args, done.stderr)


def check_refused(command: Any, option: Any) -> Optional[str]:
    args = [command["name"], "--" + option["name"], *(["1"] if "value" in option else [])]
    done = call(args)
    if done.code != 2:
        return f"exit {done.code}, not 2"
    unnamed = [c for c in option["commands"] if not re.search(rf"\b{c}\b", done.err)]
    return f"does not name {unnamed[0]}" if unnamed else None


cache: Dict[Tuple[str, ...], Result] = {}


def once(args: List[str]) -> Result:
    key = tuple(args)
    if key not in cache:
        cache[key] = call(args)
    return cache[key]


def check_effect(command: Any, option: Any, with_engine: bool) -> Optional[str]:
    name, sample = command["name"], sample_of(command["name"], option["name"])
    if option["name"] in HIDDEN or f"{name} {option['name']}" in HIDDEN:
        return None
    if not sample:
        return "no sample"
    if not with_engine and (sample.runs or name in ENGINE_COMMANDS):
        return None
    base = BASES[name] if sample.base is None else sample.base
    given = ["--" + option["name"]] + ([sample.value] if sample.value is not None else [])
    tail = TAILS.get(name, [])
    without, with_it = once([name, *base, *sample.also, *tail]), call(
        [name, *base, *sample.also, *given, *tail]
    )
    try:
        seen = sample.seen(without, with_it)
    except (KeyError, IndexError, TypeError) as missing:
        return f"the result has no {missing}"
    return (
        None
        if seen
        else f"no effect (exit {without.code} and {with_it.code}): {with_it.err.strip()[:200]}"
    )


def main() -> int:
    tables = json.loads(call(["help", "--json"]).out)
    only, failed, pairs = sys.argv[2:], 0, 0
    with_engine = prepare()
    for command in tables["commands"]:
        if only and command["name"] not in only:
            continue
        for option in tables["options"]:
            taken = command["name"] in option["commands"]
            why = (
                check_effect(command, option, with_engine)
                if taken
                else check_refused(command, option)
            )
            pairs += 1
            failed += why is not None
            if why:
                print(f"{command['name']} --{option['name']}: {why}", flush=True)
    print(f"{pairs} pairs of a command and an option, {failed} failed")
    if not with_engine:
        print("skipped: pairs that run a model: no engine")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
