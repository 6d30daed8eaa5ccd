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
    from ._history import History as History, Trend as Trend
    from ._model import Model as Model
    from ._results import (
        Capacity as Capacity,
        Check as Check,
        Comparison as Comparison,
        Machine as Machine,
        Pipeline as Pipeline,
        Profile as Profile,
        Result as Result,
        Scaling as Scaling,
        Section as Section,
        Validation as Validation,
    )
    from ._running import Look as Look, Progress as Progress
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
