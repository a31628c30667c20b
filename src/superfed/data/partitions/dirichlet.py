"""Each class spread over the clients by a Dirichlet draw."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from superfed.core.errors import require
from superfed.data.checks import finite, whole
from superfed.data.partitions.partition import IntArray, Labels, Partition, by_owner, enough_for_everyone


@dataclass(frozen=True)
class Dirichlet:
    """Each class spread over the clients by Dir(alpha): a small alpha gives a client few classes, a large one all.

    A client that already holds its N/K samples gets none of the next class. Whoever ends with fewer than
    ``min_samples`` (or than N/K, where that is less) is topped up from those who hold most, so nobody is dropped and
    nothing is redrawn.
    """

    alpha: float
    """Small: few classes a client; large: all of them."""
    min_samples: int = 2
    """Who ends with fewer is topped up."""

    def __post_init__(self) -> None:
        alpha = finite("alpha", self.alpha)
        require(alpha > 0, "alpha", f"must be above 0, got {alpha}")
        whole("min_samples", self.min_samples, least=1)

    def deal(self, labels: Labels, num_clients: int, rng: np.random.Generator) -> Partition:
        enough_for_everyone(len(labels), num_clients)
        samples = rng.permutation(len(labels))
        owners = np.empty(len(labels), dtype=np.int64)
        held = np.zeros(num_clients, dtype=np.int64)
        for members in _by_class(labels[samples]):
            # Somebody is always open: were all full, no sample would be left to deal.
            open_clients = np.flatnonzero(held * num_clients < len(labels))
            shares = _shares(self._draw(num_clients, open_clients, rng), len(members), rng.random())
            owners[members] = np.repeat(open_clients, shares)
            held[open_clients] += shares
        _top_up(owners, held, min(self.min_samples, len(labels) // num_clients))
        return by_owner(samples, owners, num_clients)

    def _draw(self, num_clients: int, open_clients: IntArray, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Dir(alpha) over all clients, kept to the open ones, up to a common factor.

        Gamma(alpha) is Gamma(alpha + 1) · U^(1/alpha). In logarithms, and against the largest, a tiny alpha leaves one
        client with everything, where the plain draw would underflow to zeros.
        """
        gamma = np.maximum(rng.standard_gamma(self.alpha + 1, num_clients), np.finfo(np.float64).tiny)
        log_gamma = np.log(gamma)[open_clients]
        minus_log_uniform = rng.standard_exponential(num_clients)[open_clients]
        with np.errstate(over="ignore"):
            logs = log_gamma - (minus_log_uniform - minus_log_uniform.min()) / self.alpha
        weights: npt.NDArray[np.float64] = np.exp(logs - logs.max())
        return weights


def _by_class(labels: Labels) -> list[IntArray]:
    """The positions of each class's samples, class after class."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order])) + 1
    return np.split(order, starts)


def _shares(weights: npt.NDArray[np.float64], total: int, shift: float) -> IntArray:
    """``total`` cut at the cumulative weights, ``shift`` from [0, 1) deciding which way fractions are rounded.

    Were they always rounded down, the first clients would lose a fraction of a sample in every class. The last cut is
    ``total`` exactly, so no weight of zero gets rounding's rest.
    """
    cuts = np.cumsum(weights)
    bounds = np.floor(cuts / cuts[-1] * total + shift).astype(np.int64)
    bounds[cuts == cuts[-1]] = total
    shares: IntArray = np.diff(bounds, prepend=0)
    return shares


def _top_up(owners: IntArray, held: IntArray, least: int) -> None:
    """Raise everyone to ``least`` in place, as if taking one sample at a time from whoever holds most."""
    wanted = np.maximum(least - held, 0)
    missing = int(wanted.sum())
    if missing == 0:
        return
    low, high = least, int(held.max())
    while low < high:
        level = (low + high) // 2
        if np.maximum(held - level, 0).sum() <= missing:
            high = level
        else:
            low = level + 1
    given = np.maximum(held - low, 0)
    still_missing = missing - int(given.sum())
    given[np.flatnonzero(held >= low)[:still_missing]] += 1

    # Samples are in random order, so a giver's first ones are a fair draw of what it holds.
    order = np.argsort(owners, kind="stable")
    rank = np.arange(len(owners)) - np.repeat(np.cumsum(held) - held, held)
    moved = order[rank < np.repeat(given, held)]
    owners[moved] = np.repeat(np.arange(len(held)), wanted)
