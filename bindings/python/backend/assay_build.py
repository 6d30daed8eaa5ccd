#!/usr/bin/env python3
"""The build backend of the Python package (PEP 517 and PEP 660), with the standard library alone.

A wheel is a zip file: the package, libassay.so and the program, which CMake builds from the sources
around this folder (or in native/, in a source archive). What libassay.so needs beside the C library
is put next to it.

    ASSAY_PREBUILT=DIR    takes libassay.so and assay from DIR instead of building them
    python3 assay_build.py [FOLDER]    writes a wheel there and prints its path (`make python`)
"""
import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from typing import Dict, Iterator, List, Optional, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(HERE)
PACKAGE = os.path.join(PROJECT, "src", "assay")
FILES = "_native_files"
# What every Linux has; the rest of what libassay.so needs goes into the wheel.
SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so.*|linux-vdso.*)$")
# What of the sources a build needs, in a source archive.
NATIVE = (
    "CMakeLists.txt",
    "CMakePresets.json",
    "LICENSE",
    "assay.pc.in",
    "data",
    "include",
    "src",
    "tools",
    "web",
    "tests/CMakeLists.txt",
)
EPOCH = (1980, 1, 1, 0, 0, 0)
Settings = Optional[Dict[str, str]]  # what pip was told, of which nothing is used


def _source() -> str:
    """The root of the C sources."""
    inside = os.path.join(PROJECT, "native")
    root = inside if os.path.isdir(inside) else os.path.dirname(os.path.dirname(PROJECT))
    if not os.path.exists(os.path.join(root, "include", "assay", "assay.h")):
        raise SystemExit(
            f"assay: the C sources are not in {root}: install from the whole tree or a source "
            "archive."
        )
    return root


def _version() -> str:
    with open(os.path.join(PACKAGE, "__init__.py"), encoding="utf-8") as f:
        found = re.search(r'^__version__ = "([^"]+)"', f.read(), re.M)
    assert found, "the package has no version"
    return found.group(1)


def _tag() -> str:
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"py3-none-{platform}"


# ---- the library and the program ----


def _run(*command: str) -> str:
    # The page of HTML reports is in the library where its parts were installed before (`make
    # python` does); else there is none, and to_html() says so.
    offline = {**os.environ, "ASSAY_OFFLINE": "1"}
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=offline,
    )
    if done.returncode:
        lines = [
            line for line in done.stdout.splitlines() if not re.match(r"\[\d+/\d+\] |-- ", line)
        ]
        sys.stderr.write("\n".join(lines[:100]) + "\n")
        raise SystemExit(f"assay: {' '.join(command[:2])} failed (above).")
    return done.stdout


def _require(*programs: str) -> None:
    missing = [p for p in programs if not shutil.which(p)]
    if missing:
        raise SystemExit(
            f"assay: building needs {' and '.join(missing)} (and a C compiler, SQLite and zlib; on "
            "Debian: apt-get install cmake gcc libc6-dev libsqlite3-dev zlib1g-dev)."
        )


def _compiled() -> str:
    """Builds both; gives the folder they are in."""
    ready = os.environ.get("ASSAY_PREBUILT")
    if ready:
        return ready
    _require("cmake")
    root = _source()
    folder = os.path.join(root, "build", "python")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    # The library looks for what it needs beside itself first, and so does what it needs.
    flags = "-Wl,-rpath,'$ORIGIN',--disable-new-dtags"
    _run(
        "cmake",
        "-S",
        root,
        "-B",
        folder,
        *generator,
        "-DCMAKE_BUILD_TYPE=Release",
        "-DASSAY_TESTS=OFF",
        "-DASSAY_DOCS=OFF",
        "-DASSAY_WERROR=OFF",
        f"-DCMAKE_SHARED_LINKER_FLAGS={flags}",
    )
    _run(
        "cmake",
        "--build",
        folder,
        "--parallel",
        str(os.cpu_count() or 1),
        "--target",
        "assay",
        "assay_shared",
    )
    return folder


def _needed(library: str) -> List[Tuple[str, str]]:
    """Paths of the shared libraries that come along; none when the library does not look beside
    itself."""
    if "ASSAY_PREBUILT" in os.environ or not shutil.which("ldd"):
        return []
    found = []
    for line in _run("ldd", library).splitlines():
        m = re.match(r"\s*(\S+) => (/\S+)", line)
        if m and not SYSTEM.match(m.group(1)):
            found.append((m.group(1), m.group(2)))
    return found


def _owner(path: str) -> Optional[str]:
    """The Debian package that a file is of, or None."""
    short = re.sub(r"^/usr/", "/", path)
    for candidate in (path, os.path.realpath(path), short, "/usr" + short):
        done = (
            subprocess.run(
                ["dpkg", "-S", candidate],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                check=False,
            )
            if shutil.which("dpkg")
            else None
        )
        if done and done.returncode == 0:
            return done.stdout.split(":")[0]
    return None


def _notices(libraries: List[Tuple[str, str]]) -> Iterator[Tuple[str, str]]:
    """The licence texts of what comes along, where Debian keeps them."""
    for _, path in libraries:
        package = _owner(path)
        text = f"/usr/share/doc/{package}/copyright"
        if package and os.path.isfile(text):
            yield f"{package}.copyright", text


def _natives() -> Tuple[List[Tuple[str, str, bool]], List[Tuple[str, str]]]:
    """(name in the wheel, path, executable)"""
    folder = _compiled()
    library = os.path.join(folder, "libassay.so")
    program = os.path.join(folder, "assay")
    for path in (library, program):
        if not os.path.exists(path):
            raise SystemExit(f"assay: {path} was not built.")
    files = [("libassay.so", os.path.realpath(library), True), ("assay", program, True)]
    extra = _needed(library)
    files += [(name, os.path.realpath(path), True) for name, path in extra]
    return files, list(_notices(extra))


# ---- metadata ----


def _metadata() -> str:
    with open(os.path.join(PROJECT, "README.md"), encoding="utf-8") as f:
        readme = f.read()
    return (
        f"Metadata-Version: 2.1\nName: assay\nVersion: {_version()}\n"
        "Summary: What a machine learning model costs: parameters, MACs, FLOPs, memory, time\n"
        "License: MIT\nRequires-Python: >=3.9\nClassifier: Operating System :: POSIX :: Linux\n"
        "Classifier: Typing :: Typed\n"
        "Description-Content-Type: text/markdown\n\n" + readme
    )


def _wheel_file() -> str:
    return f"Wheel-Version: 1.0\nGenerator: assay_build\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


def _info() -> str:
    return f"assay-{_version()}.dist-info"


def _license() -> Optional[str]:
    for root in (os.path.join(PROJECT, "native"), os.path.dirname(os.path.dirname(PROJECT))):
        path = os.path.join(root, "LICENSE")
        if os.path.exists(path):
            return path
    return None


# ---- archives ----


class _Wheel:
    """A wheel that grows file by file; the same contents give the same bytes."""

    def __init__(self, folder: str) -> None:
        self.name = f"assay-{_version()}-{_tag()}.whl"
        self._path = os.path.join(folder, self.name)
        os.makedirs(folder, exist_ok=True)
        self._zip = zipfile.ZipFile(self._path + ".part", "w", zipfile.ZIP_DEFLATED)
        self._record: List[str] = []

    def add(self, name: str, data: bytes, executable: bool = False) -> None:
        info = zipfile.ZipInfo(name, EPOCH)
        info.external_attr = (0o100755 if executable else 0o100644) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}\n")

    def add_file(self, name: str, path: str, executable: bool = False) -> None:
        with open(path, "rb") as f:
            self.add(name, f.read(), executable)

    def finish(self) -> str:
        info = _info()
        self.add(f"{info}/METADATA", _metadata().encode())
        self.add(f"{info}/WHEEL", _wheel_file().encode())
        self.add(f"{info}/entry_points.txt", b"[console_scripts]\nassay = assay.__main__:main\n")
        text = _license()
        if text:
            self.add_file(f"{info}/licenses/LICENSE", text)
        record = f"{info}/RECORD"
        self._zip.writestr(zipfile.ZipInfo(record, EPOCH), "".join(self._record) + f"{record},,\n")
        self._zip.close()
        os.replace(self._path + ".part", self._path)
        return self.name


def _python_files() -> Iterator[Tuple[str, str]]:
    for folder, folders, names in os.walk(PACKAGE):
        folders[:] = sorted(f for f in folders if f not in ("__pycache__", FILES))
        for name in sorted(names):
            if name.endswith((".py", ".typed")):
                path = os.path.join(folder, name)
                yield os.path.join("assay", os.path.relpath(path, PACKAGE)), path


# ---- what pip calls ----


def get_requires_for_build_wheel(config_settings: Settings = None) -> List[str]:
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None
) -> str:
    natives, notices = _natives()
    wheel = _Wheel(wheel_directory)
    for name, path in _python_files():
        wheel.add_file(name, path)
    for name, path, executable in natives:
        wheel.add_file(f"assay/{FILES}/{name}", path, executable)
    for name, path in notices:
        wheel.add_file(f"{_info()}/licenses/{name}", path)
    return wheel.finish()


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None
) -> str:
    """The package where it is; the library of build/python is found from there."""
    _compiled()
    wheel = _Wheel(wheel_directory)
    wheel.add("assay.pth", (os.path.dirname(PACKAGE) + "\n").encode())
    return wheel.finish()


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    root, stem = _source(), f"assay-{_version()}"
    name = f"{stem}.tar.gz"

    def clean(member: tarfile.TarInfo) -> Optional[tarfile.TarInfo]:
        parts = member.name.split("/")
        if any(p in ("__pycache__", "node_modules", "build", FILES) for p in parts):
            return None
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(
        os.path.join(sdist_directory, name), "w:gz", format=tarfile.PAX_FORMAT
    ) as tar:
        for item in ("pyproject.toml", "README.md", "backend", "src", "examples"):
            if os.path.exists(os.path.join(PROJECT, item)):
                tar.add(os.path.join(PROJECT, item), f"{stem}/{item}", filter=clean)
        for item in NATIVE:
            path = os.path.join(root, item)
            if os.path.exists(path):
                tar.add(path, f"{stem}/native/{item}", filter=clean)
        data = _metadata().encode()
        info = tarfile.TarInfo(f"{stem}/PKG-INFO")
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    return name


def main() -> None:
    folder = (
        sys.argv[1] if len(sys.argv) > 1 else os.path.join(_source(), "build", "python", "dist")
    )
    with tempfile.TemporaryDirectory() as scratch:
        name = build_wheel(scratch)
        os.makedirs(folder, exist_ok=True)
        shutil.move(os.path.join(scratch, name), os.path.join(folder, name))
    print(os.path.join(folder, name))


if __name__ == "__main__":
    main()
