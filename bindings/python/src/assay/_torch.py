"""A torch.nn.Module as ONNX bytes, by torch's own exporter.

The module is exported as it stands in eval mode, with nothing folded: a BatchNorm keeps its parameters, so that the counts
are the module's. Its training flags are as they were afterwards. Nothing here imports torch unless a module was given.
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
from ._tensors import is_torch

# Protocol buffers end here; torch writes larger models as several files.
LARGEST_BYTES = 2**31 - 2**24


def is_module(value: Any) -> bool:
    torch = sys.modules.get("torch")
    module = getattr(getattr(torch, "nn", None), "Module", None)
    return module is not None and isinstance(value, module)


def _tensor(value: Any) -> Any:
    import torch
    return value if is_torch(value) else torch.as_tensor(value)


def _made_up(shapes: Any) -> Any:
    """Example inputs of these shapes: normal floats."""
    import torch
    if isinstance(shapes, str):
        shapes = [int(s) for s in shapes.split(",")]
    if isinstance(shapes, Mapping):
        return {k: torch.randn(*v) for k, v in shapes.items()}
    shapes = list(shapes)
    if all(hasattr(i, "__index__") for i in shapes):
        return (torch.randn(*shapes),)
    return tuple(torch.randn(*s) for s in shapes)


def example(inputs: Any, input_shape: Any) -> Any:
    """A tuple of tensors, or a dict by parameter name."""
    if inputs is None and input_shape is None:
        raise errors.UsageError("A torch module needs example inputs: give inputs=tensor (or a tuple, or a dict by the names "
                                "of forward's parameters), or input_shape=(1, 3, 224, 224).")
    if inputs is None:
        return _made_up(input_shape)
    if isinstance(inputs, Mapping):
        return {str(k): _tensor(v) for k, v in inputs.items()}
    from ._tensors import is_array
    if isinstance(inputs, (tuple, list)) and inputs and all(is_array(i) for i in inputs):
        return tuple(_tensor(i) for i in inputs)
    return (_tensor(inputs),)


def _bound(module: Any, given: Any) -> Tuple[Tuple[Any, ...], Dict[str, Any], List[str]]:
    """Positional and keyword arguments, and the names that the inputs get."""
    try:
        parameters = [p for p in inspect.signature(module.forward).parameters.values()]
    except (TypeError, ValueError):
        parameters = []
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if isinstance(given, Mapping):
        # In forward's order, which is the order of the graph's inputs.
        order = [n for n in plain if n in given] + [n for n in given if n not in plain]
        return (), {n: given[n] for n in order}, order
    names = plain[:len(given)] + [f"input_{i}" for i in range(len(plain), len(given))]
    return tuple(given), {}, names


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
    """torch merges weights of equal values into one, which a fresh module has many of (BatchNorm: ones and zeros), and its
    parameters would be counted once for all. Meanwhile only tensors that share memory are merged: tied weights."""
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
    wanted = {"input_names": names, "do_constant_folding": False, "export_params": True,
              # Keeps eval mode but fuses no BatchNorm into the convolution before it.
              "training": torch.onnx.TrainingMode.PRESERVE,
              # The exporter that needs nothing but torch.
              "dynamo": False}
    return {k: v for k, v in wanted.items() if k in known}


def _reason(e: BaseException) -> str:
    """The first lines that say something."""
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    said = " ".join(lines[:3]) or type(e).__name__
    return said if len(said) <= 400 else said[:397] + "..."


def _export(module: Any, given: Any, target: Any) -> List[str]:
    import torch
    positional, keywords, names = _bound(module, given)
    arguments = positional + ((keywords,) if keywords else ())
    with warnings.catch_warnings(), _evaluating(module), _tensors_apart():
        warnings.simplefilter("ignore")
        try:
            torch.onnx.export(module, arguments, target, **_options(torch.onnx.export, names))
        except Exception as e:
            # Parts of the graph that live on in the frames of a kept exception make later exports fail.
            traceback.clear_frames(e.__traceback__)
            raise errors.ExportError(
                f"torch could not export {type(module).__name__} to ONNX: {_reason(e)} "
                "(The exporter follows one call of forward with the example inputs: check that this call works, and that "
                "the operators in it have an ONNX form.)") from e
    return names


class Exported:
    """Where the ONNX is: bytes, or a file in a folder that goes with this object."""

    def __init__(self, module: Any, given: Any) -> None:
        self.given = given
        self.bytes: Optional[bytes] = None
        self.path: Optional[str] = None
        self._folder: Optional[tempfile.TemporaryDirectory] = None
        if _size_bytes(module) < LARGEST_BYTES:
            buffer = io.BytesIO()
            self.names = _export(module, given, buffer)
            self.bytes = buffer.getvalue()
        else:
            self._folder = tempfile.TemporaryDirectory(prefix="assay-")
            self.path = os.path.join(self._folder.name, type(module).__name__ + ".onnx")
            self.names = _export(module, given, self.path)

    def tensors(self) -> Dict[str, Any]:
        """The example inputs by the names of the graph's inputs."""
        if isinstance(self.given, Mapping):
            return {n: self.given[n] for n in self.names}
        return dict(zip(self.names, self.given))
