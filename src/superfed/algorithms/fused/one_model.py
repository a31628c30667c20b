"""Methods that train one model: the gradient, perhaps a pull towards the global model, and SGD with momentum."""

from dataclasses import dataclass

from torch import Tensor

from superfed.algorithms.fused.kernels import kernels
from superfed.core.flat import FlatNetwork
from superfed.core.fused import Steps
from superfed.core.state import State


@dataclass(frozen=True)
class OneModel:
    """``w`` of the working state; ``pull`` times its distance from the ``w`` that was sent joins the gradient."""

    pull: float = 0.0

    def __call__(self, network: FlatNetwork, work: State, sent: State, steps: Steps) -> State:
        w, velocity = trained(network, work["w"], work["velocity"], steps, self.pull, sent["w"] if self.pull else None)
        return work | {"w": w, "velocity": velocity}


def trained(
    network: FlatNetwork, w: Tensor, velocity: Tensor, steps: Steps, pull: float, anchor: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The model and its velocity after all steps."""
    network.w.copy_(w)
    velocity = velocity.clone()
    number = network.w.numpy().dtype.type
    numbers = [number(value) for value in (pull, steps.lr, steps.momentum, steps.weight_decay)]
    vectors = [v.numpy() for v in (network.w, velocity, network.w if anchor is None else anchor)]
    parts = network.parts(by_layer=False)
    cut = [[vector[part.slice] for vector in vectors] for part in parts]
    step = kernels().sgd
    for rows in steps.rows:
        gradients = network.gradients(*steps.batch(rows), parts)
        for (here, speed, there), gradient in zip(cut, gradients, strict=True):
            step(here, speed, gradient.numpy(), there, *numbers)
    return network.w.clone(), velocity
