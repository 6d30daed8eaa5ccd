"""A torch.nn.Module as ONNX bytes, by torch's own exporter.

The module is exported as it stands in eval mode, with nothing folded: a BatchNorm keeps its
parameters, so that the counts are the module's. Its training flags are as they were afterwards.
Nothing here imports torch unless a module was given.
"""
from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Mapping
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import errors
from ._tensors import is_array, is_torch

# Protocol buffers end here; torch writes larger models as several files.
LARGEST_BYTES = 2**31 - 2**24


def is_module(value: Any) -> bool:
    torch = sys.modules.get("torch")
    module = getattr(getattr(torch, "nn", None), "Module", None)
    return module is not None and isinstance(value, module)


# What forward may also be given: it is the same in every run, and no input of the graph.
_CONSTANT = (bool, int, float, str, type(None))


def _tensor(value: Any, real: Any) -> Any:
    """A tensor stays as it is; numbers of others become those that the module computes with."""
    import torch

    if is_torch(value):
        return value
    made = torch.as_tensor(value)
    return made.to(real) if made.is_floating_point() else made


def _real(module: Any) -> Any:
    """The type of the module's numbers."""
    import torch

    return next(
        (p.dtype for p in module.parameters() if p.is_floating_point()), torch.get_default_dtype()
    )


def _holds_arrays(value: Any) -> bool:
    """A container of tensors or arrays, in contrast to a nested list of numbers, which is one."""
    if isinstance(value, Mapping):
        return True
    return isinstance(value, (tuple, list)) and any(is_array(v) or _holds_arrays(v) for v in value)


def _argument(value: Any, real: Any) -> Any:
    """One argument of forward: a tensor, a container of such, or a constant."""
    if isinstance(value, _CONSTANT):
        return value
    if isinstance(value, Mapping):
        return {str(k): _argument(v, real) for k, v in value.items()}
    if _holds_arrays(value):
        items = [_argument(v, real) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return _tensor(value, real)


def _leaves(name: str, value: Any) -> Iterator[Tuple[str, Any]]:
    """The tensors of an argument in the order of the graph's inputs, each with its name."""
    if is_torch(value):
        yield name, value
    elif isinstance(value, Mapping):
        for k, v in value.items():
            yield from _leaves(f"{name}_{k}" if name else k, v)
    elif isinstance(value, (tuple, list)):
        for i, v in enumerate(value):
            yield from _leaves(f"{name}_{i}", v)


def _shapes(shapes: Any) -> Any:
    """{name: shape}, or a list of shapes."""
    if isinstance(shapes, str):
        shapes = [int(s) for s in shapes.split(",")]
    if isinstance(shapes, Mapping):
        return shapes
    shapes = list(shapes)
    return [shapes] if all(hasattr(i, "__index__") for i in shapes) else shapes


def _made_up(shapes: Any, make: Any) -> Any:
    shapes = _shapes(shapes)
    return (
        {k: make(v) for k, v in shapes.items()}
        if isinstance(shapes, Mapping)
        else tuple(make(s) for s in shapes)
    )


def examples(module: Any, inputs: Any, input_shape: Any) -> Iterator[Any]:
    """What to call forward with, a tuple or a dict by parameter name: what was given; of shapes
    alone normal floats, and where the module does not take these, whole numbers (words of a
    language model)."""
    import torch

    if inputs is None and input_shape is None:
        raise errors.UsageError(
            "A torch module needs example inputs: give inputs=tensor (or a tuple, or a dict by the "
            "names of forward's parameters), or input_shape=(1, 3, 224, 224)."
        )
    real = _real(module)
    if inputs is None:
        yield _made_up(input_shape, lambda shape: torch.randn(*shape).to(real))
        yield _made_up(input_shape, lambda shape: torch.zeros(*shape, dtype=torch.long))
    elif isinstance(inputs, Mapping):
        yield {str(k): _argument(v, real) for k, v in inputs.items()}
    elif _holds_arrays(inputs) or isinstance(inputs, tuple) and not inputs:
        yield tuple(_argument(i, real) for i in inputs)
    else:
        yield (_tensor(inputs, real),)


def _parameters(module: Any) -> Tuple[List[str], List[str], bool]:
    """Of forward: those that take their place, those that have no default, and whether any keyword
    will do."""
    schema = getattr(module.forward, "schema", None)  # of a scripted module
    if schema is not None:
        named = [a for a in schema.arguments if a.name != "self"]
        return [a.name for a in named], [a.name for a in named if not a.has_default_value()], False
    try:
        parameters = list(inspect.signature(module.forward).parameters.values())
    except (TypeError, ValueError):
        return [], [], True
    plain = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keyword = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    loose = any(p.kind is p.VAR_KEYWORD for p in parameters)
    return (
        [p.name for p in plain],
        [p.name for p in plain if p.default is p.empty],
        loose or bool(keyword),
    )


def _bound(module: Any, given: Any) -> Tuple[Tuple[Any, ...], Dict[str, Any], Dict[str, Any]]:
    """Positional and keyword arguments, and the tensors among them by the names that the graph's
    inputs get."""
    plain, needed, loose = _parameters(module)
    if not isinstance(given, Mapping):
        names = plain[: len(given)] + [f"input_{i}" for i in range(len(plain), len(given))]
        return tuple(given), {}, dict(t for n, v in zip(names, given) for t in _leaves(n, v))
    if not loose and len(needed) == 1 and not set(given) & set(plain):
        return (given,), {}, dict(_leaves("", given))  # a batch: forward takes the dict itself
    # In forward's order, which is the order of the graph's inputs.
    order = [n for n in plain if n in given] + [n for n in given if n not in plain]
    keywords = {n: given[n] for n in order}
    return (), keywords, dict(t for n, v in keywords.items() for t in _leaves(n, v))


@contextlib.contextmanager
def _evaluating(module: Any) -> Iterator[None]:
    was = [(m, m.training) for m in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for m, training in was:
            m.training = training


_patching = threading.Lock()


@contextlib.contextmanager
def _tensors_apart() -> Iterator[None]:
    """torch merges weights of equal values into one, which a fresh module has many of (BatchNorm:
    ones and zeros), and its parameters would be counted once for all. Meanwhile only tensors that
    share memory are merged: tied weights.
    """
    import torch

    name = "_jit_pass_onnx_deduplicate_initializers"
    merge = getattr(torch._C, name, None)
    if merge is None:
        yield
        return
    with _patching:
        setattr(torch._C, name, lambda graph, parameters, _: merge(graph, parameters, True))
        try:
            yield
        finally:
            setattr(torch._C, name, merge)


def _size_bytes(module: Any) -> int:
    tensors = list(module.parameters()) + list(module.buffers())
    return sum(t.numel() * t.element_size() for t in tensors)


def _options(export: Any, names: List[str]) -> Dict[str, Any]:
    import torch

    known = inspect.signature(export).parameters
    wanted = {
        "input_names": names,
        "do_constant_folding": False,
        "export_params": True,
        # Keeps eval mode but fuses no BatchNorm into the convolution before it.
        "training": torch.onnx.TrainingMode.PRESERVE,
        # The exporter that needs nothing but torch.
        "dynamo": False,
    }
    return {k: v for k, v in wanted.items() if k in known}


def _reason(e: BaseException) -> str:
    """The first lines that say something."""
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    said = " ".join(lines[:3]) or type(e).__name__
    return said if len(said) <= 400 else said[:397] + "..."


# Words of torch's, and what to do about them.
_ADVICE = (
    (
        "'Half'",
        "torch has no such kernel for this processor: give module.float(), and "
        'precision="fp16" to weigh it as half.',
    ),
    (
        "'BFloat16'",
        "torch has no such kernel for this processor: give module.float(), and "
        'precision="bf16" to weigh it so.',
    ),
    (
        "No module named",
        "torch's newer exporter needs that package: install it, or use a torch that still has the "
        "older one.",
    ),
)
_USUAL = (
    "The exporter follows one call of forward with the example inputs: check that this call works, "
    "and that the operators in it have an ONNX form."
)


def _has_tensor(value: Any) -> bool:
    return next(_leaves("x", value), None) is not None


@contextlib.contextmanager
def _forward(
    module: Any, positional: Tuple[Any, ...], keywords: Dict[str, Any]
) -> Iterator[Tuple[Any, ...]]:
    """The arguments to export the module with. Meanwhile its forward takes what holds tensors
    alone, by position: the exporter would make inputs of the constants, and of the defaults of what
    was not given. A scripted module stays as it is.
    """
    if hasattr(module.forward, "schema"):
        given = [*positional, *keywords.values()]
        yield (*given, {}) if given and isinstance(given[-1], dict) else tuple(given)
        return
    taken = [v for v in (*positional, *keywords.values()) if _has_tensor(v)]
    own, forward = module.__dict__.get("forward"), module.forward

    def with_tensors(*tensors: Any) -> Any:
        rest = iter(tensors)
        values = [next(rest) if _has_tensor(v) else v for v in (*positional, *keywords.values())]
        return forward(*values[: len(positional)], **dict(zip(keywords, values[len(positional) :])))

    module.__dict__["forward"] = with_tensors
    try:
        # A dict that comes last would be keywords, were there not another behind it.
        yield (*taken, {}) if taken and isinstance(taken[-1], dict) else tuple(taken)
    finally:
        if own is None:
            del module.__dict__["forward"]
        else:
            module.__dict__["forward"] = own


def _inner(module: Any) -> Any:
    """What torch.compile() and those that share work out are around."""
    if type(module).__name__ in ("DataParallel", "DistributedDataParallel"):
        module = module.module
    return getattr(module, "_orig_mod", module)


def _export(module: Any, given: Any, target: Any) -> Dict[str, Any]:
    """Writes it; gives the tensors that it was called with by the names of the graph's inputs."""
    import torch

    module = _inner(module)
    positional, keywords, tensors = _bound(module, given)
    export = torch.onnx.export
    with warnings.catch_warnings(), _evaluating(module), _tensors_apart(), _forward(
        module, positional, keywords
    ) as arguments:
        warnings.simplefilter("ignore")
        try:
            export(module, arguments, target, **_options(export, list(tensors)))
        except Exception as e:
            # Parts of the graph that live on in the frames of a kept exception make later exports
            # fail.
            traceback.clear_frames(e.__traceback__)
            reason = _reason(e)
            advice = next((text for word, text in _ADVICE if word in reason), _USUAL)
            raise errors.ExportError(
                f"torch could not export {type(module).__name__} to ONNX: {reason} ({advice})"
            ) from e
    return tensors


class Exported:
    """Where the ONNX is: bytes, or a file in a folder that goes with this object. ``tensors`` are
    the example inputs by the names of the graph's inputs."""

    def __init__(self, module: Any, inputs: Any, input_shape: Any) -> None:
        self.bytes: Optional[bytes] = None
        self.path: Optional[str] = None
        self.tensors: Dict[str, Any] = {}
        self._folder: Optional[tempfile.TemporaryDirectory[str]] = None
        failed: Optional[errors.ExportError] = None
        for given in examples(module, inputs, input_shape):
            try:
                self._write(module, given)
                return
            except errors.ExportError as e:
                failed = failed or e  # the first says most
        assert failed
        raise failed

    def _write(self, module: Any, given: Any) -> None:
        if _size_bytes(module) < LARGEST_BYTES:
            buffer = io.BytesIO()
            self.tensors = _export(module, given, buffer)
            self.bytes = buffer.getvalue()
        else:
            self._folder = tempfile.TemporaryDirectory(prefix="assay-")
            self.path = os.path.join(self._folder.name, type(module).__name__ + ".onnx")
            self.tensors = _export(module, given, self.path)
