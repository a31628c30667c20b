"""Shipped configs can be run, and a resolved config says everything and means what it says."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.experiments.assemble import Assembler
from superfed.experiments.load import load_config, resolve
from superfed.experiments.schema import RunConfig
from superfed.experiments.shipped import shipped
from superfed.store.layout import RunFolder

SELF_CONTAINED = ("digits", "synthetic")


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_config_resolves_and_says_what_it_is(name: str) -> None:
    assert shipped()[name].startswith(f"# superfed run {name}")
    configs = resolve(load_config(name))
    assert configs
    for config in configs:
        assert config.name == name
        assert config.description.endswith(".")


@pytest.mark.parametrize("name", shipped())
def test_the_tasks_of_a_config_that_needs_no_files_can_be_made(name: str) -> None:
    assembler = Assembler(None)
    for config in resolve(load_config(name)):
        if config.as_plain()["data"]["dataset"]["name"] in SELF_CONTAINED:
            task = assembler.task(config)
            assert task.data.num_clients == config.data.num_clients
            assert (task.algorithm, task.schedule, task.seed) == (config.algorithm, config.training, config.seed)


def test_runs_share_data_and_models_where_they_can() -> None:
    assembler = Assembler(None)
    configs = resolve(load_config("demo", ["seed=[0, 1]", "algorithm=[fedavg, fedprox]"]))
    tasks = [assembler.task(config) for config in configs]
    assert len(tasks) == 4
    assert len({id(task.model) for task in tasks}) == 1
    assert len({id(task.data) for task in tasks}) == 2  # one for each seed
    assert len({task.data.fingerprint for task in tasks}) == 2


def test_a_seed_for_the_data_leaves_the_others_draws_alone() -> None:
    assembler = Assembler(None)
    configs = resolve(load_config("demo", ["seed=[0, 1]", "algorithm=fedavg", "data.seed=5"]))
    one, other = (assembler.task(config) for config in configs)
    assert one.data is other.data
    assert one.cohort(0) != other.cohort(0) or one.cohort(1) != other.cohort(1)


@pytest.mark.parametrize("name", shipped())
def test_resolved_settings_resolve_to_themselves(name: str) -> None:
    for config in resolve(load_config(name)):
        plain = config.as_plain()
        assert RunConfig.from_plain(plain) == config
        assert resolve(plain) == [config]
        assert RunConfig.from_plain(plain).as_plain() == plain


@pytest.mark.parametrize("name", shipped())
def test_resolved_settings_survive_the_store(name: str, tmp_path: Path) -> None:
    for index, config in enumerate(resolve(load_config(name))):
        folder = RunFolder(tmp_path / str(index))
        folder.write_config(config.as_plain())
        assert RunConfig.from_plain(folder.config()) == config


FLOATS = st.floats(1e-12, 0.99)


@given(
    lr=FLOATS, share=st.one_of(st.integers(1, 20), FLOATS), begin=st.one_of(st.integers(0, 9), FLOATS), data=st.data()
)
@settings(deadline=None, max_examples=30)
def test_any_numbers_survive_the_store(
    lr: float, share: float, begin: float, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    given_settings: dict[str, Any] = {
        "description": data.draw(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)),
        "algorithm": {"name": "superfed", "start": begin, "mu": lr},
        "data": {"dataset": "digits", "num_clients": 20, "partition": {"name": "dirichlet", "alpha": lr}},
        "model": "two_nn",
        "training": {"rounds": 10, "lr": lr, "clients_per_round": share},
    }
    (config,) = resolve(given_settings)
    folder = RunFolder(tmp_path_factory.mktemp("run"))
    folder.write_config(config.as_plain())
    assert RunConfig.from_plain(folder.config()) == config


def assert_complete(value: Any, plain: Any) -> None:
    """Every field of every dataclass has its place in the plain settings."""
    if dataclasses.is_dataclass(value):
        names = {f.name for f in dataclasses.fields(value)}
        assert names <= set(plain) <= names | {"name"}
        for name in names:
            assert_complete(getattr(value, name), plain[name])
    elif isinstance(value, tuple):  # any number of something, by name
        assert len(plain) == len(value)
    else:
        assert plain == value


@pytest.mark.parametrize("name", shipped())
def test_resolved_settings_have_every_default_filled_in(name: str) -> None:
    for config in resolve(load_config(name)):
        assert_complete(config, config.as_plain())


def test_a_short_config_resolved() -> None:
    short = {
        "algorithm": "superfed",
        "data": {"dataset": "digits", "num_clients": 20, "partition": "pathological"},
        "model": "two_nn",
        "training": {"rounds": 10},
    }
    (config,) = resolve(short)
    plain = config.as_plain()
    assert list(plain)[:3] == ["name", "description", "seed"]
    assert plain["algorithm"] == {"name": "superfed", "mu": 0.01, "nu": 1.0, "mixing": "model", "start": 0.4}
    assert plain["training"] == {
        "rounds": 10,
        "clients_per_round": 5,
        "local_epochs": 10,
        "batch_size": 10,
        "last_batch": "keep",
        "lr": 0.01,
        "lr_decay": 0.99,
        "momentum": 0.9,
        "weight_decay": 1e-4,
        "tuning_epochs": 0,
    }
    assert plain["data"]["partition"] == {
        "name": "pathological",
        "shards_per_client": 2,
        "assignment": "random",
        "cut": "sorted",
    }
    assert (plain["data"]["test_fraction"], plain["data"]["seed"], plain["seed"]) == (0.2, None, 0)
    assert plain["model"] == {
        "name": "two_nn",
        "head": None,
        "hidden_layers": 2,
        "width": 200,
        "bias": True,
        "init": "default",
    }
