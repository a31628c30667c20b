"""superfed reproduce --plan --gpus: a table for several numbers of GPUs, and its refusals."""

from pathlib import Path

import pytest

from conftest import Program
from superfed.cli.schedule.tasks import part_of, scheduled
from superfed.reproduce.cells import cells
from superfed.reproduce.plan import Plan


def rows(text: str) -> dict[int, list[str]]:
    """By the number of GPUs."""
    below = text.split("On several H200s")[1].splitlines()[2:]
    found = [line.split() for line in below if line.split() and line.split()[0].isdecimal()]
    return {int(line[0]): line[1:] for line in found if line[1].isdecimal()}


def test_a_row_for_each_number_of_gpus(superfed: Program, tmp_path: Path) -> None:
    done = superfed("reproduce", "table1", "--plan", "--gpus", "1, 8,64", "--price", 3, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("66 cells, 1 seed: 66 runs in 22 groups")
    found = rows(done.stdout)
    assert list(found) == [1, 8, 64]
    assert found[1][0] == "22"
    assert found[1][-2] == "100%"
    assert "at 3 an hour" in done.stdout
    assert float(found[8][-1]) == pytest.approx(3 * float(found[8][-4]), rel=0.1)
    assert "1 GPU: the work itself." in done.stdout
    assert "64 GPUs: " in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_without_a_price_none_is_worked_out(superfed: Program) -> None:
    done = superfed("reproduce", "table3", "--only", "femnist/natural/fedavg", "--plan", "--gpus", 2)
    assert "On several H200s" in done.stdout
    assert "an hour" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--plan", "--gpus", "eight"], "--gpus: must be numbers from 1 to 4096 such as 1,8,64, not 'eight'"),
        (["--plan", "--gpus", "1,,8"], "--gpus: must be numbers from 1 to 4096 such as 1,8,64, not '1,,8'"),
        (["--plan", "--gpus", "0"], "--gpus: must be numbers from 1 to 4096 such as 1,8,64, not '0'"),
        (["--gpus", "8"], "--gpus: schedules a plan; give --plan too"),
        (["--plan", "--price", "3"], "--price: is for a schedule's hours; give --plan --gpus too"),
        (["--plan", "--gpus", "8", "--price", "-1"], "--price: must be more than 0, not -1.0"),
        (
            ["--plan", "--gpus", "1,8,64", "--page", "page.md"],
            "--page: of schedules is of everything on 1, 8, 64 GPUs: superfed reproduce all --plan --gpus 1,8,64 --page "
            "page.md",
        ),
    ],
)
def test_one_sentence_for_a_mistake(superfed: Program, arguments: list[str], sentence: str, tmp_path: Path) -> None:
    done = superfed("reproduce", "figureB", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"superfed: {sentence}\n"
    assert list(tmp_path.iterdir()) == []


def test_more_gpus_end_no_later_and_use_no_less() -> None:
    plan = Plan.of(cells("table2", "full"), range(2))
    schedules = list(scheduled(plan, (1, 4, 16, 64)).values())
    assert [one.makespan for one in schedules] == sorted((one.makespan for one in schedules), reverse=True)
    assert schedules[-1].used > schedules[0].used  # fewer lanes in each task, and more tasks to compile
    assert sum(task.job.runs for task in schedules[-1].tasks) == plan.num_runs


def test_every_rate_of_the_papers_networks_on_an_h200_was_seen() -> None:
    """Schedules say so: they have no word for a guess."""
    plan = Plan.of(cells("all", "full"), [0])
    assert [group.network for group in plan.groups if group.rate("h200").guess] == []


def test_a_part_of_a_plan_is_the_plan_of_a_part() -> None:
    whole = Plan.of([*cells("table1", "smoke"), *cells("figureB", "smoke")], range(2))
    part = part_of(whole, lambda run: run.config.seed == 0 and run.cells[0].dataset == "mnist")
    alone = Plan.of([cell for cell in cells("table1", "smoke") if cell.dataset == "mnist"], [0])
    assert (part.num_runs, part.client_steps, part.seeds) == (alone.num_runs, alone.client_steps, (0,))
    assert [group.lanes for group in part.groups] == [group.lanes for group in alone.groups]
