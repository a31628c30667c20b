"""What is counted client by client is what the run itself says, and who was never sampled is found from its rounds."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from superfed.reproduce.cells import PlannedRun, cells, runs
from superfed.reproduce.record import Record, records
from superfed.reproduce.running import finished, run_all
from superfed.reproduce.tallies import ARRIVING, Tallies, Tally
from superfed.store.files import read_json
from superfed.store.layout import RunFolder
from superfed.store.tables import read_table

WANTED = (
    "questions/mnist/k500/superfed_mm",
    "questions/mnist/k500/fedavg",
    "questions/mnist/k500_newcomers/superfed_lm",
    "questions/mnist/k500_newcomers/fedavg",
    "questions/mnist/k500_newcomers/fedper",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[Record, RunFolder, PlannedRun]]:
    out = tmp_path_factory.mktemp("questions")
    planned = runs([cell for cell in cells("questions", "smoke") if cell.id in WANTED], [0])
    run_all(planned, out, "again", {"device": "cpu", "workers": 1, "keep_models": False})
    found = records(planned, out)
    folders = {run.cells[0].id: (finished(run, out), run) for run in planned}
    return {id: (found[id][0], folder, run) for id, (folder, run) in folders.items() if folder is not None}


Made = Mapping[str, tuple[Record, RunFolder, PlannedRun]]


def tallies(record: Record) -> Tallies:
    assert record.tallies is not None
    return record.tallies


@pytest.mark.parametrize("cell", WANTED)
def test_means_are_those_of_the_summary(cell: str, made: Made) -> None:
    record, folder, _ = made[cell]
    summary = folder.summary()
    assert summary is not None
    own = tallies(record)
    for reading in ("validated", "validated_shared", "oracle"):
        told = summary["readings"][reading]["top1"]
        percent = own.members.percent(reading)
        assert percent.mean() == pytest.approx(100 * told["mean"])
        assert percent.std() == pytest.approx(100 * told["std"])
    met = summary.get("newcomers")
    assert (met is None) == (own.newcomers is None)
    if met is not None and own.newcomers is not None:
        for reading in ("validated", "validated_shared", "oracle"):
            told = met["adapted"][reading]["top1"]["mean"]
            assert own.newcomers.percent(reading).mean() == pytest.approx(100 * told)
        assert own.epochs == met["epochs"] == 1
        assert (ARRIVING in own.newcomers.hits) == (met["arriving"] is not None)
        if met["arriving"] is not None:
            assert own.newcomers.percent(ARRIVING).mean() == pytest.approx(100 * met["arriving"]["top1"]["mean"])


def test_fedper_has_nothing_for_an_arrival(made: Made) -> None:
    newcomers = tallies(made["questions/mnist/k500_newcomers/fedper"][0]).newcomers
    assert newcomers is not None
    assert ARRIVING not in newcomers.hits


@pytest.mark.parametrize("cell", WANTED)
def test_who_took_part_and_when(cell: str, made: Made) -> None:
    """SuPerFed begins to personalise in the first (MM: 0.2 · 2) or the first (LM: 0.4 · 2) of two rounds."""
    record, folder, _ = made[cell]
    own, rounds = tallies(record), read_table(folder.rounds)
    sampled = {client for cohort in rounds["cohort"] for client in cohort}
    clients = list(dict.fromkeys(read_table(folder.readings)["client"]))
    assert own.never_sampled
    assert {clients[place] for place in own.never_sampled} == set(clients) - sampled
    assert own.only_before == ()


def test_who_took_part_only_before_the_local_model_trained(made: Made) -> None:
    record, folder, run = made["questions/mnist/k500/superfed_mm"]
    later = {**run.cells[0].settings, "algorithm": run.cells[0].settings["algorithm"] | {"start": 1}}
    own = Tallies.of(folder, type(run.config).from_plain({"seed": 0, **later}))
    first, second = read_table(folder.rounds)["cohort"]
    assert set(own.only_before) == set(first) - set(second)  # places are the clients' own numbers: all are evaluated
    assert own.never_sampled == tallies(record).never_sampled


def test_what_repeats_the_headline_is_not_kept(made: Made) -> None:
    assert set(tallies(made["questions/mnist/k500/fedavg"][0]).members.hits) == {"validated"}
    assert "oracle" in tallies(made["questions/mnist/k500/superfed_mm"][0]).members.hits


def test_a_client_without_test_samples_has_no_accuracy() -> None:
    found = Tally((4, 0), {"validated": (3, 0)}).percent("oracle")
    assert found[0] == 75
    assert np.isnan(found[1])


@pytest.mark.parametrize("cell", WANTED)
def test_a_record_is_the_same_after_a_file(cell: str, made: Made, tmp_path: Path) -> None:
    from superfed.store.files import write_json

    record = made[cell][0]
    write_json(tmp_path / "one.json", record.as_plain())
    assert Record.from_plain(read_json(tmp_path / "one.json")) == record
