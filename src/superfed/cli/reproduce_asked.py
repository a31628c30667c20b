"""Which cells and seeds were asked for."""

import re
from collections.abc import Sequence
from typing import cast, get_args

from superfed.core.errors import SettingError, require
from superfed.reproduce.cells import TARGETS, Cell, cells
from superfed.reproduce.scales import Scale

ALL = "all"


def seeds_of(text: str) -> range:
    """``3`` are so many, from 0 on; ``1-2`` are these."""
    given = re.fullmatch(r"(?:(\d+)-)?(\d+)", text.strip())
    if given is None:
        raise SettingError("--seeds", f"must be a number of seeds, or from one to another as in 1-2, not '{text}'")
    first, last = given.groups()
    if first is None:
        require(int(last) >= 1, "--seeds", f"must be 1 or more, not {last}")
        return range(int(last))
    require(int(first) <= int(last), "--seeds", f"must go from one seed to a later one, not '{text}'")
    return range(int(first), int(last) + 1)


def chosen(target: str, scale: str, only: str | None) -> list[Cell]:
    if target not in (*TARGETS, ALL):
        raise SettingError("TARGET", f"'{target}' is none; choose from {', '.join(TARGETS)}, {ALL}")
    if scale not in get_args(Scale):
        raise SettingError("--scale", f"must be {', '.join(get_args(Scale))}, not '{scale}'")
    every = cells(target, cast(Scale, scale))
    if only is None:
        return every
    words = [word.strip() for word in only.split(",") if word.strip()]
    wanted = {cell.id for word in words for cell in named(word, every)}
    found = [cell for cell in every if cell.id in wanted]
    require(bool(found), "--only", f"no cell of {target} has '{only}' in its name; they look like {every[0].id}")
    return found


def named(word: str, every: Sequence[Cell]) -> list[Cell]:
    """The cells of whose name it is a whole part or several, as k50 is of mnist/k50/fedavg; if of none, those that hold it."""
    whole = [cell for cell in every if f"/{word.strip('/')}/" in f"/{cell.id}/"]
    return whole or [cell for cell in every if word in cell.id]
