"""States: named tensors, counted, stacked and taken apart."""

import pytest
import torch

from superfed.core.state import are_finite, is_finite, moved, num_bytes, row, stacked


def test_bytes_are_counted_by_type() -> None:
    assert num_bytes({}) == 0
    assert num_bytes({"a": torch.zeros(3), "b": torch.zeros(2, 2, dtype=torch.float64), "c": torch.tensor(1)}) == 52


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_one_bad_number_is_enough(bad: float) -> None:
    good = {"w": torch.zeros(3), "count": torch.tensor([1, 2])}
    assert is_finite(good)
    assert is_finite()
    assert is_finite(good, {})
    spoilt = {"w": torch.zeros(3), "v": torch.tensor([0.0, bad])}
    assert not is_finite(good, spoilt)
    assert are_finite([(good,), (good, spoilt), (), (spoilt, good), ({}, good)]) == [True, False, True, False, True]
    assert are_finite([]) == []


def test_stacking_and_taking_a_row_are_inverse() -> None:
    states = [{"w": torch.tensor([1.0, 2.0]) * i, "n": torch.tensor(i)} for i in range(3)]
    together = stacked(states)
    assert together["w"].shape == (3, 2)
    assert together["n"].tolist() == [0, 1, 2]
    for index, state in enumerate(states):
        taken = row(together, index)
        assert taken.keys() == state.keys()
        assert all(torch.equal(taken[name], state[name]) for name in state)
    assert stacked([]) == {}
    assert stacked([{}, {}]) == {}


def test_a_row_is_a_copy() -> None:
    together = {"w": torch.zeros(2, 3)}
    row(together, 0)["w"].fill_(1)
    assert together["w"].sum() == 0


def test_moving_keeps_names_and_leaves_the_original() -> None:
    state = {"w": torch.zeros(2)}
    gone = moved(state, torch.device("meta"))
    assert gone["w"].device.type == "meta"
    assert state["w"].device.type == "cpu"
    assert gone.keys() == state.keys()
