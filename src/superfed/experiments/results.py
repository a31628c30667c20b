"""Final scores of all clients as tables, and as the few numbers that are compared."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superfed.engine.evaluate import ClientScores
from superfed.engine.simulation import RoundRecord
from superfed.metrics.readings import READINGS, Curves, choose, picked
from superfed.metrics.scores import BINS, HIGHER_IS_BETTER, METRICS
from superfed.metrics.silence import silent
from superfed.metrics.summary import summarise

Floats = NDArray[np.float64]
HEADLINE = "validated"
OWN = "own"


class Results:
    """What a run's final evaluation of ``clients`` says; ``scores`` has an entry for each, in order."""

    def __init__(self, clients: Sequence[int], scores: Sequence[ClientScores]) -> None:
        self.lambdas = scores[0].lambdas
        self.clients = list(clients)
        self.num_clients = len(scores)
        self._place = {client: place for place, client in enumerate(clients)}
        self._sizes = {"validation": [s.num_validation for s in scores], "test": [s.num_test for s in scores]}
        self._values: dict[str, dict[str, Floats]] = {
            split: {name: np.array([getattr(s, split)[name] for s in scores]) for name in METRICS}
            for split in ("validation", "test")
        }
        self._bins: Floats = np.array([s.test[BINS] for s in scores])
        self.choices: Mapping[str, NDArray[np.int64]] = choose(
            Curves(
                self.lambdas,
                self._values["validation"]["top1"],
                self._values["validation"]["loss"],
                self._values["test"]["top1"],
            )
        )

        self._own_lambdas = [s.own_lambda for s in scores if s.own_lambda is not None]
        """The λ that the method itself chose, for all clients or for none."""
        own = [s.own for s in scores if s.own is not None]
        self._own: dict[str, Floats] = {name: np.array([o[name][0] for o in own]) for name in METRICS} if own else {}

    def chosen_lambda(self, client: int, reading: str = HEADLINE) -> float:
        return self.lambdas[int(self.choices[reading][self._place[client]])]

    def accuracy(self, client: int, reading: str = HEADLINE) -> float:
        """Test accuracy at the client's chosen λ; NaN if it has no test samples."""
        return float(self._picked("top1", reading)[self._place[client]])

    def clients_table(self) -> dict[str, list[Any]]:
        """A row per client, λ and split."""
        count = len(self.lambdas)
        columns: dict[str, list[Any]] = {name: [] for name in ("client", "split", "lam", "samples", *METRICS)}
        for split, values in self._values.items():
            columns["client"] += np.repeat(self.clients, count).tolist()
            columns["split"] += [split] * (count * self.num_clients)
            columns["lam"] += _known(list(self.lambdas) * self.num_clients)
            columns["samples"] += np.repeat(self._sizes[split], count).tolist()
            for name in METRICS:
                columns[name] += _known(values[name].ravel().tolist())
        return columns

    def readings_table(self) -> dict[str, list[Any]]:
        """A row per client and reading: the λ it chose, and its test metrics there."""
        columns: dict[str, list[Any]] = {name: [] for name in ("client", "reading", "lam", *METRICS)}
        for reading in READINGS:
            columns["client"] += self.clients
            columns["reading"] += [reading] * self.num_clients
            columns["lam"] += _known([self.chosen_lambda(client, reading) for client in self.clients])
            for name in METRICS:
                columns[name] += _known(self._picked(name, reading).tolist())
        if self._own:
            columns["client"] += self.clients
            columns["reading"] += [OWN] * self.num_clients
            columns["lam"] += self._own_lambdas
            for name in METRICS:
                columns[name] += _known(self._own[name].tolist())
        return columns

    def bins_table(self) -> dict[str, list[Any]]:
        """A row per bin of confidence that holds test samples: each client's at its headline λ, and at every λ those of all
        clients together, who are no client in particular."""
        own = picked(self._bins, self.choices[HEADLINE])
        chosen = [self.chosen_lambda(client) for client in self.clients]
        people = [*self.clients, *[None] * len(self.lambdas)]
        lambdas = _known([*chosen, *self.lambdas])
        columns: dict[str, list[Any]] = {name: [] for name in ("client", "lam", "bin", "samples", "confidence", "top1")}
        for client, lam, bins in zip(people, lambdas, np.concatenate([own, self._bins.sum(axis=0)]), strict=True):
            held = np.flatnonzero(bins[:, 0])
            samples, confidence, hits = bins[held].T
            columns["client"] += [client] * len(held)
            columns["lam"] += [lam] * len(held)
            columns["bin"] += held.tolist()
            columns["samples"] += samples.astype(int).tolist()
            columns["confidence"] += (confidence / samples).tolist()
            columns["top1"] += (hits / samples).tolist()
        return columns

    def readings(self) -> dict[str, Any]:
        """Every reading over clients; ``own`` only where the method chooses a λ itself."""
        told: dict[str, Any] = {reading: self._reading(reading) for reading in READINGS}
        if self._own:
            told[OWN] = {"lam": None} | {name: _told(name, self._own[name]) for name in METRICS}
        return told

    def overall(self) -> dict[str, Any]:
        """Every metric over clients, for scores of a single model."""
        return {name: _told(name, self._values["test"][name][:, 0]) for name in METRICS}

    def summary(self, records: Sequence[RoundRecord]) -> dict[str, Any]:
        """The readings over clients, the curve over λ, and what the rounds cost."""
        took_part = {client for record in records for client in record.cohort}
        return {
            "headline": HEADLINE,
            "num_clients": self.num_clients,
            "never_sampled": sum(client not in took_part for client in self.clients),
            "without_test_samples": int(sum(n == 0 for n in self._sizes["test"])),
            "without_validation_samples": int(sum(n == 0 for n in self._sizes["validation"])),
            "diverged_updates": sum(len(record.diverged) for record in records),
            "silent_clients": self._silent(),
            "bytes_down": sum(record.bytes_down for record in records),
            "bytes_up": sum(record.bytes_up for record in records),
            "readings": self.readings(),
            "by_lambda": [
                {"lam": _none_if_nan(lam)} | {name: _told(name, self._values["test"][name][:, i]) for name in METRICS}
                for i, lam in enumerate(self.lambdas)
            ],
        }

    def _reading(self, reading: str) -> dict[str, Any]:
        chosen = {self.chosen_lambda(client, reading) for client in self.clients}
        shared = reading not in ("validated", "oracle")
        return {"lam": _none_if_nan(chosen.pop()) if shared else None} | {
            name: _told(name, self._picked(name, reading)) for name in METRICS
        }

    def _silent(self) -> int:
        """How many clients have a network that answers nothing, at their headline λ."""
        samples, confidence, _ = picked(self._bins, self.choices[HEADLINE]).sum(axis=1).T
        mean = np.divide(confidence, samples, out=np.full_like(samples, np.nan), where=samples > 0)
        return int(silent(mean, self._picked("loss", HEADLINE), self._picked("top1", HEADLINE)).sum())

    def _picked(self, metric: str, reading: str) -> Floats:
        return picked(self._values["test"][metric], self.choices[reading])


def _told(metric: str, values: Floats) -> dict[str, float | None]:
    """A metric over clients, in numbers that JSON knows."""
    told = summarise(values, higher_is_better=metric in HIGHER_IS_BETTER)
    return {name: value if np.isfinite(value) else None for name, value in told.items()}


def _none_if_nan(value: float) -> float | None:
    return None if np.isnan(value) else value


def _known(values: list[float]) -> list[float | None]:
    """Missing, rather than not-a-number, in a table."""
    return [_none_if_nan(value) for value in values]
