"""What the server knows of the sites' data: how much each trains on, and of what shape. No sample is here."""

from dataclasses import dataclass
from typing import NoReturn

from superfed.core.errors import UserError
from superfed.core.samples import Samples
from superfed.data.fingerprint import fingerprint


@dataclass(frozen=True)
class Announced:
    """``sizes`` are the sites' training samples, as each said when it was met."""

    sizes: tuple[int, ...]
    num_classes: int
    input_shape: tuple[int, ...]

    @property
    def num_clients(self) -> int:
        return len(self.sizes)

    @property
    def fingerprint(self) -> str:
        return fingerprint("announced", list(self.sizes), self.num_classes, list(self.input_shape))

    def train_size(self, client: int) -> int:
        return self.sizes[client]

    def train(self, client: int) -> Samples:
        self._not_here()

    def validation(self, client: int) -> Samples:
        self._not_here()

    def test(self, client: int) -> Samples:
        self._not_here()

    def _not_here(self) -> NoReturn:
        raise UserError("the samples of a federation stay at its sites")
