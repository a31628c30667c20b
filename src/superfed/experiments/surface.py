"""The loss surface of a finished run, as in the paper's Figure A: a plane through three of its models.

The paper shows "the loss landscape of a global model", the l2-regularised cross-entropy on a two-dimensional subspace
"following Garipov et al."; which models span it, and whose samples the loss is taken on, it does not say. Here:

- The first model is always the global one, at (0, 0). The others are the personal models of two clients: for methods
  that mix, their local models, λ = 1, so that two λ-lines start from the global model and can be followed on the
  picture. Methods whose personal model is the global one (FedAvg) get the two clients' models after one more local
  update from it, at the first round's rate, as ``adapt`` has it. ``span="updates"`` takes such models for every
  method: there the directions are of one kind, and the widths of basins can be compared.
- The two clients are the last that trained: they are a keyed draw, the cohort's, and the same for all methods of a seed.
  Any two would do, but for one that never took part w_l is a random network.
- The loss is that of Garipov et al.'s Figure 1, on training samples: those of members drawn for this purpose, because
  the landscape is the global model's. ``samples_of`` names other clients; on a client's own samples its λ-line should
  be a valley.
- Layer-wise mixing (LM) reaches models off this plane, one λ a layer; what is shown is the line on which all are equal.
- Surfaces to be compared are looked at through one window: at one scale, FedAvg's three models lie close together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from superfed.core.errors import UserError
from superfed.core.state import State, moved
from superfed.engine.adapt import adapt
from superfed.engine.local import CPU
from superfed.engine.simulation import Run
from superfed.engine.surface import Part, heights
from superfed.metrics.plane import Grid, Plane, Window

Span = Literal["personal", "updates"]
NUM_CLIENTS = 20
POINTS = 41
MARGIN = 0.35
STEPS = 10
"""Of the way from one model to another, as λ is stepped through."""


@dataclass(frozen=True)
class Corner:
    """One of the three models, where it lies, and its own values."""

    name: str
    x: float
    y: float
    loss: float
    top1: float


@dataclass(frozen=True)
class Surface:
    """Arrays by row (y, ascending) and column (x)."""

    title: str
    grid: Grid
    loss: NDArray[np.float64]
    """Cross-entropy, with what weight decay adds to it: half of it times ‖w‖², the l2 term."""
    top1: NDArray[np.float64]
    corners: tuple[Corner, Corner, Corner]
    lines: tuple[NDArray[np.float64], NDArray[np.float64]]
    """The loss on the straight way from the first corner to the second, and to the third, both ends included."""
    mixes: bool
    """Whether the lines from the first corner to the others are λ-lines."""
    part: Part
    samples_of: tuple[int, ...]
    num_samples: int


@dataclass(frozen=True)
class Three:
    """The global model and two clients' own."""

    clients: tuple[int, int]
    models: tuple[Tensor, Tensor, Tensor]
    personal: bool
    """Whether the clients' models are those they keep; if not, they are updates of the global one."""

    @property
    def plane(self) -> Plane:
        return Plane.through(*self.models)


def surface_of(
    run: Run,
    *,
    three: Three | None = None,
    samples_of: Sequence[int] | None = None,
    part: Part = "train",
    points: int = POINTS,
    window: Window | None = None,
    device: torch.device = CPU,
) -> Surface:
    """The surface through ``three`` models, or through those that ``three_of`` takes."""
    task, three = run.task, three or three_of(run)
    plane, mixes = three.plane, task.algorithm.mixes and three.personal
    clients = tuple(task.some_members("surface", NUM_CLIENTS) if samples_of is None else samples_of)

    def seen(grid: Grid) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
        found = heights(task, plane, grid, clients, part, device)
        return found.loss + task.schedule.weight_decay / 2 * plane.sq_norms(grid), found.top1, found.num_samples

    def at(x: float, y: float) -> tuple[float, float]:
        loss, top1, _ = seen(Grid(np.array([x]), np.array([y])))
        return float(loss[0, 0]), float(top1[0, 0])

    def between(a: Corner, b: Corner) -> NDArray[np.float64]:
        shares = [step / STEPS for step in range(1, STEPS)]
        inside = [at(a.x + share * (b.x - a.x), a.y + share * (b.y - a.y))[0] for share in shares]
        return np.array([a.loss, *inside, b.loss])

    first, second, third = (
        Corner(name, x, y, *at(x, y)) for name, (x, y) in zip(_names(three, mixes), plane.corners.tolist(), strict=True)
    )
    grid = (window or plane.window(MARGIN)).grid(points)
    loss, top1, num_samples = seen(grid)
    corners, lines = (first, second, third), (between(first, second), between(first, third))
    return Surface(task.algorithm.title, grid, loss, top1, corners, lines, mixes, part, clients, num_samples)


def surfaces_of(
    runs: Sequence[Run],
    *,
    span: Span = "personal",
    part: Part = "train",
    points: int = POINTS,
    device: torch.device = CPU,
) -> list[Surface]:
    """Those of several runs, through one window that holds the models of all."""
    threes = [three_of(run, span=span) for run in runs]
    window = joint_window(threes)
    return [
        surface_of(run, three=three, part=part, points=points, window=window, device=device)
        for run, three in zip(runs, threes, strict=True)
    ]


def joint_window(threes: Sequence[Three]) -> Window:
    """The smallest that holds the models of all, with room around them."""
    return reduce(Window.joined, (three.plane.window(MARGIN) for three in threes))


def three_of(run: Run, clients: tuple[int, int] | None = None, span: Span = "personal") -> Three:
    """The global model and the models of ``clients``, or of the two that trained last."""
    task = run.task
    server = moved(run.server, CPU)
    w_g = task.algorithm.global_model(server)
    if w_g is None:
        raise UserError(f"{task.algorithm.title} has no global model, and the loss surface is that of one")
    one, other = clients or last_trained(run)
    own = _personal if span == "personal" and not _shares_its_model(run, one, server, w_g) else _updated
    return Three((one, other), (w_g, own(run, one, server), own(run, other, server)), own is _personal)


def last_trained(run: Run) -> tuple[int, int]:
    """Two clients of the last round, or of the last rounds where one is not enough; in ascending order."""
    found: list[int] = []
    for record in reversed(run.records):
        found += [client for client in record.cohort if client not in (*record.diverged, *found)]
        if len(found) >= 2:
            return min(found[:2]), max(found[:2])
    raise UserError(
        "fewer than two clients have trained in this run, and the loss surface goes through two clients' models"
    )


def _shares_its_model(run: Run, client: int, server: State, w_g: Tensor) -> bool:
    return torch.equal(_personal(run, client, server), w_g)


def _personal(run: Run, client: int, server: State) -> Tensor:
    """The client's own model, as far from the global one as it goes: at λ = 1."""
    task = run.task
    sent = task.algorithm.broadcast(server, task.model)
    kept = _kept(run, client)
    return task.algorithm.personal_model(kept, sent, torch.ones((), dtype=task.model.dtype), task.model)


def _updated(run: Run, client: int, server: State) -> Tensor:
    """What the global model becomes if this client alone trains it once more."""
    task = run.task
    kept = _kept(run, client)
    _, alone = adapt(task, client, kept, server, task.schedule.local_epochs)
    w = task.algorithm.global_model(alone)
    assert w is not None  # the server of all had one
    return w


def _kept(run: Run, client: int) -> State:
    return moved(run.states.get(client) or run.task.init_client(client), CPU)


def _names(three: Three, mixes: bool) -> tuple[str, str, str]:
    own = "local model of client" if mixes else "model of client" if three.personal else "update of client"
    one, other = (f"{own} {client}" for client in three.clients)
    return "global model", one, other
