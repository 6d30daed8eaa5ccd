"""assay: what a machine learning model costs.

    >>> import assay
    >>> r = assay.graph("resnet50")
    >>> r.total_parameters, r["total_macs"]
    (25557032, 4089184256)

Calls the C library libassay: see docs/python.md, and docs/json.md for the keys of results.
Everything is imported when it is first used, so that importing the package costs next to nothing.
"""
from __future__ import annotations

import importlib
import os
import sys
from _thread import RLock  # type: ignore[attr-defined]  # threading itself takes longer to import

# A fork while another thread imports parts of this package would leave their import locks held for
# ever in the new process: nobody is there to free them. So a fork waits until such an import has
# ended, for some seconds at most (the import may wait for the thread that forks).
_FORK_WAITS_S = 10
_importing = RLock()
_importing.acquire()

__version__ = "0.1.0"

# Type checkers take this name for true; typing itself would be most of the time that the import
# takes.
TYPE_CHECKING = False

_WHERE = {
    "_calls": (
        "graph",
        "profile",
        "bench",
        "layers",
        "memory",
        "map",
        "fuse",
        "scale",
        "export",
        "compare",
        "validate",
        "check",
        "capacity",
        "machine",
        "pipeline",
        "watch",
        "load",
        "load_endpoint",
        "loads",
        "report",
        "models",
        "pipelines",
        "devices",
        "ops",
        "lenses",
        "metrics",
        "formats",
        "options",
        "licenses",
        "doctor",
        "engine",
    ),
    "_history": ("History", "Trend", "Changes", "Drift", "Cheapest"),
    "_sweep": ("sweep", "Sweep", "SweepStatus", "SweepReport", "TaskOutcome"),
    "_model": ("Model",),
    "_results": (
        "Result",
        "Section",
        "Profile",
        "Comparison",
        "Pipeline",
        "Scaling",
        "Check",
        "Capacity",
        "Load",
        "Machine",
        "Validation",
    ),
    "_running": ("Look", "Progress"),
    "errors": (
        "AssayError",
        "SystemFailure",
        "UsageError",
        "MalformedError",
        "UnsupportedError",
        "ExportError",
        "EngineError",
        "ThresholdError",
        "InconclusiveError",
        "ClosedError",
        "Interrupted",
        "InconclusiveWarning",
    ),
    "profiler": ("ModelProfiler", "load_baseline", "detect_regressions"),
    "compute": ("ComputeProfiler", "create_profiler"),
    "generation": ("generate_image", "generate_images_sequential", "get_model_manager"),
}
_MODULES = ("errors", "profiler", "compute", "generation", "config")
_FROM = {name: module for module, names in _WHERE.items() for name in names}

# Without map: a star import should not take Python's own away.
__all__ = sorted(set(_FROM) - {"map"}) + ["__version__"]


def _import(module: str) -> Any:
    with _importing:
        return importlib.import_module(f".{module}", __name__)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _import(name)
    if name not in _FROM:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    value = getattr(_import(_FROM[name]), name)
    globals()[name] = value
    return value


def _before_fork() -> None:
    global _fork_waited
    _fork_waited = _importing.acquire(timeout=_FORK_WAITS_S)


def _after_fork() -> None:
    if _fork_waited:
        _importing.release()


def _after_fork_in_child() -> None:
    """What was executed to its end is imported, whoever was about to say so."""
    global _importing
    _importing = RLock()
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if _fork_waited and spec and name.split(".")[0] == __name__:
            spec._initializing = False


_fork_waited = False
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork,
        after_in_child=_after_fork_in_child,
    )


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(__all__) | set(_MODULES))


if TYPE_CHECKING:
    from typing import Any, List

    # "as": what a type checker of the caller's may see.
    from . import (
        compute as compute,
        config as config,
        errors as errors,
        generation as generation,
        profiler as profiler,
    )
    from ._calls import (
        bench as bench,
        capacity as capacity,
        check as check,
        compare as compare,
        devices as devices,
        doctor as doctor,
        engine as engine,
        export as export,
        formats as formats,
        fuse as fuse,
        graph as graph,
        layers as layers,
        lenses as lenses,
        licenses as licenses,
        load as load,
        load_endpoint as load_endpoint,
        loads as loads,
        machine as machine,
        map as map,
        memory as memory,
        metrics as metrics,
        models as models,
        ops as ops,
        options as options,
        pipeline as pipeline,
        pipelines as pipelines,
        profile as profile,
        report as report,
        scale as scale,
        validate as validate,
        watch as watch,
    )
    from ._history import (
        Changes as Changes,
        Cheapest as Cheapest,
        Drift as Drift,
        History as History,
        Trend as Trend,
    )
    from ._model import Model as Model
    from ._results import (
        Capacity as Capacity,
        Check as Check,
        Comparison as Comparison,
        Load as Load,
        Machine as Machine,
        Pipeline as Pipeline,
        Profile as Profile,
        Result as Result,
        Scaling as Scaling,
        Section as Section,
        Validation as Validation,
    )
    from ._running import Look as Look, Progress as Progress
    from ._sweep import (
        Sweep as Sweep,
        SweepReport as SweepReport,
        SweepStatus as SweepStatus,
        TaskOutcome as TaskOutcome,
        sweep as sweep,
    )
    from .compute import ComputeProfiler as ComputeProfiler, create_profiler as create_profiler
    from .errors import (
        AssayError as AssayError,
        ClosedError as ClosedError,
        EngineError as EngineError,
        ExportError as ExportError,
        InconclusiveError as InconclusiveError,
        InconclusiveWarning as InconclusiveWarning,
        Interrupted as Interrupted,
        MalformedError as MalformedError,
        SystemFailure as SystemFailure,
        ThresholdError as ThresholdError,
        UnsupportedError as UnsupportedError,
        UsageError as UsageError,
    )
    from .generation import (
        generate_image as generate_image,
        generate_images_sequential as generate_images_sequential,
        get_model_manager as get_model_manager,
    )
    from .profiler import (
        ModelProfiler as ModelProfiler,
        detect_regressions as detect_regressions,
        load_baseline as load_baseline,
    )

_importing.release()
