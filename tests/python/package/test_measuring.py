"""Runs on the engine: progress, Ctrl-C, profilers, regressions."""
import io
import os
import signal
import subprocess
import sys
import threading
import types
import unittest
import warnings
from typing import Any, Dict, List
from unittest import mock

import assay
from assay import _running
from statuses import INTERRUPTED, statuses
from support import RESNET, ROOT, InFolder, needs_engine, neg

QUICK: Dict[str, Any] = {"num_runs": 3, "warmup_runs": 1, "progress": False}
TINY = "squeezenet1_1"
_running_hooks = _running.Hooks
STAND_IN = os.path.join(os.environ["ASSAY_BUILD"], "tests", "libfake_nvml.so")


@needs_engine
class Calls(InFolder):
    def test_profile(self) -> None:
        r = assay.profile(TINY, batch_sizes=[1, 2], **QUICK)
        self.assertEqual(set(r.batch_profiling), {"1", "2"})
        self.assertGreater(r.latency.mean, 0)
        self.assertGreater(r.throughput.samples_per_second, 0)
        self.assertGreaterEqual(r.memory.peak, 0)  # a process that ran models may grow no more
        self.assertEqual(len(r.latency.samples_ms), r.latency.runs)
        self.assertIn("Measured", str(r))

    def test_profile_sweeps_by_default_and_takes_inputs_as_they_are(self) -> None:
        r = assay.profile(neg(), **QUICK)
        self.assertEqual(list(r.batch_profiling), ["1", "2", "4", "8", "16"])
        r = assay.profile(neg(), inputs=[[1, 2, 3]] * 5, **QUICK)
        self.assertEqual(list(r.batch_profiling), ["5"])

    def test_compare_takes_turns(self) -> None:
        c = assay.compare(
            neg(), neg(), measure=True, inputs=[[1, 2, 3]], num_runs=10, progress=False
        )
        self.assertTrue(all(p.latency.runs >= 10 for p in c.profiles))
        self.assertEqual(len(c.models), 2)
        with self.assertRaises(assay.UsageError):
            assay.compare(c.profiles[0], neg(), measure=True)

    def test_compare_takes_a_precision_for_each(self) -> None:
        for precision in ("fp32,fp16", ["fp32", "fp16"]):
            c = assay.compare(
                TINY, TINY, measure=True, precision=precision, num_runs=10, progress=False
            )
            self.assertEqual([p.config.precision for p in c.profiles], ["float32", "float16"])
            self.assertTrue(all(p.latency.runs >= 10 for p in c.profiles))
        c = assay.compare(TINY, TINY, precision="fp32,fp16")
        self.assertGreater(
            c.profiles[0].memory_plan.peak_bytes, c.profiles[1].memory_plan.peak_bytes
        )
        for measure in (False, True):
            with self.assertRaisesRegex(assay.UsageError, "2.*3"):
                assay.compare(TINY, TINY, TINY, measure=measure, precision="fp32,fp16")

    def test_check_measures_as_the_baseline(self) -> None:
        base = assay.bench(neg(), [(2, "fp32")], num_runs=30, progress=False)
        c = assay.check(neg(), baseline=base, num_runs=30, tolerance=1000, progress=False)
        self.assertIn(c.status, (0, 7))

    def test_machine(self) -> None:
        m = assay.machine(measure=True, quick=True, progress=False)
        self.assertIn("schema", m)
        m.keep("m.json")
        self.assertIsInstance(m[m.table], list)
        self.assertGreater(m.roof("float32", 1000), 0)
        for form in m.formats:
            if form != "html":
                self.assertTrue(m.render(form), form)
        self.assertEqual(assay.machine("m.json")["schema"], m["schema"])
        with self.assertRaises(assay.AssayError):
            assay.machine("nothing.json")

    def test_roof(self) -> None:
        m = assay.machine(os.path.join(ROOT, "tests", "data", "machine.json"))
        self.assertGreater(m.roof("float32", 1000), m.roof("float32", 0.01))
        self.assertEqual(m.roof("float32", 1000), m.roof("float32", 2000))
        self.assertAlmostEqual(m.roof("float32", 0.02), 2 * m.roof("float32", 0.01))

    def test_capacity(self) -> None:
        r = assay.profile(neg(), batch_sizes=[1, 2], num_runs=30, progress=False)
        plan = assay.capacity(r, target="10rps", latency="p99:10s")
        self.assertTrue(plan.passed, str(plan))
        self.assertIsInstance(plan[plan.table], list)
        self.assertIn("<div", plan._repr_html_())
        self.assertEqual(assay.capacity(r, target="10rps", latency="p99:1ns").status, 6)
        with self.assertRaises(assay.UsageError):
            assay.capacity(r, target="fast")

    def test_thresholds_are_judged(self) -> None:
        r = assay.profile(
            neg(), inputs=[[1, 2, 3]], threshold={"latency": "10s", "params": "1M"}, **QUICK
        )
        self.assertTrue(r.passed and r.raise_for_status() is r)
        self.assertEqual([v["verdict"] for v in r["verdicts"]], ["pass", "pass"])
        r = assay.profile(
            neg(), inputs=[[1, 2, 3]], threshold="latency:1ns throughput:0.001samples/s", **QUICK
        )
        self.assertFalse(r.passed)
        assert r.check
        self.assertEqual(
            (r.check.status, {v["metric"]: v["verdict"] for v in r.verdicts}["throughput"]),
            (6, "pass"),
        )
        self.assertIn("missed", [v["verdict"] for v in r.verdicts])
        with self.assertRaises(assay.ThresholdError) as caught:
            r.raise_for_status()
        self.assertIs(caught.exception.result, r.check)
        for call in (assay.bench, assay.layers):
            self.assertFalse(
                call(neg(), inputs=[[1, 2, 3]], threshold=["latency:1ns"], **QUICK).passed
            )
        p = assay.ModelProfiler(neg(), inputs=[[1, 2, 3]], progress=False)
        self.assertFalse(p.profile(num_runs=1, warmup_runs=0, threshold="latency:1ns").passed)
        self.assertIsNone(assay.profile(neg(), inputs=[[1, 2, 3]], **QUICK).check)
        self.assertIsNone(assay.profile(neg(), inputs=[[1, 2, 3]], threshold=50, **QUICK).check)
        with self.assertRaises(assay.UsageError):
            assay.profile(neg(), threshold="nonsense:1", **QUICK)

    def test_watch(self) -> None:
        looks = []

        def look(seen: Any) -> Any:
            looks.append(seen)
            if len(looks) == 2:
                os.mkdir("enough")  # which the program waits for

        r = assay.watch(
            ["sh", "-c", "until [ -d enough ]; do sleep 0.01; done"], interval=20, progress=look
        )
        self.assertEqual(r["watch"]["exit_code"], 0)
        self.assertGreater(len(r["watch"]["samples"]), 1)
        self.assertTrue(looks[0].resident > 0 and "MB" in str(looks[0]))
        self.assertEqual(assay.watch("sh -c 'exit 3'", progress=False).watch.exit_code, 3)
        r = assay.watch(pid=os.getpid(), duration=0.1, interval=20, progress=False)
        self.assertEqual(r.watch.pid, os.getpid())
        self.assertGreaterEqual(r.watch.wall_s, 0.1)
        wrongs: List[Dict[str, Any]] = [
            {},
            {"command": "x", "pid": 1},
            {"command": ""},
            {"command": ["/no/such/program"]},
            {"pid": 2**22 + 5},
        ]
        for wrong in wrongs:
            with self.assertRaises((assay.UsageError, assay.SystemFailure)):
                assay.watch(**wrong, progress=False)

    def test_layers(self) -> None:
        r = assay.layers(TINY, **QUICK)
        self.assertTrue(any(layer.get("time_ms", 0) > 0 for layer in r.layers))

    def test_memory(self) -> None:
        self.assertIn("memory_plan", assay.memory(TINY, measure=True, **QUICK))

    def test_a_failed_configuration_is_said_and_all_failing_is_an_error(self) -> None:
        with self.assertRaises(assay.AssayError) as caught:
            assay.bench(TINY, engine_lib="/nowhere/lib.so", **QUICK)
        self.assertIsInstance(caught.exception, assay.EngineError)
        self.assertGreater(caught.exception.result.total_macs, 0)
        self.assertIn("Parameters", str(caught.exception.result))

    def test_progress_function(self) -> None:
        seen: List[Any] = []
        assay.bench(TINY, num_runs=200, warmup_runs=10, progress=seen.append)
        self.assertTrue(seen)
        self.assertIsInstance(seen[0], assay.Progress)
        self.assertTrue(all(0 <= p.fraction <= 1 for p in seen))
        self.assertIn(seen[-1].what, str(seen[-1]))

    def test_what_a_progress_function_raises_comes_out(self) -> None:
        def stop(_: Any) -> Any:
            raise RuntimeError("enough")

        with statuses("assay_measure") as said:
            with self.assertRaisesRegex(RuntimeError, "enough"):
                assay.bench(TINY, num_runs=1000000, progress=stop)
        self.assertEqual(said, [INTERRUPTED])

    def test_a_progress_function_cannot_use_the_model_that_runs(self) -> None:
        model, seen = assay.Model(TINY), []

        def ask(_: Any) -> Any:
            seen.append(assay.graph("resnet18").total_macs)  # another one is fine

        assay.bench(model, num_runs=50, progress=ask)
        self.assertEqual(set(seen), {1814073344})
        self.assertGreater(assay.graph(model).total_macs, 0)

    def test_wrong_progress(self) -> None:
        yes: Any = "yes"
        with self.assertRaises(TypeError):
            assay.bench(TINY, progress=yes)

    def test_the_interpreter_is_free_meanwhile(self) -> None:
        hooks, caught = [], []

        def watched(*arguments: Any) -> Any:
            hooks.append(_running_hooks(*arguments))
            return hooks[-1]

        def work() -> Any:
            try:
                assay.bench(TINY, num_runs=1000000, progress=False)
            except BaseException as e:
                caught.append(e)

        with mock.patch.object(_running, "Hooks", watched), statuses("assay_measure") as said:
            thread = threading.Thread(target=work)
            thread.start()
            for _ in range(200):  # turns of this thread while the library works
                thread.join(0.001)
            self.assertEqual(said, [])
            hooks[-1].stop()
            thread.join()
        self.assertEqual((said, caught), ([INTERRUPTED], []))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@needs_engine
class Shown(unittest.TestCase):
    def bench(self, **options: Any) -> Any:
        assay.bench(TINY, num_runs=100, warmup_runs=10, **options)

    def test_terminal(self) -> None:
        with mock.patch("sys.stderr", Terminal()) as out:
            self.bench()
        lines = out.getvalue().split("\r")
        self.assertTrue(any("runs" in line or "warm-up" in line for line in lines))
        self.assertTrue(all(len(line) < 80 for line in lines))
        self.assertEqual(lines[-1], "")
        with mock.patch("sys.stderr", Terminal()) as out:
            self.bench(progress=False)
        self.assertEqual(out.getvalue(), "")

    def test_a_pipe_gets_nothing(self) -> None:
        with mock.patch("sys.stderr", io.StringIO()) as out:
            self.bench()
        self.assertEqual(out.getvalue(), "")
        with mock.patch("sys.stderr", None):
            self.bench()

    def test_notebook(self) -> None:
        shown = []
        handle = types.SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))

        def display(data: Any, raw: Any, display_id: Any) -> Any:
            shown.append(data["text/plain"])
            return handle

        ipython = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=1))
        pages = types.SimpleNamespace(display=display)
        with mock.patch.dict(sys.modules, {"IPython": ipython, "IPython.display": pages}):
            self.bench()
        self.assertGreater(len(shown), 1)
        self.assertIn("assay:", shown[0])
        self.assertEqual(shown[-1], "")


class Engine(InFolder):
    def test_the_interpreters_own_is_taken(self) -> None:
        os.makedirs("site/onnxruntime/capi")
        path = os.path.abspath("site/onnxruntime/capi/libonnxruntime.so.9.9")
        with open(path, "w", encoding="ascii"):
            pass
        with mock.patch("sys.path", [os.path.abspath("site")]), mock.patch.dict(os.environ):
            os.environ.pop("ASSAY_ORT_LIB", None)
            with self.assertRaisesRegex(assay.EngineError, "onnxruntime.so.9.9"):
                assay.engine()
            with self.assertRaisesRegex(assay.EngineError, "elsewhere"):
                assay.engine(engine_lib="/elsewhere.so")


SLOW = """
import assay, sys
def show(p):
    if p.what == "runs" and p.done >= 3:
        print("inside", flush=True)
try:
    assay.bench("resnet18", num_runs=1000000, warmup_runs=1, batch_sizes=[1, 64], progress=show)
except KeyboardInterrupt as e:
    assert isinstance(e, assay.Interrupted) and e.code == 130
    assert e.result.latency.runs >= 3 and len(e.result.to_json()) > 1000
    assert assay.graph("resnet18").total_macs == 1814073344
    print("stopped", flush=True)
    sys.exit(3)
"""


# Says "inside" when the library has worked for a while, and stays in the waiting function until the
# signal is there: wherever it lands, it lands in the call.
STOPPED = """
import os, sys, threading, time
import assay
from assay import _running
from statuses import INTERRUPTED, statuses
big = sys.argv[1]
calls = {
    "scale": lambda: assay.scale("vit_b_16", {"batch": "1..64..1", "side": "224..1216..16"}),
    "scale a file": lambda: assay.scale(big, {"batch": "1..4000..1"}),
    "validate": lambda: assay.validate(*["vit_h_14"] * 20000),
    "map": lambda: [assay.map("vit_h_14", "all") for _ in range(10000)],
    "graph": lambda: [assay.graph("vit_h_14", advice=True) for _ in range(10000)],
    "export": lambda: assay.export("llama-2-7b", "big.onnx"),
    "compare": lambda: assay.compare("resnet18", "resnet34", measure=True, num_runs=1000000),
    "machine": lambda: assay.machine(measure=True),
    "pipeline": lambda: assay.pipeline("sd15", measure=True, num_runs=1000000, height=64, width=64),
    "layers": lambda: assay.layers("resnet18", num_runs=1000000),
    "memory": lambda: assay.memory("resnet18", measure=True, num_runs=1000000),
    "check": lambda: assay.check("resnet18", "latency:1ms", num_runs=1000000),
    "fuse": lambda: [assay.fuse("resnet50", against_engine=True) for _ in range(1000)],
    "watch": lambda: assay.watch(["sleep", "1000"]),
}
functions = {
    "scale": "assay_scale",
    "scale a file": "assay_scale",
    "validate": "assay_validate",
    "export": "assay_export",
    "compare": "assay_compare_measure",
    "machine": "assay_machine_measure",
    "pipeline": "assay_pipeline_measure",
    "layers": "assay_measure",
    "memory": "assay_measure",
    "check": "assay_measure",
    "watch": "assay_watch",
}
name, wait, began = sys.argv[2], _running._wait, time.process_time()
def wait_inside(job, hooks, out):
    while not job.ended.wait(0.001):
        if time.process_time() - began > 0.1:
            print("inside", flush=True)
            wait(job, hooks, out)
            threading.Event().wait()  # it has ended, the signal is still to come
_running._wait = wait_inside
with statuses(functions.get(name)) as said:
    try:
        calls[name]()
    except KeyboardInterrupt as e:
        assert isinstance(e, assay.Interrupted), type(e)
        assert said == [INTERRUPTED] or name not in functions, said
        _running._wait = wait
        assert assay.graph("resnet18").total_macs == 1814073344
        assert not os.path.exists("big.onnx")
        print("stopped", flush=True)
        sys.exit(3)
"""


@needs_engine
class Interrupt(InFolder):
    def stop(self, code: str, *arguments: str) -> Any:
        with subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[:2])},
        ) as p:
            assert p.stdout
            said = p.stdout.readline()
            p.send_signal(signal.SIGINT)
            out, err = p.communicate()
        self.assertEqual(
            (said, p.returncode, out.split()[-1:]),
            ("inside\n", 3, ["stopped"]),
            f"{arguments}: {err}",
        )
        self.assertNotIn("Traceback", err)

    def test_ctrl_c_stops_every_long_call(self) -> None:
        for name in (
            "scale",
            "scale a file",
            "validate",
            "map",
            "graph",
            "export",
            "compare",
            "machine",
            "pipeline",
            "layers",
            "memory",
            "check",
            "fuse",
            "watch",
        ):
            with self.subTest(name):
                self.stop(STOPPED, RESNET, name)

    def test_ctrl_c_keeps_the_partial_result(self) -> None:
        self.stop(SLOW)


@needs_engine
class Profiler(InFolder):
    def test_all_of_it(self) -> None:
        with assay.ModelProfiler(TINY) as p:
            with self.assertRaises(assay.UsageError):
                p.export_json("x.json")
            r = p.profile(num_runs=3, warmup_runs=1, detailed_analysis=True)
            self.assertIs(p.results, r)
            self.assertTrue(any("time_ms" in layer for layer in r.layers))
            self.assertEqual(p.export_json("a.json"), r.to_json())
            p.export_csv("a.csv")
            with self.assertWarns(assay.InconclusiveWarning):  # of so few runs
                self.assertEqual(p.detect_regressions("a.json"), [])
            fire = p.profile_layers(layer_names=["features.3"], num_runs=2)
            self.assertTrue(
                fire and all("features.3" in f.name or "features.3" in f.module for f in fire)
            )
            b = p.benchmark(
                [{"batch_size": 1, "precision": "fp32"}, {"batch_size": 2, "precision": "fp16"}],
                num_runs=2,
            )
            self.assertEqual(
                [(c.batch, c.precision) for c in b.configurations], [(1, "fp32"), (2, "fp16")]
            )
            other = p.profile("resnet18", num_runs=2, warmup_runs=1)
            self.assertEqual(other.total_macs, 1814073344)

    def test_memory_and_gpu(self) -> None:
        p = assay.ModelProfiler(TINY)
        m = p.memory_profile(
            track_allocations=True, track_deallocations=True, memory_snapshots=True, num_runs=2
        )
        self.assertEqual(
            m["allocations"] + m["deallocations"],
            [e for kind in ("allocate", "free") for e in m.memory_plan.events if e.kind == kind],
        )
        self.assertEqual(m["snapshots"], m.memory_plan.snapshots)
        self.assertEqual({"start", "peak", "end"} - {s.kind for s in m["snapshots"]}, set())
        for s in m["snapshots"]:
            self.assertEqual(sum(v["bytes"] for v in s["values"]), s.live_bytes)
        live = 0  # what is allocated and not yet freed is what is alive, at every step
        for step, moment in enumerate(m.memory_plan.timeline):
            live += sum(a.bytes for a in m["allocations"] if a.step == step)
            self.assertEqual(live, moment["live_bytes"], moment["node"])
            live -= sum(f.bytes for f in m["deallocations"] if f.step == step)
        self.assertEqual(live, 0)
        self.assertNotIn("snapshots", p.memory_profile(memory_snapshots=False, num_runs=2))
        asked = p.memory_profile(at=[m.memory_plan.timeline[1]["node"]], num_runs=2)
        self.assertEqual([s.step for s in asked["snapshots"] if s.kind == "asked"], [1])
        self.assertIn("allocate", p.export_csv(rows="events"))
        self.assertEqual(p.export_csv().count("\n"), 1 + len(m.layers))
        with mock.patch.dict(os.environ, ASSAY_NVML_LIB="/nowhere/libnvidia-ml.so.1"):
            g = p.gpu_profile(
                track_kernels=True, track_memory_transfers=True, profile_nvtx=True, num_runs=2
            )
        self.assertTrue(any("time_ms" in layer for layer in g.layers))
        self.assertEqual((g.gpu.available, g["kernels"], g["memory_transfers"]), (False, [], []))
        self.assertTrue(g.gpu.why)
        self.assertIn(g.gpu.why, " ".join(str(g).split()))
        self.assertIn("device", " ".join(w.text for w in g.warnings).lower())

    @unittest.skipUnless(
        os.path.exists(STAND_IN), "the stand-in for a GPU's libraries was not built"
    )
    def test_gpu_switches(self) -> None:
        p = assay.ModelProfiler(TINY, progress=False)
        with mock.patch.dict(os.environ, ASSAY_NVML_LIB=STAND_IN, ASSAY_NVTX_LIB=STAND_IN):
            marked = p.gpu_profile(profile_nvtx=True, num_runs=2)
            plain = p.gpu_profile(track_kernels=False, profile_nvtx=False, num_runs=2)
            none = p.gpu_profile(track_kernels=False, track_memory_transfers=False, num_runs=2)
        self.assertEqual(
            (marked.gpu.available, marked.gpu.name, marked.gpu.ranges), (True, "Stand-in GPU", True)
        )
        self.assertFalse(plain.gpu.ranges)
        self.assertNotIn("kernels", plain)
        self.assertIn("memory_transfers", plain)
        self.assertNotIn("memory_transfers", none)
        self.assertFalse(any("time_ms" in layer for layer in none.layers))
        with self.assertRaisesRegex(assay.UsageError, "kernels"):
            assay.layers(TINY, gpu_events="some", **QUICK)

    def test_regressions(self) -> None:
        small, large = assay.graph("resnet18"), assay.graph("resnet50")
        found = assay.detect_regressions(small, large)
        self.assertIn("macs", {f.metric for f in found})
        self.assertIn("macs", str(found))
        self.assertEqual(assay.detect_regressions(large, small), [])
        self.assertTrue(assay.detect_regressions(dict(small), dict(large)))
        small.to_json("small.json")
        self.assertTrue(assay.detect_regressions("small.json", large))

    def test_no_regression_is_not_all_is_well(self) -> None:
        one, two = assay.graph(TINY), assay.graph(TINY, batch=2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(assay.detect_regressions(one, one).verdict, "pass")
        for before, after in ((one, two), (two, one)):  # neither is worse: they are of other sizes
            with self.assertWarnsRegex(assay.InconclusiveWarning, "MACs.*[Bb]atch"):
                found = assay.detect_regressions(before, after)
            self.assertEqual((found, found.verdict), ([], "inconclusive"))
            self.assertIn("macs", {f.metric for f in found.inconclusive})
            self.assertEqual(found.check.status, 7)
        p = assay.ModelProfiler(TINY)
        p.profile(num_runs=2, warmup_runs=1)
        assert p.results
        p.results.to_json("few.json")
        with self.assertWarnsRegex(assay.InconclusiveWarning, "latency.* 10 ") as said:
            self.assertEqual(p.detect_regressions("few.json"), [])
        self.assertEqual(said.filename, __file__)

    def test_wrong_words_are_said_at_once(self) -> None:
        wrongs: List[Dict[str, Any]] = [{"precision": "fp13"}, {"nonsense": 1}]
        for wrong in wrongs:
            with self.assertRaises(assay.UsageError):
                assay.ModelProfiler(TINY, **wrong)
        with self.assertRaises(TypeError):
            five: Any = 5
            assay.ModelProfiler(TINY, device=five)


if __name__ == "__main__":
    unittest.main()
