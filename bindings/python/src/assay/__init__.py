"""assay: what a machine learning model costs.

    >>> import assay
    >>> r = assay.graph("resnet50")
    >>> r.total_parameters, r["total_macs"]
    (25557032, 4089184256)

A thin door to the C library libassay: see docs/python.md, and docs/json.md for the keys of results.
Everything is imported when it is first used, so that importing the package costs next to nothing.
"""
from __future__ import annotations

import importlib

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
    "_history": ("History", "Trend"),
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


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _FROM:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_FROM[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(__all__) | set(_MODULES))


if TYPE_CHECKING:
    from typing import Any, List

    from . import compute, config, errors, generation, profiler
    from ._calls import (
        bench,
        capacity,
        check,
        compare,
        devices,
        doctor,
        engine,
        export,
        formats,
        fuse,
        graph,
        layers,
        lenses,
        licenses,
        load,
        loads,
        machine,
        map,
        memory,
        metrics,
        models,
        ops,
        options,
        pipeline,
        pipelines,
        profile,
        report,
        scale,
        validate,
        watch,
    )
    from ._history import History, Trend
    from ._model import Model
    from ._results import (
        Capacity,
        Check,
        Comparison,
        Machine,
        Pipeline,
        Profile,
        Result,
        Scaling,
        Section,
        Validation,
    )
    from ._running import Look, Progress
    from .compute import ComputeProfiler, create_profiler
    from .errors import (
        AssayError,
        ClosedError,
        EngineError,
        ExportError,
        InconclusiveError,
        InconclusiveWarning,
        Interrupted,
        MalformedError,
        SystemFailure,
        ThresholdError,
        UnsupportedError,
        UsageError,
    )
    from .generation import generate_image, generate_images_sequential, get_model_manager
    from .profiler import ModelProfiler, detect_regressions, load_baseline
