"""What runs take on a disk is known before they are made, and is what they take."""

from pathlib import Path

import pytest

from superfed.reproduce.cells import cells, runs
from superfed.reproduce.room import room_at, room_for
from superfed.reproduce.running import finished, in_jobs, needs_models, run_all

CPU = {"device": "cpu", "workers": 1}


HEAD = 200
"""Bytes of a file that say what is in it, at the most."""


@pytest.mark.parametrize("method", ["apfl", "fedper"])
def test_it_is_what_clients_files_take(method: str, tmp_path: Path) -> None:
    planned = runs([cell for cell in cells("table1", "smoke") if cell.id == f"table1/mnist/k50/{method}"], [0, 1])
    run_all(planned, tmp_path, "again", CPU)
    assert all(finished(run, tmp_path) for run in planned)
    sizes = [file.stat().st_size for file in tmp_path.rglob("client-*.safetensors")]
    needed = room_for([planned], keep_models=True)
    assert 0 < needed < sum(sizes) < needed + HEAD * len(sizes)


def test_models_that_do_not_stay_count_until_their_job_is_finished() -> None:
    table = runs([cell for cell in cells("table1", "full") if cell.method in ("apfl", "fedavg")], [0])
    by_data = {name: [run for run in table if run.cells[0].dataset == name] for name in ("mnist", "cifar10")}
    mnist, cifar10 = (room_for([some], keep_models=True) for some in by_data.values())
    assert 0 < mnist < cifar10
    assert room_for(in_jobs(table), keep_models=True) == mnist + cifar10
    assert room_for(in_jobs(table), keep_models=False) == cifar10
    assert room_for([table], keep_models=False) == mnist + cifar10, "as one job, all may be there at once"
    assert room_for([], keep_models=False) == 0


def test_models_of_runs_that_are_computed_elsewhere_are_here_if_they_stay() -> None:
    table = runs([cell for cell in cells("table1", "full") if cell.method == "apfl"], [0])
    assert room_for([table], keep_models=False, in_place=False) == 0
    assert room_for([table], keep_models=True, in_place=False) == room_for([table], keep_models=True) > 0
    figure = runs(cells("figureA", "full"), [0])
    assert room_for([figure], keep_models=False, in_place=False) == room_for([figure], keep_models=True)


def test_models_that_are_drawn_stay_for_whatever_table_they_are_made() -> None:
    figure = runs(cells("figureA", "full"), [0])
    assert room_for([figure], keep_models=False) == room_for([figure], keep_models=True)
    own = {run.cells[0].digest for run in figure}
    table = [run for run in runs(cells("table1", "full"), [0, 1]) if run.cells[0].digest in own]
    assert len(table) == 2 * len(figure)
    assert [needs_models(run) for run in table] == [run.config.seed == 0 for run in table]


def test_a_folder_that_is_still_to_be_made_lies_on_some_disk(tmp_path: Path) -> None:
    assert room_at(tmp_path / "a" / "b") > 0
