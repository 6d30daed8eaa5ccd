"""Long calls: in a thread of their own, so that the caller's can show progress and hear Ctrl-C.

While runs are timed no Python is executed but a look per second, unless progress is shown: stopping
is a number that the library looks at.
"""
from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
from math import isnan
from typing import Any, Callable, Iterator, Optional, Union

from . import _native, errors

LOOK_S = 0.1
QUIET_LOOK_S = 1.0  # a Ctrl-C that comes just before an endless wait would not end it


class Progress:
    """How far a long call is: ``what`` is done now ("session", "warm-up", "runs", "layers",
    "sizes"), at which ``batch`` (0: any) and ``precision``, in configuration ``index`` of
    ``count``; ``done`` of ``planned`` of it (0: not known), and the ``fraction``."""

    __slots__ = ("what", "batch", "precision", "index", "count", "done", "planned", "fraction")

    def __init__(
        self,
        what: str,
        batch: int,
        precision: str,
        index: int,
        count: int,
        done: int,
        planned: int,
        fraction: float,
    ) -> None:
        self.what, self.batch, self.precision, self.index, self.count = (
            what,
            batch,
            precision,
            index,
            count,
        )
        self.done, self.planned, self.fraction = done, planned, fraction

    def __str__(self) -> str:
        where = f"{self.index + 1}/{self.count} " if self.count > 1 else ""
        batch = f"batch {self.batch} " if self.batch else ""
        runs = (
            f" {self.done}/{self.planned}" if self.planned else f" {self.done}" if self.done else ""
        )
        share = f" ({100 * self.fraction:.0f} %)" if self.planned or self.fraction else ""
        of = f"{where}{batch}{self.precision}".strip()
        return f"{of}{': ' if of else ''}{self.what}{runs}{share}"


class Look:
    """One look at a process that is watched: ``time_s`` since it began, ``cpu_percent`` (200 is two
    whole cores, NaN when too little time went by to tell), ``resident`` bytes, ``processes`` and
    ``threads``."""

    __slots__ = ("time_s", "cpu_percent", "resident", "processes", "threads")

    def __init__(
        self, time_s: float, cpu_percent: float, resident: int, processes: int, threads: int
    ) -> None:
        self.time_s, self.cpu_percent, self.resident = time_s, cpu_percent, resident
        self.processes, self.threads = processes, threads

    def __str__(self) -> str:
        share = "" if isnan(self.cpu_percent) else f"{self.cpu_percent:.0f} % of a core, "
        return f"{self.time_s:.1f} s: {share}{self.resident / 2**20:.1f} MB, {self.threads} threads"


ProgressLike = Union[None, bool, Callable[[Progress], Any]]


class _Terminal:
    """One line that is written over."""

    def __init__(self, out: Any) -> None:
        self._out, self._width = out, 0

    def show(self, p: Progress) -> None:
        line = f"assay: {p}"[:78]
        self._out.write("\r" + line.ljust(self._width))
        self._out.flush()
        self._width = len(line)

    def clear(self) -> None:
        if self._width:
            self._out.write("\r" + " " * self._width + "\r")
            self._out.flush()


class _Notebook:
    """One output of the cell that is replaced."""

    def __init__(self, display: Any) -> None:
        self._display, self._shown = display, None

    def show(self, p: Progress) -> None:
        text = {"text/plain": f"assay: {p}"}
        if self._shown is None:
            self._shown = self._display(text, raw=True, display_id=True)
        elif self._shown:
            self._shown.update(text, raw=True)

    def clear(self) -> None:
        if self._shown:
            self._shown.update({"text/plain": ""}, raw=True)


class _Callable:
    def __init__(self, function: Callable[[Progress], Any]) -> None:
        self._function = function

    def show(self, p: Progress) -> None:
        self._function(p)

    def clear(self) -> None:
        pass


def _notebook() -> Optional[_Notebook]:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython and hasattr(ipython, "get_ipython") else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return _Notebook(display)


def screen(progress: ProgressLike) -> Any:
    """Where progress goes: None is a terminal or notebook when there is one, False is nowhere."""
    if callable(progress):
        return _Callable(progress)
    if progress not in (None, True, False):
        raise TypeError("progress is True, False, None or a function that takes an assay.Progress")
    if progress is False:
        return None
    book = _notebook()
    if book:
        return book
    tty = getattr(sys.stderr, "isatty", None)
    return _Terminal(sys.stderr) if progress or (tty and tty()) else None


class Hooks:
    """The hooks of one call. The function that the library calls stores a tuple and nothing
    else."""

    def __init__(self, watched: bool) -> None:
        self.latest: Any = None
        self._stop = ctypes.c_int(0)
        self._function = _native.PROGRESS(self._store) if watched else _native.NO_PROGRESS
        self.struct = _native.Hooks(
            size=ctypes.sizeof(_native.Hooks),
            progress=self._function,
            stop=ctypes.pointer(self._stop),
        )
        self._sampled = _native.SAMPLE(self._sample) if watched else _native.NO_SAMPLE
        self.watching = _native.WatchHooks(
            size=ctypes.sizeof(_native.WatchHooks),
            sample=self._sampled,
            stop=ctypes.pointer(self._stop),
        )

    def _store(self, _: Any, pointer: Any) -> bool:
        p = pointer.contents
        self.latest = Progress(
            _native.text(p.what),
            p.batch,
            _native.text(p.precision),
            p.index,
            p.count,
            p.done,
            p.planned,
            p.fraction,
        )
        return True

    def _sample(self, _: Any, pointer: Any) -> bool:
        s = pointer.contents
        self.latest = Look(s.time_s, s.cpu_percent, s.resident, s.processes, s.threads)
        return True

    @contextlib.contextmanager
    def on(self, options: Any) -> Iterator[None]:
        """For the calls that find their hooks in the options."""
        _native.call(_native.lib().assay_options_hooks, options, ctypes.byref(self.struct))
        try:
            yield
        finally:
            _native.call(_native.lib().assay_options_hooks, options, None)

    def stop(self) -> None:
        self._stop.value = 1


class _Job(threading.Thread):
    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(name="assay", daemon=False)
        self._work = work
        self.ended = threading.Event()
        self.result: Any = None
        self.error: Optional[BaseException] = None

    def run(self) -> None:
        try:
            self.result = self._work()
        except BaseException as e:  # handed to the caller's thread
            self.error = e
        finally:
            self.ended.set()


def run(work: Callable[[Hooks], Any], progress: Any = False) -> Any:
    """Runs ``work(hooks)`` and returns what it returns.

    Whatever is raised in this thread while it waits (KeyboardInterrupt, or what a progress function
    raised) stops the work, waits until the library has kept what it has, and goes on its way. A
    second Ctrl-C does not wait.
    """
    out = screen(progress)
    hooks = Hooks(out is not None)
    job = _Job(lambda: work(hooks))
    try:
        job.start()
    except RuntimeError:  # no more threads, or the interpreter is about to end: then without one
        return work(hooks)
    try:
        _wait(job, hooks, out)
    except BaseException:
        hooks.stop()
        job.ended.wait()
        raise
    finally:
        if out:
            out.clear()
    if job.error:
        raise job.error
    return job.result


def _wait(job: _Job, hooks: Hooks, out: Any) -> None:
    shown: Any = None
    while not job.ended.wait(LOOK_S if out else QUIET_LOOK_S):
        if out and hooks.latest is not None and hooks.latest is not shown:
            shown = hooks.latest
            out.show(shown)


def run_whole(work: Callable[[Hooks], Any], progress: ProgressLike = False) -> Any:
    """The same for calls that end with everything or with nothing: Ctrl-C is an Interrupted without
    a result.

    Where no Ctrl-C can come in, in another thread than the main one, and nobody looks on, a thread
    more is not needed.
    """
    if progress is False and threading.current_thread() is not threading.main_thread():
        return work(Hooks(False))
    try:
        return run(work, progress)
    except KeyboardInterrupt:
        raise errors.Interrupted("interrupted: no result was kept") from None
