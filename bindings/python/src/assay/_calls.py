"""The functions of the package: each opens a model, makes options, calls the library and hands back
a result."""
from __future__ import annotations

import ctypes
import fnmatch
import glob
import json
import os
import shlex
import sys
from contextlib import ExitStack
from ctypes import c_void_p
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _native, _options, _running, _tensors, compute, errors
from ._handles import All, Handle
from ._model import Model, ModelLike, opened
from ._native import lib
from ._results import (
    Capacity,
    Check,
    Comparison,
    Load,
    Machine,
    Pipeline,
    Profile,
    Scaling,
    Section,
    Validation,
    document,
    held,
    read_json,
)
from ._running import ProgressLike

SWEEP, LAYERS, PLAN = 1, 2, 4  # ASSAY_MEASURE_


# ---- static ----


def _analyzed(
    model: Model, options: Handle, function: str = "assay_analyze", long: bool = False
) -> Handle:
    """One analysis is over before anybody could stop it, unless it is ``long``: of several
    evaluations."""
    call, err = getattr(lib(), function), _native.Error()

    def work(hooks: _running.Hooks) -> Any:
        out = c_void_p()
        with model._handle as m, options as o, hooks.on(o):
            status = call(m, o, ctypes.byref(out), ctypes.byref(err))
        return (
            status,
            held(out.value) if out.value else None,
        )

    status: int
    handle: Optional[Handle]
    status, handle = _running.run_whole(work) if long else work(_running.Hooks(False))
    if status:
        error = _native.failure(err)
        if handle:  # strict: the profile is there all the same
            error.result = Profile(handle)
        raise error
    assert handle
    return handle


def _static(
    function: str,
    model: ModelLike,
    inputs: Any,
    options: Dict[str, Any],
    view: Optional[str] = None,
) -> Profile:
    with opened(model, inputs, options.get("input_shape")) as m:
        if (
            m is not model and m.tensors is not None
        ):  # a module that was exported for these: its shapes are in the graph
            inputs, options = None, _shapeless(options)
        made = _options.make(options, _tensors.several(inputs))
        long = function != "assay_analyze" or bool(options.get("advice"))
        result = Profile(_analyzed(m, made, function, long), {"view": view, **options})
        return _gated(result, made) if "threshold" in options else result


def _gated(result: Profile, made: Handle) -> Profile:
    """Judged by the limits among the options, when there are any."""
    with made as o:
        limited = lib().assay_options_limits(o)
    if limited:
        result._judged_by(judge(result, None, made, ""))
    return result


def _shapeless(options: Dict[str, Any]) -> Dict[str, Any]:
    return {k: v for k, v in options.items() if k != "input_shape"}


def graph(model: ModelLike, *, inputs: Any = None, **options: Any) -> Profile:
    """What a model costs, without running it: parameters, MACs, FLOPs, memory, layers, bottlenecks.

    ``model``: a path, a built-in name, ONNX bytes, an ``onnx.ModelProto``, a ``torch.nn.Module``
    (with ``inputs`` or ``input_shape``) or a ``Model``. ``inputs`` give the shapes. ``options`` are
    the command line's, with underscores: ``input_shape=(1, 3, 224, 224)``, ``batch=8``,
    ``dim={"sequence": 128}``, ``set={"num_classes": 10}``, ``lens="fvcore"``, ``precision="fp16"``,
    ``hardware="a100-80"``, ``training=True``, ``strict=True``, ``advice=True``, ``verbose=True``.
    With ``threshold="params:30M"`` the result is judged: see ``Profile.passed``.
    """
    return _static("assay_analyze", model, inputs, options)


def map(
    model: ModelLike,
    hardware: Union[str, Sequence[str]] = "all",
    *,
    inputs: Any = None,
    **options: Any,
) -> Profile:
    """The model placed on devices: time, memory, fit and bound per device, precision and batch (key
    ``devices``)."""
    return _static("assay_map", model, inputs, {"hardware": hardware, **options}, "map")


def fuse(
    model: ModelLike, strategy: Optional[str] = None, *, inputs: Any = None, **options: Any
) -> Profile:
    """The layers cut into groups that may each run as one kernel (keys ``groups``, ``fusion``), and
    the patterns found.

    ``strategy``: "none", "conventional" or "aggressive". With ``against_engine=True`` what the
    engine itself fuses stands beside it; nothing is run."""
    options = engine_here(options) if options.get("against_engine") else options
    return _static("assay_fuse", model, inputs, {"strategy": strategy, **options}, "fuse")


def scale(
    model: ModelLike,
    dim: Any = None,
    *,
    solve: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> Scaling:
    """Cost over a grid of sizes: ``dim={"batch": "1..64"}``; ``solve="memory<=24GB"`` asks for the
    largest size."""
    with opened(model, None, options.get("input_shape")) as m:
        handle = _options.make({"dim": dim, "solve": solve, **options})

        def work(hooks: _running.Hooks) -> Any:
            out, err = c_void_p(), _native.Error()
            with m._handle as pointer, handle as o, hooks.on(o):
                status = lib().assay_scale(pointer, o, ctypes.byref(out), ctypes.byref(err))
            result = held(out.value) if out.value else None
            return result, _native.failure(err) if status else None

        result, error = _running.run_whole(work, progress)
        if error:
            if result:  # strict: it is there all the same
                error.result = Scaling(result, options)
            raise error
        return Scaling(result, options)


def export(model: ModelLike, path: Any, *, inputs: Any = None, **options: Any) -> Section:
    """Writes the model as an ONNX file. Options: ``opset``, ``seed``, ``precision``,
    ``external_data``, ``holes``, ``set``, ..."""
    info = _native.ExportInfo(size=ctypes.sizeof(_native.ExportInfo))
    name, made = _native.encode(path, "the path"), _options.make(engine_here(options))
    with opened(model, inputs, options.get("input_shape")) as m:

        def work(hooks: _running.Hooks) -> None:
            with made as o, m._handle as pointer, hooks.on(o):
                _native.call(lib().assay_export, pointer, name, o, ctypes.byref(info))

        _running.run_whole(work)
    return Section(
        model_bytes=info.model_bytes,
        data_bytes=info.data_bytes,
        tensors=info.tensors,
        random_tensors=info.random_tensors,
    )


# ---- measured ----


def engine_here(options: Dict[str, Any]) -> Dict[str, Any]:
    """This interpreter's own onnxruntime, when it has one and nobody says otherwise: the library
    looks into the usual places, and cannot know which environment it was called from. Nothing of it
    is imported."""
    if options.get("engine_lib") or options.get("engine") or os.environ.get("ASSAY_ORT_LIB"):
        return options
    for folder in sys.path:
        found = sorted(
            glob.glob(
                os.path.join(glob.escape(folder), "onnxruntime", "capi", "libonnxruntime.so*")
            )
        )
        if folder and found:
            return {**options, "engine_lib": found[-1]}
    return options


def _input_names(profile: Handle) -> List[str]:
    with profile as pointer:
        return [
            _native.text(lib().assay_result_text(pointer, b"config.inputs.%d.name" % i))
            for i in range(lib().assay_result_count(pointer, b"config.inputs"))
        ]


def _finish(
    work: Callable[[_running.Hooks], Optional[errors.AssayError]],
    result: Any,
    progress: ProgressLike,
) -> None:
    """Runs it; what is raised has the result so far."""
    try:
        error = _running.run(work, progress)
    except KeyboardInterrupt:
        raise errors.Interrupted(
            "Interrupted: the result holds what was measured until then.", result
        ) from None
    if error:
        error.result = result
        raise error


def _measure(m: Model, options: Handle, what: int, result: Profile, progress: ProgressLike) -> None:
    profile = result._handle

    def work(hooks: _running.Hooks) -> Optional[errors.AssayError]:
        err = _native.Error()
        with m._handle as model, options as o, profile as p:
            status = lib().assay_measure(
                model, o, what, ctypes.byref(hooks.struct), p, ctypes.byref(err)
            )
        return _native.failure(err) if status and status != _native.INTERRUPTED else None

    _finish(work, result, progress)


def _followed(made: Handle, baseline: Optional[Profile]) -> Handle:
    """Measures as the baseline was measured, where the options do not say."""
    if baseline is not None:
        with made as o, baseline._handle as b:
            _native.call(lib().assay_options_follow, o, b)
    return made


def _measured(
    model: ModelLike,
    what: int,
    inputs: Any,
    progress: ProgressLike,
    options: Dict[str, Any],
    baseline: Optional[Profile] = None,
) -> Profile:
    options = engine_here(options)
    with opened(model, inputs, options.get("input_shape")) as m:
        if m.tensors is None or (m is model and inputs is not None):
            made = _followed(_options.make(options, _tensors.several(inputs)), baseline)
            handle = _analyzed(m, made)
        else:
            # A module with the inputs it was exported for; those that forward does not use are not
            # in the graph.
            options = options if m is model else _shapeless(options)
            handle = _analyzed(m, _followed(_options.make(options), baseline))
            names = _input_names(handle)
            made = _options.make(
                options, [_tensors.one(t).named(n) for n, t in m.tensors.items() if n in names]
            )
            _followed(made, baseline)
        view = "memory" if what & PLAN else "layers" if what & LAYERS else "bench"
        result = Profile(handle, {"view": view, **options})
        try:
            _measure(m, made, what, result, progress)
        except errors.AssayError:
            result.__dict__["_asked"].pop(
                "view"
            )  # nothing was run: what is known without it is shown
            raise
        return _gated(result, made)


def profile(
    model: ModelLike,
    *,
    inputs: Any = None,
    detailed: bool = False,
    progress: ProgressLike = None,
    **options: Any,
) -> Profile:
    """The whole job: the static profile, then runs on the engine.

    Batch sizes 1, 2, 4, 8, 16, unless ``inputs``, ``batch``, ``batch_sizes`` or ``configs`` say
    which. ``inputs`` are run as they are given: an array or tensor for the first input, a tuple for
    the first inputs, a dict by name. ``detailed`` adds the time of every layer. Options:
    ``num_runs``, ``warmup_runs``, ``precision``, ``device``, ``threads``, ``duration``, ... With
    ``threshold={"latency": "100ms", "throughput": "1000samples/s"}`` the result is judged:
    ``result.passed``, ``result.check``, and ``result.raise_for_status()``, which makes a missed
    limit a ThresholdError. Ctrl-C raises ``Interrupted``, a KeyboardInterrupt with the ``result``
    so far.
    """
    sized = inputs is not None or any(
        options.get(k) is not None for k in ("batch", "batch_sizes", "configs")
    )
    return _measured(
        model, (0 if sized else SWEEP) | (LAYERS if detailed else 0), inputs, progress, options
    )


def bench(
    model: ModelLike,
    configs: Any = None,
    *,
    inputs: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> Profile:
    """Measures latency, throughput and memory: one configuration, or ``configs=[{"batch_size": 8,
    "precision": "fp16"}]``."""
    return _measured(model, 0, inputs, progress, {"configs": configs, **options})


def layers(
    model: ModelLike,
    layers: Any = None,
    *,
    inputs: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> Profile:
    """Measured time of every layer beside its FLOPs and bytes. ``layers`` are patterns of names for
    the console's table."""
    return _measured(model, LAYERS, inputs, progress, {"layers": layers, **options})


def memory(
    model: ModelLike,
    *,
    measure: bool = False,
    inputs: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> Profile:
    """The memory plan (key ``memory_plan``) with its ``events`` in order and its ``snapshots``,
    also of the layers that ``at`` names; with ``measure`` also that of a run."""
    options = {"allocations": True, **options}
    if not measure:
        return _static("assay_analyze", model, inputs, options, "memory")
    return _measured(model, PLAN, inputs, progress, options)


# ---- results ----


def load(path: Any) -> Profile:
    """Reads a result that was saved as JSON."""
    return Profile(_read(path, b"profile"))


def _read(path: Any, kind: Optional[bytes] = None) -> Handle:
    out = c_void_p()
    name = _native.encode(path, "the path")
    _native.call(lib().assay_result_read, name, kind, ctypes.byref(out))
    return held(out.value)


def loads(text: Union[str, bytes], name: str = "the text") -> Profile:
    """The same from text."""
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"a result is read from text, not from {type(text).__name__}")
    return Profile(read_json(text, name, b"profile"))


def report(*documents: Any, format: str = "console", **options: Any) -> str:
    """Any documents of the library's rendered again: paths of saved results, comparisons,
    pipelines, scalings, checks, ..., or one as a dict. Several stand one after the other, in
    ``"md"``, ``"html"`` and ``"summary-html"``."""
    kind = _native.encode(format, "a format")
    if len(documents) == 1 and isinstance(documents[0], Mapping):
        return document(json.dumps(documents[0]), format, options)
    with _options.make(options) as o, All([_read(d) for d in documents]) as pointers:
        array = (c_void_p * max(len(pointers), 1))(*pointers)
        return _native.rendered(lib().assay_results_write, array, len(pointers), kind, o)


def _unpickled(text: str) -> Profile:
    return loads(text, "the pickled result")


def _is_saved(value: Any) -> bool:
    if not isinstance(value, (str, os.PathLike)) or not os.fspath(value).endswith(".json"):
        return False
    schema, err = ctypes.create_string_buffer(64), _native.Error()
    name = _native.encode(value, "the path")
    status = lib().assay_result_schema(name, schema, ctypes.byref(err))
    return status == 0 and schema.value == b"assay.profile"


def as_profile(value: Any, name: str = "the result") -> Optional[Profile]:
    """A result in any form, or None when it is something else (a model)."""
    if isinstance(value, Profile):
        return value
    if isinstance(value, Mapping):
        return loads(json.dumps(value), name)
    return load(value) if _is_saved(value) else None


def compare(
    *models: Any,
    measure: bool = False,
    inputs: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> Comparison:
    """From 2 to 12 models or results side by side: totals with ratios to the first, operator types,
    layers that differ.

    Each is a model, a result, or the path of a saved one. With ``measure`` (models only) their runs
    take turns, and each is judged against the first: "faster", "slower", "no difference" or "cannot
    tell"; one of several whose precision the model or the engine refuses is "not run".
    ``precision`` is one for all, or one for each: ``"fp32,int8"``.
    """
    if measure:
        return _raced(models, inputs, progress, options)
    each = _each(options, len(models))
    return _beside(
        [as_profile(m) or graph(m, inputs=inputs, **o) for m, o in zip(models, each)], options
    )


def _each(options: Dict[str, Any], n: int) -> List[Dict[str, Any]]:
    """The options of every model: of a list of precisions its own."""
    names = _options.word(options["precision"]).split(",") if options.get("precision") else []
    if len(names) < 2:
        return [options] * n
    if len(names) != n:
        raise errors.UsageError(
            f"precision names {len(names)} types for {n} models: give one for all, or one for each."
        )
    return [{**options, "precision": name} for name in names]


def _beside(profiles: List[Profile], options: Mapping[str, Any]) -> Comparison:
    out = c_void_p()
    with _options.make(options) as o, All(p._handle for p in profiles) as pointers:
        array = (c_void_p * max(len(pointers), 1))(*pointers)
        _native.call(lib().assay_compare, array, len(pointers), o, ctypes.byref(out))
    # The profiles are borrowed: they live as long as the comparison.
    return Comparison(
        held(out.value, "the comparison", profiles),
        profiles,
        options,
    )


def _raced(
    models: Sequence[Any], inputs: Any, progress: ProgressLike, options: Dict[str, Any]
) -> Comparison:
    for m in models:
        if isinstance(m, (Profile, Mapping)) or _is_saved(m):
            raise errors.UsageError("A result cannot be run again: measure=True takes models.")
    options = engine_here(options)
    with ExitStack() as stack:
        opens = [stack.enter_context(opened(m, inputs, options.get("input_shape"))) for m in models]
        made = _options.make(
            options, _tensors.several(inputs)
        )  # the list of precisions is for the race alone
        alone = [_options.make(o, _tensors.several(inputs)) for o in _each(options, len(opens))]
        result = _beside([Profile(_analyzed(m, o), options) for m, o in zip(opens, alone)], options)

        def work(hooks: _running.Hooks) -> Optional[errors.AssayError]:
            err = _native.Error()
            handles = [m._handle for m in opens]
            with All(handles) as pointers, made as o, result._inside() as (comparison, *_):
                array = (c_void_p * len(pointers))(*pointers)
                status = lib().assay_compare_measure(
                    comparison,
                    array,
                    len(pointers),
                    o,
                    ctypes.byref(hooks.struct),
                    ctypes.byref(err),
                )
            told = status in (0, errors.InconclusiveError.code, _native.INTERRUPTED)
            return None if told else _native.failure(err)

        _finish(work, result, progress)
    return result


def validate(*models: Any, **options: Any) -> Validation:
    """Our counts of models (paths or built-in names) beside those of another tool:
    ``lens="fvcore"``, or ``"all"``."""
    names = [_native.encode(m, "a model") for m in models]
    array = (ctypes.c_char_p * max(len(names), 1))(*names)
    made = _options.make(options)

    def work(hooks: _running.Hooks) -> Handle:
        out = c_void_p()
        with made as o, hooks.on(o):
            _native.call(lib().assay_validate, array, len(names), o, ctypes.byref(out))
        return held(out.value)

    return Validation(_running.run_whole(work))


def check(
    model: Any,
    threshold: Any = None,
    *,
    baseline: Any = None,
    inputs: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> Check:
    """Judges a result, or a model that is measured when a limit asks for it.

    ``threshold="latency:100ms"``, a list of such, or ``{"latency": "100ms", "params": "30M"}``.
    ``baseline`` is a result or the path of one: counts must not be worse, measured metrics are
    tested (``tolerance``, ``metrics``). The Check has ``passed`` and ``status``;
    ``raise_for_status()`` makes a failure an exception.
    """
    before = None if baseline is None else as_profile(baseline, "the baseline") or load(baseline)
    judging = {
        "threshold": threshold,
        **{k: options.pop(k) for k in ("tolerance", "metrics") if k in options},
    }
    limits = _options.make(judging)
    current = as_profile(model)
    if current is None:
        current = _to_judge(model, limits, before, inputs, progress, options)
    name = str(baseline) if isinstance(baseline, (str, os.PathLike)) else "the baseline"
    return judge(current, before, limits, name)


def _to_judge(
    model: ModelLike,
    limits: Handle,
    before: Optional[Profile],
    inputs: Any,
    progress: ProgressLike,
    options: Dict[str, Any],
) -> Profile:
    with limits as o:
        if before is None:
            measured = lib().assay_options_measured(o, None)
        else:
            with before._handle as b:
                measured = lib().assay_options_measured(o, b)
    if measured:
        return _measured(model, 0, inputs, progress, options, before)
    return graph(model, inputs=inputs, **options)


def judge(current: Profile, before: Optional[Profile], options: Handle, name: str) -> Check:
    """The verdicts on a profile against limits and a baseline."""
    out, err = c_void_p(), _native.Error()
    handles = [current._handle] + ([before._handle] if before else [])
    with options as o, All(handles) as pointers:
        status = lib().assay_check(
            pointers[0],
            pointers[1] if before else None,
            _native.encode(name, "name"),
            o,
            ctypes.byref(out),
            ctypes.byref(err),
        )
    if not out.value:
        raise _native.failure(err)
    handle = held(out.value, "the verdicts")
    return Check(handle, status, _native.text(err.message))


def capacity(*results: Any, target: str, latency: Optional[str] = None, **options: Any) -> Capacity:
    """How many machines serve ``target="5000rps"`` within ``latency="p99:50ms"``, from measured
    results or their paths.

    ``status`` of the answer is 6 when no configuration can do it; ``headroom`` is the per cent of a
    machine that is kept free.

    With ``hardware="h100-sxm,l40s"`` the results are names of language models, whose times are
    predicted; ``slo="ttft:500ms,itl:50ms"``, ``prompt_tokens`` and ``generate`` describe requests.
    """
    out, err = c_void_p(), _native.Error()
    if options.get("hardware"):
        names = [str(r).encode() for r in results]
        words = (ctypes.c_char_p * max(len(names), 1))(*names)
        with _options.make({"target": target, "latency": latency, **options}) as o:
            status = lib().assay_capacity_models(
                words, len(names), o, ctypes.byref(out), ctypes.byref(err)
            )
        if not out.value:
            raise _native.failure(err)
        return Capacity(held(out.value, "the plan"), status, _native.text(err.message))
    profiles = [as_profile(r) or load(r) for r in results]
    with _options.make({"target": target, "latency": latency, **options}) as o, All(
        p._handle for p in profiles
    ) as pointers:
        array = (c_void_p * max(len(pointers), 1))(*pointers)
        status = lib().assay_capacity(
            array, None, len(pointers), o, ctypes.byref(out), ctypes.byref(err)
        )
    if not out.value:
        raise _native.failure(err)
    return Capacity(held(out.value, "the plan"), status, _native.text(err.message))


# ---- pipelines ----


def _diffusion_names(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The library's own names of what pipelines are told."""
    names = {"num_inference_steps": "steps"}
    return {names.get(k, k): v for k, v in options.items()}


def pipeline(
    *models: Any,
    measure: bool = False,
    progress: ProgressLike = None,
    name: Optional[str] = None,
    **options: Any,
) -> Pipeline:
    """What a whole generation costs, component by component.

    ``models``: built-in pipelines (``pipelines()``), language models, folders of diffusers or
    transformers, or objects with ``unet`` or ``transformer``, ``vae``, ``text_encoder`` that have a
    ``config``; several of one kind stand side by side. Options: ``height``, ``width``, ``steps``,
    ``guidance_scale``, ``strength``, ``prompt_tokens``, ``batch``, ``sweep={"resolution":
    "512,768"}``; of language models ``generate``, ``precision``, ``cache_dtype``, ``memory_limit``.
    ``measure`` runs one call of each component and adds the times up.
    """
    if not models and not options.get("pipeline_file"):
        raise errors.UsageError("Name a pipeline, such as 'sd21'.")
    asked = engine_here(_diffusion_names(options)) if measure else _diffusion_names(options)
    made = _options.make(asked)
    handles: List[Handle] = []
    for model in models or (options["pipeline_file"],):
        with compute.located(model) as where:
            out = c_void_p()
            with made as o:
                _native.call(
                    lib().assay_pipeline,
                    _native.encode(where, "the pipeline"),
                    o,
                    ctypes.byref(out),
                )
            handles.append(held(out.value, "the pipeline"))
        if len(models) == 1 and name is None and not isinstance(model, (str, os.PathLike)):
            name = type(model).__name__
    result = Pipeline(handles, asked, name)
    if measure:
        _measure_pipelines(result, made, progress)
    return result


def _measure_pipelines(result: Pipeline, options: Handle, progress: ProgressLike) -> None:
    def work(hooks: _running.Hooks) -> Optional[errors.AssayError]:
        for handle in result._handles:
            err = _native.Error()
            with handle as p, options as o:
                status = lib().assay_pipeline_measure(
                    p, o, ctypes.byref(hooks.struct), ctypes.byref(err)
                )
            if status:
                return None if status == _native.INTERRUPTED else _native.failure(err)
        return None

    _finish(work, result, progress)


def machine(
    path: Any = None, *, measure: bool = False, progress: ProgressLike = None, **options: Any
) -> Machine:
    """This machine's ceilings as they were measured before (in ``path``, or where ``this`` is
    looked for); with ``measure`` they are measured now: half a minute, five seconds with
    ``quick=True``. ``keep()`` of the answer saves them.
    """
    out = c_void_p()
    if not measure:
        name = None if path is None else _native.encode(path, "the path")
        _native.call(lib().assay_machine_open, name, ctypes.byref(out))
        return Machine(held(out.value, "the machine"))
    made = _options.make(engine_here(options))

    def work(hooks: _running.Hooks) -> Optional[errors.AssayError]:
        err = _native.Error()
        with made as o:
            status = lib().assay_machine_measure(
                o, ctypes.byref(hooks.struct), ctypes.byref(out), ctypes.byref(err)
            )
        return _native.failure(err) if status and status != _native.INTERRUPTED else None

    _finish(work, None, progress)
    return Machine(held(out.value, "the machine"))


def load_endpoint(url: str, *, progress: ProgressLike = None, **options: Any) -> Load:
    """Sends requests to a live endpoint and measures its answers: ``rate`` or ``concurrency``,
    ``duration``, ``curve=True``, ``slo="p99:200ms"``, ``prompt_tokens``, ... (``assay load``).

    EngineError if no request succeeded; its ``result`` has the errors. A missed SLO is no
    exception: ``passed`` is False. Ctrl-C ends it, and ``Interrupted.result`` is what was measured.
    """
    out, word = c_void_p(), _native.encode(url, "the URL")
    missed: List[str] = []
    made = _options.make(options)

    def work(hooks: _running.Hooks) -> Optional[errors.AssayError]:
        err = _native.Error()
        with made as o:
            status = lib().assay_load(
                word, o, ctypes.byref(hooks.struct), ctypes.byref(out), ctypes.byref(err)
            )
        if status == _native.THRESHOLD:
            missed.append(_native.text(err.message))
            return None
        return _native.failure(err) if status and status != _native.INTERRUPTED else None

    def result() -> Optional[Load]:
        status = _native.THRESHOLD if missed else 0
        return Load(held(out.value), status, "".join(missed)) if out.value else None

    try:
        error = _running.run(work, progress)
    except KeyboardInterrupt:
        raise errors.Interrupted(
            "Interrupted: the result holds what was measured until then.", result()
        ) from None
    if error:
        error.result = result()
        raise error
    made_result = result()
    assert made_result is not None
    return made_result


# ---- what the library knows ----


def watch(
    command: Any = None,
    *,
    pid: Optional[int] = None,
    progress: Union[None, bool, Callable[[_running.Look], Any]] = None,
    **options: Any,
) -> Profile:
    """Starts a program (``["python3", "train.py"]``, or a text that is split as a shell would) or
    looks at the running process ``pid``, until it ends: key ``watch`` of the result has processor,
    memory, faults and traffic over time.

    Options: ``interval`` in milliseconds, ``duration`` in seconds. A progress function gets a
    ``Look``. Ctrl-C ends it, and ``Interrupted.result`` is what was seen until then.
    """
    if (command is None) == (pid is None):
        raise errors.UsageError("Give a command to start or the pid of a running process.")
    words = shlex.split(command) if isinstance(command, str) else list(command or ())
    argv = (ctypes.c_char_p * (len(words) + 1))(
        *[_native.encode(w, "a word of the command") for w in words], None
    )
    number, made = 0 if pid is None else _native.number(pid, "pid", 1), _options.make(options)

    def work(hooks: _running.Hooks) -> Any:
        out, err = c_void_p(), _native.Error()
        with made as o:
            status = lib().assay_watch(
                argv if words else None,
                number,
                o,
                ctypes.byref(hooks.watching),
                ctypes.byref(out),
                ctypes.byref(err),
            )
        kept.append(held(out.value) if out.value else None)
        return _native.failure(err) if status and status != _native.INTERRUPTED else None

    if command is not None and not words:
        raise errors.UsageError("The command is empty.")
    kept: List[Optional[Handle]] = []
    try:
        error = _running.run(work, progress)
    except KeyboardInterrupt:
        result = Profile(kept[0]) if kept and kept[0] else None
        raise errors.Interrupted(
            "Interrupted: the result holds what was seen until then.", result
        ) from None
    if error:
        raise error
    assert kept[0]
    return Profile(kept[0])


def _listed(row: Any, names: Iterable[str]) -> Section:
    return Section(
        (n, _native.text(v) if isinstance(v := getattr(row, n), bytes) or v is None else v)
        for n in names
    )


def _shown(info: Section, pattern: str) -> bool:
    low = pattern.lower()
    if any(c in pattern for c in "*?["):
        return fnmatch.fnmatchcase(info["name"].lower(), low)
    return (
        low in info["name"].lower()
        or low in info["aliases"].lower()
        or low in (info["family"], info["task"])
    )


def models(pattern: Optional[str] = None, *, cost: bool = False) -> List[Section]:
    """The built-in architectures: name, aliases, family, task, defaults; with ``cost`` also
    parameters, macs, flops and inputs, counted while the list is made (about a millisecond each).
    ``pattern`` is a part of a name, a family, a task, or has ``*``.
    """
    found = []
    for i, row in enumerate(_native.rows(lib().assay_model_at, _native.ModelInfo)):
        info = _listed(row, ("name", "aliases", "family", "task", "defaults"))
        if pattern is not None and not _shown(info, pattern):
            continue
        if cost:
            _native.call(lib().assay_model_cost, i, ctypes.byref(row))
            info.update(
                parameters=row.parameters,
                macs=row.macs,
                flops=row.flops,
                inputs={
                    _native.text(t.name): list(t.dims[: t.rank]) for t in row.inputs[: row.n_inputs]
                },
            )
        found.append(info)
    return found


def pipelines() -> List[str]:
    """The names of the built-in pipelines."""
    names: List[str] = []
    text = ctypes.c_char_p()
    while lib().assay_pipeline_at(len(names), ctypes.byref(text)):
        names.append(_native.text(text.value))
    return names


_DEVICE_NUMBERS = (
    "memory_bytes",
    "bandwidth",
    "power_w",
    "overhead_s",
    "fp16_acc16",
    "price_usd",
)


def devices(hardware: Optional[str] = None) -> List[Section]:
    """Known hardware, or that of a file: peaks per precision (operations per second; products are
    summed in fp32, those of int8 in int32), ``fp16_acc16`` with sums in fp16 (0: not known),
    memory, bandwidth, power, and the list price of an hour on demand (``price_usd``, 0: not known)
    with its date and source."""
    out = c_void_p()
    name = None if hardware is None else _native.encode(hardware, "hardware")
    _native.call(lib().assay_devices_open, name, ctypes.byref(out))
    with Handle(out.value, lib().assay_devices_free, "the devices") as pointer:
        rows = []
        for d in _native.rows(lib().assay_devices_at, _native.DeviceInfo, pointer):
            row = _listed(
                d,
                (
                    "id",
                    "aliases",
                    "name",
                    "kind",
                    "certainty",
                    "source",
                    "memory_bytes",
                    "bandwidth",
                    "power_w",
                    "overhead_s",
                    "fp16_acc16",
                    "price_usd",
                    "price_date",
                    "price_source",
                ),
            )
            for key in _DEVICE_NUMBERS:
                row[key] = row[key] if row[key] == row[key] else 0.0
            row["peak"] = {
                _native.text(lib().assay_device_precision(i)): p
                for i, p in enumerate(d.peak)
                if p == p
            }
            rows.append(row)
        return rows


def ops() -> List[Section]:
    """The operators that are known, with versions and cost formula."""
    return [
        _listed(r, ("domain", "name", "type", "versions", "formula"))
        for r in _native.rows(lib().assay_op_at, _native.OpInfo)
    ]


def lenses() -> List[Section]:
    """Whose way of counting FLOPs can be shown."""
    return [
        _listed(r, ("name", "unit", "about"))
        for r in _native.rows(lib().assay_lens_at, _native.LensInfo)
    ]


def metrics() -> List[Section]:
    """What a threshold can limit."""
    return [
        _listed(r, ("name", "title", "aliases", "unit", "example", "more_is_better", "measured"))
        for r in _native.rows(lib().assay_metric_at, _native.MetricInfo)
    ]


def formats() -> List[Section]:
    """The reports that a profile can be written as."""
    return [
        _listed(r, ("name", "suffix", "about"))
        for r in _native.rows(lib().assay_format_at, _native.FormatInfo)
    ]


def options() -> List[Section]:
    """The options that calls take as keywords: name, the form of its value (None: True or False),
    what it is, whether it may be given several times, its topic, its default."""
    return [
        Section(
            name=_native.text(r.name).replace("-", "_"),
            value=_native.text(r.value) if r.value else None,
            about=_native.text(r.about),
            repeatable=bool(r.repeatable),
            topic=_native.text(r.topic),
            default=_native.text(r.initial) or None,
        )
        for r in _native.rows(lib().assay_option_at, _native.OptionInfo)
    ]


def licenses() -> str:
    """The licences of what the page of to_html() is made of."""
    return _native.text(lib().assay_page_licenses())


def doctor() -> List[Section]:
    """Whether this installation is well; what is optional may be missing."""
    return [
        _listed(r, ("name", "ok", "detail", "optional"))
        for r in _native.rows(lib().assay_doctor, _native.DoctorCheck)
    ]


def engine(**options: Any) -> Section:
    """The engine that would run models: name, title, version, library. EngineError when there is
    none."""
    info = _native.EngineInfo(size=ctypes.sizeof(_native.EngineInfo))
    with _options.make(engine_here(options)) as o:
        _native.call(lib().assay_engine_find, o, ctypes.byref(info))
    return _listed(info, ("name", "title", "version", "library"))
