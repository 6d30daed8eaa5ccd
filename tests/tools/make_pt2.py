#!/usr/bin/env python3
"""Writes the small torch.export programs of tests/data/pt2, with Debian's python3-torch.

  make_pt2.py FOLDER

schema2.pt2, flat.pt2, archive.pt2   a convolution, normalisation and a dense layer in three
                                     layouts, with an open batch
packed.pt2                           flat.pt2 with compressed entries
tiny.pt2                             one dense layer, for damage of every byte
"""

import os
import sys

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
import pt2_writer  # noqa: E402


def main() -> None:
    torch.manual_seed(1)
    folder = sys.argv[1]
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 5),
    )
    x = torch.ones(2, 3, 6, 6)
    for layout in ("schema2", "flat", "archive"):
        pt2_writer.export(net, (x,), f"{folder}/{layout}.pt2", layout, batch="s0")
    pt2_writer.export(net, (x,), f"{folder}/packed.pt2", "flat", packed=True, batch="s0")
    pt2_writer.export(nn.Linear(2, 3), (torch.ones(1, 2),), f"{folder}/tiny.pt2", "archive")


if __name__ == "__main__":
    main()
