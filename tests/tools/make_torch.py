#!/usr/bin/env python3
"""Writes the small PyTorch files of tests/data/torch with torch.save and torch.jit.save (Debian's python3-torch).

  make_torch.py FOLDER
"""

import pickle
import sys
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


def main(folder):
    model = network()
    state = model.state_dict()
    torch.save(state, f"{folder}/state.pth")
    torch.save(state, f"{folder}/legacy.pth", _use_new_zipfile_serialization=False)
    torch.save(model, f"{folder}/module.pt")
    tied = OrderedDict(state)
    tied["head.weight"] = state["4.weight"]
    tied["half"] = torch.zeros(2, 3, dtype=torch.float16)
    torch.save(tied, f"{folder}/tied.pt", pickle_protocol=4)
    torch.save(checkpoint(network()), f"{folder}/checkpoint.ckpt")
    torch.jit.save(torch.jit.script(model.eval()), f"{folder}/script.pt")
    with open(f"{folder}/plain.pkl", "wb") as f:
        pickle.dump({"a": [1, 2.5, "text", None, True]}, f, protocol=2)


if __name__ == "__main__":
    main(sys.argv[1])
