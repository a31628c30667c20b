"""Several experiments, side by side in one folder, as one job: whose runs fit together are computed together."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.experiments.assemble import Assembler
from superfed.experiments.observer import Observer, Silent
from superfed.experiments.places import Here, Place
from superfed.experiments.runner import begin, check, held, train
from superfed.store.layout import ExperimentFolder


def run_several(
    wanted: Mapping[str, dict[str, Any]],
    out: Path,
    again: str,
    data_root: Path | None = None,
    observer: Observer | None = None,
    place: Place | None = None,
) -> None:
    """The experiments with these settings, in folders of these names in ``out``.

    What is there already is left as it is if it has results, and gone on with if not. ``again`` is the command that goes
    on with runs that failed.
    """
    assembler, where = Assembler(data_root), place or Here()
    folders = {name: ExperimentFolder(out / name) for name in wanted}
    new = [name for name, folder in folders.items() if folder.is_free()]
    for name in wanted:
        if name in new:
            check(wanted[name], folders[name], assembler, where)
        elif folders[name].info()["config"] != wanted[name]:
            raise UserError(f"{folders[name].path}: holds an experiment with other settings; choose another --out")
    for name in new:
        begin(wanted[name], folders[name], data_root)
    with ExitStack() as stack:
        orders = [
            order
            for name, folder in folders.items()
            if not has_results(folder)
            for order in stack.enter_context(held(folder, folder.info()["runs"], assembler, title=name))
        ]
        if orders:
            train(orders, observer or Silent(), again, where)


def has_results(folder: ExperimentFolder) -> bool:
    """Whether every run of the experiment came to its end."""
    return all(run.has_results() for run in folder.runs())
