"""ModelProfiler: one model, its device and precision, and the questions that an evaluation asks of
it."""
from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any, Dict, Iterable, List, Optional

from . import _calls, _options, errors
from ._model import Model, ModelLike
from ._results import Profile, Section
from ._running import ProgressLike

__all__ = ["ModelProfiler", "load_baseline", "detect_regressions"]


def load_baseline(path: Any) -> Profile:
    """Reads the result that later ones are compared with."""
    return _calls.load(path)


class Regression(Section):
    """One metric that got worse, or of which that cannot be told: ``metric``, ``verdict``,
    ``baseline``, ``value``, ``ratio``, ``why``."""

    def __repr__(self) -> str:
        return f"<{self['metric']}: {self['baseline']:.6g} to {self['value']:.6g} {self['unit']}>"


class Regressions(List[Regression]):
    """The metrics that got worse. An empty list alone does not say that all is well: ``verdict`` is
    that of the whole ("pass", "improvement", "regression" or "inconclusive"), ``inconclusive``
    lists what could not be judged and why, ``check`` has everything."""

    def __init__(self, check: Any) -> None:
        rows = _rows_of(check)
        super().__init__(r for r in rows if r["verdict"] == "regression")
        self.check = check
        self.verdict: str = check["verdict"]
        self.inconclusive: List[Regression] = [r for r in rows if r["verdict"] == "inconclusive"]


def detect_regressions(baseline: Any, current: Any, **options: Any) -> Regressions:
    """What is worse in ``current`` than in ``baseline``, as a list; empty when nothing is known to
    be.

    Both are results, dicts that were read from JSON, or paths. Counts are compared exactly;
    measured metrics by a test of the runs, beyond a ``tolerance`` in per cent (2). What noise
    hides, and what cannot be compared (another machine, another batch), is an
    ``InconclusiveWarning`` and ``inconclusive`` of the list.
    """
    return _detect(baseline, current, options)


def _detect(baseline: Any, current: Any, options: Dict[str, Any]) -> Regressions:
    before = _calls.as_profile(baseline, "the baseline") or _calls.load(baseline)
    after = _calls.as_profile(current) or _calls.load(current)
    return regressions_of(_calls.judge(after, before, _options.make(options), "the baseline"), 4)


def regressions_of(check: Any, level: int = 2) -> Regressions:
    """The regressions of a Check; a warning that points ``level`` callers up when something could
    not be told."""
    found = Regressions(check)
    if found.inconclusive:
        reasons: Dict[str, List[str]] = {}
        for r in found.inconclusive:
            reasons.setdefault(r["why"] or "cannot be told", []).append(r["title"])
        said = [f"{', '.join(titles)}: {why}." for why, titles in reasons.items()]
        warnings.warn(
            " ".join(["Inconclusive.", *said, *check.get("notes", [])]),
            errors.InconclusiveWarning,
            stacklevel=level,
        )
    return found


def _rows_of(verdicts: Any) -> List[Regression]:
    from ._calls import metrics

    titles = {m["name"]: m["title"] for m in metrics()}
    return [
        Regression(
            metric=v["metric"],
            title=titles.get(v["metric"], v["metric"]),
            unit=v["unit"],
            verdict=v["verdict"],
            baseline=float(v.get("baseline", 0)),
            value=float(v["value"]),
            ratio=v.get("ratio", 0.0),
            why=v.get("why", ""),
        )
        for v in verdicts["checks"]
    ]


class ModelProfiler:
    """Profiles one model.

    ``model_path`` is whatever ``assay.graph`` takes; ``device`` "cpu" or "cuda" (which falls back
    to the CPU with a warning in the result where there is none), ``precision`` "fp32", "fp16",
    "bf16" or "int8". Other keywords are options of every call. ``results`` is what was found out
    last.
    """

    def __init__(
        self,
        model_path: ModelLike,
        device: str = "cpu",
        precision: str = "fp32",
        *,
        inputs: Any = None,
        progress: ProgressLike = None,
        **options: Any,
    ) -> None:
        for name, value in (("device", device), ("precision", precision)):
            if not isinstance(value, str):
                raise TypeError(f"{name} must be a string, not {type(value).__name__}")
        self.model_path, self.device, self.precision = model_path, device, precision
        self._progress = progress
        self._options: Dict[str, Any] = {"device": device, **options}
        self._precision = {} if precision == "fp32" else {"precision": precision}
        _options.make({**self._options, **self._precision}).close()  # a wrong word is said now
        self._inputs = inputs
        self._model: Optional[Model] = None
        self.results: Optional[Profile] = None
        if isinstance(model_path, (str, os.PathLike)):
            self._opened()  # a wrong path is said now

    # ---- measuring ----

    def _opened(self, inputs: Any = None) -> Model:
        if self._model is None or self._model.closed:
            first = inputs if self._inputs is None else self._inputs
            self._model = Model(
                self.model_path, inputs=first, input_shape=self._options.get("input_shape")
            )
        return self._model

    def _kept(self, result: Profile) -> Profile:
        self.results = result
        return result

    def _run(self, what: int, inputs: Any, options: Mapping[str, Any]) -> Profile:
        model = self._opened(inputs)
        inputs = self._inputs if inputs is None else inputs
        if model.tensors is not None and inputs is not None and inputs is not self._inputs:
            model = Model(
                self.model_path, inputs=inputs
            )  # a module is exported for the inputs it gets
        asked = {**self._options, **options}
        return self._kept(_calls._measured(model, what, inputs, self._progress, asked))

    def profile(
        self,
        input_data: Any = None,
        num_runs: int = 100,
        warmup_runs: int = 10,
        detailed_analysis: bool = False,
        **options: Any,
    ) -> Profile:
        """Runs the model on ``input_data`` (made up when there is none) and gives the result.

        ``result["latency"]["mean"]`` is in milliseconds, ``["throughput"]["samples_per_second"]``,
        ``["memory"]["peak"]`` in bytes. ``detailed_analysis`` adds the time of every layer. A path
        or name as the first argument is another model to profile.
        """
        asked: Dict[str, Any] = {
            **self._precision,
            "num_runs": num_runs,
            "warmup_runs": warmup_runs,
            **options,
        }
        what = _calls.LAYERS if detailed_analysis else 0
        if isinstance(input_data, (str, os.PathLike)):
            asked = {**self._options, **asked}
            return self._kept(_calls._measured(input_data, what, None, self._progress, asked))
        return self._run(what, input_data, asked)

    def benchmark(self, configurations: Any, input_data: Any = None, **options: Any) -> Profile:
        """Measures ``[{"batch_size": 1, "precision": "fp32"}, ...]``; key ``configurations`` of the
        result has one entry each."""
        configurations = [
            c if not isinstance(c, Mapping) else {"precision": self.precision, **c}
            for c in configurations
        ]
        return self._run(0, input_data, {"configs": configurations, **options})

    def profile_layers(
        self, input_data: Any = None, layer_names: Optional[Iterable[str]] = None, **options: Any
    ) -> List[Section]:
        """Measured time of the layers whose name, module or type one of ``layer_names`` is a part
        of; all without it."""
        result = self._run(_calls.LAYERS, input_data, {**self._precision, **options})
        patterns = (
            None
            if layer_names is None
            else [
                str(n).lower()
                for n in ([layer_names] if isinstance(layer_names, str) else layer_names)
            ]
        )
        return [layer for layer in result.layers if patterns is None or _named(layer, patterns)]

    def memory_profile(
        self,
        track_allocations: bool = True,
        track_deallocations: bool = True,
        memory_snapshots: bool = True,
        input_data: Any = None,
        **options: Any,
    ) -> Profile:
        """The memory plan against a run (keys ``memory_plan`` and ``plan_check``), and what was
        asked for of it: ``allocations`` and ``deallocations`` are those of ``memory_plan.events``
        in their order (a buffer is freed when the layer of its step is done), ``snapshots`` those
        of ``memory_plan``: what is alive at the start, at the peak, at other maxima, while the
        layers that ``at`` names run, and at the end. ``memory_plan.timeline`` has the bytes alive
        while each layer runs.
        """
        result = self._run(_calls.PLAN, input_data, {"allocations": True, **options})
        plan = result["memory_plan"]
        for wanted, key, kind in (
            (track_allocations, "allocations", "allocate"),
            (track_deallocations, "deallocations", "free"),
        ):
            if wanted:
                result[key] = [
                    Section(event) for event in plan.get("events", []) if event["kind"] == kind
                ]
        if memory_snapshots:
            result["snapshots"] = [Section(snapshot) for snapshot in plan.get("snapshots", [])]
        return result

    def gpu_profile(
        self,
        track_kernels: bool = True,
        track_memory_transfers: bool = True,
        profile_nvtx: bool = False,
        input_data: Any = None,
        **options: Any,
    ) -> Profile:
        """The model on the GPU: time per layer, and what was asked for of the device's own events:
        ``kernels`` and ``memory_transfers``, ``{name, kind, count, time_ms}`` of a run.
        ``profile_nvtx`` marks session, warm-up and runs as NVTX ranges, for a profiler of NVIDIA's
        that watches from outside. ``utilization`` has what the driver tells.

        Without a GPU the CPU's layers are timed, the two lists are empty, and
        ``result["gpu"]["why"]`` says so in a line.
        """
        events = {(True, True): "all", (True, False): "kernels", (False, True): "copies"}.get(
            (bool(track_kernels), bool(track_memory_transfers)), "none"
        )
        asked = {
            **self._precision,
            "device": "cuda",
            "gpu_events": events,
            "no_nvtx": not profile_nvtx,
            "view": None,
            **options,
        }
        result = self._run(0 if events == "none" else _calls.LAYERS, input_data, asked)
        found = result.get("gpu", {}).get("events", [])
        if track_kernels:
            result["kernels"] = [Section(e) for e in found if e["kind"] != "copy"]
        if track_memory_transfers:
            result["memory_transfers"] = [Section(e) for e in found if e["kind"] == "copy"]
        return result

    # ---- reports ----

    def _last(self) -> Profile:
        if self.results is None:
            raise errors.UsageError("Nothing was profiled yet: call profile() first.")
        return self.results

    def generate_html_report(
        self, output_path: Any, include_graphs: bool = True, include_details: bool = True
    ) -> str:
        """Writes the page of the last result, with or without its graphs and the details of layers;
        gives its path back."""
        self._last().to_html(
            output_path, no_graphs=not include_graphs, no_details=not include_details
        )
        return str(os.fspath(output_path))

    def export_json(self, path: Any = None) -> str:
        """The last result as JSON, written to ``path``."""
        return self._last().to_json(path)

    def export_csv(self, path: Any = None, **options: Any) -> str:
        """A row per layer of the last result; ``rows="events"`` and the like have others."""
        return self._last().to_csv(path, **{"rows": "layers", **options})

    # ---- baselines ----

    def load_baseline(self, path: Any) -> Profile:
        """As the function of that name."""
        return load_baseline(path)

    def detect_regressions(self, baseline: Any, current: Any = None, **options: Any) -> Regressions:
        """As the function of that name; ``current`` is the last result unless given."""
        return _detect(baseline, self._last() if current is None else current, options)

    # ---- life ----

    def close(self) -> None:
        """Frees the model; the next call opens it again."""
        if self._model is not None:
            self._model.close()
            self._model = None

    def __enter__(self) -> "ModelProfiler":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _named(layer: Mapping[str, Any], patterns: List[str]) -> bool:
    """By what the layer is called, where it stands, and what it is."""
    words = " ".join(str(layer.get(k, "")) for k in ("name", "module", "type", "op")).lower()
    return any(p in words for p in patterns)
