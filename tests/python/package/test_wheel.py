"""The wheel: built without a network, installed into a fresh environment, imported and run
there."""
import os
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile
from typing import Any, Dict

from support import ROOT, has

PROJECT = os.path.join(ROOT, "bindings", "python")
USE = """
import assay, os, sys
r = assay.graph("resnet50")
assert (r.total_parameters, r.total_macs) == (25557032, 4089184256)
assert os.path.realpath(assay.__file__).startswith(os.path.realpath(sys.argv[1])), assay.__file__
library = os.path.realpath(assay._native.find("libassay.so", "ASSAY_LIBRARY"))
assert library.startswith(os.path.realpath(sys.argv[1])), library
assert "libassay.so" in open("/proc/self/maps").read()
print("used")
"""


def environment() -> Dict[str, str]:
    """Nothing of ours, no index to download from; the library of this build instead of compiling
    one more."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_", "PYTHON", "PIP_"))}
    return {
        **kept,
        "ASSAY_PREBUILT": os.environ["ASSAY_BUILD"],
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_CACHE_DIR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run(*command: str, **keywords: Any) -> str:
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=3000,
        env=environment(),
        **keywords,
    )
    if done.returncode:
        raise AssertionError(done.stdout)
    return str(done.stdout)


@unittest.skipUnless(has("pip"), "Debian's python3-pip is not installed")
class Wheel(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_contents(self) -> None:
        path = run(
            sys.executable, os.path.join(PROJECT, "backend", "assay_build.py"), self.folder
        ).strip()
        again = run(
            sys.executable,
            os.path.join(PROJECT, "backend", "assay_build.py"),
            self.folder + "/again",
        ).strip()
        with open(path, "rb") as a, open(again, "rb") as b:
            self.assertEqual(a.read(), b.read())
        with zipfile.ZipFile(path) as z:
            names = z.namelist()
            self.assertTrue(
                {
                    "assay/__init__.py",
                    "assay/py.typed",
                    "assay/_native_files/libassay.so",
                    "assay/_native_files/assay",
                }
                <= set(names)
            )
            self.assertFalse([n for n in names if "__pycache__" in n])
            record = z.read([n for n in names if n.endswith("RECORD")][0]).decode()
            self.assertEqual(len(record.splitlines()), len(names))
            self.assertTrue(z.getinfo("assay/_native_files/assay").external_attr >> 16 & 0o111)

    def test_installed_into_a_folder(self) -> None:
        target = os.path.join(self.folder, "site")
        run(
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--target",
            target,
            PROJECT,
        )
        self.assertIn(
            "used",
            run(
                sys.executable, "-c", f"import sys; sys.path.insert(0, {target!r})\n" + USE, target
            ),
        )

    @unittest.skipUnless(has("ensurepip"), "Debian's python3-venv is not installed")
    def test_installed_into_a_fresh_environment(self) -> None:
        where = os.path.join(self.folder, "env")
        venv.create(where, with_pip=True)
        python = os.path.join(where, "bin", "python")
        run(python, "-m", "pip", "install", "--quiet", PROJECT)
        self.assertIn("used", run(python, "-c", USE, where, cwd=self.folder))
        for command in ([python, "-m", "assay"], [os.path.join(where, "bin", "assay")]):
            self.assertIn("25,557,032", run(*command, "resnet50"))
            self.assertRegex(run(*command, "version"), r"\d+\.\d+\.\d+")
        broken = subprocess.run(
            [python, "-m", "assay", "resnet5"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=environment(),
        )
        self.assertEqual(broken.returncode, 2)
        run(python, "-m", "pip", "uninstall", "--quiet", "-y", "assay")
        self.assertFalse(os.path.exists(os.path.join(where, "bin", "assay")))

    def test_source_archive_holds_what_a_build_needs(self) -> None:
        code = (
            "import sys; sys.path.insert(0, 'backend'); import assay_build; "
            "print(assay_build.build_sdist(sys.argv[1]))"
        )
        name = run(sys.executable, "-c", code, self.folder, cwd=PROJECT).strip()
        import tarfile

        with tarfile.open(os.path.join(self.folder, name)) as tar:
            names = set(tar.getnames())
        stem = name[: -len(".tar.gz")]
        for needed in (
            "pyproject.toml",
            "PKG-INFO",
            "backend/assay_build.py",
            "src/assay/__init__.py",
            "native/CMakeLists.txt",
            "native/include/assay/assay.h",
            "native/tools/layers.txt",
            "native/src/cli/main.c",
        ):
            self.assertIn(f"{stem}/{needed}", names)
        self.assertFalse([n for n in names if "__pycache__" in n or "/build/" in n])


if __name__ == "__main__":
    unittest.main()
