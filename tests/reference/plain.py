"""What every plain loop needs. Nothing here uses the engine, the vector view or the methods of the package.

What is random (who is sampled, in which order samples come, λ, coins, the initial weights) is read from the same keys,
because it is an input.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from superfed.core.random import key, stream
from superfed.engine.task import Task

Build = Callable[[], nn.Module]
Learnt = dict[str, torch.Tensor]
"""What a loop ends with, by the names ``support.toys.weights`` gives: the server's state and what each client keeps."""

Sgd = torch.optim.SGD


def one_thread() -> Iterator[None]:
    """A fixture's body: the loops' tiny tensors are slower on several threads, most of all beside other tests."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def fresh_network(build: Build, seed: int, client: int = -1) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(key(seed, "init", client=client) % 2**63)
        return build()


def sampled(task: Task, r: int) -> list[int]:
    count = int(task.schedule.clients_per_round)
    return sorted(stream(task.seed, "cohort", round=r).choice(task.data.num_clients, count, replace=False).tolist())


def batches(
    task: Task, r: int, client: int, *, phase: int = 0, epochs: int | None = None
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The mini-batches of so many epochs, or of the schedule's E; the last of each epoch as small as it comes out."""
    samples, size = task.data.train(client), task.schedule.batch_size
    epochs = task.schedule.local_epochs if epochs is None else epochs
    rng = stream(task.seed, f"batches/{phase}", round=r, client=client)
    orders = rng.permuted(np.tile(np.arange(len(samples)), (epochs, 1)), axis=1)
    return [
        (samples.x[order[i : i + size]], samples.y[order[i : i + size]])
        for order in orders
        for i in range(0, len(samples), size)
    ]


def rate(task: Task, r: int) -> float:
    return task.schedule.lr * task.schedule.lr_decay**r


def sgd(task: Task, r: int, parameters: Iterable[torch.Tensor]) -> Sgd:
    """A round's optimiser, new, so without velocity."""
    s = task.schedule
    return Sgd(parameters, rate(task, r), s.momentum, weight_decay=s.weight_decay)


def descend(loss: torch.Tensor, *optimisers: Sgd) -> None:
    for optimiser in optimisers:
        optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    for optimiser in optimisers:
        optimiser.step()


def squared_distance(net: nn.Module, anchor: nn.Module) -> torch.Tensor:
    """‖w − w_a‖², with the anchor fixed"""
    pairs = zip(net.parameters(), anchor.parameters(), strict=True)
    return torch.stack([(p - q.detach()).pow(2).sum() for p, q in pairs]).sum()


def fit(
    task: Task,
    r: int,
    client: int,
    net: nn.Module,
    *,
    parameters: Iterable[torch.Tensor] | None = None,
    phase: int = 0,
    epochs: int | None = None,
    pull: float = 0.0,
    anchor: nn.Module | None = None,
) -> None:
    """Local SGD on the network's parameters, or on some of them: min f(w) + pull/2 ‖w − w_anchor‖²."""
    optimiser = sgd(task, r, net.parameters() if parameters is None else parameters)
    for x, y in batches(task, r, client, phase=phase, epochs=epochs):
        loss = functional.cross_entropy(net(x), y)
        descend(loss if anchor is None else loss + pull / 2 * squared_distance(net, anchor), optimiser)


def portions(counts: Sequence[int]) -> list[float]:
    return [n / sum(counts) for n in counts]


def mean(uploads: Sequence[Iterable[torch.Tensor]], counts: Sequence[int]) -> list[torch.Tensor]:
    """Σ n_i w_i / Σ n_i, tensor by tensor"""
    return [
        torch.stack([share * t.detach() for share, t in zip(portions(counts), same, strict=True)]).sum(0)
        for same in zip(*uploads, strict=True)
    ]


def put(parameters: Iterable[torch.Tensor], values: Iterable[torch.Tensor]) -> None:
    with torch.no_grad():
        for parameter, value in zip(parameters, values, strict=True):
            parameter.copy_(value)


def flat(parts: nn.Module | Iterable[torch.Tensor]) -> torch.Tensor:
    tensors = parts.parameters() if isinstance(parts, nn.Module) else parts
    return torch.cat([t.detach().reshape(-1) for t in tensors])


def learnt(server: Learnt, **kept: dict[int, torch.Tensor]) -> Learnt:
    """Everything by name: ``learnt({"w": …}, v={client: …})``."""
    clients = {f"{client}/{name}": value for name, values in kept.items() for client, value in values.items()}
    return {f"server/{name}": value for name, value in server.items()} | clients
