"""What the paper leaves open, as sweeps around runs of Tables 1 and 3: ours, each setting in one place."""

from enum import StrEnum


class Sweep(StrEnum):
    """What is varied, as it stands at the end of a cell's setting: ``k500_random``."""

    RANDOM = "random"
    NEWCOMERS = "newcomers"
    STEEP = "steep"
    WHOLE = "whole"
    EVEN = "even"
    SMALL = "small"
    TUNED = "tuned"
    UNHELD = "mu0"
    MIXED = "mixed"


SETTINGS = (("mnist", 500), ("cifar10", 500))
"""Datasets and clients of the columns of Table 1 that the sweeps start from: where clients have few samples and take part in
few rounds, it matters most how they are dealt and chosen."""
SHORT_CLIENTS = 100
"""At the short scale, which has no cells with more: most of them would take part once."""

NUS = (0.0, 1.0, 2.0, 5.0)
"""ν for which clients choose their λ on validation samples; those of Figure 3."""
SOME = ("fedavg", "fedper", "apfl", "superfed_mm", "superfed_lm")
"""The plain one, the best baseline, and those that mix: a sweep of all would be as long as Table 1."""
DEALT = SOME
"""Methods whose shards are dealt at random too."""
MEETING = SOME
"""Methods that meet newcomers. FedPer has no whole model to greet them with."""
NEWCOMERS = 0.2
"""The part of the clients that never takes part."""
STEEP = 0.99
"""By which the rate falls as the paper says; in the published runs it was less."""
STEEPER = SOME
"""Methods that are run with it too."""
WHOLE = SOME
"""Methods that are run without validation samples too, on all of their training samples."""
TEXT = "shakespeare"
"""Dataset of Table 3 whose samples overlap, and whose SuPerFed is run without proximity too: its rate is 40 times that of
others and more."""
SPLIT = ("fedavg", "apfl")
"""Methods whose windows are split at random too: the plain one, and of those with personal models the one that comes next to
SuPerFed in print."""
GLOBAL = "fedavg"
"""Whose model is one for all, unless each client trains it on in the end."""
TUNED = SOME
"""Methods whose clients each train on in the end, for as long as in a round."""
BATCHED = SOME
"""Methods that are run with batches of about one size too, or with a small last one where that is not usual."""
