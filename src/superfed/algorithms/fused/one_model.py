"""Methods that train one model at a time: the gradient, perhaps a pull towards the global model, and SGD with momentum."""

from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor

from superfed.algorithms.fused.descent import Descent, Pull
from superfed.core.flat import FlatNetwork
from superfed.core.fused import Steps
from superfed.core.state import State


@dataclass(frozen=True)
class OneModel:
    """``pull`` times the model's distance from the ``w`` that was sent joins the gradient."""

    model: str = "w"
    velocity: str = "velocity"
    pull: float = 0.0

    def __call__(self, network: FlatNetwork, work: State, sent: State, steps: Steps) -> State:
        pull = Pull(sent["w"], self.pull) if self.pull else None
        w, velocity = trained(network, work[self.model], work[self.velocity], steps, pull=pull)
        return work | {self.model: w, self.velocity: velocity}


@dataclass(frozen=True)
class OnePart:
    """The network's body or head, as the state names them, the other one held fixed."""

    part: Literal["body", "head"]

    def __call__(self, network: FlatNetwork, work: State, sent: State, steps: Steps) -> State:
        for name, where in (("body", network.body), ("head", network.head)):
            network.w[where] = work[name]
        where, speed = getattr(network, self.part), f"velocity_{self.part}"
        w, velocity = trained(network, work[self.part], work[speed], steps, where=where)
        return work | {self.part: w, speed: velocity}


def trained(
    network: FlatNetwork,
    w: Tensor,
    velocity: Tensor,
    steps: Steps,
    *,
    where: slice | None = None,
    pull: Pull | None = None,
    shift: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The model, or the part of the network's that is ``where``, and its velocity after all steps."""
    if not len(w) or not steps.rows:
        return w, velocity
    here = network.w if where is None else network.w[where]
    here.copy_(w)
    velocity = velocity.clone()
    x, stretch = network.stretch(where).settle(steps.x, len(steps.rows[0]))
    steps = replace(steps, x=x)
    descend = Descent(stretch.parts, here, velocity, steps, pull=pull, shift=shift)
    for rows in steps.rows:
        descend(stretch.gradients(*steps.batch(rows)))
    return here.clone(), velocity
