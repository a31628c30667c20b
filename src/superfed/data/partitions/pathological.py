"""A few classes a client: McMahan et al., AISTATS'17."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from superfed.core.errors import require
from superfed.data.checks import one_of, whole
from superfed.data.partitions.partition import (
    IntArray,
    Labels,
    Partition,
    by_owner,
    enough_for_everyone,
    even_sizes,
)

Assignment = Literal["random", "cyclic"]
Cut = Literal["sorted", "by_class"]


@dataclass(frozen=True)
class Pathological:
    """Sorted by label and cut into shards, a few shards a client, so that a client holds few classes.

    ``assignment``: shards dealt at ``random``, or ``cyclic``, shard j to client j mod K, which gives few distinct label
    sets. ``cut``: ``sorted`` makes all shards equal, and one may straddle two classes; ``by_class`` makes each pure.
    """

    shards_per_client: int = 2
    """At most so many classes a client, where shards are pure."""
    assignment: Assignment = "random"
    """Shards dealt at random, or shard j to client j mod K."""
    cut: Cut = "sorted"
    """Shards of equal size, or each of one class."""

    def __post_init__(self) -> None:
        whole("shards_per_client", self.shards_per_client, least=1)
        one_of("assignment", self.assignment, get_args(Assignment))
        one_of("cut", self.cut, get_args(Cut))

    def deal(self, labels: Labels, num_clients: int, rng: np.random.Generator) -> Partition:
        enough_for_everyone(len(labels), num_clients)
        num_shards = self.shards_per_client * num_clients
        require(
            num_shards <= len(labels),
            "shards_per_client",
            f"{self.shards_per_client} shards for each of {num_clients} clients are {num_shards} shards, "
            f"more than the {len(labels)} samples",
        )
        order = rng.permutation(len(labels))
        order = order[np.argsort(labels[order], kind="stable")]

        if self.cut == "sorted":
            shard_sizes = even_sizes(len(labels), num_shards)
        else:
            class_sizes = np.unique(labels, return_counts=True)[1]
            allotted = allot(class_sizes, num_shards)
            shard_sizes = np.concatenate(
                [even_sizes(int(n), int(s)) for n, s in zip(class_sizes, allotted, strict=True)]
            )

        dealt = np.arange(num_shards) % num_clients
        shard_owners = dealt if self.assignment == "cyclic" else rng.permutation(dealt)
        return by_owner(order, np.repeat(shard_owners, shard_sizes), num_clients)


def allot(class_sizes: IntArray, num_shards: int) -> IntArray:
    """``num_shards`` given to the classes in proportion to their sizes, by largest remainder, at least one each."""
    require(
        num_shards >= len(class_sizes),
        "cut",
        f"'by_class' needs at least one shard for each of the {len(class_sizes)} classes, but there are {num_shards} "
        "shards; use more clients, more shards_per_client, or 'sorted'",
    )
    total = class_sizes.sum()
    # In whole numbers, times the number of samples, so that equal remainders tie exactly.
    due = class_sizes * num_shards
    shards: IntArray = np.maximum(due // total, 1)
    while (missing := num_shards - shards.sum()) > 0:
        shards[np.argsort(shards * total - due, kind="stable")[:missing]] += 1
    while shards.sum() > num_shards:
        excess = np.where(shards > 1, shards * total - due, np.iinfo(np.int64).min)
        # Of equals the last gives, as of equals the first was given.
        shards[len(shards) - 1 - np.argmax(excess[::-1])] -= 1
    return shards
