"""Results: dicts with the keys of docs/json.md, that can also be read by attribute and written as
reports.

A result holds the library's object and the keys are read from its JSON when one of them is first
asked for, but for the totals, which are there at once. Every report is the library's own.
"""
from __future__ import annotations

import ctypes
from ctypes import c_void_p
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from . import _native, _options, errors
from ._handles import All, Handle, Lock
from ._native import lib

__all__ = [
    "Section",
    "Result",
    "Profile",
    "Comparison",
    "Pipeline",
    "Scaling",
    "Check",
    "Capacity",
    "Load",
    "Machine",
    "Validation",
]


class Section(dict[str, Any]):
    """A part of a result: a dict whose keys are attributes too, where no method of dict has the
    name."""

    def __getattr__(self, name: str) -> Any:
        try:
            return _attributed(self, name)
        except KeyError:
            raise AttributeError(
                f"there is no {name!r} here; there are: {', '.join(map(str, self))}"
            ) from None

    def __dir__(self) -> List[str]:
        return sorted(set(super().__dir__()) | {k for k in self if isinstance(k, str)})


def _attributed(of: Dict[str, Any], name: str) -> Any:
    """The value, with dicts in it made Sections in place, so that key and attribute give the same
    object."""
    value = of[name]
    if type(value) is dict:
        value = Section(value)
        dict.__setitem__(of, name, value)
    elif type(value) is list and value and type(value[0]) is dict:
        value[:] = [Section(v) if type(v) is dict else v for v in value]
    return value


class Result(Section):
    """What a call found out. Keys are those of docs/json.md; ``str()`` is the console's view."""

    formats: Tuple[str, ...] = ("console", "json", "csv", "md", "html", "summary-html")
    # of to_dataframe()
    table = "layers"

    _render: Callable[[str, Mapping[str, Any]], str]
    _loaded: bool

    def __init__(
        self, render: Callable[[str, Mapping[str, Any]], str], at_once: Mapping[str, Any]
    ) -> None:
        super().__init__(at_once)
        self.__dict__.update(_render=render, _loaded=False, _loading=Lock())

    # ---- the keys ----

    def _load(self) -> None:
        if self._loaded:
            return
        with self.__dict__["_loading"]:
            if self._loaded:
                return
            import json

            whole = json.loads(self._render("json", {}))
            super().clear()
            super().update(whole)
            self.__dict__["_loaded"] = True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("attributes of a result cannot be set; its keys can")

    def __missing__(self, key: Any) -> Any:
        if self._loaded:
            raise KeyError(key)
        self._load()
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        if super().__contains__(key):
            return True
        self._load()
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self._load()
        return super().__iter__()

    def __reversed__(self) -> Iterator[str]:
        self._load()
        return super().__reversed__()

    def __len__(self) -> int:
        self._load()
        return super().__len__()

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        self._load()
        if isinstance(other, Result):
            other._load()
        return dict.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Any) -> Any:
        return {**self.to_dict(), **other}

    def __ror__(self, other: Any) -> Any:
        return {**other, **self.to_dict()}

    def keys(self) -> Any:
        self._load()
        return super().keys()

    def values(self) -> Any:
        self._load()
        return super().values()

    def items(self) -> Any:
        self._load()
        return super().items()

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default

    def __setitem__(self, key: str, value: Any) -> None:
        self._load()
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        self._load()
        super().__delitem__(key)

    def pop(self, *arguments: Any) -> Any:
        self._load()
        return super().pop(*arguments)

    def popitem(self) -> Any:
        self._load()
        return super().popitem()

    def setdefault(self, key: str, default: Any = None) -> Any:
        self._load()
        return super().setdefault(key, default)

    def update(self, *arguments: Any, **more: Any) -> None:
        self._load()
        super().update(*arguments, **more)

    def clear(self) -> None:
        self._load()
        super().clear()

    def copy(self) -> Dict[str, Any]:
        return self.to_dict()

    def __copy__(self) -> Dict[str, Any]:
        return self.to_dict()

    def __deepcopy__(self, memo: Any) -> Dict[str, Any]:
        import copy

        return copy.deepcopy(self.to_dict(), memo)

    def __reduce__(self) -> Any:
        return (dict, (self.to_dict(),))

    def __reduce_ex__(self, _: Any) -> Any:
        return self.__reduce__()

    def __dir__(self) -> List[str]:
        if not self.closed:
            self._load()
        return super().__dir__()

    def to_dict(self) -> Dict[str, Any]:
        """A plain dict of everything, apart from this object."""
        self._load()
        return dict(dict.items(self))

    # ---- reports ----

    def render(self, format: str, **options: Any) -> str:
        """The report in a format of the library as text. Options are those of the command line
        (``top=20``)."""
        if not isinstance(format, str):
            raise TypeError(f"a format is a word, not {type(format).__name__}")
        return self._render(format, options)

    def save(self, path: Any, format: Optional[str] = None, **options: Any) -> str:
        """Writes a report: its format is that of the path's suffix unless given. The file appears
        whole or not at all. Gives the text back."""
        name = _native.encode(path, "the path")
        if format is None:
            known = lib().assay_format_of(name)
            if known is None:
                raise errors.UsageError(
                    f"The suffix of '{_native.text(name)}' stands for no report: give format=."
                )
            format = _native.text(known)
        out = c_void_p()
        _native.call(lib().assay_output_open, name, ctypes.byref(out))
        try:
            text = self.render(format, **options)
        except BaseException:
            lib().assay_output_abandon(out)
            raise
        data = text.encode()
        _native.call(lib().assay_output_commit, out, data, len(data))
        return text

    def _as(self, format: str, path: Any, options: Mapping[str, Any]) -> str:
        return (
            self.render(format, **options) if path is None else self.save(path, format, **options)
        )

    def to_json(self, path: Any = None, **options: Any) -> str:
        """The whole result as JSON text, written to ``path`` when there is one."""
        return self._as("json", path, options)

    def to_csv(self, path: Any = None, **options: Any) -> str:
        """A row per layer (``rows="runs"`` or ``"batches"`` for what was measured), RFC 4180."""
        return self._as("csv", path, options)

    def to_html(self, path: Any = None, **options: Any) -> str:
        """The page: one file that needs nothing else."""
        return self._as("html", path, options)

    def to_markdown(self, path: Any = None, **options: Any) -> str:
        """The summary as Markdown."""
        return self._as("md", path, options)

    def to_dataframe(self, table: Optional[str] = None) -> Any:
        """A pandas DataFrame of a list of the result: its layers unless another key is named
        ("operations")."""
        try:
            import pandas
        except ImportError:
            raise ImportError(
                "to_dataframe() needs pandas, which is not installed here; to_csv() does without."
            ) from None
        return pandas.DataFrame(self[self._rows(table)])

    def _rows(self, table: Optional[str]) -> str:
        """The key of the rows: the one asked for, else the usual one, else the first that holds
        rows."""
        lists = [k for k, v in self.items() if isinstance(v, list) and v and isinstance(v[0], dict)]
        key = table or (self.table if self.table in self or not lists else lists[0])
        if not isinstance(self.get(key), list):
            raise errors.UsageError(
                f"{key!r} is no list of rows here; there are: {', '.join(lists) or 'none'}."
            )
        return key

    def _repr_html_(self) -> str:
        """What a notebook shows: the page's summary, without scripts; everything from files is
        escaped by the library."""
        return "<p>(closed)</p>" if self.closed else self.render("summary-html")

    def __str__(self) -> str:
        return "(closed)" if self.closed else self._render("console", {})

    def __repr__(self) -> str:
        return f"<assay.{type(self).__name__}{' (closed)' if self.closed else ''}>"

    # ---- life ----

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return False

    def close(self) -> None:
        """Frees what the library holds; keys that were read stay. Closing twice is fine."""

    def __enter__(self) -> "Result":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def held(pointer: Optional[int], what: str = "the result", keep: Any = None) -> Handle:
    """A result of the library."""
    return Handle(pointer, lib().assay_result_free, what, keep)


def read_json(text: Union[str, bytes], name: str, kind: Optional[bytes] = None) -> Handle:
    """The result that a JSON text holds; of that kind, when there is one."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    out = c_void_p()
    word = _native.encode(name, "name")
    _native.call(lib().assay_result_from_json, data, len(data), word, kind, ctypes.byref(out))
    return held(out.value)


def written(pointer: c_void_p, format: str, options: c_void_p) -> str:
    """The report of a result."""
    word = _native.encode(format, "a format")
    return _native.rendered(lib().assay_result_write, pointer, word, options)


def document(text: str, format: str, options: Mapping[str, Any], name: str = "the document") -> str:
    """A report of any document of the library's that is there as JSON."""
    with _options.make(options) as how, read_json(text, name) as pointer:
        return written(pointer, format, how)


class Held(Result):
    """A result with one object of the library behind it."""

    _handle: Handle

    def __init__(
        self,
        handle: Handle,
        at_once: Mapping[str, Any],
        options: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(self._written, at_once)
        self.__dict__.update(_handle=handle, _asked=dict(options or {}))

    def _written(self, format: str, options: Mapping[str, Any]) -> str:
        with _options.make({**self._asked, **options}) as how, self._handle as pointer:
            return written(pointer, format, how)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._handle.closed

    def close(self) -> None:
        """Frees what the library holds; keys that were read stay. Closing twice is fine."""
        self._handle.close()


# What of the options of an analysis also shapes its reports.
_SHAPING = ("view", "verbose", "top", "depth", "layers", "command", "lens")


_TOTALS = ("total_flops", "total_macs", "total_memory", "total_parameters", "total_operators")


def _totals(handle: Handle) -> Dict[str, Any]:
    value = _native.Value(size=ctypes.sizeof(_native.Value))
    with handle as pointer:
        found: Dict[str, Any] = {"model": _native.text(lib().assay_result_text(pointer, b"model"))}
        for key in _TOTALS:
            _native.call(lib().assay_result_get, pointer, key.encode(), ctypes.byref(value))
            found[key] = value.whole
    return found


class Profile(Held):
    """The profile of a model (schema ``assay.profile/1``): from graph(), profile(), bench(),
    layers(), memory(), map(), load()."""

    def __init__(self, handle: Handle, options: Optional[Mapping[str, Any]] = None) -> None:
        asked = {k: v for k, v in (options or {}).items() if k in _SHAPING}
        super().__init__(handle, _totals(handle), asked)

    @property
    def exact(self) -> bool:
        """Whether every operator was counted exactly: nothing assumed, nothing unknown."""
        return not (self["accounting"]["assumed"] or self["accounting"]["unknown"])

    def metric(self, name: str) -> Optional[float]:
        """A figure of ``assay.metrics()`` by its name or alias, in its unit; None when the result
        does not hold it."""
        value = ctypes.c_double()
        word = _native.encode(name, "a metric")
        with self._handle as pointer:
            found = lib().assay_result_metric(pointer, word, ctypes.byref(value))
        return value.value if found else None

    # ---- the verdict on it ----

    def _judged_by(self, check: "Check") -> None:
        self.__dict__["_check"] = check
        self["verdicts"] = check["checks"]

    @property
    def check(self) -> Optional["Check"]:
        """What became of the call's ``threshold``; None when there was none."""
        return self.__dict__.get("_check")

    @property
    def passed(self) -> bool:
        """Whether no limit of the call's ``threshold`` was missed, and all could be judged."""
        return self.check is None or self.check.passed

    def raise_for_status(self) -> "Profile":
        """ThresholdError or InconclusiveError, whose ``result`` is the Check, unless it passed."""
        if self.check is not None:
            self.check.raise_for_status()
        return self

    def __str__(self) -> str:
        below = "" if self.check is None or self.closed else f"\n{self.check}"
        return super().__str__() + below

    def _repr_html_(self) -> str:
        above = "" if self.check is None or self.closed else self.check._repr_html_()
        return above + super()._repr_html_()

    def __reduce__(self) -> Any:
        from ._calls import _unpickled

        return (_unpickled, (self.to_json(),))

    def __repr__(self) -> str:
        if self.closed:
            return super().__repr__()
        return (
            f"<assay.Profile {self['model']!r}: {self['total_parameters'] / 1e6:.4g} M parameters, "
            f"{self['total_macs'] / 1e9:.4g} GMACs>"
        )


class Comparison(Result):
    """Models side by side (``assay.comparison/1``). ``profiles`` are those that are compared."""

    table = "models"
    profiles: List[Profile]
    _handle: Handle

    def __init__(self, handle: Handle, profiles: List[Profile], options: Mapping[str, Any]) -> None:
        super().__init__(self._written, {})
        self.__dict__.update(_handle=handle, profiles=profiles, _asked=dict(options))

    def _inside(self) -> All:
        """The comparison borrows its profiles, so nobody closes them meanwhile."""
        return All([self._handle] + [p._handle for p in self.profiles])

    def _written(self, format: str, options: Mapping[str, Any]) -> str:
        with _options.make({**self._asked, **options}) as how, self._inside() as (comparison, *_):
            return written(comparison, format, how)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._handle.closed

    def close(self) -> None:
        """Frees what the library holds; keys that were read stay. Closing twice is fine."""
        self._handle.close()


class Validation(Held):
    """Our counts beside those of other tools."""

    table = "models"

    def __init__(self, handle: Handle) -> None:
        super().__init__(handle, {}, {})


class Pipeline(Result):
    """What a whole generation costs (``assay.pipeline/1``), of one pipeline or several side by
    side."""

    formats = Result.formats + ("generation-config",)
    table = "components"

    def __init__(
        self, handles: List[Handle], options: Mapping[str, Any], name: Optional[str] = None
    ) -> None:
        super().__init__(self._written, {})
        self.__dict__.update(_handles=handles, _asked=dict(options), _name=name)

    def _load(self) -> None:
        if not self._loaded:
            super()._load()
            # And not the folder that the configurations of an object were written to.
            for key in ("model", "title"):
                if self._name is not None and key in self:
                    dict.__setitem__(self, key, self._name)

    def _written(self, format: str, options: Mapping[str, Any]) -> str:
        asked = {
            k: v
            for k, v in {**self._asked, **options}.items()
            if k in ("prompt", "verbose", "columns", "color", "ascii")
        }
        with _options.make(asked) as how, All(self._handles) as pointers:
            if len(pointers) == 1:
                return written(c_void_p(pointers[0]), format, how)
            array, out = (c_void_p * len(pointers))(*pointers), c_void_p()
            _native.call(lib().assay_pipelines, array, len(pointers), ctypes.byref(out))
            with held(out.value, "the pipelines") as both:
                return written(both, format, how)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return any(h.closed for h in self._handles)

    def close(self) -> None:
        """Frees what the library holds; keys that were read stay. Closing twice is fine."""
        for handle in self._handles:
            handle.close()

    def __repr__(self) -> str:
        return super().__repr__() if self.closed else f"<assay.Pipeline {self.get('model', '')!r}>"


class Scaling(Held):
    """Cost over a grid of sizes (``assay.scaling/1``)."""

    table = "points"

    def __init__(self, handle: Handle, options: Mapping[str, Any]) -> None:
        super().__init__(handle, {}, {})


class Judged(Held):
    """A result with a verdict: ``status`` is 0, 6 (missed, worse, fired) or 7 (inconclusive)."""

    def __init__(self, handle: Handle, status: int, sentence: str) -> None:
        super().__init__(handle, {}, {})
        self.__dict__.update(status=status, _sentence=sentence or "a threshold was missed")

    @property
    def passed(self) -> bool:
        """Whether there is nothing to complain of."""
        return bool(self.__dict__["status"] == 0)

    def raise_for_status(self) -> "Judged":
        """ThresholdError or InconclusiveError unless it passed."""
        status = self.__dict__["status"]
        if status:
            error = errors.BY_STATUS[status](self.__dict__["_sentence"])
            error.result = self
            raise error
        return self


class Check(Judged):
    """The verdicts on a profile (``assay.check/1``)."""

    formats = Result.formats + ("junit", "github")
    table = "checks"


class Capacity(Judged):
    """Machines for a rate and a latency (``assay.capacity/1``)."""

    table = "plans"


class Load(Judged):
    """A load on a live endpoint (``assay.load/1``): ``passed`` is whether the SLO was met."""

    table = "curve"


class Machine(Held):
    """What a machine can do at best, measured (``assay.machine/1``)."""

    table = "compute"

    def __init__(self, handle: Handle) -> None:
        super().__init__(handle, {}, {})

    @property
    def path(self) -> str:
        """Where the hardware ``this`` is looked for."""
        with self._handle as pointer:
            return _native.text(lib().assay_machine_path(pointer))

    def roof(self, dtype: str, flops_per_byte: float, threads: int = 0) -> float:
        """Operations per second that a kernel of this intensity can reach here: the peak of the
        dtype or what memory delivers, whichever is less; 0 when the dtype was not measured.
        ``threads`` 0 is all."""
        word, count = _native.encode(dtype, "dtype"), _native.number(
            threads, "threads", 0, 2**32 - 1
        )
        with self._handle as pointer:
            roof = float(lib().assay_machine_roof(pointer, word, count, float(flops_per_byte)))
        return roof if roof == roof else 0.0

    def keep(self, path: Any = None) -> None:
        """Saves it: into a file, or where the hardware ``this`` is looked for."""
        with self._handle as pointer:
            _native.call(
                lib().assay_machine_save,
                pointer,
                None if path is None else _native.encode(path, "the path"),
            )
