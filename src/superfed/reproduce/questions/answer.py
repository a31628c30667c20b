"""One sentence out of what there is to say of each method."""

from collections.abc import Sequence

NOT_YET = "Not run yet."


def answer(clauses: Sequence[str | None]) -> str:
    """None stands for what is not run."""
    known = [clause for clause in clauses if clause is not None]
    if not known:
        return NOT_YET
    rest = ["the rest is not run yet"] if len(known) < len(clauses) else []
    sentence = "; ".join([*known, *rest])
    return f"{sentence[0].upper()}{sentence[1:]}."
