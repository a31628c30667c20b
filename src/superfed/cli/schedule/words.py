"""A schedule in words and cells, the same for the terminal and for the page."""

from superfed.deploy.ray.schedule import FIRST_ON_NODE, SLOTS_PER_NODE, TASK_START, Cause, Schedule
from superfed.reproduce.gpu_time import CHECKPOINT_SHARE, EVALUATION_SHARE
from superfed.reproduce.rates import COMPILE_SECONDS

HEADINGS = ("GPUs", "tasks", "until the end", "speed-up", "GPU-hours held", "used", "busy")
EXPLANATION = (
    "A task is a packed group of runs on one GPU. Held: every GPU until the last task ends. Used: with a task on it. "
    "Busy: used of held."
)

CAUSES: dict[Cause, str] = {
    "work": "the work",
    "longest": "one long task",
    "few": "few tasks",
    "preparing": "compiling",
}


def cells(schedule: Schedule, alone: Schedule) -> tuple[str, ...]:
    """``alone`` is the same on one GPU."""
    return (
        f"{schedule.slots}",
        f"{len(schedule.tasks)}",
        lasting(schedule.makespan),
        f"{alone.makespan / schedule.makespan:.1f} ×",
        number(schedule.held / 3600),
        number(schedule.used / 3600),
        f"{schedule.busy:.0%}",
    )


def limits(schedule: Schedule) -> str:
    gpus = "1 GPU" if schedule.slots == 1 else f"{schedule.slots} GPUs"
    return f"{gpus}: {schedule.limit().sentence.replace('devices', 'GPUs')}."


def sources() -> tuple[str, ...]:
    """Where the figures come from, a sentence each."""
    return (
        "Client-steps are counted from the cohorts that will be drawn; a step takes what one of SuPerFed-MM's was seen "
        "to take on an H200 (docs/gpu.md), for each gradient that the method needs (some were seen to be up to twice as "
        "quick), at the lanes that the task then has, those that wait for longer ones among them, which a plan's own hours "
        "leave out.",
        f"Evaluations and what rounds need around their updates: {EVALUATION_SHARE:.1%} of the updates' time, as seen with "
        f"two_nn. Checkpoints: {CHECKPOINT_SHARE:.0%}, about what they were seen to take. Compiling: "
        f"{COMPILE_SECONDS['h200']:.0f} s for each task and node, where up to 83 were seen.",
        f"Starting a task: {TASK_START:g} s, the first on a node of {SLOTS_PER_NODE} GPUs {FIRST_ON_NODE:g} s.",
    )


def lasting(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.1f} h"


def number(value: float) -> str:
    """Three digits that count, as far as there are."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2g}"


def money(schedule: Schedule, price: float) -> str:
    """What the GPUs that are held cost at so much an hour."""
    return f"{schedule.held / 3600 * price:,.0f}"
