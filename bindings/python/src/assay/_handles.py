"""Objects of the library that are used by one thread at a time and freed exactly once.

A handle is entered to be used: ``with handle as pointer``. Other threads wait; the thread that is
inside already is refused instead of waiting for itself (a progress function that calls back); a
closed one is refused. Closing waits until nobody is inside.

A process that was forked has the objects of its parent as they were at that moment. What nobody was
using then is whole, and is used on; what another thread was inside of is not, and nobody will ever
leave it: it is given up there. So is what belongs to one process alone: an open history.
"""
from __future__ import annotations

import os
import threading
from contextlib import ExitStack
from ctypes import c_void_p
from typing import Any, Callable, Iterable, List, Optional

from . import errors


class Lock:
    """A lock that is free after a fork, whoever held it before."""

    __slots__ = ("_lock", "_process")

    def __init__(self) -> None:
        self._lock, self._process = threading.Lock(), os.getpid()

    def __enter__(self) -> None:
        if self._process != os.getpid():
            self._lock, self._process = threading.Lock(), os.getpid()
        self._lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self._lock.release()


class Handle:
    """One object of the library, with the function that frees it."""

    __slots__ = (
        "_pointer",
        "_free",
        "_what",
        "_lock",
        "_owner",
        "_process",
        "_keep",
        "_alone",
        "__weakref__",
    )

    def __init__(
        self,
        pointer: Optional[int],
        free: Callable[[Any], None],
        what: str,
        keep: Any = None,
        alone: bool = False,
    ) -> None:
        if not pointer:
            raise MemoryError(f"no memory for {what}")
        self._pointer: Optional[int] = pointer
        self._free = free
        self._what = what
        self._lock = threading.Lock()
        self._owner = 0
        self._process = os.getpid()
        self._keep = keep  # memory that the object borrows
        self._alone = alone

    def _inherited(self) -> None:
        """In a process that was forked: see above."""
        if self._alone or self._lock.locked():
            self._pointer, self._owner = None, 0
        self._lock, self._process = threading.Lock(), os.getpid()

    def __enter__(self) -> c_void_p:
        me = threading.get_ident()
        if self._process != os.getpid():
            self._inherited()
        if self._owner == me:
            raise errors.UsageError(f"{self._what} is in use by the call that is going on.")
        self._lock.acquire()
        if self._pointer is None:
            self._lock.release()
            raise errors.ClosedError(f"{self._what} was closed.")
        self._owner = me
        return c_void_p(self._pointer)

    def __exit__(self, *_: Any) -> None:
        self._owner = 0
        self._lock.release()

    @property
    def closed(self) -> bool:
        return self._pointer is None

    def close(self) -> None:
        if self._process != os.getpid():
            self._inherited()
        if self._owner == threading.get_ident():
            raise errors.UsageError(f"{self._what} is in use by the call that is going on.")
        with self._lock:
            self._release()

    def _release(self) -> None:
        pointer, self._pointer = self._pointer, None
        if pointer:
            self._free(pointer)
        self._keep = None

    def __del__(self) -> None:
        # Nobody holds it any more, so nobody is inside. __init__ may have failed before the fields
        # were there.
        if getattr(self, "_pointer", None) and not (self._alone and self._process != os.getpid()):
            self._release()


class All:
    """Enters several handles, each once and always in the same order, so that no two threads wait
    in a circle."""

    def __init__(self, handles: Iterable[Handle]) -> None:
        self._handles: List[Handle] = list(handles)
        self._stack = ExitStack()

    def __enter__(self) -> List[Any]:
        with ExitStack() as stack:
            pointers = {}
            for handle in sorted(set(self._handles), key=id):
                pointers[handle] = stack.enter_context(handle).value
            self._stack = stack.pop_all()
        return [pointers[h] for h in self._handles]

    def __exit__(self, *_: Any) -> None:
        self._stack.close()
