"""Inputs that really run: numpy arrays, torch tensors, whatever numpy can read, buffers and nested
lists, as memory that the library borrows. Types are converted by the library, where the model wants
another."""
from __future__ import annotations

import ctypes
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Iterator, List, Optional, Tuple

from . import _native, errors

MAX_RANK = 64
# struct format characters of buffers, and array typecodes
_FORMATS = {
    "b": "int8",
    "B": "uint8",
    "h": "int16",
    "H": "uint16",
    "i": "int32",
    "I": "uint32",
    "q": "int64",
    "Q": "uint64",
    "e": "float16",
    "f": "float32",
    "d": "float64",
    "?": "bool",
}


class Given:
    """One tensor: the struct for the library, and what its memory belongs to, which nobody else
    has."""

    def __init__(
        self, dtype: str, shape: Tuple[int, ...], address: int, n_bytes: int, owner: Any
    ) -> None:
        self.shape, self.dtype, self.owner = shape, dtype, owner
        self._name: Optional[bytes] = None
        self._dtype = dtype.encode()
        self._dims = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self.struct = _native.Input(
            size=ctypes.sizeof(_native.Input),
            dtype=self._dtype,
            rank=len(shape),
            dims=self._dims,
            data=address or None,
            n_bytes=n_bytes,
        )

    def named(self, name: Any) -> "Given":
        self._name = _native.encode(name, "the name of an input")
        self.struct.name = self._name
        return self


def _torch_tensor(value: Any) -> Given:
    torch = sys.modules["torch"]
    if value.layout != torch.strided or value.is_quantized:
        raise errors.UsageError("Sparse and quantised tensors cannot be inputs: give a dense one.")
    # A copy: whatever another thread does to the tensor meanwhile, this memory stays.
    value = value.detach().cpu().clone(memory_format=torch.contiguous_format)
    value = value.resolve_conj().resolve_neg() if hasattr(value, "resolve_conj") else value
    dtype = str(value.dtype).rpartition(".")[2]
    return Given(
        dtype, tuple(value.shape), value.data_ptr(), value.numel() * value.element_size(), value
    )


def _numpy_array(value: Any) -> Given:
    import numpy

    value = numpy.asarray(value)
    if value.dtype.byteorder == ">" or (value.dtype.byteorder == "=" and sys.byteorder == "big"):
        value = value.astype(value.dtype.newbyteorder("<"))
    if (
        value.dtype.hasobject
        or value.dtype.kind in "USVMm"
        and value.dtype.name not in ("bfloat16",)
    ):
        raise errors.UsageError(
            f"An array of {value.dtype} cannot be an input: convert it to numbers."
        )
    value = numpy.array(value, order="C", copy=True)  # for the same reason
    return Given(value.dtype.name, value.shape, value.ctypes.data, value.nbytes, value)


def _buffer(value: Any) -> Given:
    view = memoryview(value)
    form = view.format.lstrip("@=<")
    native = {
        "l": "q" if ctypes.sizeof(ctypes.c_long) == 8 else "i",
        "L": "Q" if ctypes.sizeof(ctypes.c_long) == 8 else "I",
    }
    dtype = _FORMATS.get(native.get(form, form))
    if dtype is None:
        raise errors.UsageError(f"A buffer of the format {view.format!r} cannot be an input.")
    data = view.tobytes()
    return Given(dtype, tuple(view.shape or ()), _address(data), len(data), data)


def _address(data: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


def _shape_of(value: Any) -> List[int]:
    shape: List[int] = []
    while isinstance(value, (list, tuple)):
        shape.append(len(value))
        if len(shape) > MAX_RANK:
            raise errors.UsageError(f"The nested list is deeper than {MAX_RANK} levels.")
        if not value:
            break
        value = value[0]
    return shape


def _flat(value: Any, shape: Sequence[int], depth: int = 0) -> Iterator[Any]:
    if depth == len(shape):
        if isinstance(value, (list, tuple)):
            raise errors.UsageError("The nested list is ragged: its rows have different depths.")
        yield value
        return
    if not isinstance(value, (list, tuple)) or len(value) != shape[depth]:
        raise errors.UsageError("The nested list is ragged: its rows have different lengths.")
    for item in value:
        yield from _flat(item, shape, depth + 1)


def _nested(value: Any) -> Given:
    shape = _shape_of(value)
    items = list(_flat(value, shape))
    kinds = {type(i) for i in items}
    try:
        if kinds == {bool}:
            data, dtype = bytes(items), "bool"
        elif kinds <= {bool, int}:
            data, dtype = array("q", items).tobytes(), "int64"
        else:
            data, dtype = array("d", [float(i) for i in items]).tobytes(), "float64"
    except (TypeError, ValueError, OverflowError) as e:
        raise errors.UsageError(
            f"The nested list holds what is no number of 64 bits: {e}."
        ) from None
    return Given(dtype, tuple(shape), _address(data), len(data), data)


def is_array(value: Any) -> bool:
    """Something with a shape of its own."""
    return (
        is_torch(value)
        or hasattr(value, "__array_interface__")
        or hasattr(value, "__array__")
        or isinstance(value, (memoryview, array))
    )


def is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, getattr(torch, "Tensor", ()))


def one(value: Any) -> Given:
    """One tensor of what was given."""
    if is_torch(value):
        return _torch_tensor(value)
    if isinstance(value, (str, bytes, bytearray)) or value is None:
        raise TypeError(
            f"an input must be an array, a tensor or a nested list, not {type(value).__name__}"
        )
    if isinstance(value, (memoryview, array)):
        return _buffer(value)
    if hasattr(value, "__array_interface__") or hasattr(value, "__array__"):
        return _numpy_array(value)
    if isinstance(value, (list, tuple, int, float)):
        return _nested(value)
    raise TypeError(
        f"an input must be an array, a tensor or a nested list, not {type(value).__name__}"
    )


def several(inputs: Any) -> List[Given]:
    """Inputs as given: {"name": tensor}, (tensor, tensor) by order, or one tensor for the first
    input.

    A tuple or list is several inputs when its items are arrays or tensors; of plain numbers it is
    one.
    """
    if inputs is None:
        return []
    if isinstance(inputs, Mapping):
        return [one(value).named(name) for name, value in inputs.items()]
    if isinstance(inputs, (tuple, list)) and inputs and all(is_array(i) for i in inputs):
        return [one(i) for i in inputs]
    return [one(inputs)]
