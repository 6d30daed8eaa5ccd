#!/usr/bin/python3
"""Runs the tests of the Python package against a build and ends with the line that tests/run
counts.

    run.py BUILD_FOLDER [NAME...]    NAME: a module or test, as of unittest
"""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))


def main() -> int:
    build = os.path.abspath(sys.argv[1])
    os.environ["ASSAY_LIBRARY"] = os.path.join(build, "libassay.so")
    os.environ["ASSAY_PROGRAM"] = os.path.join(build, "assay")
    os.environ["ASSAY_BUILD"] = build
    os.environ["PYTHONPATH"] = os.path.join(ROOT, "bindings", "python", "src")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    sys.path[:0] = [os.environ["PYTHONPATH"], HERE]
    loader = unittest.defaultTestLoader
    suite = (
        loader.loadTestsFromNames(sys.argv[2:])
        if sys.argv[2:]
        else loader.discover(HERE, "test_*.py")
    )
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped)
    for test, why in result.skipped:
        print(f"skipped: {test}: {why}")
    print(f"{max(result.testsRun - bad - skipped, 0)} passed, {bad} failed, {skipped} skipped")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
