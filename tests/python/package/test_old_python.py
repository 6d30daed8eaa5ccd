"""Python 3.9 is the oldest that the package is for, and not what the tests run on: nothing newer is
written in it.

Syntax is checked by the parser at that version. Names are checked against the table below: what the
standard library has had only since, with the version, as of its documentation's "New in version"
notes.
"""
import ast
import builtins
import os
import unittest
from typing import Any, Dict, Iterator, List, Tuple, Union

from support import ROOT

OLDEST = (3, 9)
FOLDERS = [
    os.path.join(ROOT, "bindings", "python", *f)
    for f in (("src", "assay"), ("backend",), ("examples",))
]

# module: names that came later ("*": all of it)
LATER = {
    "tomllib": "*",
    "asyncio.taskgroups": "*",
    "asyncio.timeouts": "*",
    "wsgiref.types": "*",
    "concurrent.interpreters": "*",
    "annotationlib": "*",
    "compression": "*",
    "string.templatelib": "*",
    "pathlib.types": "*",
    "abc": "update_abstractmethods",
    "asyncio": "TaskGroup Runner timeout timeout_at Barrier BrokenBarrierError",
    "calendar": "JANUARY FEBRUARY Month Day",
    "codecs": "unregister",
    "contextlib": "aclosing chdir",
    "copy": "replace",
    "dataclasses": "KW_ONLY",
    "datetime": "UTC",
    "enum": "StrEnum verify member nonmember global_enum ReprEnum EnumCheck FlagBoundary "
    "show_flag_values property EnumType",
    "hashlib": "file_digest",
    "importlib.metadata": "packages_distributions",
    "inspect": "get_annotations getmembers_static ismethodwrapper BufferFlags "
    "markcoroutinefunction getasyncgenstate getasyncgenlocals",
    "io": "text_encoding",
    "itertools": "pairwise batched",
    "locale": "getencoding",
    "logging": "getLevelNamesMapping getHandlerByName getHandlerNames",
    "math": "cbrt exp2 sumprod fma",
    "operator": "call is_none is_not_none",
    "os": "EFD_CLOEXEC eventfd splice login_tty unshare setns process_cpu_count listdrives "
    "timerfd_create ptsname posix_openpt PIDFD_NONBLOCK",
    "os.path": "isjunction splitroot isreserved",
    "pathlib": "UnsupportedOperation",
    "platform": "freedesktop_os_release",
    "queue": "ShutDown",
    "random": "binomialvariate",
    "re": "NOFLAG RegexFlagType PatternError",
    "sqlite3": "Blob",
    "statistics": "covariance correlation linear_regression kde kde_random",
    "sys": "stdlib_module_names orig_argv exception activate_stack_trampoline monitoring _git "
    "set_int_max_str_digits get_int_max_str_digits ",
    "tarfile": "data_filter tar_filter fully_trusted_filter",
    "threading": "gettrace getprofile settrace_all_threads setprofile_all_threads __excepthook__",
    "types": "NoneType EllipsisType NotImplementedType UnionType get_original_bases CapsuleType "
    "FrameLocalsProxyType",
    "typing": "TypeAlias ParamSpec ParamSpecArgs ParamSpecKwargs Concatenate TypeGuard "
    "is_typeddict Self Never LiteralString assert_never assert_type reveal_type "
    "NotRequired Required TypeVarTuple Unpack dataclass_transform override "
    "TypeAliasType ReadOnly NoDefault TypeIs get_protocol_members is_protocol "
    "clear_overloads get_overloads",
    "unittest": "enterModuleContext",
    "unittest.mock": "ThreadingMock",
    "uuid": "uuid6 uuid7 uuid8",
    "warnings": "deprecated",
    "ctypes": "memoryview_at SIZEOF_TIME_T",
    "glob": "translate",
}
# Built-in names that came later.
BUILTINS = {
    "aiter",
    "anext",
    "EncodingWarning",
    "ExceptionGroup",
    "BaseExceptionGroup",
    "PythonFinalizationError",
}
# Methods and fields whose names are nothing else's.
METHODS = {
    "bit_count",
    "add_note",
    "__notes__",
    "enterContext",
    "with_segments",
    "hardlink_to",
    "from_number",
    "copy_into",
    "move_into",
    "full_match",
}
# Arguments that came later, by the function's last name.
ARGUMENTS = {
    "zip": {"strict"},
    "map": {"strict"},
    "dataclass": {"slots", "kw_only", "match_args", "weakref_slot"},
    "glob": {"root_dir", "dir_fd", "include_hidden"},
    "iglob": {"root_dir", "dir_fd", "include_hidden"},
    "TemporaryDirectory": {"ignore_cleanup_errors", "delete"},
    "NamedTemporaryFile": {"delete_on_close"},
    "bisect": {"key"},
    "bisect_left": {"key"},
    "bisect_right": {"key"},
    "insort": {"key"},
    "rmtree": {"onexc", "dir_fd"},
    "extractall": {"filter"},
    "extract": {"filter"},
    "run": {"process_group"},
    "Popen": {"process_group", "pipesize"},
    "catch_warnings": {"action", "category"},
    "exists": {"follow_symlinks"},
    "is_file": {"follow_symlinks"},
    "is_dir": {"follow_symlinks"},
    "Thread": {"context"},
    "field": {"kw_only"},
    "signature": {"globals", "locals", "eval_str"},
    "shutdown": {"immediate"},
    "warn": {"skip_file_prefixes"},
    "format_exception": {"exc"},
    "print_exception": {"exc"},
    "TarFile": {"stream"},
}


def files() -> Iterator[str]:
    for folder in FOLDERS:
        for name in sorted(os.listdir(folder)):
            if name.endswith(".py"):
                yield os.path.join(folder, name)


def is_later(module: str, name: str) -> bool:
    known = LATER.get(module, "")
    return known == "*" or name in known.split()


class Names(ast.NodeVisitor):
    """Collects (line, what) of everything that is too new."""

    def __init__(self, tree: ast.Module) -> None:
        self.found: List[Tuple[int, str]] = []
        self.modules: Dict[str, str] = {}
        self.lazy = any(
            isinstance(n, ast.ImportFrom)
            and n.module == "__future__"
            and any(a.name == "annotations" for a in n.names)
            for n in tree.body
        )
        self.visit(tree)

    def say(self, node: Any, what: str) -> None:
        self.found.append((node.lineno, what))

    def visit_Import(self, node: ast.Import) -> None:
        for a in node.names:
            self.modules[a.asname or a.name.split(".")[0]] = (
                a.name if a.asname else a.name.split(".")[0]
            )
            if LATER.get(a.name) == "*":
                self.say(node, a.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for a in node.names:
            module = node.module or ""
            if not node.level and (LATER.get(module) == "*" or is_later(module, a.name)):
                self.say(node, f"{node.module}.{a.name}")

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in BUILTINS:
            self.say(node, node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and is_later(
            self.modules.get(node.value.id, ""), node.attr
        ):
            self.say(node, f"{node.value.id}.{node.attr}")
        if node.attr in METHODS:
            self.say(node, node.attr)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        for k in node.keywords:
            if k.arg in ARGUMENTS.get(name, ()):
                self.say(node, f"{name}({k.arg}=)")
        if name == "isinstance" and len(node.args) == 2 and isinstance(node.args[1], ast.BinOp):
            self.say(node, "isinstance of a union")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """int | None where it is executed: types that are joined, not numbers."""
        if isinstance(node.op, ast.BitOr):
            sides = [
                s
                for s in (node.left, node.right)
                if isinstance(s, ast.Name) and isinstance(getattr(builtins, s.id, None), type)
            ]
            if sides or any(
                isinstance(s, ast.Constant) and s.value is None for s in (node.left, node.right)
            ):
                self.say(node, "a union of types by |")
        self.generic_visit(node)

    def annotation(self, node: Any) -> None:
        if node is not None and not self.lazy:
            self.visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.annotation(node.annotation)
        if node.value:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        self.annotation(node.annotation)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.function(node)

    def function(self, node: Union[ast.FunctionDef, ast.AsyncFunctionDef]) -> None:
        self.annotation(node.returns)
        for child in (*node.decorator_list, node.args, *node.body):
            self.visit(child)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.function(node)


class Oldest(unittest.TestCase):
    def test_syntax(self) -> None:
        for path in files():
            with open(path, encoding="utf-8") as f:
                ast.parse(f.read(), path, feature_version=OLDEST)

    def test_names(self) -> None:
        for path in files():
            with open(path, encoding="utf-8") as f:
                tree = ast.parse(f.read(), path)
            self.assertEqual(Names(tree).found, [], path)

    def test_what_the_check_sees(self) -> None:
        for code in (
            "import tomllib",
            "from typing import Self",
            "import itertools\nitertools.pairwise([])",
            "zip([], strict=True)",
            "isinstance(1, int | str)",
            "X = int | None",
            "def f(x: int | None): pass",
            "(5).bit_count()",
            "raise ExceptionGroup('x', [])",
            "from itertools import batched as b",
            "import os.path as p\np.isjunction('x')",
            "import tempfile\ntempfile.TemporaryDirectory(delete=False)",
            "def f() -> str | None: pass",
            "x: 'int' = 1 | None",
        ):
            self.assertTrue(Names(ast.parse(code)).found, code)
        for code in (
            "from __future__ import annotations\ndef f(x: int | None) -> str | None: pass",
            "a = 1 | 2",
            "{} | {}",
            "import sys\nsys.modules",
            "zip([])",
            "from __future__ import annotations\nx: int | None = None",
        ):
            self.assertEqual(Names(ast.parse(code)).found, [], code)
        with self.assertRaises(SyntaxError):
            ast.parse("match x:\n  case 1: pass", feature_version=OLDEST)


if __name__ == "__main__":
    unittest.main()
