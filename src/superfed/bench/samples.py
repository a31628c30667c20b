"""Random samples of a network's shape: what is computed does not depend on what they hold."""

import numpy as np
import torch

from superfed.bench.networks import Network
from superfed.core.random import stream
from superfed.core.samples import Samples

DISTINCT = 16


class RandomClients:
    """So many clients with so many samples each. After 16 the samples come again, which spares memory."""

    def __init__(self, network: Network, num_clients: int, num_samples: int, seed: int = 0) -> None:
        self.num_clients, self.num_classes = num_clients, network.num_classes
        self.input_shape = network.input_shape
        self.fingerprint = f"random {network} {num_clients} {num_samples} {seed}"
        self._held = [self._draw(network, num_samples, seed, client) for client in range(min(num_clients, DISTINCT))]

    @staticmethod
    def _draw(network: Network, num_samples: int, seed: int, client: int) -> Samples:
        rng = stream(seed, "bench", client=client)
        shape = (num_samples, *network.input_shape)
        x = rng.integers(network.num_classes, size=shape) if network.letters else rng.standard_normal(shape, np.float32)
        y = rng.integers(network.num_classes, size=num_samples)
        return Samples(torch.from_numpy(x), torch.from_numpy(y))

    def train_size(self, client: int) -> int:
        return len(self.train(client))

    def train(self, client: int) -> Samples:
        return self._held[client % DISTINCT]

    def validation(self, client: int) -> Samples:
        return self._part(client, 10)

    def test(self, client: int) -> Samples:
        return self._part(client, 5)

    def _part(self, client: int, divisor: int) -> Samples:
        """A tenth or a fifth, as large as those that are cut from real data; which ones takes no time here."""
        held = self.train(client)
        count = len(held) // divisor
        return Samples(held.x[:count], held.y[:count])
