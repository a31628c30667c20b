"""The ways of choosing λ, as a reader meets them.

The names are those in ``summary.json``. They are repeated here, with words for people, because a report must open
on a machine that has the folders and little else.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    name: str
    heading: str
    """Short; a blank marks where it may break into two lines."""
    meaning: str


READINGS = (
    Reading(
        "validated",
        "validated",
        "each client's λ is chosen on a validation part of its own training data. The honest figure, and the headline.",
    ),
    Reading(
        "validated_shared",
        "validated shared",
        "one λ for all clients, chosen by their mean on validation data.",
    ),
    Reading(
        "best_shared",
        "best shared",
        "one λ for all clients, the best by their mean on test data, so it has seen the answers.",
    ),
    Reading(
        "oracle",
        "oracle",
        "each client's λ is chosen on its own test data. An upper bound, not to be had in practice.",
    ),
    Reading(
        "fixed", "λ = 0.5", "nothing is chosen: every client has λ = 0.5, or the nearest to it that was evaluated."
    ),
)
NAMES = tuple(reading.name for reading in READINGS)
HEADLINE = "validated"
# Not every method has this one.
OWN = Reading(
    "own",
    "own λ",
    "each client has the λ, or α, that the method itself fitted or fixed; – where a method does neither.",
)
FIXED_LAMBDA = 0.5


def fixed_heading(lambdas: set[float]) -> str:
    """What to call ``fixed``: a grid of λ without 0.5 took its nearest instead, and the heading must not hide that."""
    return f"λ = {lambdas.pop():g}" if len(lambdas) == 1 else "λ fixed"
