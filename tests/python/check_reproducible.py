#!/usr/bin/env python3
"""Two builds of the same sources in different folders have the same bytes.

    check_reproducible.py BUILD           a few files of a configured release build, and the page
    check_reproducible.py BUILD --full    everything that is installed (make reproducible: minutes)

Compiles without a compiler cache, in two folders whose names have different lengths.
"""
import filecmp
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Dict, List

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Files that name themselves, have tables, macros and embedded data.
SAMPLE = ("base/error.c", "base/fields.c", "formats/format.c", "cli/main.c", "embedded.c")
RESULTS = ("assay", "assay-serve", "libassay.so", "libassay.a", "web/page.html", "web/sbom.json")
ENVIRONMENT = {**os.environ, "CCACHE_DISABLE": "1"}
passed = 0
failed: List[str] = []


def same(two: List[pathlib.Path]) -> bool:
    return filecmp.cmp(two[0], two[1], shallow=False)


def check(what: str, good: bool) -> None:
    global passed
    passed += good
    if not good:
        failed.append(what)
        print(f"FAILED: {what}: the bytes differ", flush=True)


def run(words: List[str], cwd: pathlib.Path) -> None:
    subprocess.run(words, cwd=cwd, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)


def copies(folder: pathlib.Path) -> List[pathlib.Path]:
    """The sources, twice."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    both = [folder / "a", folder / "another" / "folder"]
    for copy in both:
        for name in listed.split("\0"):
            if name and (ROOT / name).is_file() and not name.startswith("tests/"):
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
        if (ROOT / "web" / "node_modules").is_dir():
            (copy / "web" / "node_modules").symlink_to(ROOT / "web" / "node_modules")
    return both


def compile_sample(build: pathlib.Path, both: List[pathlib.Path]) -> None:
    commands: Dict[str, str] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        for name in SAMPLE:
            if entry["file"].endswith("/" + name):
                commands[name] = entry["command"]
    for name, command in commands.items():
        objects = []
        for copy in both:
            there = copy / "build" / "release"
            there.mkdir(parents=True, exist_ok=True)
            if name == "embedded.c":
                files = sorted(p.name for p in (copy / "data").iterdir() if p.is_file())
                text = subprocess.run(
                    ["sh", str(copy / "tools/embed"), str(copy / "data"), *files],
                    capture_output=True,
                    check=True,
                ).stdout
                (there / "embedded.c").write_bytes(text)
            moved = command.replace(str(build), str(there)).replace(str(ROOT), str(copy))
            words = moved.split()
            words = words[1:] if words[0].endswith("ccache") else words
            out = there / (name.replace("/", "_") + ".o")
            words[words.index("-o") + 1] = str(out)
            for option in ("-MF", "-MT"):
                if option in words:
                    words[words.index(option) + 1] = str(out) + ".d"
            run(words, there)
            objects.append(out)
        check(name, same(objects))


def build_page(both: List[pathlib.Path]) -> None:
    if not shutil.which("node") or not (ROOT / "web" / "node_modules" / "esbuild").is_dir():
        return
    for copy in both:
        run(["node", str(copy / "web/build.mjs"), str(copy / "page")], copy)
    check("page", same([copy / "page" / "page.html" for copy in both]))


def build_all(both: List[pathlib.Path]) -> None:
    for copy in both:
        print(f"building in {copy} ...", flush=True)
        options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DASSAY_TESTS=OFF"]
        run(["cmake", "-S", str(copy), "-B", str(copy / "out"), *options], copy)
        run(["cmake", "--build", str(copy / "out"), "-j", os.environ.get("JOBS", "2")], copy)
    outputs = [copy / "out" for copy in both]
    share = [f"share/{p.name}" for p in sorted((outputs[0] / "share").iterdir())]
    for name in [*RESULTS, *share]:
        if (outputs[0] / name).exists():
            check(name, same([o / name for o in outputs]))


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        both = copies(pathlib.Path(folder))
        if "--full" in sys.argv:
            build_all(both)
        else:
            compile_sample(build, both)
            build_page(both)
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
