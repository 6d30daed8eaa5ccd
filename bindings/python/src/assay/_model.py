"""A model in whatever form the caller has it."""
from __future__ import annotations

import ctypes
import os
from ctypes import c_void_p
from typing import Any, Dict, Optional, Union

from . import _native, _torch, errors
from ._handles import Handle
from ._native import lib

__all__ = ["Model", "ModelLike"]

# A path, a built-in name, ONNX bytes, an onnx.ModelProto, a torch.nn.Module, or a Model.
ModelLike = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, "Model", Any]


class Model:
    """A model, opened once and used in several calls. One thread uses it at a time; others wait.

    ``model`` is a path (ONNX, safetensors, GGUF, a Hugging Face folder, a configuration in JSON),
    the name of a built-in architecture, ONNX bytes, an ``onnx.ModelProto``, or a
    ``torch.nn.Module`` with example ``inputs`` (or an ``input_shape``), which torch exports in
    memory. ``name`` is what reports call it; ``folder`` is where the external data of bytes lies.
    Close it, or use it in a ``with`` statement; else it is freed with the last reference.
    """

    def __init__(
        self,
        model: ModelLike,
        *,
        inputs: Any = None,
        input_shape: Any = None,
        name: Optional[str] = None,
        folder: Optional[Union[str, "os.PathLike[str]"]] = None,
    ) -> None:
        self._exported: Optional[_torch.Exported] = None
        self.tensors: Optional[Dict[str, Any]] = None
        if isinstance(model, (bytes, bytearray, memoryview)):
            self._handle = self._from_bytes(bytes(model), name or "model", folder)
        elif isinstance(model, (str, os.PathLike)):
            self._handle = self._opened(model)
        elif _torch.is_module(model):
            self._handle = self._from_module(model, inputs, input_shape, name)
        elif hasattr(model, "SerializeToString") and hasattr(model, "graph"):
            self._handle = self._from_proto(model, name, folder)
        else:
            raise TypeError(
                "a model is a path, a built-in name, ONNX bytes, an onnx.ModelProto or a "
                f"torch.nn.Module, not {type(model).__name__}"
            )

    @staticmethod
    def _opened(path: Any, keep: Any = None) -> Handle:
        out = c_void_p()
        _native.call(lib().assay_model_open, _native.encode(path, "the model"), ctypes.byref(out))
        return Handle(out.value, lib().assay_model_free, "the model", keep)

    @staticmethod
    def _from_bytes(data: bytes, name: str, folder: Any) -> Handle:
        out = c_void_p()
        where = None if folder is None else _native.encode(folder, "folder")
        view = ctypes.c_char_p(data)
        _native.call(
            lib().assay_model_from_bytes,
            ctypes.cast(view, c_void_p),
            len(data),
            _native.encode(name, "name"),
            where,
            ctypes.byref(out),
        )
        return Handle(out.value, lib().assay_model_free, "the model", data)

    def _from_proto(self, model: Any, name: Optional[str], folder: Any) -> Handle:
        try:
            data = model.SerializeToString()
        except Exception as e:
            raise errors.UnsupportedError(
                f"The ModelProto cannot be written as bytes ({e}): save it with external data and "
                "give its path."
            ) from e
        graph = getattr(model, "graph")
        return self._from_bytes(data, name or getattr(graph, "name", "") or "model", folder)

    def _from_module(
        self, module: Any, inputs: Any, input_shape: Any, name: Optional[str]
    ) -> Handle:
        exported = _torch.Exported(module, inputs, input_shape)
        self._exported = exported
        self.tensors = exported.tensors
        if exported.path:
            return self._opened(exported.path, exported)
        return self._from_bytes(exported.bytes or b"", name or type(module).__name__, None)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._handle.closed

    def close(self) -> None:
        """Frees it; waits for a call that is going on. Closing twice is fine."""
        self._handle.close()
        self._exported = self.tensors = None

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<assay.Model{' (closed)' if self.closed else ''}>"


class opened:
    """A Model for the length of a call: the caller's own stays open, one that was made here is
    closed."""

    def __init__(self, model: ModelLike, inputs: Any = None, input_shape: Any = None) -> None:
        self._own = not isinstance(model, Model)
        self._model: Model = (
            model
            if isinstance(model, Model)
            else Model(model, inputs=inputs, input_shape=input_shape)
        )

    def __enter__(self) -> Model:
        return self._model

    def __exit__(self, *_: Any) -> None:
        if self._own:
            self._model.close()
