#!/usr/bin/python3
"""What the Python package costs beside the C library.

    bench/python.py [BUILD_FOLDER]        build/release unless given; exit 1 when a bound is broken

Bounds: import below 50 ms; assay.graph("resnet50") at most 3 ms above the C call; no growth over
10,000 calls.
"""
import ctypes
import gc
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = (
    os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "release")
)
PACKAGE = os.path.join(ROOT, "bindings", "python", "src")
os.environ.update(ASSAY_LIBRARY=os.path.join(BUILD, "libassay.so"), PYTHONPATH=PACKAGE)
sys.path.insert(0, PACKAGE)

import assay  # noqa: E402
from assay import _native  # noqa: E402

IMPORT = (
    "import time; t = time.perf_counter(); import assay; {}; print(1e3 * (time.perf_counter() - t))"
)


def times_ms(work, n):
    out = []
    for _ in range(n):
        began = time.perf_counter()
        work()
        out.append(1e3 * (time.perf_counter() - began))
    return out


def fresh_ms(then, n=15):
    run = [sys.executable, "-c", IMPORT.format(then)]
    return [
        float(subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True).stdout)
        for _ in range(n)
    ]


def in_c():
    """The calls that graph() makes, and nothing else."""
    library, model, profile, err = (
        _native.lib(),
        ctypes.c_void_p(),
        ctypes.c_void_p(),
        _native.Error(),
    )
    library.assay_model_open(b"resnet50", ctypes.byref(model), ctypes.byref(err))
    library.assay_analyze(model, None, ctypes.byref(profile), ctypes.byref(err))
    library.assay_result_free(profile)
    library.assay_model_free(model)


def resident():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(n=10000):
    model = assay.Model("squeezenet1_1")
    for _ in range(n // 10):
        assay.graph(model)
    gc.collect()
    before = resident()
    for _ in range(n):
        assay.graph(model)
    gc.collect()
    return resident() - before


def main():
    failed = False

    def say(what, value, unit, bound=None):
        nonlocal failed
        broken = bound is not None and value > bound
        failed |= broken
        print(
            f"{what:58} {value:9.2f} {unit}"
            + (f"  (bound {bound:g}{', BROKEN' if broken else ''})" if bound else "")
        )

    say("import, median of fresh interpreters", statistics.median(fresh_ms("None")), "ms", 50)
    say(
        "import and the library loaded",
        statistics.median(
            fresh_ms("assay._calls.lib() if hasattr(assay, '_calls') else " "assay.models('x')")
        ),
        "ms",
    )
    times_ms(in_c, 20)
    # In turns, so that a busy moment of the machine is in both.
    pairs = [
        (times_ms(in_c, 1)[0], times_ms(lambda: assay.graph("resnet50"), 1)[0]) for _ in range(200)
    ]
    bare, call = (statistics.median(p[i] for p in pairs) for i in (0, 1))
    read = statistics.median(times_ms(lambda: len(assay.graph("resnet50")), 100))
    say("resnet50 in C: open, analyse, free", bare, "ms")
    say("assay.graph('resnet50')", call, "ms")
    say("  above C", call - bare, "ms", 3)
    say("  and every key read", read, "ms")
    say("growth over 10,000 calls", growth() / 1024, "KiB", 1024)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
