"""The page of docs/: everything on 1, 8 and 64 GPUs, what limits it, and what would help."""

from collections.abc import Mapping
from pathlib import Path

from superfed.cli.schedule.page_tables import SHOWN, along_gpus, main_table, target_table, what_if_table
from superfed.cli.schedule.pictures import by_gpus, on_gpus
from superfed.cli.schedule.planned import Planned, longest_run
from superfed.cli.schedule.tasks import scheduled
from superfed.cli.schedule.words import EXPLANATION, lasting, limits, sources
from superfed.deploy.ray.schedule import Schedule
from superfed.reproduce.gpu_time import run_seconds, spread_seconds
from superfed.reproduce.plan import Plan
from superfed.store.files import write_text

EXAMPLE_PRICE = 3.0
"""Dollars for a GPU and hour: an example, since prices differ by several times and change. --price takes another."""
COMMAND = f"superfed reproduce all --plan --gpus {','.join(map(str, SHOWN))}"


def write_page(page: Path, price: float | None) -> None:
    """Its pictures go into a folder beside it, of the same name."""
    text, pictures = schedule_page(page.stem, EXAMPLE_PRICE if price is None else price)
    for name, svg in pictures.items():
        write_text(page.parent / page.stem / name, svg)
    write_text(page, text)


def schedule_page(folder: str, price: float = EXAMPLE_PRICE) -> tuple[str, dict[str, str]]:
    """The page, and the pictures that it shows, by their file names in ``folder`` beside it."""
    planned = Planned.of_all()
    schedules = scheduled(planned.one, SHOWN)
    pictures = {f"on-{gpus}.svg": on_gpus("Everything, one seed", schedules[gpus]) for gpus in SHOWN[1:]}
    pictures["by-gpus.svg"] = by_gpus(along_gpus(planned))
    return _text(folder, planned, schedules, price), {name: f"{svg}\n" for name, svg in pictures.items()}


def _text(folder: str, planned: Planned, schedules: Mapping[int, Schedule], price: float) -> str:
    parts = [
        "# On many GPUs, on paper",
        f"Everything that `superfed reproduce all` runs, {planned.one.num_runs} runs with one seed, as tasks on H200s: a "
        "simulated schedule, not a measured one. It says what several machines would gain before any is rented. Runs of one "
        "program are packed into one task; a task that is longer than its share is divided, as far as it has runs to divide; "
        "the longest goes first, to the GPU that is free first.",
        f"```\n{COMMAND}\n{COMMAND} --price {price:g}\n{COMMAND} --page docs/schedule.md   # this page\n```",
        main_table(schedules, price),
        f"{EXPLANATION} The price is an example and pays for the hours held. GPU-hours are as sure as "
        "[the rates behind them](#where-the-figures-come-from).",
        "## What limits it",
        "\n".join(f"- {limits(one)}" for one in schedules.values()),
        f"![Tasks on eight GPUs as bars along time]({folder}/on-8.svg)",
        _longest(planned.one, schedules[SHOWN[-1]]),
        f"![Tasks on sixty-four GPUs as bars along time]({folder}/on-64.svg)",
        "Table by table:",
        f"![Hours until all is done by the number of GPUs]({folder}/by-gpus.svg)",
        target_table(planned),
        "A line is flat from where a single run takes as long as all the rest. A run cannot be divided like a group of runs, "
        "and the more GPUs there are, the fewer lanes a task has and the slower it is.",
        "## What would help",
        what_if_table(planned),
        _help(planned.one),
        "## Where the figures come from",
        "\n".join(f"- {sentence.replace('(docs/gpu.md)', '([rates](gpu.md))')}" for sentence in sources()),
        "The rule by which tasks are packed and divided, and what other rules would cost, is in "
        "`src/superfed/deploy/ray/packing.py`, the simulator in `schedule.py` beside it; how long a task takes is worked out "
        "in `src/superfed/reproduce/gpu_time.py`.",
    ]
    return "\n\n".join(parts) + "\n"


def _longest(plan: Plan, widest: Schedule) -> str:
    group, place = longest_run(plan)
    rounds = group.costs[place].rounds
    waiting = 1 - rounds.sum() / rounds.max(axis=1).sum() / rounds.shape[1]
    return (
        f"The longest run is {group.title} with {group.network}, {lasting(run_seconds(group, [place]))}: "
        f"{group.gradients} gradients a step, and {rounds.shape[1]} clients a round, of so different sizes that they wait "
        f"{waiting:.0%} of their time for the largest among them. While it runs, all the rest there is to do keeps "
        f"{widest.used / widest.makespan - 1:.1f} other GPUs busy. More than that end nothing earlier, and cost as much as "
        "those that compute."
    )


def _help(plan: Plan) -> str:
    group, place = longest_run(plan)
    now, spread = run_seconds(group, [place]), spread_seconds(group, place)
    items = [
        f"**Spreading the longest run**, a GPU for each of its {group.costs[place].lanes} clients of a round: "
        f"{lasting(spread)} in place of {lasting(now)}, and no less, since one lane leaves most of a GPU idle and a round "
        "still waits for its largest client.",
        "**More seeds at once.** They share programs and stacks, so that three take far less than three times as long, and "
        "keep GPUs busy that would wait.",
        "**A quicker network.** In bf16 three runs of StackedLSTM that shared a GPU made 7,600 client-steps a second "
        "([on a GPU](gpu.md)), thirteen times what one makes in float32, whose rate is taken here.",
        "**Fewer GPUs, or giving them back.** A cluster that returns what is idle pays for about the hours used.",
    ]
    return "\n".join(f"- {item}" for item in items)
