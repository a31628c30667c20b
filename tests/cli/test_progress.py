"""What is shown while runs go on: on a terminal it fits the screen, in a log it is few lines."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from conftest import Program
from superfed.algorithms import SuPerFed
from superfed.cli.bars import Bars
from superfed.cli.board import Board, Runs, overall
from superfed.cli.plain_lines import PlainLines
from superfed.cli.progress import Watcher
from superfed.cli.tally import Tally, accuracy_of, mean_accuracy
from superfed.engine.simulation import CurvePoint, Run
from superfed.experiments.observer import Observer
from superfed.experiments.runner import start
from support.toys import toy_task

ROUNDS = 4


def runs(count: int) -> tuple[list[str], list[Run]]:
    names = [f"superfed-mm-nu{place // 10}-seed{place % 10}" for place in range(count)]
    return names, [Run(toy_task(SuPerFed(), seed=place)) for place in range(count)]


def screen(tally: Tally, width: int = 100, height: int = 24) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, record=True, force_terminal=True)
    console.print(overall(tally), Runs(tally))
    return console.export_text().rstrip().splitlines()


def point(top1: float, lam: float, after: int = 2) -> CurvePoint:
    return CurvePoint(round=after, lam=lam, num_clients=3, top1=top1, top1_std=0.0, loss=1.0)


def go_on(tally: Tally, place: int, rounds: int = 1) -> None:
    for _ in range(rounds):
        tally.runs[place].round += 1
        tally.round_done(place)


def test_two_hundred_runs_fit_any_screen() -> None:
    tally = Tally(*runs(200))
    for width, height in ((80, 24), (100, 40), (40, 12), (200, 60)):
        lines = screen(tally, width, height)
        assert len(lines) <= height - 1
        assert max(map(len, lines)) <= width
        assert lines[0] == "200 runs: 200 running"
        assert "0 of 800 rounds" in lines[1]
    assert lines[-1].split()[0].startswith("nu"), "so large a screen has room for all"
    shown = screen(tally, 80, 24)
    assert shown[-1].startswith("… and ")
    left_out = int(shown[-1].split()[2])
    assert sum(line.count("seed") for line in shown) + left_out == 200


def test_those_under_way_come_first_and_each_says_where_it_is() -> None:
    tally = Tally(*runs(60))
    for place in range(50):
        go_on(tally, place, ROUNDS)
        tally.run_done(place)
    go_on(tally, 57, 2)
    tally.runs[57].curve += [point(0.25, 0.0), point(0.625, 0.5), point(0.375, 1.0)]
    tally.run_failed(58)
    lines = screen(tally, 40, 20)
    assert lines[0] == "60 runs: 9 running, 50 done, 1 failed; …"
    assert lines[2].split() == ["nu5-seed0", "0/4"]
    assert lines[9].split() == ["nu5-seed7", "2/4", "62.5%"]
    assert lines[10].split() == ["nu5-seed9", "0/4"]
    assert lines[11].split() == ["nu5-seed8", "0/4", "failed"]
    assert lines[12].split() == ["nu0-seed0", "4/4"]


def test_rounds_that_will_never_be_done_are_not_waited_for() -> None:
    tally = Tally(*runs(3))
    assert (tally.rounds, tally.total_rounds) == (0, 12)
    go_on(tally, 0)
    tally.run_failed(0)
    assert (tally.rounds, tally.total_rounds) == (1, 9)
    tally.runs[1].stopped = "all diverged"
    tally.round_done(1)
    assert (tally.rounds, tally.total_rounds) == (1, 5)
    assert tally.counts == "1 running, 1 trained, 1 failed"


def test_a_round_computed_twice_counts_its_clients_once() -> None:
    tally = Tally(*runs(1))
    for _ in range(5):
        tally.lane_done(0)
    assert tally.clients(0) == 3
    go_on(tally, 0)
    assert tally.clients(0) == 3


def test_accuracy_is_the_last_one_halfway() -> None:
    _, (mixing, plain, fresh) = runs(3)
    mixing.curve += [point(0.9, 0.5, after=0), point(0.1, 0.0), point(0.5, 0.5), point(0.2, 1.0)]
    plain.curve += [point(0.7, float("nan"))]
    assert (accuracy_of(mixing), accuracy_of(plain), accuracy_of(fresh)) == (0.5, 0.7, None)
    assert mean_accuracy([mixing, plain, fresh]) == pytest.approx(0.6)


@pytest.mark.parametrize(("count", "terminal", "view"), [(3, True, Bars), (13, True, Board), (13, False, PlainLines)])
def test_the_view_suits_the_place_and_the_number(count: int, terminal: bool, view: type) -> None:
    watcher = Watcher(Console(file=io.StringIO(), force_terminal=terminal, width=80))
    try:
        watcher.started(*runs(count))
        assert isinstance(watcher._chosen, view)
        live_through(watcher, count)
    finally:
        watcher.close()


def live_through(observer: Observer, count: int) -> None:
    """All that an observer may be told."""
    for place in range(count):
        observer.lane_done(place)
        observer.round_done(place)
    observer.run_failed(0, "[no] markup")
    observer.evaluating(2)
    observer.client_evaluated()
    observer.run_done(1)


def test_an_evaluation_alone_is_shown_too() -> None:
    for terminal in (True, False):
        out = io.StringIO()
        watcher = Watcher(Console(file=out, force_terminal=terminal, width=80))
        watcher.evaluating(1)
        watcher.client_evaluated()
        watcher.run_done(0)
        watcher.close()
        assert "evaluat" in out.getvalue()


def test_a_log_of_many_runs_has_a_line_for_each_and_a_few_more() -> None:
    out = io.StringIO()
    lines = PlainLines(Console(file=out, width=80))
    names, every = runs(200)
    every[0].curve.append(point(0.7, 0.5))
    lines.started(names, every)
    for now in range(ROUNDS):
        for place, run in enumerate(every):
            if place == 7 and now > 0:
                continue
            run.round += 1
            for _ in range(3):
                lines.lane_done(place)
            lines.round_done(place)
        if now == 0:
            lines.run_failed(7, "ValueError: no [luck]")
    lines.evaluating(1000)
    for place in range(200):
        if place != 7:
            lines.run_done(place)
    told = out.getvalue().splitlines()
    assert told[0] == "200 runs"
    assert "superfed-mm-nu0-seed7: failed: ValueError: no [luck]" in told
    assert "superfed-mm-nu19-seed9: done after 4 rounds" in told
    assert "superfed-mm-nu0-seed0: done after 4 rounds, accuracy 70.0% before its final evaluation" in told
    assert len(told) <= 200 + 14


SWEEP = """
description: a sweep
seed: [0, 1]
algorithm: {name: superfed, nu: [0.0, 1.0]}
data: {dataset: {name: synthetic, dim: 6, num_classes: 3, samples_per_client: 12}, num_clients: 8}
model: {name: two_nn, width: 4}
training: {rounds: 3, clients_per_round: 2, local_epochs: 1, lr: 0.05}
evaluation: {every: 2, clients: 2, lambdas: 2}
engine: {workers: 1, checkpoint_every: 1}
"""


def broken_from(round: int) -> Callable[..., object]:
    from superfed.engine.task import Task

    values = Task.round_values

    def raising(task: Task, now: int) -> object:
        if task.seed == 1 and getattr(task.algorithm, "nu", None) == 1.0 and now >= round:
            raise ValueError("the moon is full")
        return values(task, now)

    return raising


def test_the_program_shows_the_others_and_says_which_failed_and_why(
    superfed: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from superfed.engine.task import Task

    config, out = tmp_path / "sweep.yaml", tmp_path / "out"
    config.write_text(SWEEP)
    with monkeypatch.context() as patch:
        patch.setattr(Task, "round_values", broken_from(2))
        done = superfed("run", config, "--out", out)
    assert done.returncode == 1
    name = "superfed-mm-nu1.0-seed1"
    assert f"{name}: failed: ValueError: the moon is full" in done.stdout
    assert f"Without results yet: {name} (failed, 2 rounds done)." in " ".join(done.stdout.split())
    assert done.stderr == (
        f"superfed: 1 of 4 runs failed: {name} (ValueError: the moon is full); "
        f"when the cause is gone, go on with: superfed resume {out}\n"
    )
    resumed = superfed("resume", out)
    assert resumed.returncode == 0, resumed.stderr
    assert "failed" not in resumed.stdout


def test_where_all_fail_there_is_no_table(superfed: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from superfed.engine.task import Task

    config, out = tmp_path / "sweep.yaml", tmp_path / "out"
    config.write_text(SWEEP)
    with monkeypatch.context() as patch:
        patch.setattr(Task, "round_values", broken_from(0))
        done = superfed("run", config, "seed=1", "algorithm.nu=1.0", "--out", out)
    assert done.returncode == 1
    assert done.stderr.startswith("superfed: 1 of 1 runs failed: superfed-mm-seed1 (ValueError: the moon is full); ")
    assert "page:" not in done.stdout
    assert not (out / "report.html").exists()


def test_a_board_draws_a_real_sweep(tmp_path: Path) -> None:
    from superfed.experiments.load import load_config

    config = tmp_path / "sweep.yaml"
    config.write_text(SWEEP)
    out = io.StringIO()
    watcher = Watcher(Console(file=out, force_terminal=True, width=100, height=12))
    start(load_config(str(config), ["seed=[0,1,2,3,4,5,6]"]), tmp_path / "out", observer=watcher)
    watcher.close()
    assert "14 runs: 14 done" in out.getvalue()
