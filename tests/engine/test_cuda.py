"""On CUDA lanes are batched, and the numbers are those of one client at a time on the CPU."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
import torch
from torch import nn

import superfed
from superfed.core.algorithm import Algorithm
from superfed.core.vector import VectorModel
from superfed.data.own import OwnData
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.evaluate import lambda_grid
from superfed.engine.executors import Batched, OneAtATime, make_executor
from superfed.engine.precision import Precision
from superfed.engine.simulation import Run, evaluate
from superfed.engine.task import Schedule, Task
from superfed.experiments.newcomers import meet_newcomers
from superfed.models import TwoCNN
from support.toys import CPU, METHODS, assert_same, go_on, toy_task, train

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
GPU = torch.device("cuda")

every_method = pytest.mark.parametrize("algorithm", METHODS.values(), ids=METHODS)


@every_method
def test_batched_on_cuda_equals_the_cpu(algorithm: Algorithm) -> None:
    tasks = [toy_task(algorithm, seed=seed) for seed in (0, 1)]
    executor = make_executor(tasks)
    assert isinstance(executor, Batched)
    assert executor.device.type == "cuda"
    for one, other in zip(train(tasks), train(tasks, executor), strict=True):
        assert_same(one, other, 1e-10)


@every_method
def test_one_at_a_time_on_cuda_equals_the_cpu(algorithm: Algorithm) -> None:
    task = toy_task(algorithm)
    (one,), (other,) = train([task]), train([task], OneAtATime(GPU))
    assert_same(one, other, 1e-10)


@every_method
def test_convolutions_too(algorithm: Algorithm) -> None:
    rng = torch.Generator().manual_seed(0)
    clients = [
        (torch.rand(n, 3, 12, 12, generator=rng, dtype=torch.float64), torch.randint(0, 4, (n,), generator=rng))
        for n in (9, 14, 22)
    ]
    model = VectorModel(TwoCNN(channels=4, width=16).builder((3, 12, 12), 4), dtype=torch.float64)
    base = toy_task(algorithm)
    task = Task(
        algorithm, model, OwnData.from_clients(clients, num_classes=4), replace(base.schedule, clients_per_round=2)
    )
    (one,), (other,) = train([task]), train([task], Batched(GPU))
    assert_same(one, other, 1e-9)


@every_method
def test_evaluation_on_cuda_equals_the_cpu(algorithm: Algorithm) -> None:
    (run,) = train([toy_task(algorithm)])
    everyone = [range(6)]
    (ours,) = evaluate([run], everyone, Batched(GPU), lambda_grid(5))
    (theirs,) = evaluate([run], everyone, OneAtATime(CPU), lambda_grid(5))
    for one, other in zip(ours, theirs, strict=True):
        for name, values in one.test.items():
            assert abs(values - other.test[name]).max() < 1e-9, name


@every_method
def test_newcomers_are_met_on_cuda_as_on_the_cpu(algorithm: Algorithm) -> None:
    task = replace(toy_task(algorithm), newcomers=0.34)
    met = []
    for executor in (OneAtATime(CPU), Batched(GPU)):
        (run,) = train([task], executor)
        met.append(meet_newcomers(run, executor, lambda_grid(3), epochs=2).summary())
    assert met[0]["adapted"]["validated"]["loss"]["mean"] == pytest.approx(
        met[1]["adapted"]["validated"]["loss"]["mean"]
    )
    assert (met[0]["arriving"] is None) == (met[1]["arriving"] is None)


@every_method
def test_a_run_on_cuda_resumes_from_its_checkpoint(algorithm: Algorithm, tmp_path: Path) -> None:
    executor = Batched(GPU)
    (whole,) = train([toy_task(algorithm)], executor)
    (first,) = train([toy_task(algorithm)], executor, rounds=2)
    first.save(Checkpoints(tmp_path))
    second = Run(toy_task(algorithm))
    assert second.restore(Checkpoints(tmp_path))
    go_on([second], executor)
    assert_same(whole, second, 1e-12)


@pytest.mark.parametrize("name", ["superfed", "superfed-layer", "fedrep", "pfedme"])
def test_compiled_programs_equal_the_cpu(name: str) -> None:
    tasks = [toy_task(METHODS[name], seed=seed) for seed in (0, 1)]
    heard: list[str] = []
    executor = Batched(GPU, compile="on", tell=lambda what, seconds: heard.append(what) if seconds is None else None)
    for one, other in zip(train(tasks), train(tasks, executor), strict=True):
        assert_same(one, other, 1e-10)
    assert len(heard) == len(METHODS[name].phases(1))  # one program a phase, kept across rounds and runs


def one_step_task(algorithm: Algorithm, precision: Precision) -> Task:
    """Of two clients whose samples are one batch, so that errors of single products are seen as they are.

    The rate is large: after a small step, what rounding leaves of the weights themselves would be most of the error.
    """
    rng = torch.Generator().manual_seed(0)
    clients = [(torch.rand(n, 3, 12, 12, generator=rng), torch.randint(0, 4, (n,), generator=rng)) for n in (20, 28)]
    model = VectorModel(TwoCNN(channels=8, width=32).builder((3, 12, 12), 4))
    schedule = Schedule(rounds=1, clients_per_round=2, local_epochs=1, batch_size=28, lr=1.0)
    return Task(algorithm, model, OwnData.from_clients(clients, num_classes=4), schedule, precision=precision)


@pytest.mark.parametrize("compiled", ["off", "on"])
@pytest.mark.parametrize(
    ("precision", "near", "far"), [("float32", 1e-5, 0), ("tf32", 5e-3, 1e-5), ("bf16", 5e-2, 1e-4)]
)
def test_each_precision_is_as_exact_as_it_says(
    precision: Precision, near: float, far: float, compiled: Literal["on", "off"]
) -> None:
    task = one_step_task(METHODS["superfed"], precision)
    (exact,) = train([replace(task, precision="float32")])
    (run,) = train([task], Batched(GPU, compile=compiled))
    moved_by = (exact.server["w"] - task.init_server()["w"]).norm()
    error = (run.server["w"].cpu() - exact.server["w"]).norm() / moved_by
    assert far <= error < near


def test_what_clients_keep_stays_on_the_device_while_there_is_room() -> None:
    task = toy_task(METHODS["superfed"])
    for memory, where in ((16.0, "cuda"), (1e-9, "cpu")):
        executor = Batched(GPU, memory=memory)
        (run,) = train([task], executor)
        kept = [run.states.get(client) for client in range(6)]
        assert {t.device.type for state in kept if state for t in state.values()} == {where}


def test_torchs_own_settings_are_left_as_they_were() -> None:
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    train([one_step_task(METHODS["fedavg"], "tf32")], Batched(GPU))
    assert before == (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32)


def test_fitted_models_are_ordinary_ones() -> None:
    rng = torch.Generator().manual_seed(0)
    clients = [(torch.rand(30, 5, generator=rng), torch.randint(0, 3, (30,), generator=rng)) for _ in range(4)]
    fitted = superfed.fit(clients, lambda: nn.Linear(5, 3), rounds=2, device="cuda")
    for client in range(4):
        outputs = fitted.client(client).model()(torch.rand(2, 5))
        assert outputs.device.type == "cpu"
    assert fitted.global_model()(torch.rand(2, 5)).shape == (2, 3)
