"""A sentence for each thing there is to say, such as of a method."""

from collections.abc import Sequence

NOT_YET = ("Not run yet.",)


def answer(clauses: Sequence[str | None]) -> tuple[str, ...]:
    """None stands for what is not run."""
    known = [clause for clause in clauses if clause is not None]
    if not known:
        return NOT_YET
    rest = ["the rest is not run yet"] if len(known) < len(clauses) else []
    return tuple(f"{clause[0].upper()}{clause[1:]}." for clause in [*known, *rest])
