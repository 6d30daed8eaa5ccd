"""Keyword arguments as options of the library: names with underscores for dashes, values as one
writes them in Python. What an option takes, and whether it may be repeated, is asked of the
library's own table."""
from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional

from . import _native, errors
from ._handles import Handle
from ._native import lib

_known: Dict[str, bool] = {}


def known() -> Dict[str, bool]:
    """Every option, and whether it may be repeated."""
    if not _known:
        _known.update(
            {
                _native.text(r.name): bool(r.repeatable)
                for r in _native.rows(lib().assay_option_at, _native.OptionInfo)
            }
        )
    return _known


NESTED_MOST = 32


def _deeper(depth: int) -> int:
    if depth >= NESTED_MOST:
        raise errors.UsageError(f"An option is nested more than {NESTED_MOST} levels deep.")
    return depth + 1


def word(value: Any, depth: int = 0) -> str:
    """One value as the command line would have it."""
    depth = _deeper(depth)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, bytes)) or hasattr(value, "__fspath__"):
        return _native.encode(value, "an option").decode("utf-8", "surrogateescape")
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, Mapping):
        return ":".join(word(v, depth) for v in value.values())
    if isinstance(value, Iterable):
        return ",".join(word(v, depth) for v in value)
    if hasattr(value, "__index__"):
        return str(value.__index__())
    if hasattr(value, "__float__"):
        return word(float(value), depth)
    raise TypeError(f"an option cannot be {type(value).__name__}")


def _shapes(value: Any) -> Iterator[str]:
    """(1, 3, 224, 224), several of them, or {"input": (1, 3, 224, 224)}."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, shape in value.items():
            yield f"{name}:{word(shape)}"
    else:
        items = list(value)
        if items and all(hasattr(i, "__index__") for i in items):
            yield word(items)
        else:
            yield from (word(i) for i in items)


def _pairs(value: Any, between: str, depth: int = 0) -> Iterator[str]:
    depth = _deeper(depth)
    if isinstance(value, Mapping):
        yield from (f"{k}{between}{word(v)}" for k, v in value.items())
    elif isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        yield word(value)
    else:
        for item in value:
            yield from _pairs(item, between, depth)


def _limits(value: Any) -> Iterator[str]:
    """50, "latency:100ms", a list, or {"latency": "100ms"}; several in one text, as on the command
    line."""
    for item in _pairs(value, ":"):
        yield from item.split()


def _configs(value: Any) -> Iterator[str]:
    """ "1:fp32,8:fp16", or [{"batch_size": 1, "precision": "fp32"}, (8, "fp16"), 16]."""
    if isinstance(value, str):
        yield value
        return
    items: List[str] = []
    for c in value:
        if isinstance(c, Mapping):
            unknown = set(c) - {"batch_size", "batch", "precision"}
            if unknown:
                raise errors.UsageError(
                    f"A configuration has batch_size and precision, not {sorted(unknown)[0]!r}."
                )
            c = (c.get("batch_size", c.get("batch", 1)), c.get("precision", "fp32"))
        items.append(":".join(word(x) for x in c) if isinstance(c, (tuple, list)) else word(c))
    yield ",".join(items)


# How the values of these look in Python; all others are a word, or words where the option is
# repeatable.
_FORMS: Dict[str, Callable[[Any], Iterable[str]]] = {
    "input-shape": _shapes,
    "threshold": _limits,
    "configs": _configs,
    "dim": lambda v: _pairs(v, "="),
    "set": lambda v: _pairs(v, "="),
    "sweep": lambda v: _pairs(v, "="),
    "input": lambda v: _pairs(v, "="),
    "provider-option": lambda v: _pairs(v, "="),
}


def _words(name: str, value: Any) -> Iterable[str]:
    if name in _FORMS:
        return _FORMS[name](value)
    if known().get(name) and not isinstance(value, (str, bytes)) and isinstance(value, Iterable):
        return [word(v) for v in value]
    return [word(value)]


def make(values: Mapping[str, Any], tensors: Optional[Iterable[Any]] = None) -> Handle:
    """The options handle; ``tensors`` are of _tensors.Given, whose memory lives as long as the
    handle."""
    library = lib()
    given = list(tensors or ())
    handle = Handle(library.assay_options_new(), library.assay_options_free, "options", given)
    with handle as pointer:
        for key, value in values.items():
            name = key.replace("_", "-")
            if value is None or value is False and name in known():
                continue
            for item in _words(name, value):
                data = item.encode("utf-8", "surrogateescape")
                if b"\0" in data:
                    raise errors.UsageError(f"{key} must not contain a NUL character.")
                _native.call(
                    library.assay_options_set,
                    pointer,
                    _native.encode(name, "the name of an option"),
                    data,
                )
        for tensor in given:
            _native.call(library.assay_options_input, pointer, ctypes.byref(tensor.struct))
    return handle
