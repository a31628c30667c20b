"""Configs from files, from the program, and changed on the command line."""

from pathlib import Path
from typing import Any

import pytest

from superfed.core.errors import UserError
from superfed.experiments.load import apply_overrides, load_config
from superfed.experiments.schema import EngineConfig
from superfed.experiments.shipped import shipped
from superfed.experiments.strict import convert

SETTINGS: dict[str, Any] = {
    "seed": 0,
    "training": {"rounds": 10},
    "model": "two_nn",
    "algorithm": [{"name": "fedavg"}, {"name": "fedprox"}],
    "data": {"dataset": "digits", "partition": None},
}


def written(folder: Path, text: str, name: str = "mine.yaml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-4", 1e-4),
        ("1E5", 1e5),
        ("-2e3", -2e3),
        ("+2e+3", 2e3),
        (".5e-3", 5e-4),
        ("1.e3", 1e3),
        ("1.5e3", 1.5e3),
        ("0.1", 0.1),
        ("10", 10),
        ("1e", "1e"),
        ("e5", "e5"),
        ("'1e-4'", "1e-4"),
        ("true", True),
        ("", None),
        ("[0, 1e-1]", [0, 0.1]),
        ("μ", "μ"),
    ],
)
def test_values_are_what_people_mean(text: str, value: object, tmp_path: Path) -> None:
    loaded = load_config(written(tmp_path, f"value: {text}\n"))
    assert loaded["value"] == value
    assert type(loaded["value"]) is type(value)
    assert apply_overrides({}, [f"value={text}"])["value"] == value


@pytest.mark.parametrize("word", ["on", "off", "auto", '"on"'])
def test_on_and_off_are_words_where_they_are_choices(word: str, tmp_path: Path) -> None:
    file = written(tmp_path, f"engine: {{compile: {word}}}\n")
    for settings in (load_config(file), load_config("demo", [f"engine.compile={word}"])):
        assert convert(EngineConfig, settings["engine"], "engine").compile == word.strip('"')


def test_a_file_is_named_after_itself_unless_it_says_otherwise(tmp_path: Path) -> None:
    assert load_config(written(tmp_path, "seed: 1\n", "trial.yml")) == {"name": "trial", "seed": 1}
    assert load_config(written(tmp_path, "name: other\n"))["name"] == "other"
    assert load_config(written(tmp_path, "seed: 1\n", "plain"))["name"] == "plain"
    assert load_config("demo")["name"] == "demo"


@pytest.mark.parametrize(
    ("text", "key", "line"), [("a: 1\nb: 2\na: 3\n", "a", 3), ("x: {b: 1, b: 2}\n", "b", 1), ("1: a\n1: b\n", "1", 2)]
)
def test_a_key_given_twice_is_a_mistake(text: str, key: str, line: int, tmp_path: Path) -> None:
    source = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        load_config(source)
    assert str(caught.value).startswith(f"{source}: is no valid YAML (the key '{key}' is given twice in ")
    assert f"line {line}," in str(caught.value)


def test_merged_sections_may_be_changed(tmp_path: Path) -> None:
    text = "a: &a {x: 1, y: 1}\nb: {c: &c {<<: *a, x: 2}}\nd: {<<: *c, y: 3}\n"
    assert load_config(written(tmp_path, text)) == {
        "name": "mine",
        "a": {"x": 1, "y": 1},
        "b": {"c": {"x": 2, "y": 1}},
        "d": {"x": 2, "y": 3},
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [1,\n", "while parsing a flow node"),
        ("\ta: 1\n", "while scanning for the next token"),
        ("a: 1\n---\nb: 2\n", "expected a single document"),
        ("a: !!python/object/apply:os.getcwd []\n", "could not determine a constructor"),
        ("? [1]\n: 2\n", "while constructing a mapping"),
        ("a: 2024-13-01\n", "month must be in 1..12"),
    ],
)
def test_invalid_yaml_is_one_line_that_says_where(text: str, problem: str, tmp_path: Path) -> None:
    source = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        load_config(source)
    assert str(caught.value).startswith(f"{source}: is no valid YAML ({problem}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "- 1\n- 2\n", "5\n", "just words\n"])
def test_a_file_must_hold_a_mapping(text: str, tmp_path: Path) -> None:
    source = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        load_config(source)
    assert str(caught.value) == f"{source}: must hold a mapping of settings"


def test_a_file_that_is_not_there_or_cannot_be_read(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.yaml")
    with pytest.raises(UserError) as caught:
        load_config(missing)
    assert str(caught.value) == f"{missing}: there is no such file"
    (tmp_path / "latin.yaml").write_bytes(b"description: \xff\n")
    (tmp_path / "folder.yaml").mkdir()
    for name in ("latin.yaml", "folder.yaml"):
        with pytest.raises(UserError) as caught:
            load_config(str(tmp_path / name))
        assert str(caught.value).startswith(f"{tmp_path / name}: cannot be read (")


def test_a_folder_of_runs_is_told_from_its_config(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("algorithm: fedavg\n")
    with pytest.raises(UserError) as caught:
        load_config(str(tmp_path))
    assert str(caught.value) == f"{tmp_path}: is a folder of runs; its config is {tmp_path}/config.yaml"


@pytest.mark.parametrize("source", ["dmeo", "x" * 300])
def test_an_unknown_name_lists_the_shipped_ones(source: str) -> None:
    with pytest.raises(UserError) as caught:
        load_config(source)
    assert str(caught.value) == f"{source}: is no file, and no shipped config; those are {', '.join(shipped())}"
    assert {"demo", "scale"} <= set(shipped())


def test_a_folder_of_the_same_name_does_not_hide_a_shipped_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "demo").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_config("demo")["data"]["dataset"] == "digits"


@pytest.mark.parametrize(
    ("override", "section", "value"),
    [
        ("seed=3", "seed", 3),
        ("seed=[0, 1]", "seed", [0, 1]),
        ("training.rounds=50", "training", {"rounds": 50}),
        ("training.lr=1e-4", "training", {"rounds": 10, "lr": 1e-4}),
        ("evaluation.every=2", "evaluation", {"every": 2}),
        ("a.b.c=x=y", "a", {"b": {"c": "x=y"}}),
        ("model.width=5", "model", {"name": "two_nn", "width": 5}),
        ("model=two_cnn", "model", "two_cnn"),
        ("data.dataset.ragged=0.5", "data", {"dataset": {"name": "digits", "ragged": 0.5}, "partition": None}),
        ("algorithm={name: superfed, mu: 0.1}", "algorithm", {"name": "superfed", "mu": 0.1}),
        ("data.partition.name=iid", "data", {"dataset": "digits", "partition": {"name": "iid"}}),
        ("description=", "description", None),
    ],
)
def test_a_change_goes_where_its_key_says(override: str, section: str, value: object) -> None:
    changed = apply_overrides(SETTINGS, [override])
    assert changed[section] == value
    assert {k: v for k, v in changed.items() if k != section} == {k: v for k, v in SETTINGS.items() if k != section}


def test_changes_are_made_in_order_and_the_settings_given_are_left_alone() -> None:
    changed = apply_overrides(SETTINGS, ["training.rounds=1", "training.rounds=2", "model.width=5", "model.bias=false"])
    assert changed["training"]["rounds"] == 2
    assert changed["model"] == {"name": "two_nn", "width": 5, "bias": False}
    assert SETTINGS["training"] == {"rounds": 10}
    assert SETTINGS["model"] == "two_nn"
    assert load_config("demo", ["seed=7"])["seed"] == 7


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("training.rounds", "'training.rounds': a change is written key=value, for instance training.rounds=50"),
        ("=3", "'=3': a change is written key=value, for instance training.rounds=50"),
        ("data..x=3", "'data..x=3': a change is written key=value, for instance training.rounds=50"),
        ("algorithm.mu=1", "algorithm.mu: 'algorithm' is a list of 2 here; give it whole, algorithm=…"),
        ("seed.x=1", "seed.x: 'seed' is no section"),
        ("training.rounds.x=1", "training.rounds.x: 'training.rounds' is no section"),
    ],
)
def test_a_change_that_cannot_be_made_is_a_sentence(override: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        apply_overrides(SETTINGS, [override])
    assert str(caught.value) == sentence


def test_a_change_whose_value_is_no_yaml_is_a_sentence() -> None:
    with pytest.raises(UserError, match=r"^'seed=\[0, 1': is no valid YAML \("):
        apply_overrides(SETTINGS, ["seed=[0, 1"])
