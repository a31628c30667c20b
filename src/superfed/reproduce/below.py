"""What stands below a table's comparison, wherever it is shown."""

from collections.abc import Sequence

from superfed.reproduce.aside import Aside
from superfed.reproduce.by_score import by_score
from superfed.reproduce.compare import Line, completed
from superfed.reproduce.ordering import ordering
from superfed.reproduce.standing import standing


def below(lines: Sequence[Line]) -> list[Aside]:
    """Those that have anything to say, of whole columns, whichever of their lines are shown."""
    if not lines:
        return []
    every = completed(lines)
    return [aside for aside in (standing(every), by_score(every), ordering(every)) if aside.rows]
