"""Results over time: the SQLite file or PostgreSQL database that `assay history` reads
(docs/history.md)."""
from __future__ import annotations

import ctypes
import json
import warnings
from ctypes import c_char_p, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, Iterable, List, Optional, Tuple, Union

from . import _native
from ._handles import All, Handle
from ._native import lib
from ._results import Judged, Profile, Section, held

__all__ = ["Changes", "Cheapest", "Drift", "History", "Trend"]


def _texts(tags: Union[str, Iterable[str], None]) -> Tuple[Any, int]:
    words = [tags] if isinstance(tags, str) else list(tags or ())
    data = [_native.encode(w, "a tag") for w in words]
    return (c_char_p * max(len(data), 1))(*data), len(data)


def _record_options(
    tags: Union[str, Iterable[str], None],
    name: Optional[bytes] = None,
    sweep: Optional[str] = None,
    task: int = 0,
) -> _native.RecordOptions:
    return _native.RecordOptions(
        ctypes.sizeof(_native.RecordOptions),
        *_texts(tags),
        name,
        None,
        None,
        None if sweep is None else _native.encode(sweep, "sweep"),
        _native.number(task, "task", 0),
        None,
    )


class Trend(Judged):
    """A metric over time (``assay.trend/1``)."""

    table = "points"


class Changes(Judged):
    """What changed in a fleet (``assay.changes/1``): ``passed`` unless regressions were found."""

    table = "changes"


class Drift(Judged):
    """Ceilings of machines over time (``assay.drift/1``)."""

    table = "ceilings"


class Cheapest(Judged):
    """Classes of machines by cost (``assay.cheapest/1``): ``passed`` is whether one meets the
    latency."""

    table = "classes"


class History:
    """A history of results. ``path`` is its file, or ``postgresql://USER@HOST/DATABASE``; by
    default $ASSAY_DB, else the history of the user. A missing file is created; the schema of a
    database is made by ``History.init(path)``."""

    def __init__(self, path: Any = None) -> None:
        out = c_void_p()
        name = None if path is None else _native.encode(path, "the path")
        _native.call(lib().assay_store_open, name, True, ctypes.byref(out))
        self._handle = Handle(out.value, lib().assay_store_close, "the history", alone=True)

    @staticmethod
    def init(path: Any = None) -> str:
        """Makes a history, or migrates its schema. Returns the version of the schema."""
        version = c_void_p()
        name = None if path is None else _native.encode(path, "the path")
        _native.call(lib().assay_store_init, name, None, ctypes.byref(version))
        text = c_char_p(version.value).value or b""
        return _native.take_text(version, c_size_t(len(text)))

    def save(
        self,
        result: Profile,
        tags: Union[str, Iterable[str], None] = None,
        *,
        sweep: Optional[str] = None,
        task: int = 0,
    ) -> int:
        """Stores a result and returns the number of its record. A task of a sweep has one record:
        if there is one already, its number is returned."""
        if not isinstance(result, Profile):
            raise TypeError(
                f"a history stores results of graph(), profile(), ..., not {type(result).__name__}"
            )
        number, options = c_int64(), _record_options(tags, None, sweep, task)
        with All([self._handle, result._handle]) as (store, profile):
            _native.call(
                lib().assay_store_save, store, profile, ctypes.byref(options), ctypes.byref(number)
            )
        return number.value

    def records(
        self,
        query: Optional[str] = None,
        *,
        model: Optional[str] = None,
        tag: Optional[str] = None,
        since: Optional[str] = None,
        limit: int = 0,
    ) -> List[Section]:
        """The records, newest first: id, model, created, command, host, latencies, tags, ..."""
        out, filter_ = c_void_p(), self._filter(query, model, tag, since, limit)
        with self._handle as store:
            _native.call(lib().assay_store_list, store, ctypes.byref(filter_), ctypes.byref(out))
        return self._listed(out, "records")

    @staticmethod
    def _filter(
        query: Optional[str],
        model: Optional[str],
        tag: Optional[str],
        since: Optional[str],
        limit: int,
    ) -> Any:
        given = [
            None if v is None else _native.encode(v, "a filter") for v in (query, model, tag, since)
        ]
        return _native.RecordFilter(
            ctypes.sizeof(_native.RecordFilter),
            *given,
            0,
            _native.number(limit, "limit", 0),
            0,
            None,
            None,
        )

    @staticmethod
    def _listed(out: c_void_p, key: str) -> List[Section]:
        with held(out.value, "the records") as records:
            whole = json.loads(_native.rendered(lib().assay_result_write, records, b"json", None))
        return [Section(r) for r in whole[key]]

    def models(self) -> List[Section]:
        """The newest record of every model, by name."""
        out = c_void_p()
        with self._handle as store:
            _native.call(lib().assay_store_models, store, ctypes.byref(out))
        return self._listed(out, "models")

    def trend(
        self,
        model: str,
        metric: Optional[str] = None,
        *,
        tag: Optional[str] = None,
        since: Optional[str] = None,
        all: bool = False,
        limit: int = 0,
        alerts: Union[str, Iterable[str], None] = None,
    ) -> Trend:
        """A metric of a model over its records, and where its level changed. ``alerts`` are
        expressions such as ``"p95 > 1.2x median(30d)"``. ``status`` of the result is 6 if one
        fired and 7 if one is inconclusive.
        """
        given = [
            None if v is None else _native.encode(v, "a filter")
            for v in (model, metric, tag, since)
        ]
        words, n = _texts(alerts)
        request = _native.TrendRequest(
            ctypes.sizeof(_native.TrendRequest),
            *given,
            bool(all),
            _native.number(limit, "limit", 0),
            words,
            n,
        )
        out, err = c_void_p(), _native.Error()
        with self._handle as store:
            status = lib().assay_store_trend(
                store, ctypes.byref(request), ctypes.byref(out), ctypes.byref(err)
            )
        if not out.value:
            raise _native.failure(err)
        return Trend(
            held(out.value, "the trend"),
            status,
            _native.text(err.message),
        )

    # ---- questions to a fleet ----

    def _asked(self, ask: Any, **of: Any) -> Tuple[Handle, int, str]:
        prices = of.pop("prices", None) or {}
        words = [f"{name}={price}" for name, price in dict(prices).items()]
        list_, n = _texts(words)
        request = _native.FleetRequest(size=ctypes.sizeof(_native.FleetRequest))
        request.prices, request.n_prices = list_, n
        request.limit = _native.number(of.pop("limit", 0), "limit", 0)
        request.worse_only = of.pop("worse_only", False)
        for name, value in of.items():
            setattr(request, name, None if value is None else _native.encode(value, name))
        out, err = c_void_p(), _native.Error()
        with self._handle as store:
            status = ask(store, ctypes.byref(request), ctypes.byref(out), ctypes.byref(err))
        if not out.value:
            raise _native.failure(err)
        return held(out.value, "the answer"), status, _native.text(err.message)

    def changes(
        self,
        since: Optional[str] = None,
        *,
        by: Optional[str] = None,
        metric: Optional[str] = None,
        model: Optional[str] = None,
        machine: Optional[str] = None,
        tag: Optional[str] = None,
        limit: int = 0,
    ) -> Changes:
        """What changed since a time ("7d", "2026-11-17"): series whose level changed, the worst
        first, grouped ``by`` "model", "machine" or "version", and what is new."""
        return Changes(
            *self._asked(
                lib().assay_store_changes,
                since=since,
                by=by,
                metric=metric,
                model=model,
                machine=machine,
                tag=tag,
                limit=limit,
            )
        )

    def regressions(
        self,
        since: Optional[str] = None,
        *,
        by: Optional[str] = None,
        metric: Optional[str] = None,
        model: Optional[str] = None,
        machine: Optional[str] = None,
        tag: Optional[str] = None,
        limit: int = 0,
    ) -> Changes:
        """The changes for the worse alone. Its ``status`` is 6 if there are any."""
        return Changes(
            *self._asked(
                lib().assay_store_changes,
                since=since,
                by=by,
                metric=metric,
                model=model,
                machine=machine,
                tag=tag,
                limit=limit,
                worse_only=True,
            )
        )

    def drift(
        self,
        machine: Optional[str] = None,
        *,
        since: Optional[str] = None,
        tag: Optional[str] = None,
        limit: int = 0,
    ) -> Drift:
        """The ceilings of ``assay machine --save`` over time: the newest compared with the median
        of the earlier ones."""
        return Drift(
            *self._asked(
                lib().assay_store_drift, machine=machine, since=since, tag=tag, limit=limit
            )
        )

    def cheapest(
        self,
        model: str,
        latency: Optional[str] = None,
        prices: Any = None,
        *,
        since: Optional[str] = None,
        tag: Optional[str] = None,
        machine: Optional[str] = None,
        limit: int = 0,
    ) -> Cheapest:
        """Classes of machines by the cost of a million samples within a ``latency``
        ("p99:50ms"). ``prices`` are US dollars per hour by class ({"epyc": 0.42}). Its
        ``status`` is 6 if no class meets the latency."""
        return Cheapest(
            *self._asked(
                lib().assay_store_cheapest,
                model=model,
                latency=latency,
                prices=prices,
                since=since,
                tag=tag,
                machine=machine,
                limit=limit,
            )
        )

    def get(self, number: int) -> Profile:
        """The result of a record."""
        out = c_void_p()
        with self._handle as store:
            _native.call(
                lib().assay_store_get,
                store,
                _native.number(number, "the number"),
                b"profile",
                ctypes.byref(out),
            )
        return Profile(held(out.value))

    def tag(
        self,
        number: int,
        add: Union[str, Iterable[str], None] = None,
        remove: Union[str, Iterable[str], None] = None,
    ) -> None:
        """Changes the tags of a record."""
        change = _native.TagChange(ctypes.sizeof(_native.TagChange), *_texts(add), *_texts(remove))
        with self._handle as store:
            _native.call(
                lib().assay_store_tag,
                store,
                _native.number(number, "the number"),
                ctypes.byref(change),
            )

    def delete(self, number: int) -> None:
        """Deletes a record."""
        with self._handle as store:
            _native.call(lib().assay_store_delete, store, _native.number(number, "the number"))

    def copy_to(self, other: "History") -> Tuple[int, int]:
        """Copies the records that the other history does not have. Returns the number of new
        records and of those that were there. The next call continues what was interrupted."""
        added, known = c_uint64(), c_uint64()
        with All([self._handle, other._handle]) as (from_, to):
            _native.call(
                lib().assay_store_copy, from_, to, ctypes.byref(added), ctypes.byref(known)
            )
        return added.value, known.value

    def prune(self, keep: str, *, keep_tagged: bool = False) -> int:
        """Deletes records that are older than ``keep`` (``"90d"``), except tagged ones with
        ``keep_tagged``. Returns how many."""
        deleted = c_uint64()
        options = _native.PruneOptions(
            ctypes.sizeof(_native.PruneOptions), _native.encode(keep, "keep"), bool(keep_tagged)
        )
        with self._handle as store:
            _native.call(
                lib().assay_store_prune, store, ctypes.byref(options), ctypes.byref(deleted)
            )
        return deleted.value

    def document(self, number: int) -> str:
        """The JSON of a record exactly as it was stored."""
        with self._handle as store:
            return _native.rendered(
                lib().assay_store_document, store, _native.number(number, "the number")
            )

    def add(
        self,
        text: Union[str, bytes],
        tags: Union[str, Iterable[str], None] = None,
        name: str = "the text",
    ) -> int:
        """Stores a result given as JSON text, including keys that this version does not know, and
        returns the number of its record."""
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"a result is JSON text, not {type(text).__name__}")
        data = text.encode() if isinstance(text, str) else text
        number, options = c_int64(), _record_options(tags, _native.encode(name, "name"))
        with self._handle as store:
            _native.call(
                lib().assay_store_add,
                store,
                data,
                len(data),
                ctypes.byref(options),
                ctypes.byref(number),
            )
        return number.value

    def export(
        self,
        query: Optional[str] = None,
        *,
        model: Optional[str] = None,
        tag: Optional[str] = None,
        since: Optional[str] = None,
        limit: int = 0,
    ) -> str:
        """The records with tags and documents as lines of JSON, for ``import_file()`` of another
        history."""
        out, n, filter_ = c_void_p(), c_size_t(), self._filter(query, model, tag, since, limit)
        with self._handle as store:
            _native.call(
                lib().assay_store_export,
                store,
                ctypes.byref(filter_),
                ctypes.byref(out),
                ctypes.byref(n),
                None,
            )
        return _native.take_text(out, n)

    def import_file(self, path: Any, *, skip_bad: bool = False) -> Tuple[int, int]:
        """Imports a file of such lines, or one result, completely or not at all. Returns the number
        of new records and of those that were known. With ``skip_bad``, invalid lines are skipped,
        each with a warning."""
        added, known, left_out = c_uint64(), c_uint64(), c_void_p()
        counts: Tuple[Any, ...] = (ctypes.byref(added), ctypes.byref(known))
        with self._handle as store:
            name = _native.encode(path, "the path")
            if skip_bad:
                counts += (ctypes.byref(left_out),)
                _native.call(lib().assay_store_import_good, store, name, *counts)
            else:
                _native.call(lib().assay_store_import, store, name, *counts)
        for line in _native.take_text(
            left_out, c_size_t(len(c_char_p(left_out.value).value or b""))
        ).splitlines():
            warnings.warn(f"{path}: {line}", stacklevel=2)
        return added.value, known.value

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._handle.closed

    def close(self) -> None:
        """Closes the file after waiting for a call in progress. A second call has no effect."""
        self._handle.close()

    def __enter__(self) -> "History":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
