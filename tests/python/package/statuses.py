"""What functions of the library return. Imports little: children that are to be interrupted import
it."""
import contextlib

from assay import _native

INTERRUPTED = _native.INTERRUPTED


@contextlib.contextmanager
def statuses(name):
    """What the library's function of that name returns, in a list; nothing without a name."""
    said = []
    if not name:
        yield said
        return
    function = getattr(_native.lib(), name)

    def note(status, *_):
        said.append(status)
        return status

    function.errcheck = note
    try:
        yield said
    finally:
        del function.errcheck
