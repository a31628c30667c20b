"""A pool whose inputs lie in one array."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from superfed.core.errors import UserError
from superfed.data.fingerprint import fingerprint
from superfed.data.pool import Owners, Packed, Pool

INPUT_TYPES = (torch.uint8, torch.int64, torch.float16, torch.float32, torch.float64)


@dataclass(frozen=True, eq=False)
class Dataset(Pool):
    """Inputs ``x`` [N, *input_shape] and labels ``y`` [N].

    ``x`` is kept in its small type and becomes float32 times ``scale`` only when it is handed out; int64 is text and is
    handed out as it is.
    """

    name: str
    x: Tensor
    y: Tensor
    num_classes: int
    scale: float = 1.0
    owners: Owners | None = None
    class_names: Sequence[str] | None = None
    parts: npt.NDArray[np.int8] | None = None
    known_digest: str | None = None
    """What ``digest`` would find, where somebody has kept it."""
    note: str | None = None
    """What a reader of its results should know: how much of the published data there was, for one."""

    def __post_init__(self) -> None:
        if self.x.dtype not in INPUT_TYPES:
            raise UserError(f"{self.name}: inputs must be uint8, int64 or floating point, not {self.x.dtype}")
        if self.y.dtype != torch.int64 or self.y.dim() != 1:
            raise UserError(f"{self.name}: labels must be one int64 number per sample")
        if len(self.x) != len(self.y) or len(self.y) == 0:
            raise UserError(f"{self.name}: needs as many inputs as labels, got {len(self.x)} and {len(self.y)}")
        for what, rows in (("owners", None if self.owners is None else self.owners.of), ("parts", self.parts)):
            if rows is not None and len(rows) != len(self.y):
                raise UserError(f"{self.name}: has {len(self.y)} samples, but {what} for {len(rows)}")
        low, high = int(self.y.min()), int(self.y.max())
        if low < 0 or high >= self.num_classes:
            raise UserError(
                f"{self.name}: labels run from {low} to {high}, but {self.num_classes} classes are "
                f"0 to {self.num_classes - 1}"
            )

    @property
    def labels(self) -> npt.NDArray[np.integer[Any]]:
        return self.y.numpy()

    @property
    def input_shape(self) -> tuple[int, ...]:
        return tuple(self.x.shape[1:])

    def inputs(self, rows: npt.NDArray[np.int64]) -> Tensor:
        chosen = self.x[torch.from_numpy(rows)]
        if chosen.dtype == torch.int64:
            return chosen
        chosen = chosen.to(torch.float32)
        return chosen if self.scale == 1.0 else chosen.mul_(self.scale)

    def pack(self) -> Packed:
        arrays: dict[str, npt.NDArray[Any]] = {"x": self.x.numpy(), "y": self.y.numpy()}
        facts: dict[str, Any] = {"name": self.name, "num_classes": self.num_classes, "scale": self.scale}
        if self.owners is not None:
            arrays["owners"], facts["owners"] = self.owners.of, list(self.owners.names)
        if self.parts is not None:
            arrays["parts"] = self.parts
        if self.class_names is not None:
            facts["class_names"] = list(self.class_names)
        if self.note is not None:
            facts["note"] = self.note
        return Packed(arrays, facts)

    @classmethod
    def unpack(cls, packed: Packed, digest: str | None = None) -> "Dataset":
        arrays, facts = packed
        owners = Owners(facts["owners"], arrays["owners"]) if "owners" in facts else None
        x, y = torch.from_numpy(arrays["x"]), torch.from_numpy(arrays["y"])
        return cls(
            facts["name"],
            x,
            y,
            facts["num_classes"],
            facts["scale"],
            owners,
            facts.get("class_names"),
            arrays.get("parts"),
            digest,
            facts.get("note"),
        )

    def digest(self) -> str:
        return self.known_digest or self._digest

    @cached_property
    def _digest(self) -> str:
        also: list[object] = [] if self.owners is None else [self.owners.of, list(self.owners.names)]
        also += [] if self.parts is None else [self.parts]
        return fingerprint(self.x.numpy(), self.y.numpy(), self.scale, self.num_classes, *also)
