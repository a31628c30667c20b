"""Surfaces are computed once, from the last checkpoints, and stored beside their runs."""

import shutil
from pathlib import Path

import pytest
import torch

from superfed.reproduce.cells import PlannedRun, cells, runs
from superfed.reproduce.record import records
from superfed.reproduce.running import begun_otherwise, finished, run_all
from superfed.reproduce.surveys import FILE, survey, surveyed
from superfed.store.files import write_text
from superfed.store.layout import RunFolder

SIZE = (4, 3)
CPU = {"device": "cpu", "workers": 1}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[PlannedRun], Path]:
    """Runs without surfaces, whose models are kept although nobody wants them otherwise; tests work on copies."""
    planned, out = runs(cells("figureA", "smoke"), [0]), tmp_path_factory.mktemp("runs")
    run_all(planned, out, "again", CPU | {"keep_models": False})
    assert begun_otherwise(planned, out, {"keep_models": False}) == []
    assert begun_otherwise(planned, out, {"device": "auto", "state": "memory"}) == planned
    assert begun_otherwise(planned, out, {"device": "cpu", "precision": "float32", "state": "memory"}) == []
    return planned, out


@pytest.fixture
def copied(made: tuple[list[PlannedRun], Path], tmp_path: Path) -> tuple[list[PlannedRun], Path]:
    planned, out = made
    shutil.copytree(out, tmp_path / "out")
    return planned, tmp_path / "out"


def folders(planned: list[PlannedRun], out: Path) -> list[RunFolder]:
    return [folder for run in planned if (folder := finished(run, out)) is not None]


def test_every_view_of_every_run_through_one_window(copied: tuple[list[PlannedRun], Path]) -> None:
    planned, out = copied
    heard: list[str] = []
    assert survey(planned, out, SIZE, CPU, tell=heard.append) == []
    assert len(heard) == 3 + 3 + 2
    fedavg, mm, lm = (surveyed(folder) for folder in folders(planned, out))
    assert set(fedavg) == {"personal", "updates"}
    assert set(mm) == set(lm) == {"personal", "updates", "own"}
    for view in ("personal", "updates"):
        assert fedavg[view].window == mm[view].window == lm[view].window
    assert mm["own"].window == mm["personal"].window
    assert (mm["own"].num_clients, mm["personal"].num_clients) == (2, SIZE[1])
    assert [corner["x"] for corner in mm["own"].corners] == [corner["x"] for corner in mm["personal"].corners]
    assert mm["personal"].mixes
    assert not mm["updates"].mixes


def test_what_is_there_is_not_computed_again(copied: tuple[list[PlannedRun], Path]) -> None:
    planned, out = copied
    survey(planned, out, SIZE, CPU)
    for folder in folders(planned, out):
        shutil.rmtree(folder.checkpoints)
    heard: list[str] = []
    assert survey(planned, out, SIZE, CPU, tell=heard.append) == []
    assert survey(planned[:1], out, SIZE, CPU, tell=heard.append) == []  # fewer runs have room in the same window
    assert heard == []


def test_an_interrupted_survey_goes_on(copied: tuple[list[PlannedRun], Path]) -> None:
    planned, out = copied
    heard: list[str] = []

    def stop(words: str) -> None:
        heard.append(words)
        if len(heard) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        survey(planned, out, SIZE, CPU, tell=stop)
    rest: list[str] = []
    assert survey(planned, out, SIZE, CPU, tell=rest.append) == []
    assert [*heard[:4], *rest] == [*heard, *rest[1:]]
    assert len(rest) == 4


def test_one_more_run_may_need_a_larger_window(copied: tuple[list[PlannedRun], Path]) -> None:
    planned, out = copied
    survey(planned[:2], out, SIZE, CPU)
    heard: list[str] = []
    survey(planned, out, SIZE, CPU, tell=heard.append)
    assert len(heard) == 8


def test_runs_without_checkpoints_are_named_and_the_others_drawn(copied: tuple[list[PlannedRun], Path]) -> None:
    planned, out = copied
    first, *others = folders(planned, out)
    shutil.rmtree(first.checkpoints)
    (sentence,) = survey(planned, out, SIZE, CPU)
    assert sentence.startswith(
        f"no loss surface of {first.path.parent.name}: {first.path}: has its results and no models"
    )
    assert surveyed(first) == {}
    assert all(surveyed(folder) for folder in others)


def test_the_device_is_the_one_that_was_asked_for(copied: tuple[list[PlannedRun], Path]) -> None:
    planned, out = copied
    (sentence,) = survey(planned, out, SIZE, {"device": "tpu"})
    assert "must be auto, cpu, cuda or cuda:N, not 'tpu'" in sentence


@pytest.mark.skipif(torch.cuda.is_available(), reason="the runs' device can be had here")
def test_surfaces_of_runs_made_on_a_gpu_are_computed_where_there_is_none(
    copied: tuple[list[PlannedRun], Path],
) -> None:
    planned, out = copied
    for folder in folders(planned, out):
        config = folder.config()
        folder.write_config(config | {"engine": config.get("engine", {}) | {"device": "cuda"}})
    assert survey(planned, out, SIZE) == []
    assert all(surveyed(folder) for folder in folders(planned, out))


def test_a_file_of_another_kind_is_a_sentence(copied: tuple[list[PlannedRun], Path]) -> None:
    planned, out = copied
    first = folders(planned, out)[0]
    write_text(first.path / FILE, '{"schema": 7}')
    (sentence,) = survey(planned, out, SIZE, CPU)
    assert "surfaces.json: has schema 7, and this program reads schema 1" in sentence
    told = list[str]()
    assert len(records(planned, out, told.append)) == len(planned) - 1
    assert "surfaces.json: has schema 7" in told[0]


def test_runs_that_are_not_finished_are_left_for_later(tmp_path: Path) -> None:
    assert survey(runs(cells("figureA", "smoke"), [0]), tmp_path, SIZE, CPU) == []
