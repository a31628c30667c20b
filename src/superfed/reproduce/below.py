"""What stands below a table's comparison, wherever it is shown."""

from collections.abc import Sequence

from superfed.reproduce.aside import Aside
from superfed.reproduce.by_score import by_score
from superfed.reproduce.compare import Line
from superfed.reproduce.ordering import ordering
from superfed.reproduce.standing import standing


def below(lines: Sequence[Line]) -> list[Aside]:
    """Those that have anything to say."""
    return [aside for aside in (standing(lines), by_score(lines), ordering(lines)) if aside.rows] if lines else []
