"""A model is a vector: any ``nn.Module`` seen as ``apply(w, x)`` with ``w`` one flat tensor cut into named layers."""

import contextlib
import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call

from superfed.core.errors import SettingError, UserError
from superfed.core.inspect import (
    check_module,
    draws_randomly,
    goes_through_time,
    head_start,
    reset,
    uses_batch_statistics,
)
from superfed.core.lane_ops.conv import with_lane_convolutions
from superfed.core.lane_ops.product import with_lane_products
from superfed.core.norm import WEIGHTS, with_exact_norms
from superfed.core.random import torch_seeded

ModelSource = nn.Module | Callable[[], nn.Module]
Weights = Tensor | tuple[Tensor, ...]
"""A model's vector, or stretches of whole parameters that make it up in their order: a gradient by one of those does not
pass through the layers of the others, as that by a part of one vector does."""

FRESH_KEPT = 2**25
"""Numbers of fresh initialisations that are kept."""


@dataclass(frozen=True)
class Layer:
    """One layer module: all the parameters it owns itself, weight and bias together, as one slice of the vector."""

    name: str
    start: int
    stop: int

    @property
    def slice(self) -> slice:
        return slice(self.start, self.stop)

    @property
    def size(self) -> int:
        return self.stop - self.start


class VectorModel:
    """The vector view of a network.

    ``source`` is a module or, better, a function that builds one. A function gives fresh initialisations exactly as its
    author wrote them. A module is re-initialised by its layers' ``reset_parameters`` and its own weights are kept as the
    first global model, so that a pretrained network is a starting point.

    Frozen parameters (``requires_grad=False``) stay as they are and are no part of the vector. Tied weights appear once,
    in the first layer that owns them.
    """

    def __init__(self, source: ModelSource, *, head: str | None = None, dtype: torch.dtype | None = None) -> None:
        built = not isinstance(source, nn.Module)
        self._source = source if built else copy.deepcopy(source)  # whatever becomes of the one given
        module = self._initialised(0) if built else copy.deepcopy(source)
        if not isinstance(module, nn.Module):
            raise UserError(f"model: the function given returned {type(module).__name__}, not a torch.nn.Module")
        check_module(module, rebuildable=built)
        module = module.to(dtype=dtype) if dtype is not None else module
        self._exported = copy.deepcopy(module).eval()
        self._training = with_exact_norms(module).train()
        self._evaluating = copy.deepcopy(self._training).eval()
        trainable = {name: p for name, p in self._training.named_parameters() if p.requires_grad}
        self.dtype: torch.dtype = next(iter(trainable.values())).dtype
        self._names = tuple(trainable)
        self._shapes = tuple(p.shape for p in trainable.values())
        self._sizes = [p.numel() for p in trainable.values()]
        self._frozen = {name: p.detach() for name, p in self._training.named_parameters() if not p.requires_grad}
        self._weight_buffers = [name for name, _ in self._training.named_buffers() if name.split(".")[-1] == WEIGHTS]
        self.size: int = sum(self._sizes)
        self.layers: tuple[Layer, ...] = self._cut_into_layers()
        cut = head_start(self._training, [layer.name for layer in self.layers], head)
        self.head = slice(self.layers[cut].start if cut < len(self.layers) else self.size, self.size)
        self.body = slice(0, self.head.start)
        self.batchable: bool = not (draws_randomly(self._training) or uses_batch_statistics(self._training))
        """Whether lanes may be padded and computed together; if not, they are computed one at a time."""
        self.recurrent: bool = goes_through_time(self._training)
        """Whether each step of a lane is long by itself, one time after another."""
        self._in_lanes: VectorModel | None = None
        self._fresh: OrderedDict[int, Tensor] = OrderedDict()
        self.start: Tensor | None = None if built else self.flatten(self._training)
        """The given module's own weights, where a module and not a function was given."""
        self.layer_of: Tensor = torch.repeat_interleave(
            torch.arange(len(self.layers)), torch.tensor([layer.size for layer in self.layers])
        )
        """For each parameter the index of its layer, so that ``lam[layer_of]`` spreads one number per layer."""

    def _cut_into_layers(self) -> tuple[Layer, ...]:
        layers: list[Layer] = []
        position = 0
        for name, size in zip(self._names, self._sizes, strict=True):
            owner = name.rpartition(".")[0] or "(model)"
            if layers and layers[-1].name == owner:
                layers[-1] = Layer(owner, layers[-1].start, position + size)
            else:
                layers.append(Layer(owner, position, position + size))
            position += size
        return tuple(layers)

    def flatten(self, module: nn.Module) -> Tensor:
        """The trainable parameters of ``module`` as one vector, detached."""
        parameters = dict(module.named_parameters())
        return torch.cat([parameters[name].detach().reshape(-1) for name in self._names]).to(self.dtype)

    def unflatten(self, w: Weights) -> dict[str, Tensor]:
        """The named parameters inside ``w``. One split of a stretch, so that its gradient is one concatenation."""
        if isinstance(w, Tensor):
            parts = list(torch.split(w, self._sizes))
        else:
            sizes = iter(self._sizes)
            parts = [part for stretch in w for part in torch.split(stretch, list(_adding_up_to(len(stretch), sizes)))]
        return {n: p.view(s) for n, p, s in zip(self._names, parts, self._shapes, strict=True)}

    def apply(self, w: Weights, x: Tensor, *, training: bool = False, weight: Tensor | None = None) -> Tensor:
        """The network with parameters ``w`` on the inputs ``x``; ``weight`` says which samples of a padded batch count."""
        module = self._training if training else self._evaluating
        weights = {} if weight is None else dict.fromkeys(self._weight_buffers, weight)
        outputs: Tensor = functional_call(module, {**self.unflatten(w), **self._frozen, **weights}, (x,))
        return outputs

    @property
    def normalises_batches(self) -> bool:
        """Whether a sample's outputs in training depend on those beside it."""
        return bool(self._weight_buffers) or uses_batch_statistics(self._training)

    @property
    def by_sample(self) -> bool:
        """Whether an evaluated sample's outputs depend on it alone, and not on those beside it."""
        return not self._weight_buffers

    @property
    def evaluating_module(self) -> nn.Module:
        """The network itself as it is evaluated; not to be written to either."""
        return self._evaluating

    @property
    def training_module(self) -> nn.Module:
        """The network itself as it trains; its parameters are not the vector's, and it is not to be written to."""
        return self._training

    def for_lanes(self) -> "VectorModel":
        """The same view for many lanes at once, whose layers compute in ways that suit lanes.

        Layers of our own that do have an attribute ``in_lanes``; others are exchanged.
        """
        if self._in_lanes is None:
            lanes = copy.copy(self)
            lanes._training, lanes._evaluating = copy.deepcopy(self._training), copy.deepcopy(self._evaluating)
            for module in (lanes._training, lanes._evaluating):
                with_lane_convolutions(module)
                with_lane_products(module)
                for part in module.modules():
                    if hasattr(part, "in_lanes"):
                        setattr(part, "in_lanes", True)  # noqa: B010 (torch's types know no other attributes)
            self._in_lanes = lanes
        return self._in_lanes

    def fresh(self, key: int) -> Tensor:
        """A fresh initialisation, decided by ``key`` alone; torch's own random state is left as it was.

        Some are kept for a while: in a sweep many runs share a seed, and their clients begin alike.
        """
        if key not in self._fresh:
            module = self._initialised(key)
            if module is self._training:
                raise UserError("model: the function given returns the same module every time; let it build a new one")
            self._fresh[key] = self.flatten(module)
            while len(self._fresh) > max(FRESH_KEPT // self.size, 1):
                self._fresh.popitem(last=False)
        return self._fresh[key].clone()

    def _initialised(self, key: int) -> nn.Module:
        with torch_seeded(key):
            if not isinstance(self._source, nn.Module):
                return self._source()
            module = copy.deepcopy(self._source)
            reset(module)
            return module

    def module(self, w: Tensor) -> nn.Module:
        """An ordinary module with the parameters ``w``, in evaluation mode, that shares nothing with this object."""
        if w.shape != (self.size,):
            raise UserError(f"model: {self.size} parameters are needed, {tuple(w.shape)} were given")
        module = copy.deepcopy(self._exported).to(w.device)
        with torch.no_grad():
            for name, value in self.unflatten(w).items():
                module.get_parameter(name).copy_(value)
        return module

    def to(self, device: torch.device) -> "VectorModel":
        """The same view for vectors on ``device``."""
        moved = copy.copy(self)
        moved.layer_of = self.layer_of.to(device)
        moved._frozen = {name: p.to(device) for name, p in self._frozen.items()}
        return moved

    def check_forward(self, x: Tensor, num_classes: int) -> None:
        """Run the network once on ``x`` and refuse it with a sentence if its answer cannot be used."""
        w = self.fresh(0)
        try:
            with torch.no_grad():
                outputs = self.apply(w, x)
        except Exception as error:  # whatever a user's forward() may raise
            first_line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise UserError(f"model: it cannot take inputs of shape {tuple(x.shape[1:])}: {first_line}") from error
        if not isinstance(outputs, Tensor) or outputs.shape != (len(x), num_classes):
            got = tuple(outputs.shape[1:]) if isinstance(outputs, Tensor) else type(outputs).__name__
            raise SettingError(
                "model", f"its output for one sample is {got}, and {num_classes} class scores are needed"
            )
        self._notice_draws(w, x)

    def _notice_draws(self, w: Tensor, x: Tensor) -> None:
        """Some networks call dropout as a function: what draws moves torch's random state."""
        with torch_seeded(0), torch.no_grad(), contextlib.suppress(Exception):
            before = torch.get_rng_state()
            self.apply(w, x, training=True)
            if not torch.equal(before, torch.get_rng_state()):
                self.batchable = False


def _adding_up_to(total: int, sizes: Iterator[int]) -> Iterator[int]:
    """Takes as many as that is the sum of."""
    while total > 0:
        size = next(sizes)
        yield size
        total -= size
