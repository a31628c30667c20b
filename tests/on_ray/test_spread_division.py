"""How lanes are divided over stations, without any."""

from itertools import chain

import numpy as np
import pytest
import torch

from superfed.deploy.ray.cluster import Node
from superfed.deploy.ray.need import Need, room
from superfed.deploy.ray.spread import losses as losses_module
from superfed.deploy.ray.spread.division import SHORT, EvenShares, LongestFirst, Rate, even_shares
from superfed.deploy.ray.spread.errands import Lost
from superfed.deploy.ray.spread.losses import DEATHS, Losses
from superfed.deploy.ray.spread.travel import opened, owned, packed
from superfed.engine.workers import WorkerDied


def everything(division: LongestFirst | EvenShares, hands: int) -> list[list[int]]:
    return list(iter(lambda: division.take(hands), []))


def known(seconds: float) -> Rate:
    rate = Rate()
    rate.tell(1.0, seconds)
    return rate


def test_lanes_go_one_by_one_and_the_longest_first_as_long_as_nobody_knows_how_long_they_take() -> None:
    assert everything(LongestFirst([3.0, 9.0, 5.0, 9.0], Rate()), 2) == [[1], [3], [2], [0]]


def test_long_lanes_always_go_one_by_one() -> None:
    assert everything(LongestFirst([1.0, 2.0, 1.5], known(SHORT)), 2) == [[1], [2], [0]]


def test_short_lanes_go_several_at_a_time() -> None:
    bundles = everything(LongestFirst([1.0] * 40, known(SHORT / 10)), 2)
    assert [len(bundle) for bundle in bundles] == [10] * 4
    assert sorted(chain(*bundles)) == list(range(40))


@pytest.mark.parametrize(("hands", "sizes"), [(1, [8, 8, 8]), (2, [6, 6, 6, 6]), (4, [6] * 4), (24, [1] * 24)])
def test_bundles_are_as_even_as_they_are_short(hands: int, sizes: list[int]) -> None:
    bundles = everything(LongestFirst([1.0] * 24, known(SHORT / 10)), hands)
    assert [len(bundle) for bundle in bundles] == sizes


def test_what_was_measured_decides_and_no_time_at_all_is_no_trouble() -> None:
    division = LongestFirst([1.0] * 6, rate := Rate())
    assert division.take(1) == [0]
    division.took([0], 0.0)
    assert division.take(1) == [1, 2, 3, 4, 5]
    assert rate.in_seconds(1.0) == float("inf")


def test_what_is_given_back_takes_its_turn() -> None:
    division = LongestFirst([3.0, 2.0, 1.0], Rate())
    assert division.take(2) == [0]
    division.give_back([0])
    assert everything(division, 2) == [[0], [1], [2]]


def test_shares_are_near_equal_and_hold_everything() -> None:
    costs = [float(cost) for cost in (7, 7, 6, 6, 5, 5, 4, 4, 4)]
    shares = even_shares(range(9), costs, 3)
    assert sorted(chain(*shares)) == list(range(9))
    totals = [sum(costs[place] for place in share) for share in shares]
    assert totals == sorted(totals, reverse=True)
    assert max(totals) - min(totals) <= 4
    assert even_shares([2, 5], costs, 4) == [[2], [5]]


def test_a_lost_share_is_divided_among_those_that_are_left() -> None:
    division = EvenShares([1.0] * 12)
    first = division.take(3)
    assert (len(first), len(division.take(3)), len(division.take(3)), division.take(3)) == (4, 4, 4, [])
    division.give_back(first)
    assert everything(division, 2) == [first[::2], first[1::2]]


def test_room_is_counted_in_cores_or_in_shares_of_single_gpus() -> None:
    machines = [Node("a", "", cpus=3.5, gpus=2), Node("b", "", cpus=8, gpus=0)]
    assert room(machines, Need()) == 11
    assert [room(machines, Need(share)) for share in (1.0, 0.5, 0.4, 1 / 3, 0.1)] == [2, 4, 4, 6, 20]


def test_states_travel() -> None:
    state = {
        "w": torch.arange(12.0).view(3, 4).T,
        "count": torch.tensor(3),
        "none": torch.empty(0),
        "half": torch.arange(8, dtype=torch.float64)[3:],
    }
    arrays = packed(state)
    for back in (opened(arrays), owned(arrays)):
        assert list(back) == list(state)
        for name, tensor in state.items():
            assert torch.equal(back[name], tensor)
            assert back[name].dtype == tensor.dtype
            assert back[name].data_ptr() % 64 == 0
    arrays["count"][()] = 5
    assert owned(arrays)["count"] == 5


def test_what_arrived_askew_or_must_not_be_written_to_is_opened_without_a_word() -> None:
    memory = np.zeros(72, dtype=np.uint8)
    start = -memory.ctypes.data % 64 + 4
    askew = memory[start : start + 4].view(np.float32)
    askew.flags.writeable = False
    assert opened({"w": askew})["w"].data_ptr() % 64 == 0
    assert owned({"w": askew})["w"].add_(1).item() == 1.0


def test_a_lane_that_takes_station_after_station_with_it_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    there = [Node("here", "", 1, 0)]
    monkeypatch.setattr(losses_module, "nodes", lambda: there)
    losses = Losses([(7, 2), (8, 2)])
    for _ in range(DEATHS):
        losses.add([0], Lost("gone", "a machine that is gone too"))
        losses.add([1], Lost("gone", None))
    for _ in range(DEATHS - 1):
        losses.add([0], Lost("gone", "here"))
    with pytest.raises(WorkerDied, match=r"client 7 in round 2 took 3 processes with it.*\(gone\)"):
        losses.add([0], Lost("gone", "here"))
