#!/usr/bin/env python3
"""Writes the small PyTorch files of tests/data/torch, with Debian's python3-torch.

  make_torch.py FOLDER
"""

import json
import os
import pickle
import sys
import zipfile
from collections import OrderedDict

import torch
from torch import nn


class Trap:
    """What a hostile pickle would call; a reader that calls nothing only names it."""

    def __reduce__(self):
        return (print, ("called",))


def network():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 5)
    )


def checkpoint(model):
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(2, 3, 4, 4)).sum().backward()
    optimizer.step()
    return {
        "epoch": 3,
        "state_dict": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "ema": OrderedDict((k, v.clone()) for k, v in model.state_dict().items()),
        "trap": Trap(),
    }


def shards(state, folder):
    """Two files and their index, as transformers writes them."""
    names = ["pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"]
    places = {key: names[key.startswith("4.")] for key in state}
    for name in names:
        part = OrderedDict((k, v) for k, v in state.items() if places[k] == name)
        torch.save(part, f"{folder}/{name}")
    size = sum(v.numel() * v.element_size() for v in state.values())
    with open(f"{folder}/pytorch_model.bin.index.json", "w") as f:
        json.dump({"metadata": {"total_size": size}, "weight_map": places}, f)
    with open(f"{folder}/config.json", "w") as f:
        json.dump({"model_type": "unheard-of"}, f)


def deflate(path, packed):
    """The same archive with every entry compressed."""
    with zipfile.ZipFile(path) as plain, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        for entry in plain.infolist():
            out.writestr(zipfile.ZipInfo(entry.filename), plain.read(entry), zipfile.ZIP_DEFLATED)


def training_run(state):
    """What a trainer keeps beside the model."""
    return {
        "state_dict": OrderedDict(("model." + k, v) for k, v in state.items()),
        "callbacks": {"Checkpoint": {"best": torch.tensor(0.5), "mode": "min"}},
        "best_score": torch.tensor(0.5),
        "rng_state": torch.zeros(7, dtype=torch.uint8),
    }


def pickles(model, folder):
    """Files of pickle.dump: tensors hold their storages, as bytes or as text."""
    state = model.state_dict()
    for name, what, protocol in (
        ("pickled.pkl", model, 4),
        ("pickled2.pkl", state, 2),
        ("arrays.pkl", {"model": {k: v.numpy() for k, v in state.items()}}, 4),
        ("samples.pkl", {"x": state["4.weight"].numpy(), "y": state["4.bias"].numpy()}, 4),
        ("arrays2.pkl", {k: v.numpy() for k, v in state.items()}, 2),
    ):
        with open(f"{folder}/{name}", "wb") as f:
            pickle.dump(what, f, protocol=protocol)


def quantised():
    scales, zeros = torch.ones(4, dtype=torch.double), torch.zeros(4, dtype=torch.long)
    weight = torch.quantize_per_channel(torch.ones(4, 6), scales, zeros, 0, torch.qint8)
    return {"weight": weight, "indices": torch.eye(3).to_sparse()}


def main(folder):
    model = network()
    state = model.state_dict()
    torch.save(
        state, f"{folder}/legacy4.pth", _use_new_zipfile_serialization=False, pickle_protocol=4
    )
    torch.save(training_run(state), f"{folder}/lightning.ckpt")
    torch.save(quantised(), f"{folder}/quantised.pt")
    pickles(model, folder)
    torch.save(state, f"{folder}/state.pth")
    deflate(f"{folder}/state.pth", f"{folder}/packed.pth")
    torch.save(state, f"{folder}/legacy.pth", _use_new_zipfile_serialization=False)
    torch.save(model, f"{folder}/module.pt")
    tied = OrderedDict(state)
    tied["head.weight"] = state["4.weight"]
    tied["half"] = torch.zeros(2, 3, dtype=torch.float16)
    torch.save(tied, f"{folder}/tied.pt", pickle_protocol=4)
    torch.save(checkpoint(network()), f"{folder}/checkpoint.ckpt")
    torch.jit.save(torch.jit.script(model.eval()), f"{folder}/script.pt")
    os.makedirs(f"{folder}/sharded", exist_ok=True)
    shards(state, f"{folder}/sharded")
    with open(f"{folder}/plain.pkl", "wb") as f:
        pickle.dump({"a": [1, 2.5, "text", None, True]}, f, protocol=2)


if __name__ == "__main__":
    main(sys.argv[1])
