"""libassay through ctypes: where it is, its structs and its functions, as <assay/assay.h>
and its topic headers declare them.

ctypes gives the interpreter free while a function of a CDLL runs. Nothing here keeps state but the
loaded library itself. tests/python/package checks the structs against the header with a compiler.
"""
from __future__ import annotations

import ctypes
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_size_t,
    c_uint,
    c_uint64,
    c_void_p,
)
from typing import Any, Dict, Iterator, Optional, Tuple, Type

from . import errors
from ._handles import Lock

HERE = os.path.dirname(os.path.abspath(__file__))
INTERRUPTED = 130
THRESHOLD = 6
NO_OFFSET = 2**64 - 1


class Error(Structure):
    _fields_ = [
        ("code", c_int),
        ("offset", c_uint64),
        ("node", c_char * 128),
        ("message", c_char * 768),
        ("os_error", c_int),
    ]


class Value(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("type", c_int),
        ("truth", c_bool),
        ("whole", c_uint64),
        ("integer", c_int64),
        ("real", c_double),
        ("text", c_char_p),
        ("count", c_size_t),
        ("key", c_char_p),
        ("unit", c_char_p),
        ("label", c_char_p),
        ("about", c_char_p),
    ]


class ModelInput(Structure):
    _fields_ = [("name", c_char * 32), ("rank", c_int), ("dims", c_int64 * 8)]


class ModelInfo(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("aliases", c_char_p),
        ("family", c_char_p),
        ("task", c_char_p),
        ("defaults", c_char_p),
        ("parameters", c_uint64),
        ("flops", c_uint64),
        ("macs", c_uint64),
        ("n_inputs", c_size_t),
        ("inputs", ModelInput * 4),
    ]


class OptionInfo(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("value", c_char_p),
        ("about", c_char_p),
        ("repeatable", c_bool),
        ("letter", c_char),
        ("topic", c_char_p),
        ("commands", c_char_p),
        ("values", c_char_p),
        ("formats", c_char_p),
        ("needs", c_char_p),
        ("min", c_double),
        ("max", c_double),
        ("initial", c_char * 24),
    ]


class Input(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("dtype", c_char_p),
        ("rank", c_int),
        ("dims", POINTER(c_int64)),
        ("data", c_void_p),
        ("n_bytes", c_size_t),
    ]


class ExportInfo(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("model_bytes", c_uint64),
        ("data_bytes", c_uint64),
        ("tensors", c_uint64),
        ("random_tensors", c_uint64),
    ]


class Progress(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("what", c_char_p),
        ("batch", c_uint64),
        ("precision", c_char_p),
        ("index", c_size_t),
        ("count", c_size_t),
        ("done", c_uint64),
        ("planned", c_uint64),
        ("fraction", c_double),
        ("work_after", c_double),
    ]


PROGRESS = CFUNCTYPE(c_bool, c_void_p, POINTER(Progress))
NO_PROGRESS: Any = PROGRESS()  # type: ignore[call-overload]


class Hooks(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("ctx", c_void_p),
        ("progress", PROGRESS),
        ("cancelled", c_void_p),
        ("measured", c_void_p),
        ("stop", POINTER(c_int)),
    ]


class WatchSample(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("time_s", c_double),
        ("cpu_percent", c_double),
        ("resident", c_uint64),
        ("anonymous", c_uint64),
        ("file_backed", c_uint64),
        ("processes", c_uint64),
        ("threads", c_uint64),
        ("read_bytes", c_uint64),
        ("written_bytes", c_uint64),
        ("minor_faults", c_uint64),
        ("major_faults", c_uint64),
    ]


SAMPLE = CFUNCTYPE(c_bool, c_void_p, POINTER(WatchSample))
NO_SAMPLE: Any = SAMPLE()  # type: ignore[call-overload]


class WatchHooks(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("ctx", c_void_p),
        ("sample", SAMPLE),
        ("cancelled", c_void_p),
        ("stop", POINTER(c_int)),
    ]


class EngineInfo(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char * 32),
        ("title", c_char * 64),
        ("version", c_char * 64),
        ("library", c_char * 512),
    ]


class MetricInfo(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("title", c_char_p),
        ("aliases", c_char_p),
        ("unit", c_char_p),
        ("example", c_char_p),
        ("more_is_better", c_bool),
        ("measured", c_bool),
    ]


class FormatInfo(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("suffix", c_char_p), ("about", c_char_p)]


class OpInfo(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("domain", c_char_p),
        ("name", c_char_p),
        ("type", c_char_p),
        ("versions", c_char_p),
        ("formula", c_char_p),
    ]


class LensInfo(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("unit", c_char_p), ("about", c_char_p)]


class DeviceInfo(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("id", c_char_p),
        ("aliases", c_char_p),
        ("name", c_char_p),
        ("kind", c_char_p),
        ("certainty", c_char_p),
        ("source", c_char_p),
        ("peak", c_double * 6),
        ("memory_bytes", c_double),
        ("bandwidth", c_double),
        ("power_w", c_double),
        ("overhead_s", c_double),
        ("fp16_acc16", c_double),
        ("price_usd", c_double),
        ("price_date", c_char_p),
        ("price_source", c_char_p),
    ]


class DoctorCheck(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("ok", c_bool),
        ("detail", c_char * 512),
        ("optional", c_bool),
    ]


class RecordFilter(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("query", c_char_p),
        ("model", c_char_p),
        ("tag", c_char_p),
        ("since", c_char_p),
        ("id", c_int64),
        ("limit", c_int64),
        ("offset", c_int64),
        ("sweep", c_char_p),
        ("machine", c_char_p),
    ]


class RecordOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("tags", POINTER(c_char_p)),
        ("n_tags", c_size_t),
        ("name", c_char_p),
        ("options", c_void_p),
        ("machine", c_char_p),
        ("sweep", c_char_p),
        ("task", c_int64),
        ("known", POINTER(c_bool)),
    ]


class PruneOptions(Structure):
    _fields_ = [("size", c_size_t), ("keep", c_char_p), ("keep_tagged", c_bool)]


class TagChange(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("add", POINTER(c_char_p)),
        ("n_add", c_size_t),
        ("remove", POINTER(c_char_p)),
        ("n_remove", c_size_t),
    ]


class TrendRequest(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("model", c_char_p),
        ("metric", c_char_p),
        ("tag", c_char_p),
        ("since", c_char_p),
        ("all", c_bool),
        ("limit", c_int64),
        ("alerts", POINTER(c_char_p)),
        ("n_alerts", c_size_t),
    ]


class FleetRequest(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("model", c_char_p),
        ("machine", c_char_p),
        ("tag", c_char_p),
        ("since", c_char_p),
        ("metric", c_char_p),
        ("by", c_char_p),
        ("worse_only", c_bool),
        ("limit", c_int64),
        ("latency", c_char_p),
        ("prices", POINTER(c_char_p)),
        ("n_prices", c_size_t),
    ]


class SweepRequest(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("models", POINTER(c_char_p)),
        ("n_models", c_size_t),
        ("options", c_void_p),
    ]


class SweepOutcome(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("record", c_int64),
        ("known", c_bool),
        ("noisy", c_bool),
        ("attempts", c_uint),
        ("machine", c_char * 256),
        ("why", c_char * 256),
        ("result", c_void_p),
    ]


class SweepSubmission(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("on", c_char_p),
        ("plan_path", c_char_p),
        ("program", c_char_p),
        ("tasks", c_char_p),
        ("throttle", c_int64),
        ("time_limit_s", c_double),
        ("image", c_char_p),
        ("secret", c_char_p),
        ("manifest", c_char_p),
    ]


# C names of the structs above, for the test that compares their layout.
STRUCTS: Dict[str, Type[Structure]] = {
    "assay_error": Error,
    "assay_value": Value,
    "assay_model_input": ModelInput,
    "assay_model_info": ModelInfo,
    "assay_option_info": OptionInfo,
    "assay_input": Input,
    "assay_export_info": ExportInfo,
    "assay_progress": Progress,
    "assay_hooks": Hooks,
    "assay_engine_info": EngineInfo,
    "assay_metric_info": MetricInfo,
    "assay_format_info": FormatInfo,
    "assay_op_info": OpInfo,
    "assay_lens_info": LensInfo,
    "assay_device_info": DeviceInfo,
    "assay_doctor_check": DoctorCheck,
    "assay_watch_sample": WatchSample,
    "assay_watch_hooks": WatchHooks,
    "assay_record_filter": RecordFilter,
    "assay_record_options": RecordOptions,
    "assay_prune_options": PruneOptions,
    "assay_tag_change": TagChange,
    "assay_trend_request": TrendRequest,
    "assay_fleet_request": FleetRequest,
    "assay_sweep_request": SweepRequest,
    "assay_sweep_outcome": SweepOutcome,
    "assay_sweep_submission": SweepSubmission,
}

_P, _PP, _TEXT, _E = c_void_p, POINTER(c_void_p), c_char_p, POINTER(Error)
_OUT = (POINTER(c_void_p), POINTER(c_size_t), _E)
_HOOKS = POINTER(Hooks)

# name: what it returns, what it takes.
FUNCTIONS: Dict[str, Tuple[Any, Tuple[Any, ...]]] = {
    "assay_version": (_TEXT, ()),
    "assay_free": (None, (_P,)),
    "assay_model_open": (c_int, (_TEXT, _PP, _E)),
    "assay_model_from_bytes": (c_int, (_P, c_size_t, _TEXT, _TEXT, _PP, _E)),
    "assay_model_free": (None, (_P,)),
    "assay_model_at": (c_bool, (c_size_t, POINTER(ModelInfo))),
    "assay_model_cost": (c_int, (c_size_t, POINTER(ModelInfo), _E)),
    "assay_options_new": (_P, ()),
    "assay_options_free": (None, (_P,)),
    "assay_options_set": (c_int, (_P, _TEXT, _TEXT, _E)),
    "assay_options_input": (c_int, (_P, POINTER(Input), _E)),
    "assay_option_at": (c_bool, (c_size_t, POINTER(OptionInfo))),
    "assay_options_hooks": (c_int, (_P, _HOOKS, _E)),
    "assay_options_limits": (c_bool, (_P,)),
    "assay_watch": (c_int, (POINTER(_TEXT), c_int64, _P, POINTER(WatchHooks), _PP, _E)),
    "assay_load": (c_int, (_TEXT, _P, _HOOKS, _PP, _E)),
    "assay_analyze": (c_int, (_P, _P, _PP, _E)),
    "assay_result_free": (None, (_P,)),
    "assay_result_get": (c_int, (_P, _TEXT, POINTER(Value), _E)),
    "assay_result_count": (c_size_t, (_P, _TEXT)),
    "assay_result_text": (_TEXT, (_P, _TEXT)),
    "assay_result_schema": (c_int, (_TEXT, _P, _E)),
    "assay_result_read": (c_int, (_TEXT, _TEXT, _PP, _E)),
    "assay_result_from_json": (c_int, (_TEXT, c_size_t, _TEXT, _TEXT, _PP, _E)),
    "assay_results_write": (c_int, (_PP, c_size_t, _TEXT, _P) + _OUT),
    "assay_export": (c_int, (_P, _TEXT, _P, POINTER(ExportInfo), _E)),
    "assay_measure": (c_int, (_P, _P, c_uint, _HOOKS, _P, _E)),
    "assay_engine_find": (c_int, (_P, POINTER(EngineInfo), _E)),
    "assay_pipeline": (c_int, (_TEXT, _P, _PP, _E)),
    "assay_pipeline_at": (c_bool, (c_size_t, POINTER(_TEXT))),
    "assay_pipeline_measure": (c_int, (_P, _P, _HOOKS, _E)),
    "assay_pipelines": (c_int, (_PP, c_size_t, _PP, _E)),
    "assay_fuse": (c_int, (_P, _P, _PP, _E)),
    "assay_map": (c_int, (_P, _P, _PP, _E)),
    "assay_scale": (c_int, (_P, _P, _PP, _E)),
    "assay_result_write": (c_int, (_P, _TEXT, _P) + _OUT),
    "assay_compare": (c_int, (_PP, c_size_t, _P, _PP, _E)),
    "assay_compare_measure": (c_int, (_P, _PP, c_size_t, _P, _HOOKS, _E)),
    "assay_validate": (c_int, (POINTER(_TEXT), c_size_t, _P, _PP, _E)),
    "assay_check": (c_int, (_P, _P, _TEXT, _P, _PP, _E)),
    "assay_options_follow": (c_int, (_P, _P, _E)),
    "assay_options_measured": (c_bool, (_P, _P)),
    "assay_result_metric": (c_bool, (_P, _TEXT, POINTER(c_double))),
    "assay_metric_at": (c_bool, (c_size_t, POINTER(MetricInfo))),
    "assay_machine_measure": (c_int, (_P, _HOOKS, _PP, _E)),
    "assay_machine_open": (c_int, (_TEXT, _PP, _E)),
    "assay_machine_save": (c_int, (_P, _TEXT, _E)),
    "assay_machine_path": (_TEXT, (_P,)),
    "assay_machine_roof": (c_double, (_P, _TEXT, c_uint, c_double)),
    "assay_page_licenses": (_TEXT, ()),
    "assay_capacity": (c_int, (_PP, POINTER(_TEXT), c_size_t, _P, _PP, _E)),
    "assay_capacity_models": (c_int, (POINTER(_TEXT), c_size_t, _P, _PP, _E)),
    "assay_store_open": (c_int, (_TEXT, c_bool, _PP, _E)),
    "assay_store_close": (None, (_P,)),
    "assay_store_save": (c_int, (_P, _P, POINTER(RecordOptions), POINTER(c_int64), _E)),
    "assay_store_list": (c_int, (_P, POINTER(RecordFilter), _PP, _E)),
    "assay_store_get": (c_int, (_P, c_int64, _TEXT, _PP, _E)),
    "assay_store_add": (
        c_int,
        (_P, _TEXT, c_size_t, POINTER(RecordOptions), POINTER(c_int64), _E),
    ),
    "assay_store_document": (c_int, (_P, c_int64) + _OUT),
    "assay_store_models": (c_int, (_P, _PP, _E)),
    "assay_store_export": (
        c_int,
        (_P, POINTER(RecordFilter), POINTER(c_void_p), POINTER(c_size_t), POINTER(c_uint64), _E),
    ),
    "assay_store_import": (c_int, (_P, _TEXT, POINTER(c_uint64), POINTER(c_uint64), _E)),
    "assay_store_import_good": (
        c_int,
        (_P, _TEXT, POINTER(c_uint64), POINTER(c_uint64), POINTER(c_void_p), _E),
    ),
    "assay_store_init": (c_int, (_TEXT, POINTER(c_bool), POINTER(c_void_p), _E)),
    "assay_store_copy": (c_int, (_P, _P, POINTER(c_uint64), POINTER(c_uint64), _E)),
    "assay_store_prune": (c_int, (_P, POINTER(PruneOptions), POINTER(c_uint64), _E)),
    "assay_store_path": (c_int, (_TEXT, POINTER(c_void_p), _E)),
    "assay_store_tag": (c_int, (_P, c_int64, POINTER(TagChange), _E)),
    "assay_store_delete": (c_int, (_P, c_int64, _E)),
    "assay_store_trend": (c_int, (_P, POINTER(TrendRequest), _PP, _E)),
    "assay_store_changes": (c_int, (_P, POINTER(FleetRequest), _PP, _E)),
    "assay_store_drift": (c_int, (_P, POINTER(FleetRequest), _PP, _E)),
    "assay_store_cheapest": (c_int, (_P, POINTER(FleetRequest), _PP, _E)),
    "assay_sweep_plan": (c_int, (POINTER(SweepRequest), _PP, _E)),
    "assay_sweep_open": (c_int, (_TEXT, _P, _PP, _E)),
    "assay_sweep_run": (c_int, (_P, c_int64, _P, _P, _HOOKS, POINTER(SweepOutcome), _E)),
    "assay_sweep_status": (c_int, (_P, _P, _TEXT, _PP, _E)),
    "assay_sweep_missing": (c_int, (_P, _P, POINTER(c_void_p), POINTER(c_uint64), _E)),
    "assay_sweep_report": (c_int, (_P, _P, _PP, _E)),
    "assay_sweep_submit": (
        c_int,
        (_P, _P, POINTER(SweepSubmission), POINTER(c_uint64), POINTER(c_void_p), _E),
    ),
    "assay_sweep_cancel": (c_int, (_P, _TEXT, POINTER(c_void_p), _E)),
    "assay_format_of": (_TEXT, (_TEXT,)),
    "assay_format_at": (c_bool, (c_size_t, POINTER(FormatInfo))),
    "assay_output_open": (c_int, (_TEXT, _PP, _E)),
    "assay_output_abandon": (None, (_P,)),
    "assay_output_write": (c_int, (_P, _TEXT, c_size_t, _E)),
    "assay_output_commit": (c_int, (_P, _TEXT, c_size_t, _E)),
    "assay_output_commit_all": (c_int, (_PP, c_size_t, _E)),
    "assay_op_at": (c_bool, (c_size_t, POINTER(OpInfo))),
    "assay_lens_at": (c_bool, (c_size_t, POINTER(LensInfo))),
    "assay_devices_open": (c_int, (_TEXT, _PP, _E)),
    "assay_devices_at": (c_bool, (_P, c_size_t, POINTER(DeviceInfo))),
    "assay_devices_free": (None, (_P,)),
    "assay_device_precision": (_TEXT, (c_size_t,)),
    "assay_doctor": (c_bool, (c_size_t, POINTER(DoctorCheck))),
}

_loading = Lock()
_library: Optional[ctypes.CDLL] = None


def places(name: str, variable: str) -> Iterator[str]:
    """Where a file of the build may be: named by the environment, in the wheel, or in the tree it
    was built in."""
    if os.environ.get(variable):
        yield os.environ[variable]
        return
    yield os.path.join(HERE, "_native_files", name)
    tree = os.path.normpath(os.path.join(HERE, "..", "..", "..", ".."))
    for build in ("python", "release", "dev"):
        yield os.path.join(tree, "build", build, name)


def find(name: str, variable: str) -> str:
    tried = list(places(name, variable))
    for path in tried:
        if os.path.exists(path):
            return path
    raise ImportError(
        f"{name} is not there (looked for {', '.join(tried)}). Install the package with "
        f"`pip install bindings/python`, or set {variable}."
    )


def _load() -> ctypes.CDLL:
    from . import __version__

    path = find("libassay.so", "ASSAY_LIBRARY")
    try:
        library = ctypes.CDLL(path)
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as e:
        raise ImportError(f"{path} is not a libassay that this package can use: {e}") from None
    version = library.assay_version().decode()
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise ImportError(
            f"{path} is version {version}, and this package is of version {__version__}."
        )
    return library


def lib() -> Any:
    """The library, loaded when it is first needed."""
    global _library
    if _library is None:
        with _loading:
            if _library is None:
                _library = _load()
    return _library


def text(value: Optional[bytes]) -> str:
    """Names come from files, which may hold anything."""
    return (value or b"").decode("utf-8", "replace")


def encode(value: Any, what: str) -> bytes:
    """A path or word for the library; TypeError for what is neither, ValueError for what C cannot
    hold."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{what} must be a string or a path, not {type(value).__name__}")
    data = os.fsencode(value)
    if b"\0" in data:
        raise errors.UsageError(f"{what} must not contain a NUL character.")
    return data


def number(value: Any, what: str, least: int = -(2**63), most: int = 2**63 - 1) -> int:
    """A whole number that C can hold: ctypes itself would cut it off and say nothing."""
    try:
        n: int = value.__index__()
    except AttributeError:
        raise TypeError(f"{what} must be a whole number, not {type(value).__name__}") from None
    if not least <= n <= most:
        raise errors.UsageError(f"{what} must be from {least} to {most}, not {n}.")
    return n


def failure(err: Error) -> errors.AssayError:
    """The exception for a filled error."""
    kind = errors.BY_STATUS.get(err.code, errors.AssayError)
    offset = None if err.offset == NO_OFFSET else err.offset
    return kind(text(err.message) or "The library gave no reason.", text(err.node), offset)


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last parameter is the error; raises what it says."""
    err = Error()
    if function(*arguments, ctypes.byref(err)):
        raise failure(err)


def rows(function: Any, kind: Type[Structure], *before: Any) -> Iterator[Any]:
    """Walks a table of the library: a fresh struct per row."""
    index = 0
    while True:
        row = kind()
        row.size = ctypes.sizeof(kind)
        if not function(*before, index, ctypes.byref(row)):
            return
        yield row
        index += 1


def take_text(out: c_void_p, n: c_size_t) -> str:
    """Copies a text that the library handed over, and frees it."""
    try:
        return (
            ctypes.string_at(out.value or 0, n.value).decode("utf-8", "replace")
            if out.value
            else ""
        )
    finally:
        lib().assay_free(out)


def rendered(function: Any, *arguments: Any) -> str:
    """The text of a report function: arguments without the last three."""
    out, n = c_void_p(), c_size_t()
    call(function, *arguments, ctypes.byref(out), ctypes.byref(n))
    return take_text(out, n)
