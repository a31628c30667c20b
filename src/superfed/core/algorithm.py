"""The shape of a method: small pure functions for one client, and one, ``aggregate``, that sees many.

State goes in and state comes out. A method knows nothing of lanes, devices, padding, random states or runtimes.
"""

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, cast

import torch
from torch import Tensor

from superfed.core.aggregation import Center, plain_mean
from superfed.core.batch import Batch, mean_cross_entropy
from superfed.core.sgd import SGD
from superfed.core.state import State
from superfed.core.vector import VectorModel, Weights

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class Phase:
    """Some epochs of a local update in which the same ``step`` is taken."""

    name: str
    epochs: int


class Gradients(Protocol):
    def __call__(self, loss: Callable[..., Tensor], *at: Tensor) -> tuple[Tensor, ...]: ...


@dataclass(frozen=True)
class Context:
    """What a step may use besides its state and batch."""

    model: VectorModel
    sgd: SGD
    gradients: Gradients
    """The gradients of a scalar function with respect to each of the tensors it is given."""
    phase: str
    round: Mapping[str, Tensor]
    """The values of ``round_values`` for this round."""
    noise: Mapping[str, Tensor]
    """Uniform draws from [0, 1) for this step, in the shapes that ``noise`` asked for."""

    loss: Callable[[Weights, Batch], Tensor] | None = None
    """A quicker way to the mean loss than through the model, where the runtime knows one."""

    def task_loss(self, w: Weights, batch: Batch) -> Tensor:
        """The mean loss of the model ``w`` over the batch."""
        if self.loss is not None:
            return self.loss(w, batch)
        return mean_cross_entropy(self.model.apply(w, batch.x, training=True, weight=batch.weight), batch)

    def spread(self, per_layer: Tensor) -> Tensor:
        """One number per layer, repeated over that layer's parameters."""
        return per_layer[self.model.layer_of]


@dataclass(frozen=True)
class Cohort:
    """Whose uploads are aggregated: their training-set sizes, in order, and how many clients may take part in all."""

    samples: Tensor
    num_clients: int
    total_samples: Callable[[], int]
    """The training samples of all those; counting them takes a walk over all, so only who needs it asks."""
    center: Center = plain_mean
    """How vectors are brought together: by the mean, unless the run has something that bad clients move less."""


@dataclass(frozen=True)
class FirstModel:
    """Where a client's own model may start; each costs something, so it is made when asked for."""

    shared: Callable[[], Tensor]
    """The server's first model, the same for all: a pretrained one, where one was given."""
    own: Callable[[], Tensor]
    """A random initialisation of the client's own."""


def host_only(default: Any) -> Any:
    """A setting that ``step`` never reads, only ``round_values``: runs that differ in it still share one program."""
    return field(default=default, metadata={"host_only": True})


class Algorithm:
    """A method. Subclasses are frozen dataclasses whose fields are its hyperparameters.

    Fields annotated ``float`` may differ between runs that are computed together: inside ``step`` they are tensors of no
    dimension. Other fields decide the program's shape, unless they are ``host_only``.
    """

    second_order: ClassVar[bool] = False
    """Whether ``step`` differentiates gradients again; who does is not given quicker ways that can only do it once."""
    mixes: ClassVar[bool] = False
    """Whether ``personal_model`` depends on λ."""
    sends_changes: ClassVar[bool] = False
    """Whether uploads are changes of what was sent, and not new values of it."""

    @property
    def title(self) -> str:
        """Its name in tables and plots."""
        return type(self).__name__

    @property
    def gradients(self) -> int:
        """How many a step takes, by which its time is guessed."""
        return 1

    def phases(self, local_epochs: int) -> tuple[Phase, ...]:
        return (Phase("train", local_epochs),)

    def noise(self, model: VectorModel) -> Mapping[str, tuple[int, ...]]:
        """The random draws each step needs, by name and shape."""
        return {}

    def round_values(self, round: int, rounds: int, draw: float) -> Mapping[str, float]:
        """Numbers that depend on the round alone. ``draw`` is uniform in [0, 1), and the same for all its clients."""
        return {}

    def check(self, rounds: int) -> None:
        """Raise ``SettingError`` if the hyperparameters cannot be used for a run of so many rounds."""

    def init_server(self, fresh: Tensor, model: VectorModel) -> State:
        return {"w": fresh}

    def init_client(self, first: FirstModel, model: VectorModel) -> State:
        """What a client keeps before its first round."""
        return {}

    def broadcast(self, server: State, model: VectorModel) -> State:
        """What the server sends to a client."""
        return server

    def begin(self, kept: State, sent: State, ctx: Context) -> State:
        """A client's working state for this round, from what it kept and what it was sent."""
        raise NotImplementedError

    def step(self, work: State, sent: State, batch: Batch, ctx: Context) -> State:
        """The working state after one mini-batch."""
        raise NotImplementedError

    def finish(self, work: State, kept: State, sent: State, ctx: Context) -> tuple[State, State]:
        """What the client keeps, and what it uploads."""
        raise NotImplementedError

    def aggregate(self, server: State, uploads: State, cohort: Cohort) -> State:
        """The next server state, from uploads stacked over the cohort."""
        return {name: cohort.center(rows, cohort.samples, server[name]) for name, rows in uploads.items()}

    def personal_model(self, kept: State, sent: State, lam: Tensor, model: VectorModel) -> Tensor:
        """The client's own model; ``lam`` is where on the line it lies, for methods that mix."""
        raise NotImplementedError

    def own_lambda(self, kept: State) -> Tensor | None:
        """The λ that the method itself chose for this client, where it chooses one."""
        return None

    def global_model(self, server: State) -> Tensor | None:
        """The model a newcomer may start from; None where the server has no whole one."""
        return server["w"]

    @property
    def adapt_epochs(self) -> int:
        """Epochs of its own rule that each client runs, for itself alone, before its personal model is used."""
        return 0

    def _fields(self) -> "tuple[Field[Any], ...]":
        return fields(cast("DataclassInstance", self))

    def lane_values(self) -> dict[str, float]:
        """The hyperparameters that may differ between lanes."""
        return {f.name: float(getattr(self, f.name)) for f in self._fields() if f.type in (float, "float")}

    def shape_key(self) -> tuple[object, ...]:
        """Runs with equal keys can be computed together."""
        lane = self.lane_values()
        static = [
            (f.name, getattr(self, f.name))
            for f in self._fields()
            if f.name not in lane and not f.metadata.get("host_only")
        ]
        return (type(self), *static)

    def with_lane_values(self, values: Mapping[str, Tensor]) -> Self:
        """The same method with tensors in place of numbers; for one lane, so no check is made again."""
        clone = object.__new__(type(self))
        clone.__dict__.update(self.__dict__, **values)
        return clone


def autograd_gradients(loss: Callable[..., Tensor], *at: Tensor) -> tuple[Tensor, ...]:
    """Gradients for one client at a time; zeros by what the loss does not depend on, such as a head without parameters."""
    with torch.enable_grad():
        leaves = [w.detach().requires_grad_() for w in at]
        value = loss(*leaves)
        if not value.requires_grad:
            return tuple(torch.zeros_like(w) for w in at)
        return torch.autograd.grad(value, leaves, materialize_grads=True)


def functional_gradients(loss: Callable[..., Tensor], *at: Tensor) -> tuple[Tensor, ...]:
    """Gradients that can be batched over lanes."""
    gradients: tuple[Tensor, ...] = torch.func.grad(loss, argnums=tuple(range(len(at))))(*at)
    return gradients
