"""``python -m assay`` is the command line: the program that the package carries takes this process
over."""
from __future__ import annotations

import os
import sys

from . import _native


def main() -> int:
    """Never returns where the program could be started."""
    program = _native.find("assay", "ASSAY_PROGRAM")
    try:
        os.execv(program, ["assay", *sys.argv[1:]])
    except OSError as e:
        print(f"assay: {program} could not be started: {e}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
