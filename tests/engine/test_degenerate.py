"""Where one method becomes another, they agree bit for bit."""

import copy
from typing import Literal

import torch
from torch.nn import functional

from superfed.algorithms import FedAvg, FedProx, SuPerFed
from superfed.core.algorithm import Context, autograd_gradients
from superfed.core.batch import Batch
from superfed.core.sgd import SGD
from superfed.engine.batched import group_key
from superfed.engine.executors import Batched
from superfed.engine.simulation import Run
from support.toys import CPU, METHODS, assert_same, toy_data, toy_task, train, weights


def server_only(run: Run) -> torch.Tensor:
    return weights(run)["server/w"]


def test_fedprox_without_proximity_is_fedavg() -> None:
    prox, avg = train([toy_task(FedProx(mu=0.0)), toy_task(FedAvg())])
    assert_same(prox, avg)


def test_superfed_that_never_mixes_is_fedavg() -> None:
    mixings: tuple[Literal["model", "layer"], ...] = ("model", "layer")
    for mixing in mixings:
        fed, avg = train([toy_task(SuPerFed(mu=0.0, nu=0.0, start=1.0, mixing=mixing)), toy_task(FedAvg())])
        assert torch.equal(server_only(fed), server_only(avg))


def test_superfed_that_never_mixes_is_fedprox() -> None:
    """μ‖·‖² here is μ'/2‖·‖² there, with μ' = 2μ."""
    fed, prox = train([toy_task(SuPerFed(mu=0.15, nu=0.0, start=1.0)), toy_task(FedProx(mu=0.3))])
    assert torch.equal(server_only(fed), server_only(prox))


def test_one_superfed_step_at_lambda_zero_is_a_fedavg_step() -> None:
    """λ = ν = μ = 0 also after the start round."""
    task = toy_task(FedAvg())
    sent, samples = Run(task).sent(CPU), task.data.train(3)
    batch = Batch(samples.x, samples.y)

    def scalar(value: float) -> torch.Tensor:
        return torch.tensor(value, dtype=torch.float64)

    ctx = Context(
        task.model,
        SGD(scalar(0.1), scalar(0.9), scalar(0.01)),
        autograd_gradients,
        "train",
        {"personalised": scalar(1.0)},
        {"lam": scalar(0.0)},
    )
    fed = SuPerFed(mu=0.0, nu=0.0)
    kept = {"w_l": task.model.fresh(9)}
    one = fed.step(fed.begin(kept, sent, ctx), sent, batch, ctx)["w_f"]
    other = FedAvg().step(FedAvg().begin({}, sent, ctx), sent, batch, ctx)["w"]
    assert torch.equal(one, other)


def test_the_local_model_is_untouched_before_the_start_round() -> None:
    task = toy_task(SuPerFed(nu=1.0, start=3))
    (early,) = train([task], rounds=3)
    took_part = {client for record in early.records for client in record.cohort}
    for client in took_part:
        kept = early.states.get(client)
        assert kept is not None
        assert torch.equal(kept["w_l"], task.init_client(client)["w_l"])
    (late,) = train([task])
    after = {client: late.states.get(client) or {} for client in late.records[3].cohort}
    moved = [client for client, kept in after.items() if not torch.equal(kept["w_l"], task.init_client(client)["w_l"])]
    assert moved == late.records[3].cohort


def test_one_client_is_plain_sgd() -> None:
    """One client, all its samples in one batch: the global model is what SGD with a fresh start every round gives."""
    data = toy_data((8,))
    task = toy_task(FedAvg(), data=data, clients_per_round=1, local_epochs=1, batch_size=8)
    (run,) = train([task])
    network = copy.deepcopy(task.model.module(task.init_server()["w"])).train()
    samples = data.train(0)
    for r in range(4):
        optimiser = torch.optim.SGD(network.parameters(), lr=0.1 * 0.9**r, momentum=0.9, weight_decay=0.01)
        optimiser.zero_grad()
        functional.cross_entropy(network(samples.x), samples.y).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    expected = torch.cat([p.detach().reshape(-1) for p in network.parameters()])
    torch.testing.assert_close(server_only(run), expected, rtol=0, atol=1e-12)


def test_clients_that_never_took_part_start_from_their_own_initialisation() -> None:
    task = toy_task(METHODS["superfed"])
    assert not torch.equal(task.init_client(0)["w_l"], task.init_client(1)["w_l"])
    assert not torch.equal(task.init_client(0)["w_l"], task.init_server()["w"])
    assert torch.equal(task.init_client(0)["w_l"], toy_task(METHODS["superfed"]).init_client(0)["w_l"])


def test_a_sweep_over_settings_is_batched_and_right() -> None:
    """ν, μ, start and rate differ between runs that are computed as one stack."""
    tasks = [
        toy_task(SuPerFed(mu=mu, nu=nu, start=start), lr=lr)
        for mu, nu, start, lr in [(0.0, 0.0, 0.5, 0.1), (0.5, 2.0, 0, 0.05), (0.01, 5.0, 4, 0.2)]
    ]
    assert len({group_key(task) for task in tasks}) == 1
    for task, run in zip(tasks, train(tasks, Batched(CPU)), strict=True):
        assert_same(train([task])[0], run, 1e-10)
