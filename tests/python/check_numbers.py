#!/usr/bin/python3
"""The wiring of what we export, proven by numbers: the same weights in somebody else's network give
the same outputs, to 1e-4 of the largest.

    check_numbers.py ASSAY [NAME...]

Vision models are compared with torchvision's own, BERT and GPT-2 with a stack of torch's own
TransformerEncoderLayer. Weights come out of the exported file by their names, so a wrong name fails
too. Exit 77 (skipped) without python3-torch, python3-torchvision, python3-onnx or an engine.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Callable, Dict, List, Tuple

try:
    import numpy
    import onnx
    import onnx.numpy_helper
    import torch
    import torchvision
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TOLERANCE = 1e-4
ASSAY = sys.argv[1]

# torchvision's name, the parameters of both sides that make it small, and the side of the image.
VISION = [
    ("resnet18", {}, 64),
    ("resnet50", {}, 64),
    ("resnext50_32x4d", {"num_classes": 10}, 64),
    ("mobilenet_v2", {}, 64),
    ("mobilenet_v3_small", {}, 64),
    ("efficientnet_b0", {}, 64),
    ("convnext_tiny", {}, 64),
    ("densenet121", {}, 64),
    ("regnet_y_400mf", {}, 64),
    ("shufflenet_v2_x1_0", {}, 64),
    ("swin_t", {}, 224),
    ("swin_t", {}, 96),  # not a multiple of the windows: padded
    ("swin_v2_t", {}, 96),
]


Tensors = Dict[str, Any]


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[1:4])}: {done.stderr.strip() or done.returncode}")


def outputs_of(folder: str, model: List[str], inputs: Tensors) -> Tuple[Tensors, Tensors]:
    """Exports, runs on the engine with these inputs; the weights by name and the outputs by
    name."""
    path = os.path.join(folder, "model.onnx")
    run(ASSAY, "export", *model, "-q", "-o", path)
    feeds = []
    for name, value in inputs.items():
        file = os.path.join(folder, name + ".npy")
        numpy.save(file, value.numpy())
        feeds += ["--input", f"{name}={file}"]
    out = os.path.join(folder, "out")
    run(
        ASSAY,
        "bench",
        path,
        "-q",
        "--num-runs",
        "1",
        "--warmup-runs",
        "1",
        "--save-outputs",
        out,
        *feeds,
    )
    graph = onnx.load(path).graph
    names = [o.name for o in graph.output]
    got = {n: torch.tensor(numpy.load(os.path.join(out, n + ".npy"))) for n in names}
    return weights_of(graph), got


def weights_of(graph: Any) -> Tensors:
    """By name, as torch has them: linear layers are MatMul(x, W) here and x W^T there."""
    turned = {n.input[1] for n in graph.node if n.op_type == "MatMul"}
    turned |= {
        n.input[1]
        for n in graph.node
        if n.op_type == "Gemm" and not any(a.name == "transB" and a.i for a in n.attribute)
    }
    weights = {}
    for t in graph.initializer:
        w = torch.tensor(onnx.numpy_helper.to_array(t).copy())
        weights[t.name] = w.T.contiguous() if t.name in turned else w
    return weights


def compare(name: str, got: Any, want: Any) -> None:
    if got.shape != want.shape:
        raise RuntimeError(f"the shape is {tuple(got.shape)}, torch's {tuple(want.shape)}")
    scale = max(1.0, want.abs().max().item())
    error = (got - want).abs().max().item() / scale
    print(f"{name}: {error:.1e} of {scale:.3g}, deviation {want.std().item():.3g}")
    if not error <= TOLERANCE:
        raise RuntimeError(f"differs by {error:.2e}")
    if not want.std().item() > 1e-3:
        raise RuntimeError("the outputs are all the same: that proves nothing")


def load_state(model: Any, weights: Tensors) -> Any:
    wanted = model.state_dict()
    state = {}
    for key, value in wanted.items():
        if key.endswith(
            ("num_batches_tracked", "relative_position_index", "relative_coords_table")
        ):
            state[key] = value
        elif key not in weights:
            raise RuntimeError(f"the file has no weight '{key}'")
        else:
            state[key] = weights[key].reshape(value.shape)
    model.load_state_dict(state)
    return model.eval()


def check_vision(name: str, settings: Any, side: int, folder: str) -> None:
    x = torch.randn(2, 3, side, side)
    sets = [w for k, v in settings.items() for w in ("--set", f"{k}={v}")]
    weights, got = outputs_of(
        folder, [name, *sets, "--input-shape", f"2,3,{side},{side}"], {"input": x}
    )
    model = load_state(getattr(torchvision.models, name)(**settings), weights)
    with torch.no_grad():
        compare(f"{name} at {side}", got["output"], model(x))


def check_vit(folder: str) -> None:
    size = {"patch_size": 16, "num_layers": 3, "num_heads": 4, "hidden_dim": 64, "mlp_dim": 128}
    x = torch.randn(2, 3, 64, 64)
    sets = [w for k, v in size.items() for w in ("--set", f"{k}={v}")]
    weights, got = outputs_of(
        folder, ["vit_b_16", *sets, "--input-shape", "2,3,64,64"], {"input": x}
    )
    model = load_state(torchvision.models.VisionTransformer(image_size=64, **size), weights)
    with torch.no_grad():
        compare("vit", got["output"], model(x))


WIDTH, HEADS, INNER, LAYERS, TOKENS = 32, 4, 48, 3, 9


def folder_of(folder: str, config: Dict[str, Any]) -> List[str]:
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
        json.dump(config, f)
    return [
        folder,
        "--input-shape",
        f"input_ids:2,{TOKENS}",
        "--input-shape",
        f"attention_mask:2,{TOKENS}",
    ]


def encoder_layer(
    weights: Tensors, names: Any, activation: Any, eps: float, norm_first: bool
) -> Any:
    """torch.nn.TransformerEncoderLayer with the weights that `names` says."""
    layer = torch.nn.TransformerEncoderLayer(
        WIDTH, HEADS, INNER, 0.0, activation, eps, True, norm_first
    )
    state = {}
    for ours, theirs in names.items():
        for part in ("weight", "bias"):
            joined = torch.cat([weights[n + "." + part] for n in theirs])
            state[ours + ("_" if ours.endswith("in_proj") else ".") + part] = joined
    layer.load_state_dict(state)
    return layer.train()  # without dropout the same, and without the fused path of inference


def norm(x: Any, weights: Tensors, name: str, eps: float) -> Any:
    return torch.nn.functional.layer_norm(
        x, (WIDTH,), weights[name + ".weight"], weights[name + ".bias"], eps
    )


def check_bert(folder: str) -> None:
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "vocab_size": 64,
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "max_position_embeddings": 16,
    }
    ids = torch.randint(0, 64, (2, TOKENS))
    mask = torch.ones(2, TOKENS, dtype=torch.int64)
    mask[1, 6:] = 0
    types = torch.randint(0, 2, (2, TOKENS))
    model = folder_of(folder, config) + ["--input-shape", f"token_type_ids:2,{TOKENS}"]
    w, got = outputs_of(
        folder, model, {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    )
    x = (
        w["embeddings.word_embeddings.weight"][ids]
        + w["embeddings.token_type_embeddings.weight"][types]
    )
    x = norm(
        x + w["embeddings.position_embeddings.weight"][:TOKENS], w, "embeddings.LayerNorm", 1e-12
    )
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        names = {
            "self_attn.in_proj": [at + "attention.self." + n for n in ("query", "key", "value")],
            "self_attn.out_proj": [at + "attention.output.dense"],
            "linear1": [at + "intermediate.dense"],
            "linear2": [at + "output.dense"],
            "norm1": [at + "attention.output.LayerNorm"],
            "norm2": [at + "output.LayerNorm"],
        }
        layer = encoder_layer(w, names, torch.nn.functional.gelu, 1e-12, False)
        x = layer(x, src_key_padding_mask=mask == 0)
    seen = mask.bool()
    compare("bert", got["last_hidden_state"][seen], x.detach()[seen])
    pooled = torch.tanh(x[:, 0] @ w["pooler.dense.weight"].T + w["pooler.dense.bias"])
    compare("bert, pooled", got["pooler_output"], pooled.detach())


def check_gpt2(folder: str) -> None:
    config = {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "vocab_size": 64,
        "n_embd": WIDTH,
        "n_inner": INNER,
        "n_layer": LAYERS,
        "n_head": HEADS,
        "n_positions": 16,
    }
    ids = torch.randint(0, 64, (2, TOKENS))
    mask = torch.ones(2, TOKENS, dtype=torch.int64)
    w, got = outputs_of(
        folder, folder_of(folder, config), {"input_ids": ids, "attention_mask": mask}
    )
    x = w["transformer.wte.weight"][ids] + w["transformer.wpe.weight"][:TOKENS]
    later = torch.triu(torch.full((TOKENS, TOKENS), float("-inf")), 1)
    for i in range(LAYERS):
        at = f"transformer.h.{i}."
        names = {
            "self_attn.in_proj": [at + "attn.c_attn"],
            "self_attn.out_proj": [at + "attn.c_proj"],
            "linear1": [at + "mlp.c_fc"],
            "linear2": [at + "mlp.c_proj"],
            "norm1": [at + "ln_1"],
            "norm2": [at + "ln_2"],
        }
        gelu = torch.nn.GELU(approximate="tanh")
        x = encoder_layer(w, names, gelu, 1e-5, True)(x, later)
    x = norm(x, w, "transformer.ln_f", 1e-5) @ w["transformer.wte.weight"].T
    compare("gpt2", got["logits"], x.detach())


def main() -> int:
    torch.manual_seed(1)
    torch.set_num_threads(2)
    wanted = sys.argv[2:]
    if (
        subprocess.run(
            [ASSAY, "bench", "lenet", "-q", "--num-runs", "1"], capture_output=True, check=False
        ).returncode
        == 5
    ):
        print("skipped: no engine")
        return 77
    checks: List[Tuple[str, Callable[[str], None]]] = [
        (name, functools.partial(check_vision, name, size, side)) for name, size, side in VISION
    ]
    checks += [("vit", check_vit), ("bert", check_bert), ("gpt2", check_gpt2)]
    failed = 0
    for name, check in checks:
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="assay-numbers-") as folder:
            try:
                check(folder)
            except Exception as error:  # one wrong model does not hide the others
                failed += 1
                print(f"{name}: FAILED: {str(error)[:600]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
