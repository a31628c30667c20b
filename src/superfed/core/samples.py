"""What the engine asks of data: each client's training, validation and test samples, one client at a time."""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor


@dataclass(frozen=True)
class Samples:
    """Inputs ``x`` (floating point, or integers for text) and integer class labels ``y``, one row per sample."""

    x: Tensor
    y: Tensor

    def __len__(self) -> int:
        return len(self.y)


class FederatedData(Protocol):
    """A dataset already dealt to clients. Asking for a client costs what that client holds, whatever the number of clients."""

    @property
    def num_clients(self) -> int: ...

    @property
    def num_classes(self) -> int: ...

    @property
    def input_shape(self) -> tuple[int, ...]: ...

    @property
    def fingerprint(self) -> str:
        """A digest of everything that decides who holds which sample with which label."""
        ...

    def train_size(self, client: int) -> int: ...

    def train(self, client: int) -> Samples: ...

    def validation(self, client: int) -> Samples: ...

    def test(self, client: int) -> Samples: ...
