"""One pass over the parameters: the loops that numba compiles, on first use, for the precision that is asked for.

Sums are made in blocks, each in the parameters' own precision and all together in double: as quick as single precision,
and as exact as a vector this long needs. What a loop writes must lie apart from all that it reads, or it is not vectorised
and takes four times as long.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch

from superfed.core.loops import LIBERTIES

BLOCK = 4096


class Kernels(NamedTuple):
    """``sgd(w, velocity, gradient, there, share, pull, here, weight_decay, lr, momentum)`` and ``superfed``, in place.

    To ``share`` of the gradient ``sgd`` adds ``pull * (here * w - there)``: a pull to ``there``, or with ``here`` 0 and
    ``pull`` -1 that vector itself.
    """

    sgd: Callable[..., None]
    superfed: Callable[..., tuple[float, float, float]]
    mix: Callable[..., tuple[float, float, float]]
    """``(w_f, w_l, mixed, lam)``: what ``superfed`` does after its step, before the first."""


@cache
def kernels() -> Kernels:
    import numba

    compiled = numba.njit(fastmath=LIBERTIES, error_model="numpy")

    @compiled
    def sgd(
        w: Any, velocity: Any, gradient: Any, there: Any,
        share: Any, pull: Any, here: Any, weight_decay: Any, lr: Any, momentum: Any,
    ) -> None:  # fmt: skip
        for i in range(w.size):
            at = w[i]
            slope = share * gradient[i] + pull * (here * at - there[i]) + weight_decay * at
            speed = momentum * velocity[i] + slope
            velocity[i] = speed
            w[i] = at - lr * speed

    @compiled
    def superfed_block(
        fed: Any, own: Any, speed_f: Any, speed_l: Any, gradient: Any, g: Any, mixed: Any,
        lam: Any, next_lam: Any, lr: Any, momentum: Any, pull: Any, f_of_f: Any, both: Any, l_of_l: Any,
    ) -> Any:  # fmt: skip
        """``f_of_f``, ``both`` and ``l_of_l`` are how much of w_f, of the other one, and of w_l joins the gradients."""
        one = lam - lam + 1
        ff = fl = ll = one - one
        for i in range(fed.size):
            a, b, slope = fed[i], own[i], gradient[i]
            va = momentum * speed_f[i] + ((one - lam) * slope + pull * (a - g[i]) + both * b + f_of_f * a)
            vb = momentum * speed_l[i] + (lam * slope + both * a + l_of_l * b)
            speed_f[i], speed_l[i] = va, vb
            a, b = a - lr * va, b - lr * vb
            fed[i], own[i] = a, b
            mixed[i] = a + next_lam * (b - a)
            ff += a * a
            fl += a * b
            ll += b * b
        return ff, fl, ll

    @compiled
    def superfed(
        fed: Any, own: Any, speed_f: Any, speed_l: Any, gradient: Any, g: Any, mixed: Any,
        lam: Any, next_lam: Any, lr: Any, momentum: Any, pull: Any, f_of_f: Any, both: Any, l_of_l: Any,
    ) -> Any:  # fmt: skip
        ff, fl, ll = 0.0, 0.0, 0.0
        for start in range(0, fed.size, BLOCK):  # a slice of its own, so that the loop inside can be vectorised
            end = min(start + BLOCK, fed.size)
            sums = superfed_block(
                fed[start:end], own[start:end], speed_f[start:end], speed_l[start:end], gradient[start:end], g[start:end],
                mixed[start:end], lam, next_lam, lr, momentum, pull, f_of_f, both, l_of_l,
            )  # fmt: skip
            ff, fl, ll = ff + sums[0], fl + sums[1], ll + sums[2]
        return ff, fl, ll

    @compiled
    def mix_block(fed: Any, own: Any, mixed: Any, lam: Any) -> Any:
        ff = fl = ll = lam - lam
        for i in range(fed.size):
            a, b = fed[i], own[i]
            mixed[i] = a + lam * (b - a)
            ff += a * a
            fl += a * b
            ll += b * b
        return ff, fl, ll

    @compiled
    def mix(fed: Any, own: Any, mixed: Any, lam: Any) -> Any:
        ff, fl, ll = 0.0, 0.0, 0.0
        for start in range(0, fed.size, BLOCK):
            end = min(start + BLOCK, fed.size)
            sums = mix_block(fed[start:end], own[start:end], mixed[start:end], lam)
            ff, fl, ll = ff + sums[0], fl + sums[1], ll + sums[2]
        return ff, fl, ll

    return Kernels(sgd, superfed, mix)


def compile_for(dtype: torch.dtype) -> None:
    """Have the loops compiled, so that processes forked after this need not do it each for itself."""
    empty = torch.zeros(1, dtype=dtype).numpy()
    number = empty.dtype.type(0)
    kernels().sgd(*[empty.copy() for _ in range(4)], *[number] * 6)
    kernels().superfed(*[empty.copy() for _ in range(7)], *[number] * 8)
    kernels().mix(*[empty.copy() for _ in range(3)], number)
