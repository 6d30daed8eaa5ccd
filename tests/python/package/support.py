"""What the tests share: a tiny ONNX model written byte by byte, an engine or a skip, a child
process."""
import importlib.util
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from typing import Any, List, Optional, Sequence, Tuple, Union

import assay

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
RESNET = os.path.join(ROOT, "tests", "models", "resnet18.onnx")


def has(module: str) -> bool:
    return (
        importlib.util.find_spec(module) is not None
    )  # without importing it: torch takes a second


def engine_missing() -> Optional[str]:
    try:
        assay.engine()
        return None
    except assay.EngineError as e:
        return str(e)


needs_engine = unittest.skipIf(engine_missing(), "no engine")
needs_torch = unittest.skipUnless(has("torch"), "Debian's python3-torch is not installed")
needs_numpy = unittest.skipUnless(has("numpy"), "numpy is not installed")


# ---- protocol buffers, as far as a graph of one node needs them ----


def _number(n: int) -> bytes:
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def _field(number: int, value: Union[int, str, bytes]) -> bytes:
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    data = value.encode() if isinstance(value, str) else value
    return _number(number << 3 | 2) + _number(len(data)) + data


Dims = Sequence[Union[int, str]]
Value = Tuple[str, int, Dims]


def _value(name: str, dtype: int, dims: Dims) -> bytes:
    shape = b"".join(_field(1, _field(1, d) if isinstance(d, int) else _field(2, d)) for d in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, dtype) + _field(2, shape)))


FLOAT, INT64, BOOL = 1, 7, 9


def model_of(op: str, inputs: Sequence[Value], outputs: Sequence[Value], opset: int = 13) -> bytes:
    """A graph of one node: inputs and outputs are (name, dtype, dims)."""
    node = b"".join(_field(1, i[0]) for i in inputs) + b"".join(_field(2, o[0]) for o in outputs)
    node += _field(3, "node") + _field(4, op)
    graph = _field(1, node) + _field(2, "tiny") + b"".join(_field(11, _value(*i)) for i in inputs)
    graph += b"".join(_field(12, _value(*o)) for o in outputs)
    return _field(1, 7) + _field(7, graph) + _field(8, _field(1, "") + _field(2, opset))


def neg(dtype: int = FLOAT, dims: Dims = ("n", 3)) -> bytes:
    """y = -x"""
    return model_of("Neg", [("x", dtype, dims)], [("y", dtype, dims)])


def npy(path: Any) -> Tuple[Any, List[Any]]:
    """Shape and numbers of a .npy file, without numpy."""
    with open(path, "rb") as f:
        data = f.read()
    n = struct.unpack("<H", data[8:10])[0]
    head = eval(data[10 : 10 + n].decode(), {"__builtins__": {}})  # a literal of our own library's
    size, code = (
        int(head["descr"][2]),
        {"f4": "f", "f8": "d", "i8": "q", "b1": "?"}[head["descr"][1:]],
    )
    body = data[10 + n :]
    return head["shape"], list(struct.unpack(f"<{len(body) // size}{code}", body))


def child(code: str, *arguments: str, **keywords: Any) -> subprocess.CompletedProcess[str]:
    """Runs Python code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=3000,
        **keywords,
    )


class InFolder(unittest.TestCase):
    """Each test in an empty folder of its own."""

    def setUp(self) -> None:
        self._was = os.getcwd()
        self._folder = tempfile.TemporaryDirectory()
        os.chdir(self._folder.name)
        self.addCleanup(self._folder.cleanup)
        self.addCleanup(os.chdir, self._was)
