"""A task with several runs, as on a GPU: they are computed together, stored one by one, and fail alone."""

from pathlib import Path

import pytest
import yaml

from conftest import SMALL, Program
from superfed.deploy.ray.need import Need
from superfed.deploy.ray.parcels import Item
from superfed.deploy.ray.work import Storing, _opened, _train
from superfed.experiments.assemble import Assembler
from superfed.experiments.load import resolve
from superfed.experiments.observer import Silent
from superfed.experiments.orders import Order
from superfed.store.layout import RunFolder
from support.contents import contents


@pytest.fixture
def items(tmp_path: Path) -> list[Item]:
    assembler, names = Assembler(None), ["fedavg-seed0", "superfed-mm-seed0", "fedavg-seed1", "superfed-mm-seed1"]
    orders = [
        Order(RunFolder(tmp_path / "there" / name), config, assembler.task(config), name)
        for name, config in zip(names, resolve({"name": "small", **yaml.safe_load(SMALL)}), strict=True)
    ]
    return [Item.of(place, order) for place, order in enumerate(orders)]


def computed(items: list[Item]) -> tuple[dict[int, str | None], list[str]]:
    """How the runs ended, and the order in which they were stored."""
    stored: list[str] = []
    places = {item: (item.folder, lambda item=item: stored.append(item.title)) for item in items}
    members, ends = _opened(places, Assembler(None))
    saves = [places[item][1] for item in members]
    trained = _train(list(members.values()), Need(), Storing(Silent(), saves), [item.place for item in members])
    return ends | trained, stored


def test_together_they_come_to_what_each_comes_to(items: list[Item], experiment: Path) -> None:
    ends, stored = computed(items)
    assert ends == dict.fromkeys(range(4))
    assert sorted(stored) == sorted(2 * [item.title for item in items]), "after the last round, and with results"
    for item in items:
        assert contents(item.folder) == contents(experiment / item.title)


def test_one_that_cannot_be_opened_fails_alone(items: list[Item], superfed: Program) -> None:
    items[1].settings["model"]["width"] = -3
    ends, stored = computed(items)
    reason = ends.pop(1)
    assert reason is not None
    assert "width" in reason
    assert ends == {0: None, 2: None, 3: None}
    assert items[1].title not in stored
