"""Whether a hill of loss stands between the federated and the local model.

The barrier is the most by which the loss at some λ exceeds the straight line between the losses at λ = 0 and λ = 1; below 0
it cannot be, since at the ends it is 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from superfed.report.averages import mean
from superfed.report.client_scores import ClientScores
from superfed.report.loading import Finished

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Path:
    """Mean test loss over clients from λ = 0 to 1, averaged over seeds."""

    lambdas: list[float]
    loss: list[float]
    barrier: float
    """Of the mean loss."""
    at: float
    """The λ where it is highest."""
    of_clients: float | None
    """The mean of the clients' own barriers."""
    without: float | None
    """The share of clients whose own path has none worth the name: less than a hundredth of a nat."""


FLAT = 0.01


def path(members: Sequence[Finished], scores: Sequence[ClientScores | None]) -> Path | None:
    """None for methods without λ, and where a loss is not finite."""
    curves = [[(p["lam"], p.get("loss", {}).get("mean")) for p in run.summary["by_lambda"]] for run in members]
    lambdas = [lam for lam, _ in curves[0]]
    if len(lambdas) < 3 or None in lambdas or any([lam for lam, _ in curve] != lambdas for curve in curves):
        return None
    losses = np.array([[loss for _, loss in curve] for curve in curves], dtype=np.float64)
    if not np.isfinite(losses).all():
        return None
    grid, average = np.array(lambdas, dtype=np.float64), losses.mean(axis=0)
    above = excess(grid, average[None])[0]
    own = [excess(grid, s.loss[np.isfinite(s.loss).all(axis=1)]).max(axis=1) for s in scores if s is not None]
    own = [barriers for barriers in own if len(barriers)]
    return Path(
        lambdas=lambdas,
        loss=average.tolist(),
        barrier=float(above.max()),
        at=float(grid[above.argmax()]),
        of_clients=mean([float(barriers.mean()) for barriers in own]) if own else None,
        without=mean([float((barriers < FLAT).mean()) for barriers in own]) if own else None,
    )


def excess(grid: Floats, losses: Floats) -> Floats:
    """How far ``losses`` [paths, λ] lie above the straight line between their ends."""
    line = losses[:, :1] * (1 - grid) + losses[:, -1:] * grid
    found: Floats = losses - line
    return found
