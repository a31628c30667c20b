"""A run's folder gives what training gave."""

from pathlib import Path
from typing import Any

import pytest
import torch

import superfed
from superfed.experiments.runner import start
from superfed.experiments.stored_results import stored_results
from superfed.store.layout import RunFolder, find_runs
from superfed.store.tables import read_table, write_table


def finished(folder: Path, **changes: Any) -> Path:
    config: dict[str, Any] = {
        "algorithm": [{"name": "superfed", "start": 0.0}, "fedavg", "apfl"],
        "data": {"dataset": "digits", "num_clients": 8, "partition": "iid", "newcomers": 0.25},
        "model": {"name": "two_nn", "width": 8},
        "training": {"rounds": 3, "clients_per_round": 3, "local_epochs": 1, "lr": 0.05},
        "engine": {"workers": 1},
    }
    return start(config | changes, folder)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished(tmp_path_factory.mktemp("loaded") / "out")


def without_newcomers(summary: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if key != "newcomers"}


def test_the_results_are_those_that_were_written(out: Path) -> None:
    for folder in find_runs(out):
        run = superfed.load(folder.path)
        assert run.summary() == without_newcomers(folder.summary() or {})
        results = stored_results(folder)
        assert results.clients_table() == read_table(folder.clients)
        assert results.readings_table() == read_table(folder.readings)


def test_a_client_is_as_it_was_evaluated(out: Path) -> None:
    for name in ("superfed-mm-seed0", "fedavg-seed0", "apfl-seed0"):
        run = superfed.load(str(out / name))
        for index in run.members:
            client, test = run.client(index), run.task.data.test(index)
            hits = client.model()(test.x).argmax(1) == test.y
            assert float(hits.double().mean()) == pytest.approx(client.accuracy)


def test_newcomers_have_no_model(out: Path) -> None:
    run = superfed.load(out / "superfed-mm-seed0")
    (newcomer, _) = run.task.newcomer_clients
    assert newcomer not in run.members
    with pytest.raises(superfed.UserError, match=rf"client {newcomer}: was kept from training .*; superfed onboard"):
        run.client(newcomer)


def test_who_was_not_evaluated_is_evaluated_when_asked(out: Path, tmp_path: Path) -> None:
    algorithm = {"name": "superfed", "start": 0.0}
    some = superfed.load(finished(tmp_path / "out", algorithm=algorithm, evaluation={"final_clients": 2}))
    every = superfed.load(out / "superfed-mm-seed0")
    assert [some.client(i).best_lambda for i in some.members] == [every.client(i).best_lambda for i in every.members]
    assert [some.client(i).accuracy for i in some.members] == [every.client(i).accuracy for i in every.members]
    for one, other in zip(
        some.client(some.members[0]).model().parameters(),
        every.client(some.members[0]).model().parameters(),
        strict=True,
    ):
        assert torch.equal(one, other)


def test_tables_that_do_not_fit_are_a_sentence(out: Path, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    source = RunFolder(out / "fedavg-seed0")
    table = read_table(source.clients)
    write_table(folder.clients, {name: values[:-1] for name, values in table.items()})
    write_table(folder.readings, read_table(source.readings))
    with pytest.raises(superfed.UserError, match="its tables of results do not fit each other; superfed evaluate anew"):
        stored_results(folder)
