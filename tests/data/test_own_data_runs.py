"""Anyone's own data from a config to results: trained, stopped, gone on with, newcomers met."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from superfed.core.errors import SettingError, UserError
from superfed.experiments.assemble import Assembler
from superfed.experiments.load import resolve
from superfed.experiments.runner import load_run, resume, start

ANIMALS = ["cat", "dog", "emu"]
SIZES = {"anna": 30, "bob": 25, "cleo": 12, "dora": 1, "eve": 20}
"""Dora has one sample and Eve one class."""


def samples(name: str, seed: int) -> tuple[np.ndarray[Any, Any], list[str]]:
    rng = np.random.default_rng(seed)
    labels = np.zeros(SIZES[name], dtype=int) if name == "eve" else rng.integers(0, 3, SIZES[name])
    x = rng.normal(size=(SIZES[name], 6)) + 3 * np.eye(3, 6)[labels]
    return x.astype(np.float32), [ANIMALS[label] for label in labels]


def write_folder(folder: Path) -> None:
    folder.mkdir(parents=True)
    for seed, name in enumerate(SIZES):
        x, y = samples(name, seed)
        np.savez(folder / f"{name}.npz", x=x, y=y)


def write_table(path: Path) -> None:
    every = {name: samples(name, seed) for seed, name in enumerate(SIZES)}
    columns = {
        "x": [row.tolist() for x, _ in every.values() for row in x],
        "label": [label for _, y in every.values() for label in y],
        "who": [name for name, (_, y) in every.items() for _ in y],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def settings(dataset: dict[str, Any], **data: Any) -> dict[str, Any]:
    return {
        "algorithm": {"name": "superfed", "nu": 1.0},
        "data": {"dataset": dataset, **data},
        "model": {"name": "two_nn", "width": 8},
        "training": {"rounds": 6, "clients_per_round": 2, "local_epochs": 3, "batch_size": 5, "lr": 0.1},
        "evaluation": {"every": 3, "clients": 2, "lambdas": 3, "newcomer_epochs": 2},
        "engine": {"workers": 1, "checkpoint_every": 2},
    }


def summary(out: Path) -> dict[str, Any]:
    (path,) = out.glob("*/summary.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_a_folder_trains_with_newcomers(tmp_path: Path) -> None:
    write_folder(tmp_path / "root" / "pets")
    start(settings({"name": "folder", "path": "pets"}, newcomers=0.2), tmp_path / "out", tmp_path / "root")
    run, _ = load_run(tmp_path / "out")
    assert run.task.data.class_names == ANIMALS  # type: ignore[attr-defined]
    assert run.task.data.client_names == list(SIZES)  # type: ignore[attr-defined]
    assert (run.task.data.num_clients, run.task.data.num_classes) == (5, 3)
    found = summary(tmp_path / "out")
    assert (found["num_clients"], found["newcomers"]["num_clients"]) == (4, 1)
    assert found["readings"]["validated"]["top1"]["mean"] > 0.6


def test_a_table_is_the_same_clients(tmp_path: Path) -> None:
    write_folder(tmp_path / "pets")
    write_table(tmp_path / "pets.parquet")
    for name, dataset in {
        "folder": {"name": "folder", "path": str(tmp_path / "pets")},
        "table": {"name": "table", "path": str(tmp_path / "pets.parquet"), "client": "who"},
    }.items():
        start(settings(dataset), tmp_path / name)
    assert summary(tmp_path / "folder") == summary(tmp_path / "table")


def test_one_that_died_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path / "here" / "pets")
    monkeypatch.chdir(tmp_path / "here")
    told = settings({"name": "folder", "path": "pets"}, newcomers=0.2)
    start(told, tmp_path / "peace")
    replace = os.replace

    def mortal(source: Any, target: Any) -> None:
        if "round-000004" in str(target):
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", mortal)
        with pytest.raises(KeyboardInterrupt):
            start(told, tmp_path / "died")
    assert not list((tmp_path / "died").glob("*/summary.json"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"folder: looked for .*pets and found nothing"):
        resume(tmp_path / "died")
    resume(tmp_path / "died", tmp_path / "here")  # the path is now under the data root
    assert summary(tmp_path / "died") == summary(tmp_path / "peace")


def test_other_data_is_noticed(tmp_path: Path) -> None:
    write_folder(tmp_path / "pets")
    start(settings({"name": "folder", "path": str(tmp_path / "pets")}), tmp_path / "out")
    x, y = samples("anna", 0)
    np.savez(tmp_path / "pets" / "anna.npz", x=x + 1, y=y)
    with pytest.raises(UserError, match="the data is not what this run began with"):
        resume(tmp_path / "out")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"dataset": {"name": "folder"}}, "data.dataset.path: is needed and not given"),
        ({"dataset": {"name": "table", "path": "pets"}}, "data.dataset.client: is needed and not given"),
        (
            {"dataset": {"name": "folder", "path": "pets", "scale": 0}},
            "data.dataset.scale: must be more than 0, not 0.0",
        ),
        (
            {"dataset": {"name": "folder", "path": "pets"}, "num_clients": 9},
            "data.num_clients: 9 clients are wanted, but there are 5 people",
        ),
        (
            {"dataset": {"name": "folder", "path": "pets"}, "partition": {"name": "natural", "min_samples": 99}},
            "data.partition.min_samples: some clients are wanted, but there are 0 people with at least 99 samples",
        ),
    ],
)
def test_settings_that_do_not_fit_are_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: dict[str, Any], sentence: str
) -> None:
    write_folder(tmp_path / "pets")
    monkeypatch.chdir(tmp_path)

    def assemble() -> None:
        (config,) = resolve(settings(data.pop("dataset"), **data))
        Assembler(None).task(config)

    with pytest.raises(SettingError) as caught:
        assemble()
    assert str(caught.value) == sentence


def test_its_samples_may_be_dealt_anew(tmp_path: Path) -> None:
    write_folder(tmp_path / "pets")
    dataset = {"name": "folder", "path": str(tmp_path / "pets")}
    (config,) = resolve(settings(dataset, num_clients=8, partition="iid"))
    data = Assembler(None).task(config).data
    assert (data.num_clients, data.num_classes) == (8, 3)
