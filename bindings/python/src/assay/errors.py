"""What goes wrong, as exceptions: one class per status of the library, with the library's own
message.

Each also is the built-in exception that a caller would expect, so that ``except ValueError`` or
``except OSError`` work without knowing this module.
"""
from __future__ import annotations

from typing import Any, Optional

__all__ = [
    "AssayError",
    "SystemFailure",
    "UsageError",
    "MalformedError",
    "UnsupportedError",
    "ExportError",
    "EngineError",
    "ThresholdError",
    "InconclusiveError",
    "ClosedError",
    "Interrupted",
    "InconclusiveWarning",
]


class AssayError(Exception):
    """The library's message, with where it happened.

    ``code`` is the status, which is the command line's exit code; ``node`` the node or value
    concerned, or ``""``; ``offset`` the byte in the file, or None.
    """

    code = 1
    result: Any  # where there is one all the same

    def __init__(self, message: str, node: str = "", offset: Optional[int] = None) -> None:
        super().__init__(message)
        self.node = node
        self.offset = offset


class SystemFailure(AssayError, OSError):
    """A file or memory: not the model's fault."""

    code = 1


class UsageError(AssayError, ValueError):
    """The caller's arguments: a name that is not known, an option of another kind."""

    code = 2


class MalformedError(AssayError, ValueError):
    """The model or the result is not what it should be."""

    code = 3


class UnsupportedError(AssayError, RuntimeError):
    """Valid but not supported, shapes that contradict, or ``strict`` and something was assumed."""

    code = 4


class ExportError(UnsupportedError):
    """torch could not export the module; ``__cause__`` is its own exception."""


class EngineError(AssayError, RuntimeError):
    """The engine failed, or there is none."""

    code = 5


class ThresholdError(AssayError):
    """A threshold was missed or a regression found. ``result`` has the verdicts."""

    code = 6
    result: Any = None


class InconclusiveError(AssayError):
    """Noise hides the answer. ``result`` has the verdicts."""

    code = 7
    result: Any = None


class InconclusiveWarning(UserWarning):
    """Whether something is worse could not be told: an empty list of regressions is no clean
    bill."""


class ClosedError(AssayError, ValueError):
    """A model or result was used after it was closed."""

    code = 2


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while something was measured. ``result`` holds what was measured until then, or
    None."""

    code = 130

    def __init__(self, message: str = "Interrupted.", result: Any = None) -> None:
        super().__init__(message)
        self.result = result


BY_STATUS = {
    c.code: c
    for c in (
        SystemFailure,
        UsageError,
        MalformedError,
        UnsupportedError,
        EngineError,
        ThresholdError,
        InconclusiveError,
    )
}
