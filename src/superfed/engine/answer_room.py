"""How much memory a model takes while it answers, found from its operations without running them."""

from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.func import vmap
from torch.fx.experimental.proxy_tensor import make_fx

from superfed.core.vector import VectorModel
from superfed.engine.answers import answer_tensors
from superfed.engine.footprint import peak_bytes

SAMPLES = 1024
"""So many are traced; what they take is next to nothing without numbers in them."""
_found: WeakKeyDictionary[VectorModel, dict[tuple[object, ...], float]] = WeakKeyDictionary()


def answer_bytes(model: VectorModel, x: Tensor, device: torch.device, num_samples: int) -> int:
    """For one of many models on ``device`` that are asked together, each about so many samples like those of ``x``.

    Counted are its weights, given and stacked, its inputs, all that is held between them and the answers, and these.
    """
    weights = 2 * model.size * model.dtype.itemsize
    return weights + int(_bytes_per_sample(model, x, device) * num_samples) + 1


def _bytes_per_sample(model: VectorModel, x: Tensor, device: torch.device) -> float:
    known = _found.setdefault(model, {})
    key = (device, x.shape[1:], x.dtype)
    if key not in known:
        sample = torch.zeros(x.shape[1:], dtype=x.dtype, device=device)
        known[key] = _peak(model.for_lanes().to(device), sample) / SAMPLES + sample.nbytes
    return known[key]


def _peak(model: VectorModel, sample: Tensor) -> int:
    def answers(w: Tensor, x: Tensor, counts: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return answer_tensors(vmap(lambda w, x, count: model.apply(w, x, weight=count))(w, x, counts), y)

    def many(value: Tensor, *shape: int) -> Tensor:
        return value.expand(1, *shape)

    one = torch.ones((), dtype=model.dtype, device=sample.device)
    inputs = many(one, model.size), many(sample, SAMPLES, *sample.shape), many(one, SAMPLES), many(one.long(), SAMPLES)
    with torch.no_grad():
        graph = make_fx(answers, tracing_mode="fake", _allow_non_fake_inputs=True)(*inputs).graph
    return peak_bytes(graph)
