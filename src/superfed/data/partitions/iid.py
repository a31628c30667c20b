"""Every client a fair draw of the whole."""

from dataclasses import dataclass

import numpy as np

from superfed.data.partitions.partition import Labels, Partition, by_owner, enough_for_everyone, even_sizes


@dataclass(frozen=True)
class IID:
    """Shuffled and cut into equal parts, so that clients differ only by chance."""

    def deal(self, labels: Labels, num_clients: int, rng: np.random.Generator) -> Partition:
        enough_for_everyone(len(labels), num_clients)
        owners = np.repeat(np.arange(num_clients), even_sizes(len(labels), num_clients))
        return by_owner(rng.permutation(len(labels)), owners, num_clients)
