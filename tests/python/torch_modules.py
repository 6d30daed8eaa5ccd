"""Modules as people write them, for check_torch.py: each with an input.

They use what TorchScript code of real files has: dictionaries, named tuples, lists of
modules, loops, asserts, optional arguments.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Scores(NamedTuple):
    logits: Tensor
    features: Tensor


class Named(nn.Module):  # type: ignore[misc]
    """A named tuple inside, a dictionary inside, one tensor outside."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2)
        self.head = nn.Linear(8, 4)

    def score(self, x: Tensor) -> Scores:
        features = F.relu(self.stem(x)).mean([2, 3])
        return Scores(logits=self.head(features), features=features)

    def forward(self, x: Tensor) -> Tensor:
        scores = self.score(x)
        parts: Dict[str, Tensor] = {"logits": scores.logits}
        parts["norm"] = scores.features.sum(1, keepdim=True)
        total = parts["logits"]
        for key in parts.keys():
            if key != "logits":
                total = total + parts[key]
        return total


class Levels(nn.Module):  # type: ignore[misc]
    """Lists and dictionaries of modules, an assert on a size, a range with a step."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.Conv2d(4 if i else 1, 4, 3, padding=1) for i in range(4)])
        self.heads = nn.ModuleDict({"small": nn.Linear(4, 2), "large": nn.Linear(4, 3)})
        self.sizes: Tuple[int, int] = (2, 2)

    def forward(self, x: Tensor) -> Tensor:
        b, c, h, w = x.shape
        assert c == 1, "one channel"
        levels: List[Tensor] = []
        for block in self.blocks:
            x = torch.relu(block(x))
            levels.append(x)
        kept = torch.zeros_like(levels[0])
        for i in range(0, len(levels), 2):
            kept = kept + levels[i]
        kept = F.avg_pool2d(kept, self.sizes).flatten(2).mean(-1)
        outs = [head(kept) for head in self.heads.values()]
        return torch.cat(outs, dim=1)[:, : -(-w // 8)]


class Vote(nn.Module):  # type: ignore[misc]
    """BatchNorm1d first: the rank of the input is in the code alone."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(6)
        self.layers = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3))

    def forward(self, x: Tensor, scale: Optional[Tensor] = None) -> Tensor:
        y = self.layers(self.norm(x))
        if scale is not None:
            y = y * scale
        return torch.log_softmax(y, dim=1)


class Recurrent(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(5, 8, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(16, 8, batch_first=True)
        self.out = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.lstm(x)
        y, h = self.gru(y)
        return self.out(y[:, -1, :]) + self.out(h[0])


class Attention(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(6, 16)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), num_layers=2
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.encoder(self.embed(x)).mean(1)


class Hourglass(nn.Module):  # type: ignore[misc]
    """A U-Net: skips, transposed convolutions, interpolation to the size of another tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.mid = nn.Conv2d(8, 8, 3, padding=1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.last = nn.Conv2d(7, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.down(x))
        y = self.up(F.gelu(self.mid(y)))
        y = F.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False)
        return self.last(torch.cat([x, y], 1))


class Odd(nn.Module):  # type: ignore[misc]
    """Operators of core ATen that networks use seldom."""

    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        y = self.part(x)
        a, b = torch.tensor_split(y, [2], dim=1)
        angle = torch.atan2(a[:, :1], a[:, 1:])
        rows, columns = torch.meshgrid([torch.linspace(0, 1, 3), b[0]], indexing="ij")
        far = torch.cdist(rows, columns)
        return torch.cat([y, angle, torch.trunc(3 * a), torch.erfc(b)], 1) + far.sum()


MODULES: Dict[str, Tuple[Any, Tuple[int, ...]]] = {
    "named": (Named, (1, 3, 32, 32)),
    "levels": (Levels, (1, 1, 28, 28)),
    "vote": (Vote, (1, 6)),
    "recurrent": (Recurrent, (1, 16, 5)),
    "attention": (Attention, (1, 16, 6)),
    "hourglass": (Hourglass, (1, 3, 32, 32)),
    "odd": (Odd, (1, 6)),
}
