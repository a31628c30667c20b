"""How often a perfect step would pass over the parameters: what it cannot do without reading or writing.

Found by watching the method's own step: every vector of its state that is touched is read once, every one that comes out
new is written once, and each gradient needs one more reading of the weights it is taken at, for the forward pass. All
else, gradients too, a perfect program would keep in registers and caches.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from superfed.bench.case import Case
from superfed.core.algorithm import Context, autograd_gradients
from superfed.core.batch import Batch
from superfed.core.sgd import SGD
from superfed.core.state import State
from superfed.engine.plan import PhasePlan, plan_update
from superfed.engine.task import as_inputs


def numbers_per_step(case: Case) -> float:
    """Numbers read and written by one step, the mean over the steps of a local update."""
    plans = plan_update(case.task, 0, case.round)
    return sum(_numbers(case, plan) * plan.steps for plan in plans) / sum(plan.steps for plan in plans)


def _numbers(case: Case, plan: PhasePlan) -> int:
    """Of a step in one phase, which one sample shows as well as a batch."""
    task, samples = case.task, case.task.data.train(0)
    batch = Batch(as_inputs(samples.x[:2], task.model), samples.y[:2])
    points: list[int] = []

    def gradients(loss: Callable[..., Tensor], *at: Tensor) -> tuple[Tensor, ...]:
        fresh = sum(w.numel() for w in at if _place(w) not in watch.places)  # made within the step: written first
        points.append(max(task.model.size, sum(w.numel() for w in at)) + fresh)
        return autograd_gradients(loss, *at)

    ctx = Context(
        model=task.model,
        sgd=SGD(**_scalars(task.sgd_values(case.round))),
        gradients=gradients,
        phase=plan.phase.name,
        round=_scalars(task.round_values(case.round)),
        noise={name: rows[0] for name, rows in plan.noise.items()},
    )
    with torch.no_grad():
        work = _apart(task.algorithm.begin(case.kept[0], case.sent, ctx))
        watch = _Watch([*work.values(), *case.sent.values()])
        with watch:
            new = task.algorithm.step(work, case.sent, batch, ctx)
    written = sum(t.numel() for t in new.values() if _place(t) not in watch.places)
    return watch.numbers_read + written + sum(points)


def _scalars(values: Mapping[str, float]) -> State:
    return {name: torch.tensor(value) for name, value in values.items()}


def _apart(state: State) -> State:
    """Each vector in a place of its own: at the beginning some are one and the same."""
    return {name: t.clone() for name, t in state.items()}


def _place(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes which of the given tensors any operation touches."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.places = {_place(t): t.numel() for t in tensors}
        self._touched: set[int] = set()

    @property
    def numbers_read(self) -> int:
        return sum(size for place, size in self.places.items() if place in self._touched)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        leaves = tree_leaves((args, kwargs))
        self._touched |= {_place(leaf) for leaf in leaves if isinstance(leaf, Tensor)}
        return func(*args, **(kwargs or {}))
