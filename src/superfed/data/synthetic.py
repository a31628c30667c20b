"""A task for any number of clients: Gaussian classes, generated one client at a time."""

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from superfed.core.errors import require
from superfed.core.random import stream
from superfed.data.checks import finite, whole


@dataclass(frozen=True)
class Synthetic:
    """Each class is a Gaussian around its mean, each client holds a few classes and sees their means a little shifted.

    ``spread`` is the standard deviation around a mean, ``drift`` that of a client's shift of each mean it sees; the
    means themselves are standard normal. ``ragged`` lets sizes vary from (1 - ragged) to (1 + ragged) times
    ``samples_per_client``, never below 2.
    """

    num_classes: int = 10
    """Of all clients together."""
    dim: int = 32
    """Numbers in a sample."""
    samples_per_client: int = 50
    """The mean, where sizes vary."""
    spread: float = 2.0
    """Standard deviation of samples around the mean of their class."""
    drift: float = 0.5
    """Standard deviation of a client's shift of each mean it sees."""
    classes_per_client: int = 2
    """How many of the classes a client holds."""
    ragged: float = 0.0
    """How much sizes vary: from (1 - ragged) to (1 + ragged) times ``samples_per_client``."""

    def __post_init__(self) -> None:
        whole("num_classes", self.num_classes, least=1)
        whole("dim", self.dim, least=1)
        whole("samples_per_client", self.samples_per_client, least=2)
        whole("classes_per_client", self.classes_per_client, least=1, most=self.num_classes)
        for key in ("spread", "drift"):
            value = finite(key, getattr(self, key))
            require(value >= 0, key, f"must be at least 0, got {value}")
        ragged = finite("ragged", self.ragged)
        require(0 <= ragged <= 1, "ragged", f"must be from 0 to 1, got {ragged}")

    def load(self, root: Path | None) -> "Synthetic":
        """Itself: there is nothing to read, and no sample exists until a client asks for it."""
        return self

    def class_means(self, seed: int) -> npt.NDArray[np.float32]:
        """What all clients share, [num_classes, dim]."""
        return stream(seed, "synthetic").standard_normal((self.num_classes, self.dim), dtype=np.float32)

    def size(self, seed: int, client: int) -> int:
        """How many samples a client holds, without making them."""
        if self.ragged == 0:
            return self.samples_per_client
        ragged = Fraction(str(float(self.ragged)))
        least = max(2, math.ceil((1 - ragged) * self.samples_per_client))
        most = math.floor((1 + ragged) * self.samples_per_client)
        return int(stream(seed, "synthetic-size", client=client).integers(least, most, endpoint=True))

    def generate(
        self, seed: int, client: int, class_means: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """One client's samples: inputs [size, dim] and labels [size], its classes as even as they go."""
        rng = stream(seed, "synthetic", client=client)
        classes = self._classes(rng)
        shifts = rng.standard_normal((self.classes_per_client, self.dim), dtype=np.float32) * np.float32(self.drift)
        which = self._which(seed, client)
        noise = rng.standard_normal((len(which), self.dim), dtype=np.float32) * np.float32(self.spread)
        return (class_means[classes] + shifts)[which] + noise, classes[which]

    def labels(self, seed: int, client: int) -> npt.NDArray[np.int64]:
        """The labels that ``generate`` gives, without making their inputs."""
        return self._classes(stream(seed, "synthetic", client=client))[self._which(seed, client)]

    def _classes(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """The first that is drawn for a client: which classes it holds."""
        return rng.choice(self.num_classes, self.classes_per_client, replace=False)

    def _which(self, seed: int, client: int) -> npt.NDArray[np.int64]:
        """For each sample, which of the client's classes it is of."""
        return np.arange(self.size(seed, client)) % self.classes_per_client
