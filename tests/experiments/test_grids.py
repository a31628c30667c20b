"""A list where one value belongs is an axis."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.core.errors import SettingError
from superfed.experiments.grid import expand


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [{}]),
        (3, [3]),
        ({"a": 1}, [{"a": 1}]),
        ({"a": None, "b": "x"}, [{"a": None, "b": "x"}]),
        ({"a": [1]}, [{"a": 1}]),
        ({"a": [1, 2]}, [{"a": 1}, {"a": 2}]),
        ({"a": [1, 1]}, [{"a": 1}, {"a": 1}]),
        ({"a": {"b": [1, 2]}}, [{"a": {"b": 1}}, {"a": {"b": 2}}]),
        ({"a": [{"b": [1, 2]}, {"c": 3}]}, [{"a": {"b": 1}}, {"a": {"b": 2}}, {"a": {"c": 3}}]),
        ({"a": [[1, 2], 3]}, [{"a": 1}, {"a": 2}, {"a": 3}]),
        ({"a": ["two_nn", {"name": "two_cnn"}]}, [{"a": "two_nn"}, {"a": {"name": "two_cnn"}}]),
        ([{"a": 1}, {"b": 2}], [{"a": 1}, {"b": 2}]),
        ({"a": "[1, 2]"}, [{"a": "[1, 2]"}]),
    ],
)
def test_what_settings_stand_for(settings: Any, expected: list[Any]) -> None:
    assert expand(settings) == expected


def test_axes_are_crossed_the_last_one_fastest() -> None:
    found = expand({"seed": [0, 1], "x": {"lr": [0.1, 0.2]}, "fixed": 5})
    assert found == [{"seed": s, "x": {"lr": lr}, "fixed": 5} for s in (0, 1) for lr in (0.1, 0.2)]


def test_lists_inside_a_list_of_sections_are_crossed_only_there() -> None:
    found = expand({"seed": [0, 1, 2], "m": [{"mu": [1, 2], "nu": [3, 4]}, {"k": 1}]})
    assert len(found) == 3 * (2 * 2 + 1)
    assert sum("k" in one["m"] for one in found) == 3


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4))
@settings(deadline=None)
def test_the_number_of_runs_is_the_product_of_the_axes(sizes: list[int]) -> None:
    tree: dict[str, Any] = {}
    product = 1
    for index, size in enumerate(sizes):
        tree = {"inner": tree, f"axis{index}": list(range(size))}
        product *= size
    found = expand(tree)
    assert len(found) == product
    assert len({repr(one) for one in found}) == product


@pytest.mark.parametrize(
    ("settings", "path"),
    [({"seed": []}, "seed"), ({"a": {"b": [{"c": []}]}}, "a.b.c"), ({"a": [[]]}, "a"), ([], "config")],
)
def test_an_empty_list_is_a_sentence(settings: Any, path: str) -> None:
    with pytest.raises(SettingError) as caught:
        expand(settings)
    assert str(caught.value) == f"{path}: is an empty list; give at least one value"


def test_the_settings_given_are_left_alone() -> None:
    given_settings = {"a": [1, 2], "b": {"c": [3]}}
    expand(given_settings)[0]["b"]["c"] = 9
    assert given_settings == {"a": [1, 2], "b": {"c": [3]}}
