"""The methods that are measured: those that have a plain loop, with their default settings."""

from superfed.algorithms import ALGORITHMS, L2GD, SuPerFed
from superfed.bench.plain import LOOPS
from superfed.core.algorithm import Algorithm

METHODS: dict[str, Algorithm] = {
    **{name: method() for name, method in ALGORITHMS.items() if method in LOOPS},
    "l2gd": L2GD(p=0.0),  # rounds of local training; in the others a client's work is one sum
    "superfed": SuPerFed(start=0),  # after round L, where both models train
    "superfed_lm": SuPerFed(start=0, mixing="layer"),
}
