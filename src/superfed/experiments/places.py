"""Where runs are computed: in this process and its workers, or elsewhere."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol

from superfed.engine.executors import Executor, check_engine, make_executor
from superfed.experiments.assemble import named
from superfed.experiments.logged import Logged
from superfed.experiments.member import Member, unfinished
from superfed.experiments.observer import Observer
from superfed.experiments.orders import Order
from superfed.experiments.schema import EngineConfig
from superfed.experiments.together import Together
from superfed.experiments.tracked import tracked

MakeExecutor = Callable[[Sequence[Member], Observer], Executor]


@dataclass(frozen=True)
class Outcome:
    """Why runs failed, by their titles; and the first failure itself."""

    failed: Mapping[str, str] = field(default_factory=dict)
    error: Exception | None = None


class Place(Protocol):
    options: str
    """What is to be added to a command for it to compute here too."""
    in_place: bool
    """Whether runs are computed in the folders where they belong; else only what is left of each is brought there."""

    def check(self, engine: EngineConfig) -> None:
        """Refuse, before anything is begun, what could not be computed here."""
        ...

    def train(self, orders: Sequence[Order], observer: Observer) -> Outcome:
        """Take every run to its end; those that fail do so alone."""
        ...


def local_executor(members: Sequence[Member], observer: Observer) -> Executor:
    """This machine's, as the runs' settings have it."""
    engine, tasks = members[0].config.engine, [member.run.task for member in members]
    with named("engine"):
        return make_executor(
            tasks,
            engine.device,
            engine.workers,
            compile=engine.compile,
            memory=engine.memory,
            tell=observer.compiling,
        )


class Here:
    """This process computes."""

    options = ""
    in_place = True

    def check(self, engine: EngineConfig) -> None:
        with named("engine"):
            check_engine(engine.device, engine.workers, engine.precision)

    def train(self, orders: Sequence[Order], observer: Observer) -> Outcome:
        return train_here(orders, observer, local_executor)


def train_here(orders: Sequence[Order], observer: Observer, executor_for: MakeExecutor) -> Outcome:
    """All of them together on one executor; those that have results are left as they are."""
    members = [Member(order) for order in unfinished(orders)]
    if not members:
        return Outcome()
    with tracked(members, Logged(members, observer)) as told:
        told.started([member.title for member in members], [member.run for member in members])
        with closing(executor_for(members, told)) as executor:
            together = Together(members, executor, told)
            together.train()
    return Outcome(together.failed, together.error)
