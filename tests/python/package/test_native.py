"""The structs of the package against the header, with a compiler; the functions against the
library."""
import ast
import ctypes
import inspect
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from typing import List, Set

import assay
from assay import _native
from support import ROOT

HEADERS = os.path.join(ROOT, "include", "assay")
HEADER = os.path.join(HEADERS, "assay.h")
PACKAGE = os.path.join(ROOT, "bindings", "python", "src", "assay")


class Layout(unittest.TestCase):
    @unittest.skipUnless(shutil.which("gcc"), "there is no gcc")
    def test_structs(self) -> None:
        lines = []
        for name, kind in _native.STRUCTS.items():
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            for field, *_ in kind._fields_:
                lines.append(
                    f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), '
                    f"sizeof((({name} *)0)->{field}));"
                )
        source = (
            "".join(f"#include <assay/{name}>\n" for name in os.listdir(HEADERS))
            + "#include <stdio.h>\nint main(void) {\n"
            + "\n".join(lines)
            + "\n}\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "layout")
            subprocess.run(
                ["gcc", "-I", os.path.join(ROOT, "include"), "-x", "c", "-", "-o", program],
                input=source,
                text=True,
                check=True,
            )
            said = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
        expected = dict(line.split(" ", 1) for line in said.splitlines())
        for name, kind in _native.STRUCTS.items():
            self.assertEqual(str(ctypes.sizeof(kind)), expected[name], name)
            for field, *_ in kind._fields_:
                d = getattr(kind, field)
                self.assertEqual(
                    f"{d.offset} {d.size}", expected[f"{name}.{field}"], f"{name}.{field}"
                )

    def test_functions_have_the_headers_number_of_parameters(self) -> None:
        text = ""
        for name in os.listdir(HEADERS):
            with open(os.path.join(HEADERS, name), encoding="utf-8") as f:
                text += re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        declared = {}
        for name, parameters in re.findall(r"ASSAY_API[^;(]*?\b(assay_\w+)\(([^;]*)\);", text):
            declared[name] = 0 if parameters.strip() == "void" else parameters.count(",") + 1
        for name, (_, arguments) in _native.FUNCTIONS.items():
            self.assertIn(name, declared)
            self.assertEqual(len(arguments), declared[name], name)

    def test_version_is_the_headers(self) -> None:
        with open(HEADER, encoding="utf-8") as f:
            numbers = re.findall(r"#define ASSAY_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", f.read())
        self.assertEqual(assay.__version__, ".".join(numbers))

    def test_statuses_have_an_exception_each(self) -> None:
        with open(HEADER, encoding="utf-8") as f:
            codes = {int(n) for n in re.findall(r"ASSAY_ERR_\w+ = (\d+)", f.read())}
        self.assertEqual(codes, set(assay.errors.BY_STATUS) | {assay.Interrupted.code})


class Sources(unittest.TestCase):
    def files(self) -> List[str]:
        return [os.path.join(PACKAGE, n) for n in os.listdir(PACKAGE) if n.endswith(".py")]

    def test_python_3_9_can_read_them(self) -> None:
        for path in self.files():
            with open(path, encoding="utf-8") as f:
                ast.parse(f.read(), path, feature_version=(3, 9))

    @unittest.skipUnless(shutil.which("mypy"), "mypy is not installed")
    def test_types(self) -> None:
        # The examples see what a caller's own checker sees of the package.
        strict = ["src/assay", "backend", "examples", "../../tests/python"]
        with tempfile.TemporaryDirectory() as cache:
            said = subprocess.run(
                ["mypy", "--config-file", "pyproject.toml", "--cache-dir", cache, *strict],
                cwd=os.path.join(ROOT, "bindings", "python"),
                env={**os.environ, "MYPYPATH": "src"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
        self.assertEqual(said.returncode, 0, said.stdout)

    def test_standard_library_only(self) -> None:
        # torch, numpy, pandas and IPython are the caller's own, and are imported when he hands one
        # in.
        theirs = {"torch", "numpy", "pandas", "IPython"}
        top = set()
        for path in self.files():
            with open(path, encoding="utf-8") as f:
                tree = ast.parse(f.read(), path)
            for node in ast.walk(tree):
                if isinstance(node, ast.Import):
                    names = [a.name for a in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names = [node.module]
                else:
                    continue
                roots = {n.split(".")[0] for n in names}
                self.assertFalse(
                    node in tree.body and roots & theirs, f"{path} imports {roots} at its top"
                )
                top |= roots
        import sys

        standard: Set[str] = getattr(sys, "stdlib_module_names")  # of Python 3.10 and later
        self.assertEqual(top - standard - theirs, set())

    def test_everything_public_says_what_it_does(self) -> None:
        for name in assay.__all__:
            thing = getattr(assay, name)
            self.assertTrue(name == "__version__" or thing.__doc__, name)

    def test_so_does_every_method(self) -> None:
        for name in assay.__all__:
            thing = getattr(assay, name)
            if not isinstance(thing, type):
                continue
            for method in vars(thing):
                one = getattr(thing, method)
                if not method.startswith("_") and (
                    callable(one) or isinstance(vars(thing)[method], property)
                ):
                    self.assertTrue(inspect.getdoc(one), f"{name}.{method}")

    def test_every_option_and_method_is_in_the_document(self) -> None:
        with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as f:
            text = f.read()
        for option in assay.options():
            self.assertRegex(
                text,
                rf"`{option.name}[`=]|\b{option.name}=",
                f"docs/python.md does not mention the option {option.name}",
            )
        for kind in (
            assay.Result,
            assay.Profile,
            assay.Check,
            assay.Machine,
            assay.History,
            assay.Sweep,
            assay.ModelProfiler,
            assay.ComputeProfiler,
            assay.Model,
        ):
            for method in vars(kind):
                if not method.startswith("_") and not hasattr(dict, method):
                    self.assertRegex(
                        text,
                        rf"\b{method}\b",
                        f"docs/python.md does not mention {kind.__name__}.{method}",
                    )

    def test_every_function_is_in_the_document(self) -> None:
        with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as f:
            text = f.read()
        for name in assay.__all__:
            if name != "__version__":
                self.assertRegex(text, rf"\b{name}\b", f"docs/python.md does not mention {name}")


if __name__ == "__main__":
    unittest.main()
