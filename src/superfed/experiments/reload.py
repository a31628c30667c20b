"""A run's folder as a finished run in Python."""

from pathlib import Path

from superfed.core.errors import UserError
from superfed.experiments.fitted import FittedRun
from superfed.experiments.runner import load_run
from superfed.experiments.stored_results import stored_results
from superfed.store.layout import find_runs


def load(path: str | Path, data_root: str | Path | None = None) -> FittedRun:
    """The finished run at ``path``, a run's folder or that of an experiment with one run.

    It is what ``fit`` returns: clients, their models, the summary. The data must be where it was, or in ``data_root``.
    """
    folder = Path(path)
    run, config = load_run(folder, None if data_root is None else Path(data_root))
    (stored,) = find_runs(folder)
    if not run.finished or not stored.has_results():
        done, rounds = run.round, run.task.schedule.rounds
        raise UserError(
            f"{stored.path}: has done {done} of {rounds} rounds and has no results yet; finish it first with: "
            f"superfed resume {path}"
        )
    return FittedRun(run, stored_results(stored), config)
