"""Everybody keeps what is theirs."""

from dataclasses import dataclass

import numpy as np

from superfed.core.errors import SettingError, require
from superfed.data.checks import finite, whole
from superfed.data.partitions.partition import IntArray, Partition, by_owner
from superfed.data.pool import Owners


@dataclass(frozen=True)
class Natural:
    """The people the samples come from are the clients: writers of digits, roles of a play, users of a table.

    As in LEAF, ``fraction`` draws people at random until they hold that share of all samples (the last one whole), and
    then those with fewer than ``min_samples`` are left out. Where a number of clients is wanted, so many of the rest
    are drawn.
    """

    fraction: float = 1.0
    """The share of all samples that the people drawn hold."""
    min_samples: int = 1
    """Who has fewer is left out."""

    def __post_init__(self) -> None:
        fraction = finite("fraction", self.fraction)
        require(0 < fraction <= 1, "fraction", f"must be above 0 and at most 1, got {fraction}")
        whole("min_samples", self.min_samples, least=1)

    def choose(self, owners: Owners, num_clients: int | None, rng: np.random.Generator) -> IntArray:
        """The places of the owners who become clients, ascending."""
        if num_clients is not None:
            whole("num_clients", num_clients, least=1)
        sizes = np.bincount(owners.of, minlength=len(owners.names))
        chosen = np.arange(len(sizes))
        if self.fraction < 1:
            drawn = rng.permutation(len(sizes))
            held_before = np.cumsum(sizes[drawn]) - sizes[drawn]
            chosen = drawn[held_before < self.fraction * len(owners.of)]
        chosen = np.sort(chosen[sizes[chosen] >= self.min_samples])
        wanted = len(chosen) if num_clients is None else num_clients
        if len(chosen) == 0 or wanted > len(chosen):
            bound = f" with at least {self.min_samples} samples" if self.min_samples > 1 else ""
            raise SettingError(
                "num_clients" if len(chosen) else "min_samples",
                f"{wanted or 'some'} clients are wanted, but there are {len(chosen)} people{bound}",
            )
        return chosen if wanted == len(chosen) else np.sort(rng.choice(chosen, wanted, replace=False))

    def deal(self, owners: Owners, chosen: IntArray) -> Partition:
        """Client i holds the samples of ``chosen[i]``, in their order."""
        client_of = np.full(len(owners.names), -1, dtype=np.int64)
        client_of[chosen] = np.arange(len(chosen))
        client = client_of[owners.of]
        samples = np.flatnonzero(client >= 0)
        return by_owner(samples, client[samples], len(chosen))
