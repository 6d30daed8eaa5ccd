#!/usr/bin/env python3
"""A PostgreSQL history whose connection fails at every call of libpq, one after the other.

    check_faults_postgres.py PROGRAM

PROGRAM is the build `faults` (src/base/fault.c, kind postgres). A save that succeeds has stored one
record, one that fails none, and says so in a sentence; a list is right or refused.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Dict, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests" / "support" / "postgres.sh"


def server(*words: str) -> Tuple[int, str]:
    done = subprocess.run([str(SCRIPT), *words], stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout.strip()


def run(program: str, folder: str, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    env: Dict[str, str] = {**os.environ, "ASSAY_DB_WAIT": "10", **more}
    return subprocess.run(
        [program, *words], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def count(folder: str) -> int:
    return int(server("sql", folder, "faults", "SELECT count(*) FROM assay.runs")[1])


def check(program: str, work: str, folder: str, url: str) -> Tuple[int, int]:
    save = ("graph", "lenet", "-q", "--save", "--tag", "a", "--db", url)
    counts = pathlib.Path(work) / "counts"
    run(program, work, *save, ASSAY_FAULT_COUNT=str(counts))
    calls = dict(line.split() for line in counts.read_text().splitlines())
    passed = failed = 0
    for n in range(1, int(calls["postgres"]) + 2):
        before = count(folder)
        got = run(program, work, *save, ASSAY_FAULT=f"postgres:{n}")
        added = count(folder) - before
        good = added == (got.returncode == 0) and got.returncode in (0, 1)
        good = good and (got.returncode == 0 or "assay: " in got.stderr)
        listed = run(program, work, "history", "--db", url, ASSAY_FAULT=f"postgres:{n}")
        answered = listed.returncode == 1 or listed.stdout != ""
        good = good and listed.returncode in (0, 1) and answered
        passed, failed = passed + bool(good), failed + (not good)
        if not good:
            print(f"postgres:{n}: exit {got.returncode}, {added} stored: {got.stderr.strip()}")
    return passed, failed


def main() -> int:
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as outer:
        folder = f"{outer}/server"
        os.chmod(outer, 0o755)
        code, said = server("start", folder)
        if code:
            print(said)
            return code
        try:
            url = server("database", folder, "faults")[1]
            run(program, outer, "history", "init", "--db", url)
            passed, failed = check(program, outer, folder, url)
        finally:
            server("end", folder)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
