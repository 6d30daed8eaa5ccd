"""What functions of the library return. Imports little: children that are to be interrupted import
it."""
import contextlib
from typing import Any, Iterator, List, Optional

from assay import _native

INTERRUPTED = _native.INTERRUPTED


@contextlib.contextmanager
def statuses(name: Optional[str]) -> Iterator[List[int]]:
    """What the library's function of that name returns, in a list; nothing without a name."""
    said: List[int] = []
    if not name:
        yield said
        return
    function = getattr(_native.lib(), name)

    def note(status: int, *_: Any) -> int:
        said.append(status)
        return status

    function.errcheck = note
    try:
        yield said
    finally:
        del function.errcheck
