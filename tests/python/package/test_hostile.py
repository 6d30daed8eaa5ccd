"""What a crash of the interpreter could hide in: arrays of every kind, texts that C cannot hold,
forks, threads at the end of the interpreter, numbers beyond 64 bits. Where a crash is possible at
all, the code runs in a process of its own."""
import os
import random
import subprocess
import threading
import unittest
from typing import Any, Callable, Dict, List

import assay
from support import FLOAT, InFolder, child, needs_engine, needs_numpy, needs_torch, neg, npy

QUICK: Dict[str, Any] = {"num_runs": 1, "warmup_runs": 0, "progress": False}
FINE = (
    assay.AssayError,
    TypeError,
    ValueError,
    OverflowError,
    OSError,
    ImportError,
    RecursionError,
)


class Texts(InFolder):
    """NUL, lone surrogates, and bytes that are no UTF-8: refused or taken, never cut off."""

    WRONG = ("a\0b", "\0", "\ud800", "x\udfff\0", "json\0", "resnet18\0")

    def test_refused_everywhere(self) -> None:
        r, m = assay.graph("resnet18"), assay.Model("resnet18")
        calls: List[Callable[[Any], Any]] = [
            lambda t: assay.graph(t),
            lambda t: assay.graph(m, lens=t),
            lambda t: assay.graph(m, **{t: 1}),
            lambda t: assay.Model(neg(), name=t),
            lambda t: assay.load(t),
            lambda t: assay.loads("{}", t),
            lambda t: r.render(t),
            lambda t: r.save(t),
            lambda t: assay.pipeline(t),
            lambda t: assay.map(m, t),
            lambda t: assay.validate(t),
            lambda t: assay.check(r, t),
            lambda t: assay.export(m, t),
            lambda t: assay.devices(t),
            lambda t: assay.machine(t),
            lambda t: assay.History(t),
            lambda t: r.metric(t),
            lambda t: assay.watch([t]),
            lambda t: assay.capacity(r, target=t),
            lambda t: assay.graph(m, dim={t: 1}),
            lambda t: assay.graph(m, set={"x": t}),
            lambda t: assay.graph(m, input_shape={t: (1,)}),
            lambda t: assay.graph(neg(), inputs={t: [[1, 2, 3]]}),
            lambda t: assay.History("h.db").save(r, t),
            lambda t: assay.History("h.db").records(t),
            lambda t: assay.History("h.db").trend(t),
            lambda t: assay.ModelProfiler(m, t),
        ]
        for text in self.WRONG:
            for i, call in enumerate(calls):
                with self.assertRaises((ValueError, assay.AssayError), msg=f"{i} {text!r}"):
                    call(text)

    def test_names_of_bytes_that_are_no_utf8(self) -> None:
        name = os.fsdecode(b"m\xff.onnx")
        with open(name, "wb") as f:
            f.write(neg())
        r = assay.graph(name, input_shape=(1, 3))
        self.assertEqual(r.total_flops, 3)
        self.assertIn("\ufffd", r["model"])
        r.to_json(os.fsdecode(b"r\xff.json"))
        self.assertEqual(assay.load(os.fsdecode(b"r\xff.json")).total_flops, 3)


class Numbers(InFolder):
    def test_beyond_64_bits_is_refused_and_not_cut_off(self) -> None:
        with assay.History("h.db") as h:
            one = h.save(assay.graph("resnet18"))
            for n in (2**64 + one, -(2**64) + one, 2**63, 2**200):
                calls: List[Callable[[Any], Any]] = [h.get, h.delete, h.tag, h.document]
                for call in calls:
                    with self.assertRaises(assay.UsageError):
                        call(n)
                with self.assertRaises(assay.UsageError):
                    h.records(limit=n)
            wrongs: List[Any] = [1.0, "1", None]
            for n in wrongs:
                with self.assertRaises(TypeError):
                    h.get(n)
            self.assertEqual(h.get(one).total_macs, 1814073344)
        for batch in (0, -1, 2**31, 2**63, 2**64 + 1, 1.5):
            with self.assertRaises(assay.UsageError):
                assay.graph("resnet18", batch=batch)
        for shape in ((2**63,), (-1, 3), (2**64 + 1, 3), (2**40, 2**40)):
            with self.assertRaises((assay.AssayError, TypeError)):
                assay.graph(neg(), input_shape=shape)
        with self.assertRaises(assay.UsageError):
            assay.watch(pid=2**64 + 1)


@needs_numpy
class Arrays(InFolder):
    def test_shapes_and_strides(self) -> None:
        import numpy as np

        base = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
        masked: Any = np.ma
        for x in (
            base[::-1],
            base[:, ::2],
            base.transpose(0, 2, 1).copy().transpose(0, 2, 1),
            np.broadcast_to(base[:1], (5, 4, 3)),
            base.astype(">f4"),
            base.astype(">f8")[::-1, ::-1],
            masked.array(base),
            np.lib.stride_tricks.as_strided(base, (2, 2, 3), (48, 24, 4)),
            np.frombuffer(base.tobytes(), np.float32).reshape(2, 4, 3),
        ):
            r = assay.graph(neg(FLOAT, ("a", "b", 3)), inputs=x)
            self.assertEqual(r.config.input_shapes["x"], list(x.shape))

    def test_no_elements(self) -> None:
        import numpy as np

        for shape in ((0, 3), (0,), (3, 0, 2)):
            try:
                assay.graph(
                    neg(FLOAT, tuple("abc"[: len(shape)])), inputs=np.zeros(shape, np.float32)
                )
            except FINE as e:
                self.assertTrue(str(e))

    def test_kinds_that_are_no_inputs(self) -> None:
        import numpy as np

        for x in (
            np.zeros(3, "U5"),
            np.zeros(3, "S5"),
            np.zeros(3, "O"),
            np.zeros(3, "M8[s]"),
            np.zeros(3, "m8[s]"),
            np.zeros(3, [("a", "f4"), ("b", "i4")]),
            np.zeros(3, "V8"),
            np.zeros(3, np.complex64),
            np.zeros(3, np.longdouble),
        ):
            try:
                r = assay.graph(neg(FLOAT, ("n",)), inputs=x)
                self.assertEqual(
                    r.config.input_shapes["x"], [3]
                )  # the library takes the shape, and no run would take the type
            except FINE as e:
                self.assertTrue(str(e))

    def test_a_rank_that_is_too_high(self) -> None:
        import numpy as np

        for rank in (9, 32):
            try:
                assay.graph(
                    neg(FLOAT, tuple(f"d{i}" for i in range(rank))),
                    inputs=np.zeros((1,) * rank, np.float32),
                )
            except FINE as e:
                self.assertTrue(str(e))

    def test_an_object_that_lies_about_its_array(self) -> None:
        class Liar:
            def __init__(self, interface: Any) -> None:
                self.__array_interface__ = interface

        class Raises:
            def __array__(self, *_: Any, **__: Any) -> Any:
                raise RuntimeError("no array today")

        for x in (
            Liar(None),
            Liar({}),
            Liar(5),
            Liar({"shape": (3,), "typestr": "<f4", "version": 3}),
            Raises(),
        ):
            with self.assertRaises((*FINE, RuntimeError, AttributeError)):
                assay.graph(neg(FLOAT, ("n",)), inputs=x)

    @needs_engine
    def test_an_array_that_changes_meanwhile(self) -> None:
        import numpy as np

        x = np.ones((1, 3), np.float32)
        done = threading.Event()

        def change() -> None:
            while not done.is_set():
                x.fill(random.random())
                x.resize((1, 3), refcheck=False)

        thread = threading.Thread(target=change)
        thread.start()
        try:
            assay.bench(
                neg(), inputs=x, num_runs=50, warmup_runs=1, save_outputs="out", progress=False
            )
        finally:
            done.set()
            thread.join()
        self.assertEqual(len(set(npy("out/y.npy")[1])), 1)

    @needs_engine
    def test_a_large_one(self) -> None:
        import numpy as np

        x = np.zeros((1 << 12, 1 << 12), np.float32)[::2, ::2]  # 16 MB of a strided 64 MB
        r = assay.bench(neg(FLOAT, ("a", "b")), inputs=x, **QUICK)
        self.assertEqual(r.config.input_shapes["x"], [2048, 2048])


@needs_torch
class Tensors(unittest.TestCase):
    def test_every_kind(self) -> None:
        import torch

        x = torch.arange(6.0).reshape(2, 3)
        for t in (
            x.t().contiguous().t(),
            x.to_sparse(),
            x[:0],
            x.half(),
            x.expand(4, 2, 3)[0],
            torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
            torch.view_as_complex(torch.zeros(2, 3, 2)),
            x.to("meta"),
            torch.nn.Parameter(x),
            x.bool(),
            x.to(torch.bfloat16),
        ):
            try:
                r = assay.graph(neg(), inputs=t)
                self.assertEqual(r.config.input_shapes["x"][1], 3)
            except (*FINE, NotImplementedError, RuntimeError) as e:
                self.assertTrue(str(e))


FORK = """
import os, sys, threading
import assay
r, m = assay.graph("resnet18"), assay.Model("resnet18")
busy, go = assay.graph("resnet34"), threading.Event()
def hold():
    with busy._handle:
        go.set()
        threading.Event().wait()
threading.Thread(target=hold, daemon=True).start()
go.wait()
history = assay.History(sys.argv[1])
history.save(r)
with r.__dict__["_loading"]:
    pid = os.fork()
if pid == 0:
    try:
        try:
            history.records()
            os._exit(2)
        except assay.ClosedError:
            assert len(assay.History(sys.argv[1]).records()) == 1
        assert assay.graph(m).total_macs == 1814073344
        assert len(r["layers"]) > 10 and assay.graph("vgg16").total_macs
        try:
            busy["layers"]
        except assay.ClosedError:
            os._exit(7)
    finally:
        os._exit(1)
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert len(r.layers) > 10 and len(history.records()) == 1
os._exit(code)
"""

# The other thread is in the middle of an import when the process is forked.
FORK_IMPORT = """
import os, signal, sys, threading
import assay
inside, go_on = threading.Event(), threading.Event()
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "assay._calls":
            inside.set()
            go_on.wait()
sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=lambda: assay.graph)
thread.start()
inside.wait()
os.register_at_fork(before=go_on.set)
pid = os.fork()
if pid == 0:
    signal.alarm(60)
    assay.graph
    os._exit(7)
thread.join()
os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) % 256)
"""

SHUTDOWN = """
import atexit, sys, threading
import assay
kept = [
    assay.graph("resnet18"),
    assay.Model("resnet18"),
    assay.compare("resnet18", "resnet34"),
    assay.pipeline("sd21"),
    assay.scale("resnet18", {"batch": "1..2"}),
    assay.check("resnet18", "params:1G"),
]
class Late:
    def __del__(self):
        for k in kept:
            try:
                str(k)
            except Exception:
                pass
sys.modules["late"] = late = Late()
kept.append(late)  # a circle, so that it goes when the interpreter does
atexit.register(lambda: kept[0].to_json())
begun = threading.Barrier(5)
def go_on():
    assay.graph("resnet18").to_json()
    begun.wait()
    while True:
        assay.graph("resnet18").to_json()
for _ in range(4):
    threading.Thread(target=go_on, daemon=True).start()
begun.wait()
"""

CLOSING = """
import threading, random, sys
import assay
sys.setswitchinterval(1e-5)
def use(r, m):
    for work in (
        lambda: r.to_json(),
        lambda: r["layers"],
        lambda: str(r),
        lambda: r._repr_html_(),
        lambda: assay.graph(m),
        lambda: r.metric("macs"),
        lambda: assay.compare(r, r).to_json(),
        lambda: assay.check(r, "params:1G")["verdicts"],
        lambda: m.close(),
        lambda: r.close(),
    ):
        try:
            work()
        except (assay.ClosedError, KeyError):
            pass
for i in range(30):
    r, m = assay.graph("squeezenet1_1"), assay.Model("squeezenet1_1")
    threads = [threading.Thread(target=use, args=(r, m)) for _ in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
print("lived")
"""

DEEP = """
import sys, assay
sys.setrecursionlimit(20000)  # beyond what the stack holds
x = 1
for _ in range(15000):
    x = [x]
loop = []
loop.append(loop)
table = {}
table["a"] = table
for bad in (x, loop, table):
    for call in (
        lambda: assay.graph("resnet18", inputs=bad),
        lambda: assay.graph("resnet18", input_shape=bad),
        lambda: assay.graph("resnet18", set=bad),
        lambda: assay.graph("resnet18", dim=bad),
        lambda: assay.graph("resnet18", batch_sizes=bad),
        lambda: assay.bench("resnet18", bad),
        lambda: assay.detect_regressions(bad, bad),
        lambda: assay.compare(bad, bad),
        lambda: assay.create_profiler(True).summarize_macs(bad),
    ):
        try:
            call()
        except (assay.AssayError, TypeError, ValueError, RecursionError):
            pass
print("lived")
"""


class Apart(InFolder):
    def lives(self, code: str, expected: int = 0) -> subprocess.CompletedProcess[str]:
        done = child(code, os.path.abspath("h.db"))
        self.assertEqual(done.returncode, expected, done.stderr[-2000:])
        return done

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_fork(self) -> None:
        self.lives(FORK, 7)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_fork_while_another_thread_imports(self) -> None:
        self.lives(FORK_IMPORT, 7)

    def test_the_end_of_the_interpreter(self) -> None:
        for _ in range(3):
            self.lives(SHUTDOWN)

    def test_closing_from_all_sides(self) -> None:
        self.assertIn("lived", self.lives(CLOSING).stdout)

    def test_deep_and_endless_lists(self) -> None:
        self.assertIn("lived", self.lives(DEEP).stdout)


if __name__ == "__main__":
    unittest.main()
