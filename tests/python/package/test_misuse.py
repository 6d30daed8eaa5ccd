"""Whatever Python does, the interpreter lives: wrong types, closed objects, threads, ten thousand
calls."""
import gc
import json
import os
import random
import statistics
import threading
import unittest
from typing import Any, Callable, List

import assay
from support import RESNET, InFolder, child, neg

JUNK: List[Any] = [
    None,
    0,
    -1,
    2**80,
    1.5,
    float("nan"),
    True,
    "",
    "\0",
    "ü" * 1000,
    "\udcff",
    b"",
    b"\0" * 100,
    b"\x08\x07" * 500,
    [],
    [[]],
    [None],
    {},
    {"a": None},
    {1: 2},
    (),
    object(),
    object,
    len,
    lambda: 0,
    range(3),
    iter([1]),
    Exception("x"),
    float("inf"),
    1j,
    memoryview(b"abc"),
    bytearray(b"onnx"),
]


class Junk(InFolder):
    """Only exceptions, and only of these kinds: the caller's mistake is said, not an accident
    inside."""

    FINE = (assay.AssayError, TypeError, ValueError, OverflowError, OSError, ImportError)

    def survives(self, call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        try:
            call(*arguments, **keywords)
        except self.FINE as e:
            self.assertTrue(str(e), f"{call} {arguments!r} {keywords!r}")

    def test_models(self) -> None:
        for junk in JUNK:
            calls: List[Callable[..., Any]] = [
                assay.graph,
                assay.map,
                assay.scale,
                assay.compare,
                assay.validate,
                assay.pipeline,
                assay.load,
                assay.loads,
                assay.Model,
                assay.check,
            ]
            for call in calls:
                self.survives(call, junk)
            self.survives(assay.compare, junk, junk)
            self.survives(assay.export, "resnet18", junk)
            self.survives(assay.models, junk) if isinstance(junk, str) else None
            self.survives(assay.devices, junk)

    def test_options(self) -> None:
        names = [
            "input_shape",
            "dim",
            "batch",
            "set",
            "lens",
            "precision",
            "threshold",
            "training",
            "top",
            "hardware",
            "verbose",
            "device",
            "command",
            "configs",
            "provider_option",
            "nothing",
            "input-shape",
            "",
            "\0",
            "ü",
        ]
        for name in names:
            for junk in JUNK:
                self.survives(assay.graph, "resnet18", **{name: junk})

    def test_inputs(self) -> None:
        for junk in JUNK:
            self.survives(assay.graph, neg(), inputs=junk)
            self.survives(assay.graph, neg(), inputs={"x": junk})
            self.survives(assay.graph, neg(), inputs=(junk, junk))

    def test_results(self) -> None:
        r = assay.graph("resnet18")
        for junk in JUNK:
            self.survives(r.render, junk)
            self.survives(r.save, junk)
            self.survives(r.save, "/dev/null/at/all/x.json", junk)
            self.survives(assay.detect_regressions, junk, r)
            self.survives(assay.detect_regressions, r, junk)
            self.survives(assay.ModelProfiler, junk)
            self.survives(assay.ModelProfiler, "resnet18", precision=junk)
            try:
                r[junk]
            except (KeyError, TypeError):
                pass

    def test_random_bytes(self) -> None:
        rng = random.Random(5)
        with open(RESNET, "rb") as f:
            good = f.read()
        for _ in range(300):
            data = bytearray(good)
            for _ in range(rng.randrange(1, 20)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            self.survives(assay.graph, bytes(data[: rng.randrange(len(data))]))
            self.survives(assay.graph, bytes(data))


class Paths(unittest.TestCase):
    def test_a_profiler_says_at_construction_that_there_is_no_file(self) -> None:
        for path, named in (("models/bert-base-uncased", True), ("models/nothing.onnx", False)):
            with self.assertRaises(assay.SystemFailure) as raised:
                assay.ModelProfiler(path)
            self.assertEqual("'bert-base-uncased'" in str(raised.exception), named)
        with assay.ModelProfiler("bert-base-uncased") as profiler:
            self.assertIsNone(profiler.results)


class Closed(unittest.TestCase):
    def test_results(self) -> None:
        r = assay.graph("resnet18")
        r.close()
        r.close()
        self.assertTrue(r.closed)
        self.assertEqual(r.total_macs, 1814073344)  # was there at once
        uses: List[Callable[[], Any]] = [
            lambda: r["layers"],
            lambda: r.to_json(),
            lambda: list(r),
            lambda: len(r),
            lambda: assay.compare(r, r),
            lambda: assay.check(r, "params:1M"),
            lambda: r.save("/tmp/never.json"),
            lambda: dict(r),
        ]
        for use in uses:
            with self.assertRaises(assay.ClosedError):
                use()
        self.assertIn("closed", repr(r) + str(r) + r._repr_html_())
        self.assertFalse(os.path.exists("/tmp/never.json"))

    def test_read_keys_stay(self) -> None:
        with assay.graph("resnet18") as r:
            layers = r.layers
        self.assertIs(r.layers, layers)

    def test_models(self) -> None:
        m = assay.Model("resnet18")
        m.close()
        m.close()
        calls: List[Callable[[Any], Any]] = [
            assay.graph,
            assay.bench,
            assay.scale,
            assay.map,
            lambda x: assay.export(x, "/tmp/never.onnx"),
        ]
        for call in calls:
            with self.assertRaises(assay.ClosedError):
                call(m)

    def test_other_results(self) -> None:
        for r in (
            assay.pipeline("sd21"),
            assay.scale("resnet18", {"batch": "1..2"}),
            assay.check("resnet18", "params:1G"),
        ):
            r.close()
            with self.assertRaises(assay.ClosedError):
                r["schema"]

    def test_a_model_that_failed_to_open_is_no_handle(self) -> None:
        for _ in range(100):
            with self.assertRaises(assay.AssayError):
                assay.Model(b"junk")
        gc.collect()


class Threads(unittest.TestCase):
    def together(self, *works: Callable[[], Any]) -> None:
        wrong = []

        def guard(work: Callable[[], Any]) -> None:
            try:
                work()
            except assay.ClosedError:
                pass
            except BaseException as e:
                wrong.append(e)

        threads = [threading.Thread(target=guard, args=(w,)) for w in works]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_one_model_many_threads(self) -> None:
        m = assay.Model("resnet18")

        def work() -> None:
            for batch in (1, 2, 3):
                self.assertEqual(assay.graph(m, batch=batch).total_macs, batch * 1814073344)

        self.together(*[work] * 8)

    def test_one_result_many_threads(self) -> None:
        r = assay.graph("resnet18")
        self.together(
            *[lambda: self.assertEqual(len(r.layers), len(r["layers"]))] * 8, *[r.to_csv] * 4
        )

    def test_closing_while_others_use_it(self) -> None:
        for _ in range(20):
            m, r = assay.Model("resnet18"), assay.graph("resnet18")
            self.together(
                lambda: [assay.graph(m) for _ in range(5)],
                m.close,
                lambda: [r.to_json() for _ in range(5)],
                r.close,
                m.close,
                r.close,
            )

    def test_compared_crosswise(self) -> None:
        a, b = assay.graph("resnet18"), assay.graph("resnet34")
        self.together(
            *[
                lambda: [assay.compare(a, b) for _ in range(10)],
                lambda: [assay.compare(b, a) for _ in range(10)],
            ]
            * 3
        )


LEAK = """
import gc, os, sys
import assay
from support import neg
def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
names = [m.name for m in assay.models()]
model, data = assay.Model("lenet5" if "lenet5" in names else "squeezenet1_1"), neg()
def call(i):
    r = assay.graph(data, inputs=[[1, 2, 3]], batch=1)
    assert r.total_flops == 3
    if i % 10 == 0:
        r["layers"]
    if i % 100 == 0:
        assay.graph(model).to_json()
        assay.compare(r, r)
        assay.check(r, "params:1M")
        try:
            assay.graph(b"junk")
        except assay.MalformedError:
            pass
def after(calls):
    for i in range(calls):
        call(i)
    gc.collect()
    return resident()
sizes = [after(2000) for _ in range(9)]
print([(b - a) / 2000 for a, b in zip(sizes, sizes[1:])])
"""


class Leaks(unittest.TestCase):
    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "there is no /proc")
    def test_ten_thousand_calls(self) -> None:
        done = child(LEAK, cwd=os.path.dirname(os.path.abspath(__file__)))
        self.assertEqual(done.returncode, 0, done.stderr)
        # Bytes a call, of each stretch after the first. A pool grows now and then, a leak grows in
        # every stretch.
        self.assertLess(statistics.median(json.loads(done.stdout)), 50)


if __name__ == "__main__":
    unittest.main()
