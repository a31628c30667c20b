"""Which cells and seeds were asked for."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

from superfed.core.errors import SettingError, require
from superfed.reproduce.cells import TARGETS, Cell, cells
from superfed.reproduce.scales import Scale

ALL = "all"
MOST_SEEDS = 10_000


def seeds_of(text: str) -> range:
    """``3`` are so many, from 0 on; ``1-2`` are these."""
    given = re.fullmatch(r"(?:(\d+)-)?(\d+)", text.strip())
    if given is None:
        raise SettingError("--seeds", f"must be a number of seeds, or from one to another as in 1-2, not '{text}'")
    first, last = given.groups()
    require(int(last) <= MOST_SEEDS, "--seeds", f"must be {MOST_SEEDS} at the most, not {last}")
    if first is None:
        require(int(last) >= 1, "--seeds", f"must be 1 or more, not {last}")
        return range(int(last))
    require(int(first) <= int(last), "--seeds", f"must go from one seed to a later one, not '{text}'")
    return range(int(first), int(last) + 1)


def seeds_there(where: Path) -> set[int]:
    """Of all runs that lie there."""
    names = (path.name for path in where.iterdir()) if where.is_dir() else ()
    return {int(found[1]) for name in names if (found := re.search(r"-seed(\d+)$", name))}


def one_thing(**asked: object) -> None:
    """That no two of these were asked for, each of which is done instead of anything else."""
    given = [f"--{name}" for name, value in asked.items() if value not in (None, False)]
    require(len(given) < 2, given[0] if given else "", f"cannot be given together with {', '.join(given[1:])}")


def chosen(target: str, scale: str, only: str | None) -> list[Cell]:
    if target not in (*TARGETS, ALL):
        raise SettingError("TARGET", f"'{target}' is none; choose from {', '.join(TARGETS)}, {ALL}")
    if scale not in get_args(Scale):
        raise SettingError("--scale", f"must be {', '.join(get_args(Scale))}, not '{scale}'")
    every = cells(target, cast(Scale, scale))
    if only is None:
        return every
    words = [word.strip() for word in only.split(",") if word.strip()]
    require(bool(words), "--only", f"must name cells of {target}, or parts of their names, such as {every[0].id}")
    wanted = set[str]()
    for word in words:
        found = named(word, every)
        require(bool(found), "--only", f"no cell of {target} has '{word}' in its name; they look like {every[0].id}")
        wanted |= {cell.id for cell in found}
    return [cell for cell in every if cell.id in wanted]


def named(word: str, every: Sequence[Cell]) -> list[Cell]:
    """The cells of whose name it is a whole part or several, as k50 is of mnist/k50/fedavg; if of none, those that hold it."""
    whole = [cell for cell in every if f"/{word.strip('/')}/" in f"/{cell.id}/"]
    return whole or [cell for cell in every if word in cell.id]
