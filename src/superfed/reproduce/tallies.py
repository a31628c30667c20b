"""How many test samples each client of a run had right: what is tested over clients, in whole numbers.

Runs of one seed have the same clients with the same test samples, unless they were dealt otherwise, so that the numbers of
two runs can be laid side by side client by client.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from superfed.algorithms import SuPerFed
from superfed.experiments.schema import RunConfig
from superfed.metrics.readings import Curves, choose, picked
from superfed.report.readings import HEADLINE
from superfed.reproduce.paper import Plain
from superfed.store.layout import RunFolder
from superfed.store.tables import read_arrays, read_table

Floats = NDArray[np.float64]

READINGS = (HEADLINE, "validated_shared", "oracle")
ARRIVING = "arriving"
"""With the global model as it is: beside the readings, for newcomers whose method has one."""


@dataclass(frozen=True)
class Tally:
    """Of some clients, in a fixed order."""

    samples: Sequence[int]
    hits: Mapping[str, Sequence[int]]
    """By reading; one that is not there is the same as the headline."""

    def percent(self, reading: str) -> Floats:
        """Of the test samples, client by client; NaN for those that have none."""
        samples = np.asarray(self.samples, dtype=np.float64)
        hits = np.asarray(self.hits.get(reading, self.hits[HEADLINE]), dtype=np.float64)
        return np.divide(100 * hits, samples, out=np.full_like(samples, np.nan), where=samples > 0)

    @classmethod
    def from_plain(cls, plain: Plain) -> "Tally":
        return cls(tuple(plain["samples"]), {reading: tuple(hits) for reading, hits in plain["hits"].items()})


@dataclass(frozen=True)
class Tallies:
    """Of one run."""

    members: Tally
    never_sampled: Sequence[int]
    """Places in ``members`` of those that took part in no round."""
    only_before: Sequence[int] = ()
    """Places of those that took part, but only before a method that personalises from some round on did so."""
    newcomers: Tally | None = None
    epochs: int = 0
    """Of the newcomers' training."""

    @classmethod
    def of(cls, run: RunFolder, config: RunConfig) -> "Tallies":
        clients, members = _members(run)
        rounds = read_table(run.rounds)
        last = {client: at for at, cohort in zip(rounds["round"], rounds["cohort"], strict=True) for client in cohort}
        algorithm = config.algorithm
        begun = algorithm.start_round(config.training.rounds) if isinstance(algorithm, SuPerFed) else 0
        met = config.data.newcomers > 0
        return cls(
            members=members,
            never_sampled=tuple(place for place, client in enumerate(clients) if client not in last),
            only_before=tuple(place for place, client in enumerate(clients) if last.get(client, begun) < begun),
            newcomers=_newcomers(run) if met else None,
            epochs=config.evaluation.newcomer_epochs if met else 0,
        )

    @classmethod
    def from_plain(cls, plain: Plain) -> "Tallies":
        newcomers = plain.get("newcomers")
        return cls(
            members=Tally.from_plain(plain["members"]),
            never_sampled=tuple(plain["never_sampled"]),
            only_before=tuple(plain["only_before"]),
            newcomers=None if newcomers is None else Tally.from_plain(newcomers),
            epochs=plain["epochs"],
        )


def _members(run: RunFolder) -> tuple[list[int], Tally]:
    """And whose numbers they are, in this order."""
    told = read_arrays(run.readings, ("client", "reading", "top1"))
    held = read_arrays(run.clients, ("client", "split", "samples"))
    on_test = held["split"] == "test"
    samples_of = dict(zip(held["client"][on_test].tolist(), held["samples"][on_test].tolist(), strict=True))
    clients: list[int] = told["client"][told["reading"] == HEADLINE].tolist()
    samples = np.array([samples_of[client] for client in clients])
    hits = {reading: _hits(told["top1"][told["reading"] == reading], samples) for reading in READINGS}
    return clients, Tally(tuple(samples.tolist()), _unlike(hits))


def _newcomers(run: RunFolder) -> Tally:
    """At the readings of λ after they trained, and as they arrive."""
    told = read_arrays(run.newcomers, ("client", "split", "way", "lam", "samples", "loss", "top1"))

    def values(name: str, split: str, way: str = "adapted") -> Floats:
        """A row for each client, with a column for each λ."""
        these = (told["split"] == split) & (told["way"] == way)
        width = max(len(np.unique(told["lam"][these].astype(np.float64))), 1)
        found: Floats = told[name][these].astype(np.float64).reshape(-1, width)
        return found

    test = values("top1", "test")
    samples = values("samples", "test")[:, 0]
    grid = values("lam", "test")[0].tolist()
    choices = choose(Curves(grid, values("top1", "validation"), values("loss", "validation"), test))
    hits = _unlike({reading: _hits(picked(test, choices[reading]), samples) for reading in READINGS})
    arriving = values("top1", "test", ARRIVING)[:, 0]
    if len(arriving):
        hits[ARRIVING] = _hits(arriving, samples)
    return Tally(tuple(samples.astype(int).tolist()), hits)


def _hits(top1: NDArray[np.generic], samples: NDArray[np.generic]) -> tuple[int, ...]:
    right = np.rint(np.nan_to_num(top1.astype(np.float64)) * samples.astype(np.float64))
    return tuple(right.astype(int).tolist())


def _unlike(hits: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Without what only repeats the headline, as where there is no λ to choose."""
    return {reading: own for reading, own in hits.items() if reading == HEADLINE or own != hits[HEADLINE]}
