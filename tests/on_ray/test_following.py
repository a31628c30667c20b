"""What is told twice is taken in once; what an observer hears is the same as if all were computed here."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import SMALL
from superfed.deploy.ray.board import Event
from superfed.deploy.ray.following import Following
from superfed.deploy.ray.mirror import Mirror
from superfed.deploy.ray.telling import Telling
from superfed.engine.evaluate import ClientScores
from superfed.engine.executors import OneAtATime
from superfed.engine.local import CPU
from superfed.experiments.assemble import Assembler
from superfed.experiments.load import resolve
from superfed.experiments.member import Member
from superfed.experiments.observer import Silent
from superfed.experiments.orders import Order
from superfed.experiments.together import Together
from superfed.store.layout import RunFolder


class Noting(Silent):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def lane_done(self, run: int) -> None:
        self.heard.append(("lane", run))

    def round_done(self, run: int) -> None:
        self.heard.append(("round", run))

    def followed(self, run: int, scores: Sequence[ClientScores]) -> None:
        self.heard.append(("followed", run, len(scores)))

    def evaluating(self, total: int) -> None:
        self.heard.append(("evaluating", total))

    def client_evaluated(self) -> None:
        self.heard.append(("evaluated",))

    def run_done(self, run: int) -> None:
        self.heard.append(("done", run))

    def run_failed(self, run: int, reason: str) -> None:
        self.heard.append(("failed", run, reason))


def orders(folder: Path) -> list[Order]:
    assembler = Assembler(None)
    return [
        Order(RunFolder(folder / str(place)), config, assembler.task(config), str(place))
        for place, config in enumerate(resolve(yaml.safe_load(SMALL))[:2])
    ]


@pytest.fixture
def told(tmp_path: Path) -> list[list[Any]]:
    """What a task tells of two runs, telling by telling, and what it told before."""
    tellings: list[list[Any]] = []
    members = [Member(order) for order in orders(tmp_path / "there")]

    def tell(events: list[Event]) -> bool:
        tellings.append(events)
        return True

    with Telling(tell) as telling:
        telling.places = [0, 1]
        telling.started(["0", "1"], [member.run for member in members])
        Together(members, OneAtATime(CPU), telling).train()
    return tellings


def test_an_observer_hears_what_it_would_here(told: list[list[Any]], tmp_path: Path) -> None:
    here, there = Noting(), Noting()
    members = [Member(order) for order in orders(tmp_path / "here")]
    Together(members, OneAtATime(CPU), here).train()
    mirrors = [Mirror(order) for order in orders(tmp_path / "nowhere")]
    following = Following(mirrors, there, lambda mirror: None)
    for events in told:
        following.hear(events)
    following.all_ended()
    assert sorted(map(repr, here.heard)) == sorted(map(repr, there.heard))
    assert following.ended == {0: None, 1: None}
    for member, mirror in zip(members, mirrors, strict=True):
        assert mirror.run.records == member.run.records
        assert repr(mirror.run.curve) == repr(member.run.curve)
        assert (mirror.run.round, mirror.run.finished, mirror.has_results) == (3, True, True)


def test_a_task_that_went_back_to_a_checkpoint(told: list[list[Any]], tmp_path: Path) -> None:
    once, twice = Noting(), Noting()
    events = [event for some in told for event in some]
    middle = next(place for place, event in enumerate(events) if event[0] == "round" and event[2].round == 1)
    for noting, heard in ((once, events), (twice, events[: middle + 1] + events)):
        mirrors = [Mirror(order) for order in orders(tmp_path / "nowhere")]
        following = Following(mirrors, noting, lambda mirror: None)
        following.hear(heard)
        following.all_ended()
    assert [what for what in twice.heard if what[0] != "lane"] == [what for what in once.heard if what[0] != "lane"]


def test_a_mirror_begins_where_the_checkpoint_is(tmp_path: Path) -> None:
    there = orders(tmp_path)
    member = Member(there[0])
    Together([member], OneAtATime(CPU), Silent()).train()
    mirror = Mirror(there[0])
    assert mirror.has_results
    assert mirror.run.records == member.run.records
    assert repr(mirror.run.curve) == repr(member.run.curve)
