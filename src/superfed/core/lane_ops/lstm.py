"""The recurrent part of a layer of LSTM cells, for one client or mapped over many lanes.

Left to autograd, unrolled cells add to the gradient of the recurrent weights once at each time, and a compiler sees
thousands of small operations. Here a pass backwards in time finds only the slopes of the gates, and the weights'
gradient is one product over all times after it. ``vmap`` puts its lanes in front of those already there, and compilers
see one operation for each way.

Lanes come first in memory and time second: the product over all times then needs no copy, and neither do those of the
single steps, since each lane's part of a step lies in one piece.
"""

# mypy: allow-untyped-calls

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Protocol

import torch
from torch import Tensor

from superfed.core.errors import UserError
from superfed.core.lane_ops.precision import EXACT, dot_precision
from superfed.core.lane_ops.sequences import Sequences


def recurrence(projected: Tensor, w_hh: Tensor) -> Tensor:
    """The outputs ``[time, batch, units]`` of cells that start at zero.

    ``projected`` are the inputs times their weights with the biases, ``[time, batch, 4 * units]``, and ``w_hh`` the
    recurrent weights, ``[4 * units, units]``; the gates' order is torch's.
    """
    outputs: Tensor = _Lanes.apply(projected.unsqueeze(0), w_hh.unsqueeze(0))[0]
    return outputs.squeeze(0)


class Steps(Protocol):
    """One time step for all lanes, forwards and backwards; None stands for a time that is not there.

    The gates are ``[lanes, batch, 4 * units]``, and saved as they are after their activation. States, sums and the
    arithmetic of the gates are in single precision at least.
    """

    def forward(
        self,
        projected: Tensor,
        output_before: Tensor | None,
        state_before: Tensor | None,
        gates: Tensor,
        state: Tensor,
        output: Tensor,
    ) -> None:
        """Write ``gates``, ``state`` and ``output``."""

    def backward(
        self,
        gradient: Tensor,
        slopes_after: Tensor | None,
        gates: Tensor,
        state_before: Tensor | None,
        state: Tensor,
        carry: Tensor,
        slopes: Tensor,
    ) -> None:
        """Write ``slopes``, the gradient of the gates' sums, and into ``carry`` that of the state before."""


StepsOf = Callable[[Tensor], Steps | Sequences]
"""The steps with given recurrent weights, ``[lanes, 4 * units, units]``, or all of them at once."""
CHOSEN: StepsOf | None = None
"""The steps that tests and benchmarks want on a GPU, instead of the quickest."""
FEW_LANES = 4
"""Of no more than these, steps in bfloat16 begin early on chips that can: more were not timed."""
EARLY_UNITS = 512
"""Of more units, the weights of steps that begin early do not fit."""
HOPPER = (9, 0)


class TorchSteps:
    """Steps of torch's own operations, for any device and type."""

    def __init__(self, w_hh: Tensor) -> None:
        self.w_hh = w_hh

    def forward(
        self,
        projected: Tensor,
        output_before: Tensor | None,
        state_before: Tensor | None,
        gates: Tensor,
        state: Tensor,
        output: Tensor,
    ) -> None:
        sums = projected.to(state.dtype)
        if output_before is not None:
            sums = sums + torch.bmm(output_before, self.w_hh.mT)
        enter, keep, new, leave = sums.chunk(4, dim=-1)
        enter, keep, new, leave = enter.sigmoid(), keep.sigmoid(), new.tanh(), leave.sigmoid()
        gates.copy_(torch.cat([enter, keep, new, leave], dim=-1))
        state.copy_(enter * new if state_before is None else keep * state_before + enter * new)
        output.copy_(leave * state.tanh())

    def backward(
        self,
        gradient: Tensor,
        slopes_after: Tensor | None,
        gates: Tensor,
        state_before: Tensor | None,
        state: Tensor,
        carry: Tensor,
        slopes: Tensor,
    ) -> None:
        enter, keep, new, leave = gates.to(state.dtype).chunk(4, dim=-1)
        bent = state.tanh()
        of_output = gradient.to(state.dtype)
        if slopes_after is not None:
            of_output = of_output + torch.bmm(slopes_after, self.w_hh)
        of_state = of_output * leave * (1 - bent * bent)
        if slopes_after is not None:
            of_state = of_state + carry
        of_keep = torch.zeros_like(state) if state_before is None else of_state * state_before * keep * (1 - keep)
        of_enter, of_new = of_state * new * enter * (1 - enter), of_state * enter * (1 - new * new)
        slopes.copy_(torch.cat([of_enter, of_keep, of_new, of_output * bent * leave * (1 - leave)], dim=-1))
        carry.copy_(of_state * keep)


def steps_for(w_hh: Tensor) -> Steps | Sequences:
    """The quickest steps there are for weights of this device and type.

    On a GPU one kernel is where products are to be exact: of 50 lanes on an H200 it took 140 µs of each time step, both
    ways, where a product and a kernel after it took 162; in tf32 they took 80 and 69. In bfloat16 one kernel for all times of
    a sequence, on chips with clusters of blocks, took 0.79 ms forwards and 1.00 backwards for 50 lanes of 80 steps, where a
    product and a kernel after it took 1.36 both ways (at 5 lanes 0.13 and 0.16, and 0.49 and 0.55). Where those cannot be
    had, kernels that begin early are for few lanes, whose steps wait for each other: the gradients of two layers took 1.61
    ms at four lanes, and with a product and a kernel after it 2.12; at one lane, in eight processes at once, 2.51 and 6.20.
    """
    if not w_hh.is_cuda or w_hh.dtype not in (torch.float32, torch.bfloat16):
        return TorchSteps(w_hh)
    if CHOSEN is not None:
        return CHOSEN(w_hh)
    from superfed.core.lane_ops import cluster_lstm

    short = w_hh.dtype == torch.bfloat16
    kernels = cluster_lstm.kernels_for(w_hh.shape[-1], w_hh.get_device()) if short else None
    if kernels is not None:
        return cluster_lstm.ClusterSequences(w_hh, kernels)
    if find_spec("triton") is None:  # it comes with torch for CUDA, though not everywhere
        return TorchSteps(w_hh)
    from superfed.core.lane_ops import triton_lstm, triton_lstm_fused

    if not short:
        exact = dot_precision() == EXACT
        return triton_lstm_fused.FusedSteps(w_hh) if exact else triton_lstm.CellSteps(w_hh)
    few = len(w_hh) <= FEW_LANES and w_hh.shape[-1] <= EARLY_UNITS
    early = few and torch.cuda.get_device_capability(w_hh.device) >= HOPPER
    return triton_lstm_fused.EarlySteps(w_hh) if early else triton_lstm.CellSteps(w_hh)


def forward(projected: Tensor, w_hh: Tensor, steps_of: StepsOf = steps_for) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs, gates and states, each ``[lanes, time, batch, …]``, of inputs that lie so."""
    projected, steps = projected.contiguous(), steps_of(w_hh)
    outputs, gates, states = _room_for(projected, w_hh)
    if isinstance(steps, Sequences):
        steps.forward(projected, outputs, gates, states)
        return outputs, gates, states
    for time in range(projected.shape[1]):
        output_before, state_before = (outputs[:, time - 1], states[:, time - 1]) if time > 0 else (None, None)
        now = gates[:, time], states[:, time], outputs[:, time]
        steps.forward(projected[:, time], output_before, state_before, *now)
    return outputs, gates, states


def backward(
    gradient: Tensor, w_hh: Tensor, outputs: Tensor, gates: Tensor, states: Tensor, steps_of: StepsOf = steps_for
) -> tuple[Tensor, Tensor]:
    """The gradients of the projected inputs, which are the gates' slopes, and of the recurrent weights."""
    gradient, outputs, gates, states = (part.contiguous() for part in (gradient, outputs, gates, states))
    steps, slopes = steps_of(w_hh), torch.empty_like(gates)
    if isinstance(steps, Sequences):
        steps.backward(gradient, gates, states, slopes)
    else:
        _step_back(steps, gradient, gates, states, slopes)
    return slopes, torch.bmm(slopes[:, 1:].flatten(1, 2).mT, outputs[:, :-1].flatten(1, 2))


def _step_back(steps: Steps, gradient: Tensor, gates: Tensor, states: Tensor, slopes: Tensor) -> None:
    """All slopes, from the last time to the first."""
    carry, last = torch.empty_like(states[:, 0]), gates.shape[1] - 1
    for time in range(last, -1, -1):
        slopes_after = slopes[:, time + 1] if time < last else None
        state_before = states[:, time - 1] if time > 0 else None
        now = gates[:, time], state_before, states[:, time]
        steps.backward(gradient[:, time], slopes_after, *now, carry, slopes[:, time])


def _room_for(projected: Tensor, w_hh: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    shape = (*projected.shape[:-1], w_hh.shape[-1])
    at_least_single = torch.promote_types(projected.dtype, torch.float32)
    return (
        projected.new_empty(shape),
        projected.new_empty(projected.shape),
        projected.new_empty(shape, dtype=at_least_single),
    )


@torch.library.custom_op("superfed::lstm_lanes", mutates_args=())
def lstm_lanes(projected: Tensor, w_hh: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    with torch.cuda.device_of(projected):
        return forward(projected, w_hh)


@lstm_lanes.register_fake
def _(projected: Tensor, w_hh: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return _room_for(projected, w_hh)


@torch.library.custom_op("superfed::lstm_lanes_backward", mutates_args=())
def lstm_lanes_backward(
    gradient: Tensor, w_hh: Tensor, outputs: Tensor, gates: Tensor, states: Tensor
) -> tuple[Tensor, Tensor]:
    with torch.cuda.device_of(gradient):
        return backward(gradient, w_hh, outputs, gates, states)


@lstm_lanes_backward.register_fake
def _(gradient: Tensor, w_hh: Tensor, outputs: Tensor, gates: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
    return gates.new_empty(gates.shape), w_hh.new_empty(w_hh.shape)


class _Lanes(torch.autograd.Function):
    """Outputs, gates and states with a dimension of lanes in front, into which ``vmap`` folds its own."""

    @staticmethod
    def forward(projected: Tensor, w_hh: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        results: tuple[Tensor, Tensor, Tensor] = lstm_lanes(projected, w_hh)
        return results

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: tuple[Tensor, Tensor, Tensor]) -> None:
        outputs, gates, states = output
        ctx.mark_non_differentiable(gates, states)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(inputs[1], outputs, gates, states)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor | None, *_: None) -> tuple[Tensor | None, Tensor | None]:
        if gradient is None:
            return None, None
        slopes, of_weights = _LanesBackward.apply(gradient, *ctx.saved_tensors)
        return slopes, of_weights

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Tensor) -> tuple[tuple[Tensor, ...], int]:
        return _folded(_Lanes, info.batch_size, in_dims, inputs)


class _LanesBackward(torch.autograd.Function):
    """The gradients of ``_Lanes``, which cannot be differentiated again."""

    @staticmethod
    def forward(
        gradient: Tensor, w_hh: Tensor, outputs: Tensor, gates: Tensor, states: Tensor
    ) -> tuple[Tensor, Tensor]:
        results: tuple[Tensor, Tensor] = lstm_lanes_backward(gradient, w_hh, outputs, gates, states)
        return results

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, Tensor]) -> None:
        """Nothing is kept, since ``backward`` refuses."""

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> tuple[Tensor, ...]:
        raise UserError(
            "model: LSTM cells mapped over lanes or on a GPU can be differentiated once only; "
            "a method that differentiates gradients again needs another network"
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Tensor) -> tuple[tuple[Tensor, ...], int]:
        return _folded(_LanesBackward, info.batch_size, in_dims, inputs)


def _folded(
    function: type[_Lanes | _LanesBackward], size: int, in_dims: tuple[int | None, ...], inputs: tuple[Tensor, ...]
) -> tuple[tuple[Tensor, ...], int]:
    """``function`` with one more dimension of lanes folded into the first; what has none is the same for each."""
    lanes = [
        (x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)).flatten(0, 1)
        for x, dim in zip(inputs, in_dims, strict=True)
    ]
    return tuple(result.unflatten(0, (size, -1)) for result in function.apply(*lanes)), 0
