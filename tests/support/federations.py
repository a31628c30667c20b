"""A federation inside one process: sites that answer at once, or not at all, over a link that carries records."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from superfed.algorithms import FedAvg
from superfed.core.algorithm import Algorithm
from superfed.data.synthetic import Synthetic
from superfed.deploy.flower.agreement import Agreement, agreed
from superfed.deploy.flower.server.book import Book
from superfed.deploy.flower.server.conduct import Conductor
from superfed.deploy.flower.server.link import Arrival, Node
from superfed.deploy.flower.server.rules import Rules
from superfed.deploy.flower.server.terms import Terms
from superfed.deploy.flower.site.site import Site
from superfed.deploy.flower.wire.letters import Letter
from superfed.engine.simulation import Run
from superfed.engine.task import Schedule, Task
from superfed.experiments.assemble import Assembler
from superfed.experiments.schema import DataConfig, EvaluationConfig, RunConfig
from superfed.models.two_nn import TwoNN
from support.toys import train

RUN = "0123456789abcdef" * 2
SITES = ("anna", "bob", "cleo", "dora", "emil")
Wire = Callable[[Letter], Letter]


def small_config(algorithm: Algorithm | None = None, *, sites: int = 5, **schedule: Any) -> RunConfig:
    settings = {"rounds": 4, "clients_per_round": 3, "local_epochs": 2, "batch_size": 5, "lr": 0.05} | schedule
    return RunConfig(
        algorithm=algorithm or FedAvg(),
        data=DataConfig(dataset=Synthetic(dim=6, num_classes=3), num_clients=sites),
        model=TwoNN(width=8),
        training=Schedule(**settings),
        evaluation=EvaluationConfig(lambdas=3),
        seed=5,
    )


def simulated(config: RunConfig) -> Run:
    """The same run in the simulator."""
    (run,) = train([Assembler(None).task(config)])
    return run


def task_of(config: RunConfig) -> Task:
    return Assembler(None).task(config)


def agreement_of(config: RunConfig, sites: tuple[str, ...] = SITES) -> Agreement:
    task = task_of(config)
    return agreed(RUN, config, sites).about(task.data.num_classes, task.data.input_shape)


@dataclass
class FakeLink:
    """Carries letters to sites in this process. What a site sends may be altered, held back or lost on the way."""

    sites: dict[int, Site]
    wire: Wire = lambda letter: letter
    """What becomes of a letter that travels."""
    altered: Callable[[int, Letter], Letter | None] = lambda node, letter: letter
    """What a node's reply is by the time it arrives; None if it never does."""
    away: set[int] = field(default_factory=set)
    keys: dict[int, str] = field(default_factory=dict)
    since: dict[int, str] = field(default_factory=dict)
    sent: list[tuple[int, Letter]] = field(default_factory=list)
    replies: list[tuple[int, Letter]] = field(default_factory=list)
    _ready: dict[str, Letter] = field(default_factory=dict)
    _count: int = 0

    def nodes(self) -> Mapping[int, Node]:
        return {
            node: Node(self.keys.get(node, ""), self.since.get(node, ""))
            for node in self.sites
            if node not in self.away
        }

    def send(self, letters: Mapping[int, Letter], patience: float) -> dict[int, str]:
        ids = {}
        for node, letter in letters.items():
            self._count += 1
            ids[node] = str(self._count)
            self.sent.append((node, letter))
            if node in self.away:
                continue
            reply = self.altered(node, self.wire(self.sites[node].answer(self.wire(letter))))
            if reply is not None:
                self.replies.append((node, reply))
                self._ready[ids[node]] = reply
        return ids

    def pull(self, ids: Collection[str]) -> list[Arrival]:
        return [Arrival(id, self._ready.pop(id)) for id in list(ids) if id in self._ready]


class Clock:
    """Time that passes only when somebody rests."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Federation:
    """A config, a folder, its sites and a link; may be conducted more than once."""

    config: RunConfig
    folder: Path
    rules: Rules = field(default_factory=Rules)
    names: tuple[str, ...] = SITES
    keys: tuple[str, ...] = ()
    link: FakeLink = field(init=False)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.link = FakeLink({100 + i: Site(name, self.folder / name) for i, name in enumerate(self.names)})

    @property
    def book(self) -> Book:
        return Book(self.folder / "out")

    def conductor(self) -> Conductor:
        terms = Terms(agreed(RUN, self.config, self.names), self.rules, self.keys)
        again = Terms.from_json(terms.to_json())
        return Conductor(self.link, again, self.book, self.clock, self.clock.sleep)

    def conduct(self) -> Run:
        """Conduct it to its end; the server's run."""
        conductor = self.conductor()
        conductor.conduct()
        assert conductor._rounds is not None
        return conductor._rounds.run


@pytest.fixture
def federation(tmp_path: Path) -> Callable[..., Federation]:
    def make(config: RunConfig | None = None, **more: Any) -> Federation:
        return Federation(config or small_config(), tmp_path, **more)

    return make
