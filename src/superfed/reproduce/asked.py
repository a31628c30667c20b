"""What the paper leaves open, as sweeps around runs of Table 1: ours, each setting in one place."""

SETTINGS = (("mnist", 500), ("cifar10", 100))
"""Datasets and clients of the columns of Table 1 that the sweeps start from."""
SHORT_CLIENTS = 100
"""At the short scale, which has no cells with more: most of them would take part once."""

NUS = (0.0, 1.0, 2.0, 5.0)
"""ν for which clients choose their λ on validation samples; those of Figure 3."""
DEALT = ("fedavg", "fedper", "apfl", "superfed_mm", "superfed_lm")
"""Methods whose shards are dealt at random too."""
MEETING = ("fedavg", "fedper", "apfl", "superfed_mm", "superfed_lm")
"""Methods that meet newcomers. FedPer has no whole model to greet them with."""
NEWCOMERS = 0.2
"""The part of the clients that never takes part."""
STEEP = 0.99
"""By which the rate falls as the paper says; in the published runs it was less."""
STEEPER = ("fedavg", "fedper", "apfl", "superfed_mm", "superfed_lm")
"""Methods that are run with it too."""
