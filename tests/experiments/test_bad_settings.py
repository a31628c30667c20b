"""Every setting that cannot be used is refused before anything trains, with one sentence that names it."""

import copy
import math
from pathlib import Path
from typing import Any

import pytest

from superfed.core.errors import SettingError, UserError
from superfed.engine.task import Schedule
from superfed.experiments.assemble import Assembler
from superfed.experiments.load import resolve
from superfed.experiments.runner import start
from superfed.experiments.strict import build, convert

GOOD: dict[str, Any] = {
    "algorithm": {"name": "superfed"},
    "data": {"dataset": "digits", "num_clients": 20, "partition": {"name": "pathological"}},
    "model": {"name": "two_nn"},
    "training": {"rounds": 10},
}
LEFT_OUT = object()

SENTENCES: list[tuple[dict[str, Any], str]] = [
    # names
    ({"algorithm.mue": 0.1}, "algorithm.mue: unknown; did you mean 'mu'?"),
    ({"trainning": {}}, "trainning: unknown; did you mean 'training'?"),
    ({"algorithm.name": "superfedd"}, "algorithm.name: 'superfedd' is unknown; did you mean 'superfed'?"),
    ({"data.dataset": "digit"}, "data.dataset.name: 'digit' is unknown; did you mean 'digits'?"),
    ({"model.name": "two_n"}, "model.name: 'two_n' is unknown; did you mean 'two_nn'?"),
    ({"algorithm": {"name": "fedavg", "mu": 0.1}}, "algorithm.mu: unknown; it takes no settings"),
    (
        {"training.optimizer": "adam"},
        "training.optimizer: unknown; here there are rounds, clients_per_round, local_epochs, batch_size, last_batch, "
        "lr, lr_decay, momentum, weight_decay, tuning_epochs",
    ),
    # what is missing or empty
    ({"training": LEFT_OUT}, "training: is needed and not given"),
    ({"training": {}}, "training.rounds: is needed and not given"),
    ({"training": None}, "training: must be a mapping of settings, not nothing"),
    ({"model": LEFT_OUT}, "model: is needed and not given"),
    ({"model": None}, "model: must be a name or a mapping with 'name', not nothing"),
    ({"evaluation": None}, "evaluation: must be a mapping of settings, not nothing"),
    ({"data.num_clients": LEFT_OUT}, "data.num_clients: is needed and not given"),
    ({"data.partition": LEFT_OUT}, "data.partition: is needed and not given"),
    ({"data.partition": None}, "data.partition: is needed and not given"),
    ({"data.partition": "dirichlet"}, "data.partition.alpha: is needed and not given"),
    ({"data.label_noise": {"kind": "pair"}}, "data.label_noise.rate: is needed and not given"),
    ({"seed": []}, "seed: is an empty list; give at least one value"),
    ({"training.lr": [0.1, []]}, "training.lr: is an empty list; give at least one value"),
    # types
    ({"training.rounds": True}, "training.rounds: must be a whole number, not True"),
    ({"training.rounds": 10.0}, "training.rounds: must be a whole number, not 10.0"),
    ({"training.rounds": "10"}, "training.rounds: must be a whole number, not '10'"),
    ({"training.lr": "0.1"}, "training.lr: must be a number, not '0.1'"),
    ({"training.lr": True}, "training.lr: must be a number, not True"),
    ({"training.lr": None}, "training.lr: must be a number, not nothing"),
    ({"training.lr": math.nan}, "training.lr: must be a finite number, not nan"),
    ({"training.lr": math.inf}, "training.lr: must be a finite number, not inf"),
    ({"training.clients_per_round": "half"}, "training.clients_per_round: must be a number, not 'half'"),
    ({"training.clients_per_round": False}, "training.clients_per_round: must be a number, not False"),
    ({"algorithm.start": math.nan}, "algorithm.start: must be a number, not nan"),
    ({"model.bias": 1}, "model.bias: must be true or false, not 1"),
    ({"data.label_noise": 0.1}, "data.label_noise: must be a mapping of settings or nothing, not 0.1"),
    ({"data.seed": 1.5}, "data.seed: must be a whole number or nothing, not 1.5"),
    ({"name": 3}, "name: must be text, not 3"),
    ({"engine.device": 0}, "engine.device: must be text, not 0"),
    ({"engine.workers": "many"}, "engine.workers: must be a whole number or 'auto', not 'many'"),
    ({"engine.dtype": "float16"}, "engine.dtype: must be 'float32' or 'float64', not 'float16'"),
    ({"engine.dtype": None}, "engine.dtype: must be 'float32' or 'float64', not nothing"),
    ({"training": 5}, "training: must be a mapping of settings, not 5"),
    ({"training": [{"rounds": 1}, 5]}, "training: must be a mapping of settings, not 5"),
    # values
    ({"seed": -1}, "seed: must be at least 0 and less than 2^63, not -1"),
    ({"seed": 2**63}, "seed: must be at least 0 and less than 2^63, not 9223372036854775808"),
    ({"algorithm.mu": -0.5}, "algorithm.mu: must be 0 or more, not -0.5"),
    ({"algorithm.mixing": "layers"}, "algorithm.mixing: must be 'model' or 'layer', not 'layers'"),
    (
        {"algorithm.start": 1.5},
        "algorithm.start: 1.5 is beyond the last round; give a fraction of the rounds (0.4) or a whole round number (40)",
    ),
    ({"algorithm.start": 11}, "algorithm.start: round 11 is beyond the last of 10 rounds"),
    ({"training.rounds": 0}, "training.rounds: must be 1 or more, not 0"),
    ({"training.local_epochs": -1}, "training.local_epochs: must be 1 or more, not -1"),
    ({"training.batch_size": 0}, "training.batch_size: must be 1 or more, not 0"),
    ({"training.lr": -0.1}, "training.lr: must be more than 0, not -0.1"),
    ({"training.lr": 0}, "training.lr: must be more than 0, not 0.0"),
    ({"training.lr_decay": 1.5}, "training.lr_decay: must be more than 0 and at most 1, not 1.5"),
    ({"training.momentum": 1}, "training.momentum: must be at least 0 and less than 1, not 1.0"),
    ({"training.weight_decay": -1e-4}, "training.weight_decay: must be 0 or more, not -0.0001"),
    ({"training.clients_per_round": 0}, "training.clients_per_round: must be more than 0, not 0"),
    (
        {"training.clients_per_round": 1.5},
        "training.clients_per_round: 1.5 is no fraction of the clients; give one up to 1.0, or a whole number of clients",
    ),
    (
        {"training.clients_per_round": 21},
        "training.clients_per_round: 21 clients a round are more than the 20 there are",
    ),
    ({"data.test_fraction": 1.5}, "data.test_fraction: must be above 0 and below 1, got 1.5"),
    ({"data.validation_fraction": 1}, "data.validation_fraction: must be at least 0 and below 1, got 1.0"),
    ({"data.num_clients": 0}, "data.num_clients: must be a whole number of at least 1, got 0"),
    (
        {"data.num_clients": 1798},
        "data.num_clients: 1798 clients cannot each hold one of 1797 samples; use at most 1797",
    ),
    (
        {"data.num_clients": 1000},
        "data.partition.shards_per_client: 2 shards for each of 1000 clients are 2000 shards, "
        "more than the 1797 samples",
    ),
    ({"data.partition": {"name": "dirichlet", "alpha": 0}}, "data.partition.alpha: must be above 0, got 0.0"),
    ({"data.label_noise": {"kind": "pair", "rate": 2}}, "data.label_noise.rate: must be from 0 to 1, got 2.0"),
    (
        {"data.dataset": "synthetic"},
        "data.partition: the synthetic dataset has clients of its own and takes no partition",
    ),
    ({"model.width": 0}, "model.width: must be 1 or more, not 0"),
    (
        {"model.head": "classifer"},
        "model.head: the model has no layer 'classifer'; its layers are features.1, features.3, classifier",
    ),
    ({"model": {"name": "two_cnn", "padding": 0}}, "model.name: two_cnn needs larger images than 8×8"),
    (
        {"model": "two_cnn", "data.dataset": "synthetic", "data.partition": None},
        "model.name: two_cnn takes images (channels, height, width), and the inputs are (32,)",
    ),
    ({"evaluation.every": 0}, "evaluation.every: must be 1 or more, not 0"),
    ({"evaluation.clients": 0}, "evaluation.clients: must be 1 or more, not 0"),
    ({"evaluation.lambdas": 1}, "evaluation.lambdas: must be 2 or more, to hold both ends, not 1"),
    ({"evaluation.final_clients": 0}, "evaluation.final_clients: must be 1 or more, or all, not 0"),
    ({"evaluation.final_clients": "some"}, "evaluation.final_clients: must be a whole number or 'all', not 'some'"),
    ({"engine.workers": 0}, "engine.workers: must be 1 or more, or auto, not 0"),
    ({"engine.checkpoint_every": 0}, "engine.checkpoint_every: must be 1 or more, or auto, not 0"),
    ({"engine.keep_models": "no models"}, "engine.keep_models: must be true or false, not 'no models'"),
]


def changed(changes: dict[str, Any]) -> dict[str, Any]:
    """The good settings with some changed, by their dotted keys."""
    settings = copy.deepcopy(GOOD)
    for key, value in changes.items():
        *sections, last = key.split(".")
        node = settings
        for section in sections:
            node = node.setdefault(section, {})
        if value is LEFT_OUT:
            del node[last]
        else:
            node[last] = value
    return settings


@pytest.fixture(scope="module")
def assembler() -> Assembler:
    return Assembler(None)


def test_the_settings_that_are_changed_here_are_good(assembler: Assembler) -> None:
    (config,) = resolve(GOOD)
    assert assembler.task(config).data.num_clients == 20


@pytest.mark.parametrize(("changes", "sentence"), SENTENCES, ids=[sentence[:60] for _, sentence in SENTENCES])
def test_a_bad_setting_is_a_sentence(changes: dict[str, Any], sentence: str, assembler: Assembler) -> None:
    with pytest.raises(UserError) as caught:
        list(map(assembler.task, resolve(changed(changes))))
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("algorithm", "sentence"),
    [
        (3, "algorithm: must be a name or a mapping with 'name', not 3"),
        ({"mu": 0.1}, "algorithm.name: is needed; choose from "),
        ({"name": None}, "algorithm.name: must be "),
        ({"name": {"a": 1}}, "algorithm.name: must be "),
        ("nonsense", "algorithm.name: 'nonsense' is unknown"),
    ],
)
def test_a_choice_that_is_none_names_the_choices(algorithm: object, sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        resolve(changed({"algorithm": algorithm}))
    assert str(caught.value).startswith(sentence)
    if not isinstance(algorithm, int):
        assert "fedprox" in str(caught.value)


@pytest.mark.parametrize(("settings", "shown"), [(5, "5"), (None, "nothing"), ("demo", "'demo'")])
def test_a_config_must_be_a_mapping(settings: Any, shown: str) -> None:
    with pytest.raises(SettingError) as caught:
        resolve(settings)
    assert str(caught.value) == f"config: must be a mapping of settings, not {shown}"


def test_a_key_need_not_be_text_to_be_unknown() -> None:
    with pytest.raises(SettingError, match=r"^1: unknown; here there are algorithm, "):
        resolve(GOOD | {1: 2})  # type: ignore[arg-type]


def test_a_whole_number_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(SettingError, match=r"^lr: must be a finite number, not 10{400}$"):
        convert(float, 10**400, "lr")


def test_a_whole_number_will_do_for_a_number_and_stays_whole_where_both_may_stand() -> None:
    (config,) = resolve(changed({"algorithm.mu": 1, "algorithm.start": 1, "training.clients_per_round": 1.0}))
    plain = config.as_plain()
    assert (plain["algorithm"]["mu"], type(plain["algorithm"]["mu"])) == (1.0, float)
    assert (plain["algorithm"]["start"], type(plain["algorithm"]["start"])) == (1, int)
    assert type(plain["training"]["clients_per_round"]) is float


def test_a_bare_name_is_a_choice_without_settings() -> None:
    bare, spelt = resolve(changed({"model": ["two_nn", {"name": "two_nn"}]}))
    assert bare == spelt


@pytest.mark.parametrize("changes", [changes for changes, _ in SENTENCES[::7]])
def test_a_bad_config_leaves_nothing_on_disk(changes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UserError):
        start(changed(changes), tmp_path / "new" / "experiment")
    assert list(tmp_path.iterdir()) == []


def test_a_bad_setting_in_the_last_run_of_a_grid_leaves_nothing_on_disk(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^algorithm\.start: round 11 is beyond"):
        start(changed({"algorithm.start": [1, 2, 11]}), tmp_path / "experiment")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("device", ["tpu", "no such device", "cuda:99"])
def test_a_device_that_is_not_there_leaves_nothing_on_disk(device: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^engine\.device: "):
        start(changed({"engine.device": device}), tmp_path / "experiment")
    assert list(tmp_path.iterdir()) == []


def test_a_dataclass_is_built_only_from_a_mapping() -> None:
    assert build(Schedule, {"rounds": 3}) == Schedule(rounds=3)
    with pytest.raises(SettingError, match=r"^config: must be a mapping of settings, not"):
        build(Schedule, [("rounds", 3)])
