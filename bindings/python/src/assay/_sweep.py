"""Sweeps: many measurements on one machine or on a cluster (docs/sweeps.md)."""
from __future__ import annotations

import ctypes
import os
from ctypes import c_char_p, c_size_t, c_uint64, c_void_p
from typing import Any, List, Optional, Tuple

from . import _native, _options, errors
from ._calls import engine_here
from ._handles import All
from ._history import History
from ._native import lib
from ._results import Held, Judged, Profile, Section, held
from ._running import Hooks, ProgressLike, run_whole

__all__ = ["Sweep", "SweepReport", "SweepStatus", "TaskOutcome", "sweep"]


class SweepStatus(Held):
    """The state of every task of a sweep (``assay.sweep_status/1``)."""

    table = "tasks"


class SweepReport(Judged):
    """The matrix of a sweep (``assay.sweep_report/1``): ``passed`` is whether every task has a
    record."""

    table = "rows"


class TaskOutcome(Section):
    """What became of a task: the number of its ``record``, whether it was ``known`` already,
    ``noisy`` and ``why``, the ``machine``, the number of ``attempts``, and the measured ``result``
    (None if it was known)."""


def _said(text: c_void_p) -> str:
    length = len(c_char_p(text.value).value or b"") if text.value else 0
    return _native.take_text(text, c_size_t(length))


def _word(value: Any, what: str) -> Optional[bytes]:
    return None if value is None else _native.encode(value, what)


class Sweep(Held):
    """A plan (``assay.sweep/1``): numbered ``tasks``, and the digests of what they need. Make one
    with ``sweep()`` or read one with ``Sweep.open()``."""

    table = "tasks"

    @classmethod
    def open(cls, path: Any, **options: Any) -> "Sweep":
        """Reads a plan from a file, or makes one from a file with a request; options replace those
        of the request."""
        out = c_void_p()
        with _options.make(engine_here(options)) as how:
            _native.call(
                lib().assay_sweep_open, _native.encode(path, "the path"), how, ctypes.byref(out)
            )
        return cls(held(out.value, "the plan"), {})

    def run(
        self, history: History, task: int, *, progress: ProgressLike = False, **options: Any
    ) -> TaskOutcome:
        """Runs a task and stores its record. A task that has a record measures nothing."""
        out = _native.SweepOutcome(size=ctypes.sizeof(_native.SweepOutcome))
        number = _native.number(task, "task", 0)

        def work(hooks: Hooks) -> None:
            with _options.make(engine_here(options)) as how:
                with All([self._handle, history._handle]) as (plan, store):
                    _native.call(
                        lib().assay_sweep_run,
                        plan,
                        number,
                        store,
                        how,
                        ctypes.byref(hooks.struct),
                        ctypes.byref(out),
                    )

        try:
            run_whole(work, progress)
        except BaseException:
            if out.result:
                lib().assay_result_free(out.result)
            raise
        result = Profile(held(out.result)) if out.result else None
        return TaskOutcome(
            task=task,
            record=out.record,
            known=out.known,
            noisy=out.noisy,
            why=_native.text(out.why),
            machine=_native.text(out.machine),
            attempts=out.attempts,
            result=result,
        )

    def run_missing(self, history: History, *, progress: ProgressLike = False) -> List[TaskOutcome]:
        """Runs every task that has no record, here and one after the other. The first that fails
        ends it; the next call continues."""
        return [self.run(history, t, progress=progress) for t in self.missing(history)]

    def status(self, history: History, on: Optional[str] = None) -> SweepStatus:
        """The state of every task, from the history and, if it is named, from a scheduler
        (``"slurm"``, ``"kubernetes"``)."""
        out = c_void_p()
        with All([self._handle, history._handle]) as (plan, store):
            _native.call(lib().assay_sweep_status, plan, store, _word(on, "on"), ctypes.byref(out))
        return SweepStatus(held(out.value, "the status", self._handle), {})

    def missing(self, history: History) -> List[int]:
        """The numbers of the tasks without a record."""
        out, n = c_void_p(), c_uint64()
        with All([self._handle, history._handle]) as (plan, store):
            _native.call(lib().assay_sweep_missing, plan, store, ctypes.byref(out), ctypes.byref(n))
        tasks: List[int] = []
        for part in filter(None, _said(out).split(",")):
            first, _, last = part.partition("-")
            tasks += range(int(first), int(last or first) + 1)
        return tasks

    def report(self, history: History) -> SweepReport:
        """Models x devices x configurations with the best per goal, Pareto fronts and the machines
        that are slower than others. Its ``status`` is 5 if tasks have no record."""
        out, err = c_void_p(), _native.Error()
        with All([self._handle, history._handle]) as (plan, store):
            status = lib().assay_sweep_report(plan, store, ctypes.byref(out), ctypes.byref(err))
        if not out.value:
            raise _native.failure(err)
        return SweepReport(
            held(out.value, "the report", self._handle), status, _native.text(err.message)
        )

    def submit(
        self,
        history: History,
        on: str,
        plan_path: Any,
        *,
        program: Any = "assay",
        tasks: Optional[str] = None,
        throttle: int = 0,
        time_limit: float = 0,
        image: Optional[str] = None,
        secret: Optional[str] = None,
        manifest: Any = None,
    ) -> Tuple[int, str]:
        """Hands the tasks without a record to a scheduler. ``plan_path`` is the file of the plan,
        which the nodes can read, ``program`` the path of assay there. Returns how many tasks, and
        what was done."""
        n, said = c_uint64(), c_void_p()
        q = _native.SweepSubmission(
            ctypes.sizeof(_native.SweepSubmission),
            _native.encode(on, "on"),
            _native.encode(os.path.abspath(plan_path), "the path"),
            _native.encode(program, "program"),
            _word(tasks, "tasks"),
            _native.number(throttle, "throttle", 0),
            float(time_limit),
            _word(image, "image"),
            _word(secret, "secret"),
            _word(manifest, "manifest"),
        )
        with All([self._handle, history._handle]) as (plan, store):
            _native.call(
                lib().assay_sweep_submit,
                plan,
                store,
                ctypes.byref(q),
                ctypes.byref(n),
                ctypes.byref(said),
            )
        return n.value, _said(said)

    def cancel(self, on: str) -> str:
        """Removes the sweep's jobs from a scheduler. Records stay. Returns what was done."""
        said = c_void_p()
        with self._handle as plan:
            _native.call(
                lib().assay_sweep_cancel, plan, _native.encode(on, "on"), ctypes.byref(said)
            )
        return _said(said)


def sweep(*models: Any, **options: Any) -> Sweep:
    """Plans a sweep: every combination of the models and of ``batch_sizes``, ``precisions``,
    ``threads``, ``device`` and ``node_class``, ``repeat`` times. Models are paths or names."""
    for m in models:
        if not isinstance(m, (str, os.PathLike)):
            raise TypeError(f"a model of a sweep is a path or a name, not {type(m).__name__}")
    names = [_native.encode(m, "a model") for m in models]
    if not names:
        raise errors.UsageError("no models. Name at least one.")
    out = c_void_p()
    list_ = (c_char_p * len(names))(*names)
    with _options.make(engine_here(options)) as how:
        q = _native.SweepRequest(ctypes.sizeof(_native.SweepRequest), list_, len(names), how)
        _native.call(lib().assay_sweep_plan, ctypes.byref(q), ctypes.byref(out))
    return Sweep(held(out.value, "the plan"), {})
