"""Names of runs: readable, and no two alike."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.experiments.labels import flatten, run_names, varying_settings
from superfed.experiments.load import apply_overrides, load_config, resolve
from superfed.experiments.shipped import shipped

BASE: dict[str, Any] = {
    "algorithm": "fedavg",
    "data": {"dataset": "digits", "num_clients": 20, "partition": "pathological"},
    "model": "two_nn",
    "training": {"rounds": 10},
}


def named(*overrides: str) -> list[str]:
    return run_names(resolve(apply_overrides(BASE, list(overrides))))


@pytest.mark.parametrize(
    ("overrides", "names"),
    [
        ([], ["fedavg-seed0"]),
        (["seed=[0, 12]"], ["fedavg-seed0", "fedavg-seed12"]),
        (
            ["algorithm=[fedavg, {name: superfed}, {name: superfed, mixing: layer}]"],
            ["fedavg-seed0", "superfed-mm-seed0", "superfed-lm-seed0"],
        ),
        # what differs between methods is in their names already; what differs within one is told
        (
            ["algorithm=[fedavg, {name: fedprox, mu: [0.01, 0.1]}]"],
            ["fedavg-seed0", "fedprox-mu0.01-seed0", "fedprox-mu0.1-seed0"],
        ),
        (
            ["algorithm=[{name: superfed, nu: 1}, {name: superfed, mixing: layer, nu: 2}]"],
            ["superfed-mm-seed0", "superfed-lm-seed0"],
        ),
        (
            ["training.lr=[0.1, 1e-5]", "seed=[0, 1]"],
            ["fedavg-lr0.1-seed0", "fedavg-lr1e-05-seed0", "fedavg-lr0.1-seed1", "fedavg-lr1e-05-seed1"],
        ),
        (
            ["training.clients_per_round=[5, 0.5]"],
            ["fedavg-clients-per-round5-seed0", "fedavg-clients-per-round0.5-seed0"],
        ),
        (["model=[two_nn, two_cnn]"], ["fedavg-two-nn-seed0", "fedavg-two-cnn-seed0"]),
        (
            ["model=[{name: two_nn, width: [5, 6]}, two_cnn]"],
            ["fedavg-two-nn-width5-seed0", "fedavg-two-nn-width6-seed0", "fedavg-two-cnn-width512-seed0"],
        ),
        (
            ["data.partition=[iid, {name: dirichlet, alpha: 1}]"],
            ["fedavg-iid-seed0", "fedavg-dirichlet-seed0"],
        ),
        (
            ["data.label_noise=[null, {kind: pair, rate: [0.1, 0.3]}]"],
            ["fedavg-seed0", "fedavg-kindpair-rate0.1-seed0", "fedavg-kindpair-rate0.3-seed0"],
        ),
        (["data.label_noise=[null, {kind: pair, rate: 0.1}]"], ["fedavg-seed0", "fedavg-kindpair-rate0.1-seed0"]),
        (["data.seed=[3, 4]"], ["fedavg-data-seed3-seed0", "fedavg-data-seed4-seed0"]),
        (["seed=[0, 0, 0]"], ["fedavg-seed0", "fedavg-seed0-2", "fedavg-seed0-3"]),
    ],
)
def test_a_run_is_named_by_its_method_what_varies_and_its_seed(overrides: list[str], names: list[str]) -> None:
    found = named(*overrides)
    assert sorted(found) == sorted(names)


def test_names_are_in_the_order_of_the_configs() -> None:
    configs = resolve(apply_overrides(BASE, ["seed=[2, 0, 1]", "training.lr=[0.2, 0.1]"]))
    expected = [f"fedavg-lr{config.training.lr}-seed{config.seed}" for config in configs]
    assert run_names(configs) == expected


@pytest.mark.parametrize("name", shipped())
def test_shipped_runs_have_names_that_can_be_folders(name: str) -> None:
    names = run_names(resolve(load_config(name)))
    assert len(set(names)) == len(names)
    for one in names:
        assert set(one) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")
        assert len(one) < 100


@given(
    seeds=st.lists(st.integers(0, 3), min_size=1, max_size=5),
    rates=st.lists(st.sampled_from([0.1, 0.2, 0.5]), max_size=3),
)
@settings(deadline=None, max_examples=30)
def test_no_two_names_are_alike(seeds: list[int], rates: list[float]) -> None:
    names = named(f"seed={seeds}", f"training.lr={rates or 0.1}")
    assert len(set(names)) == len(names) == len(seeds) * max(len(rates), 1)


def test_settings_are_flattened_by_dots() -> None:
    assert flatten({"a": 1, "b": {"c": {"d": 2}, "e": None}}) == {"a": 1, "b.c.d": 2, "b.e": None}


def test_a_setting_that_only_some_have_varies_only_among_them() -> None:
    some = [{"m": {"x": 1}, "s": 0}, {"m": {"x": 1, "y": 5}, "s": 0}, {"m": {"x": 2, "y": 5}, "s": 0}]
    assert varying_settings(some) == ["m.x"]
    assert varying_settings([{"m": None}, {"m": {"y": 5}}]) == ["m.y"]
    assert varying_settings(some[:1]) == varying_settings([]) == []
