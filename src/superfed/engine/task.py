"""One run, fully decided: method, model, data, schedule and seed."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import sha256
from typing import get_args

import torch

from superfed.core.aggregation import Aggregation, Mean
from superfed.core.algorithm import Algorithm, Cohort, FirstModel
from superfed.core.batch import LastBatch
from superfed.core.errors import SettingError, require
from superfed.core.privacy import Privacy
from superfed.core.random import NOBODY, key, stream
from superfed.core.samples import FederatedData
from superfed.core.state import State
from superfed.core.vector import VectorModel
from superfed.engine.precision import Precision
from superfed.metrics.privacy_spent import check_accountant

TINY = 3
"""Batches of so many samples or fewer say little about the mean and the variance of their channels."""


@dataclass(frozen=True)
class Schedule:
    """Algorithm 2's constants and the clients' optimiser."""

    rounds: int
    """How many times the server sends its model out."""
    clients_per_round: int | float = 5
    """A number of clients, or with a decimal point a fraction of them (1.0 is everybody)."""
    local_epochs: int = 10
    """Passes over a client's training samples in a round."""
    batch_size: int = 10
    """Samples in a mini-batch; the last of an epoch may have fewer."""
    last_batch: LastBatch = field(default="keep", repr=False)
    """Whether the samples left over make a small last batch, are left out, or all batches are made about even."""
    lr: float = 0.01
    """The rate of the first round."""
    lr_decay: float = 0.99
    """The rate is multiplied by this after every round."""
    momentum: float = 0.9
    """Of the clients' SGD; it starts anew in every round."""
    weight_decay: float = 1e-4
    """Of the clients' SGD, on all parameters."""
    tuning_epochs: int = field(default=0, repr=False)
    """Passes that each client makes for itself alone after the last round, by the method's own rule and at the first round's
    rate, before its models are evaluated and used."""

    def __post_init__(self) -> None:
        for name in ("rounds", "local_epochs", "batch_size"):
            require(getattr(self, name) >= 1, name, f"must be 1 or more, not {getattr(self, name)}")
        choices = get_args(LastBatch)
        require(
            self.last_batch in choices, "last_batch", f"must be one of {', '.join(choices)}, not {self.last_batch!r}"
        )
        share = self.clients_per_round
        require(share > 0, "clients_per_round", f"must be more than 0, not {share}")
        require(
            isinstance(share, int) or share <= 1,
            "clients_per_round",
            f"{share} is no fraction of the clients; give one up to 1.0, or a whole number of clients",
        )
        require(self.lr > 0, "lr", f"must be more than 0, not {self.lr}")
        require(0 < self.lr_decay <= 1, "lr_decay", f"must be more than 0 and at most 1, not {self.lr_decay}")
        require(0 <= self.momentum < 1, "momentum", f"must be at least 0 and less than 1, not {self.momentum}")
        for name in ("weight_decay", "tuning_epochs"):
            require(getattr(self, name) >= 0, name, f"must be 0 or more, not {getattr(self, name)}")

    def cohort_size(self, num_clients: int) -> int:
        if isinstance(self.clients_per_round, int):
            return self.clients_per_round
        return max(int(round(self.clients_per_round * num_clients, 9)), 1)

    def rate(self, round: int) -> float:
        return self.lr * self.lr_decay**round


@dataclass(frozen=True)
class Task:
    """What a run computes. Nothing here changes while it runs."""

    algorithm: Algorithm
    model: VectorModel
    data: FederatedData
    schedule: Schedule
    seed: int = 0
    newcomers: float = 0.0
    """The share of clients that never train, and are met after the last round."""
    precision: Precision = "float32"
    """Of products on a GPU."""
    aggregation: Aggregation = field(default_factory=Mean)
    privacy: Privacy | None = None
    """What is done to what leaves a client; nothing, if None."""

    def __post_init__(self) -> None:
        require(0 <= self.seed < 2**63, "seed", f"must be at least 0 and less than 2^63, not {self.seed}")
        require(0 <= self.newcomers < 1, "newcomers", f"must be at least 0 and less than 1, not {self.newcomers}")
        cohort, there = self.cohort_size, self.num_members
        if cohort > there:
            raise SettingError("clients_per_round", f"{cohort} clients a round are more than the {there} there are")

    @property
    def identity(self) -> str:
        """What tells this run from any other: a checkpoint of one is of no use to another. What comes after the last round
        is no part of it."""
        shape = (self.model.size, str(self.model.dtype), self.data.fingerprint, self.seed, self.newcomers)
        usual = ("float32", Mean(), None, "keep")
        ours = (self.precision, self.aggregation, self.privacy, self.schedule.last_batch)
        unusual = [value for value, plain in zip(ours, usual, strict=True) if value != plain]
        return sha256(repr((self.algorithm, self.schedule, shape, *unusual)).encode()).hexdigest()

    @property
    def final_epochs(self) -> int:
        """How long a client trains for itself alone before its models are used: as its method says, then as it is told."""
        return self.algorithm.adapt_epochs + self.schedule.tuning_epochs

    def check(self) -> None:
        """Refuse, before anything trains, what could only fail later."""
        self.algorithm.check(self.schedule.rounds)
        if self.privacy is not None:
            check_accountant()
        sample = self.data.train(0).x[:2]
        self.model.check_forward(as_inputs(sample, self.model), self.data.num_classes)
        self._warn_of_tiny_batches()

    def _warn_of_tiny_batches(self) -> None:
        """One batch of two samples, each normalised by the other, can undo what the rest of a round has learnt."""
        batch_size = self.schedule.batch_size
        if self.schedule.last_batch != "keep" or batch_size <= TINY or not self.model.normalises_batches:
            return
        sizes = [self.data.train_size(client) for client in self.members]
        tiny = sum(size > batch_size and 0 < size % batch_size <= TINY for size in sizes)
        if tiny:
            warnings.warn(
                f"{tiny} of {len(sizes)} clients end every epoch with a batch of {TINY} samples or fewer, from which a "
                "network with batch normalisation learns little and may forget much; last_batch=even makes all "
                "batches about the same size, and last_batch=drop leaves such a batch out",
                stacklevel=2,
            )

    @cached_property
    def newcomer_clients(self) -> list[int]:
        """Who is kept from training, drawn once; in ascending order."""
        count = round(self.newcomers * self.data.num_clients)
        if count == 0:
            return []
        chosen = stream(self.seed, "newcomers").choice(self.data.num_clients, count, replace=False)
        return sorted(chosen.tolist())

    @cached_property
    def members(self) -> Sequence[int]:
        """Who may be sampled: everybody but newcomers."""
        everybody = range(self.data.num_clients)
        if not self.newcomer_clients:
            return everybody
        apart = set(self.newcomer_clients)
        return [client for client in everybody if client not in apart]

    @property
    def num_members(self) -> int:
        return self.data.num_clients - len(self.newcomer_clients)

    @property
    def cohort_size(self) -> int:
        return self.schedule.cohort_size(self.num_members)

    def some_members(self, purpose: str, count: int, round: int = NOBODY) -> list[int]:
        """``count`` members, or all if there are fewer, drawn for a purpose; in ascending order."""
        rng = stream(self.seed, purpose, round=round)
        places = rng.choice(self.num_members, min(count, self.num_members), replace=False)
        return sorted(self.members[place] for place in places.tolist())

    def cohort(self, round: int) -> list[int]:
        """The clients sampled in a round, in ascending order: uniform, without replacement."""
        return self.some_members("cohort", self.cohort_size, round)

    def sgd_values(self, round: int) -> dict[str, float]:
        """The clients' optimiser in this round."""
        schedule = self.schedule
        return {"lr": schedule.rate(round), "momentum": schedule.momentum, "weight_decay": schedule.weight_decay}

    def round_values(self, round: int) -> Mapping[str, float]:
        draw = float(stream(self.seed, "coin", round=round).random())
        return self.algorithm.round_values(round, self.schedule.rounds, draw)

    def aggregate(self, server: State, uploads: State, clients: Sequence[int]) -> State:
        """The next server state, from the uploads of ``clients``, stacked in that order."""
        samples = torch.tensor([self.data.train_size(client) for client in clients])
        cohort = Cohort(samples, self.num_members, lambda: self.total_samples, self.aggregation.center)
        return self.algorithm.aggregate(server, uploads, cohort)

    def leaving(self, upload: State, sent: State, client: int, round: int) -> State:
        """What leaves the client, in a simulation, where noise is drawn by key like everything else."""
        if self.privacy is None:
            return upload
        rng = stream(self.seed, "privacy", round=round, client=client)
        return self.privacy.leaving(upload, sent, self.algorithm.sends_changes, rng)

    @cached_property
    def total_samples(self) -> int:
        """The training samples of all members. It takes a walk over all of them, once."""
        return sum(self.data.train_size(client) for client in self.members)

    @cached_property
    def first_model(self) -> torch.Tensor:
        """The server's first model: the weights of a given network, or a random initialisation."""
        start = self.model.start
        return self.model.fresh(key(self.seed, "init")) if start is None else start

    def init_server(self) -> State:
        return self.algorithm.init_server(self.first_model.clone(), self.model)

    def init_client(self, client: int) -> State:
        """What a client holds before its first round."""
        own = partial(self.model.fresh, key(self.seed, "init", client=client))
        return self.algorithm.init_client(FirstModel(self.first_model.clone, own), self.model)


def as_inputs(x: torch.Tensor, model: VectorModel) -> torch.Tensor:
    """Inputs in the model's precision; integers, which are symbols, stay integers."""
    return x.to(model.dtype) if x.is_floating_point() else x
