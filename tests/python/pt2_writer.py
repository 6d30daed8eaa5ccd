"""Writes torch.export programs (.pt2) by the published schema, without torch.export.

Debian's torch 1.13 has no torch.export, but make_fx gives the same graph: calls of ATen operators
with the shape of every value. The layouts are those of torch 2.2 ("schema2"), torch 2.3 to 2.7
("flat") and torch 2.8 and later ("archive"); see torch/_export/serde/schema.py of PyTorch.
"""

import io
import json
import zipfile
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch
from functorch.experimental import functionalize  # type: ignore[import]
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.utils.stateless import functional_call

TYPES = {
    torch.uint8: 1,
    torch.int8: 2,
    torch.int16: 3,
    torch.int32: 4,
    torch.int64: 5,
    torch.float16: 6,
    torch.float32: 7,
    torch.float64: 8,
    torch.bool: 12,
    torch.bfloat16: 13,
}
KINDS = (
    "as_none as_tensor as_tensors as_int as_ints as_float as_floats as_string as_sym_int "
    "as_sym_ints as_scalar_type as_memory_format as_layout as_device as_bool as_bools "
    "as_optional_tensors"
).split()


class Writer:
    def __init__(self, model: nn.Module, inputs: Sequence[Any], layout: str, batch: str) -> None:
        self.model = model.eval()
        self.layout = layout
        self.batch = batch  # the symbol of the first size of every input, or ""
        self.parameters = dict(model.named_parameters())
        self.buffers = dict(model.named_buffers())
        self.names = list(self.parameters) + list(self.buffers)
        weights = [t.detach() for t in self.parameters.values()] + list(self.buffers.values())

        def run(values: List[Any], *args: Any) -> Any:
            return functional_call(model, dict(zip(self.names, values)), args)

        with torch.no_grad():
            self.graph = make_fx(functionalize(run))(weights, *inputs).graph
        self.tensors: Dict[str, Any] = {}
        self.constants: Dict[str, Any] = {}

    # ---- values ----

    def union(self, kind: str, value: Any) -> Dict[str, Any]:
        if self.layout == "schema2":
            return {**{k: None for k in KINDS}, kind: value}
        return {kind: value}

    def size(self, n: int, symbol: str) -> Dict[str, Any]:
        if not symbol:
            return {"as_expr": None, "as_int": n} if self.layout == "schema2" else {"as_int": n}
        expr = {"expr_str": symbol, "hint": {"as_int": n}}
        return {"as_expr": expr}

    def meta(
        self, shape: Sequence[int], dtype: Any, stride: Sequence[int], symbol: str = ""
    ) -> Any:
        return {
            "dtype": TYPES[dtype],
            "sizes": [self.size(n, symbol if i == 0 else "") for i, n in enumerate(shape)],
            "requires_grad": False,
            "device": {"type": "cpu", "index": None},
            "strides": [self.size(n, "") for n in stride],
            "storage_offset": self.size(0, ""),
            "layout": 7,
        }

    def note(self, node: Any, symbol: str = "") -> None:
        m = node.meta.get("tensor_meta")
        if m is not None and hasattr(m, "shape"):
            self.tensors[node.name] = self.meta(m.shape, m.dtype, m.stride, symbol)

    def argument(self, v: Any) -> Dict[str, Any]:
        if v is None:
            return self.union("as_none", True)
        if isinstance(v, torch.fx.Node):
            return self.union("as_tensor", {"name": v.name})
        if isinstance(v, bool):
            return self.union("as_bool", v)
        if isinstance(v, int):
            return self.union("as_int", v)
        if isinstance(v, float):
            return self.union("as_float", v)
        if isinstance(v, str):
            return self.union("as_string", v)
        if isinstance(v, torch.dtype):
            return self.union("as_scalar_type", TYPES[v])
        if isinstance(v, torch.device):
            return self.union("as_device", {"type": v.type, "index": None})
        if isinstance(v, torch.layout):
            return self.union("as_layout", 7)
        if isinstance(v, torch.memory_format):
            return self.union("as_memory_format", 1)
        return self.list_argument(v)

    def list_argument(self, v: Sequence[Any]) -> Dict[str, Any]:
        if any(x is None for x in v):
            rows: List[Dict[str, Any]] = [
                {"as_tensor": {"name": x.name}} if x is not None else {"as_none": True} for x in v
            ]
            return self.union("as_optional_tensors", rows)
        if v and isinstance(v[0], torch.fx.Node):
            return self.union("as_tensors", [{"name": x.name} for x in v])
        kind = "as_floats" if v and isinstance(v[0], float) else "as_ints"
        return self.union(kind, list(v))

    # ---- nodes ----

    def outputs(self, node: Any) -> List[Dict[str, Any]]:
        returns = node.target._schema.returns
        parts = {u.args[1]: u for u in node.users if "getitem" in str(u.target)}
        for u in parts.values():
            self.note(u)
        name = [
            parts[i].name if i in parts else f"{node.name}_unused_{i}"
            for i in range(max([len(returns), *[k + 1 for k in parts]]))
        ]
        if len(returns) > 1:
            return [self.union("as_tensor", {"name": n}) for n in name]
        if "List" in str(returns[0].type) if returns else False:
            return [self.union("as_tensors", [{"name": n} for n in name])]
        self.note(node)
        return [self.union("as_tensor", {"name": node.name})] if returns else []

    def node(self, node: Any) -> Dict[str, Any]:
        names = [a.name for a in node.target._schema.arguments]
        given = list(zip(names, node.args)) + list(node.kwargs.items())
        return {
            "target": f"torch.ops.{node.target}",
            "inputs": [{"name": k, "arg": self.argument(v)} for k, v in given],
            "outputs": self.outputs(node),
            "metadata": {"nn_module_stack": "L__self__,,Net"},
        }

    def constant(self, node: Any) -> Dict[str, Any]:
        t = getattr(self.graph.owning_module, node.target)
        name = node.name
        self.constants[name] = t
        self.tensors[name] = self.meta(t.shape, t.dtype, t.stride())
        spec = {"arg": {"name": name}, "tensor_constant_name": name}
        return {"tensor_constant": spec}

    def spec(self, name: str, index: int) -> Dict[str, Any]:
        if index >= len(self.names):
            return {"user_input": {"arg": self.union("as_tensor", {"name": name})}}
        own = self.names[index]
        if own in self.parameters:
            return {"parameter": {"arg": {"name": name}, "parameter_name": own}}
        return {"buffer": {"arg": {"name": name}, "buffer_name": own, "persistent": True}}

    def program(self) -> Dict[str, Any]:
        nodes: List[Any] = []
        inputs: List[Any] = []
        specs: List[Any] = []
        outputs: List[Any] = []
        for n in self.graph.nodes:
            if n.op == "placeholder":
                self.note(n, self.batch if len(inputs) >= len(self.names) else "")
                specs.append(self.spec(n.name, len(inputs)))
                inputs.append(self.union("as_tensor", {"name": n.name}))
            elif n.op == "get_attr":
                specs.append(self.constant(n))
                inputs.append(self.union("as_tensor", {"name": n.name}))
            elif n.op == "output":
                out = n.args[0] if isinstance(n.args[0], (list, tuple)) else [n.args[0]]
                outputs = [self.union("as_tensor", {"name": x.name}) for x in out]
            elif "getitem" not in str(n.target):
                nodes.append(self.node(n))
        graph = {
            "inputs": inputs,
            "outputs": outputs,
            "nodes": nodes,
            "tensor_values": self.tensors,
            "sym_int_values": {},
            "sym_bool_values": {},
        }
        signature = {
            "input_specs": specs,
            "output_specs": [{"user_output": {"arg": x}} for x in outputs],
        }
        return {
            "graph_module": {"graph": graph, "signature": signature, "module_call_graph": []},
            "opset_version": {"aten": 10},
            "range_constraints": {},
            "schema_version": 2 if self.layout == "schema2" else {"major": 8, "minor": 8},
            "torch_version": "2.8.0" if self.layout == "archive" else "<=2.4",
        }

    # ---- the archive ----

    def payloads(self, tensors: Dict[str, Any], word: str) -> Tuple[Dict[str, Any], List[Any]]:
        config, files = {}, []
        for i, (name, t) in enumerate(tensors.items()):
            config[name] = {
                "path_name": f"{word}_{i}",
                "is_param": name in self.parameters,
                "use_pickle": False,
                "tensor_meta": self.meta(t.shape, t.dtype, t.contiguous().stride()),
            }
            files.append((f"{word}_{i}", t.detach().contiguous().numpy().tobytes()))
        return {"config": config}, files

    def entries(self) -> Dict[str, bytes]:
        program = json.dumps(self.program()).encode()
        state = {**self.parameters, **self.buffers}
        if self.layout != "archive":
            suffix = "json" if self.layout == "schema2" else "pt"
            return {
                "serialized_exported_program.json": program,
                f"serialized_state_dict.{suffix}": saved(state),
                f"serialized_constants.{suffix}": saved(self.constants),
                "version": b"2" if self.layout == "schema2" else b"8.8",
            }
        out = {
            "m/archive_format": b"pt2",
            "m/archive_version": b"0",
            "m/models/model.json": program,
        }
        for folder, tensors, word in (
            ("weights", state, "weight"),
            ("constants", self.constants, "tensor"),
        ):
            config, files = self.payloads(tensors, word)
            out[f"m/data/{folder}/model_{folder}_config.json"] = json.dumps(config).encode()
            out.update({f"m/data/{folder}/{k}": v for k, v in files})
        return out


def saved(tensors: Dict[str, Any]) -> bytes:
    out = io.BytesIO()
    torch.save({k: v.detach() for k, v in tensors.items()}, out)
    return out.getvalue()


def export(
    model: nn.Module,
    inputs: Sequence[Any],
    path: str,
    layout: str = "archive",
    packed: bool = False,
    batch: Optional[str] = None,
) -> None:
    entries = Writer(model, inputs, layout, batch or "").entries()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as z:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            z.writestr(info, content, zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED)
