"""What every method of the registry owes its users; a new one gets these for free."""

from pathlib import Path

import pytest
import torch

from superfed.core.algorithm import Algorithm
from superfed.core.state import State
from superfed.core.vector import VectorModel
from superfed.engine.batched import batched_update
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.clients import DiskStates
from superfed.engine.evaluate import lambda_grid
from superfed.engine.executors import Batched, OneAtATime
from superfed.engine.lanes import Lane
from superfed.engine.local import local_update
from superfed.engine.simulation import Run, evaluate
from superfed.engine.task import Task
from superfed.engine.tensors import read_state, write_state
from support.toys import (
    CPU,
    METHODS,
    assert_same,
    difference,
    go_on,
    toy_data,
    toy_network,
    toy_task,
    train,
    weights,
    workers,
)

ROUNDING = 1e-10

every_method = pytest.mark.parametrize("algorithm", METHODS.values(), ids=METHODS)


def some_round(task: Task) -> tuple[State, State]:
    """What client 3 keeps and is sent once training is under way."""
    (run,) = train([task], rounds=3)
    return run.states.get(3) or task.init_client(3), run.sent(CPU)


@every_method
def test_batched_equals_one_at_a_time(algorithm: Algorithm) -> None:
    (one,), (batched,) = train([toy_task(algorithm)]), train([toy_task(algorithm)], Batched(CPU))
    assert_same(one, batched, ROUNDING)
    assert difference(one, train([toy_task(algorithm)], rounds=3)[0]) > 1e-6


@every_method
@pytest.mark.parametrize("most", [1, 2, 5])
def test_any_lane_count_gives_the_same(algorithm: Algorithm, most: int) -> None:
    tasks = [toy_task(algorithm, seed=seed) for seed in (0, 1, 2)]
    for one, other in zip(train(tasks), train(tasks, Batched(CPU, max_lanes=most)), strict=True):
        assert_same(one, other, ROUNDING)


@every_method
@pytest.mark.parametrize("count", [2, 3])
def test_any_worker_count_gives_the_same_bits(algorithm: Algorithm, count: int) -> None:
    tasks = [toy_task(algorithm, seed=seed) for seed in (0, 1)]
    alone = train(tasks)
    pool = workers(tasks, count)
    try:
        spread = train(tasks, pool)
        everyone = [range(6), range(6)]
        scores = evaluate(spread, everyone, pool, lambda_grid(3))
        (second_alone,) = evaluate(spread[1:], everyone[1:], pool, lambda_grid(3))
    finally:
        pool.close()
    for one, other in zip(alone, spread, strict=True):
        assert_same(one, other)
    expected = evaluate(alone, everyone, OneAtATime(CPU), lambda_grid(3))
    for run, expected_run in zip([*scores, second_alone], [*expected, expected[1]], strict=True):
        for one_client, expected_client in zip(run, expected_run, strict=True):
            for name, values in one_client.test.items():
                assert (values == expected_client.test[name]).all(), name


@every_method
def test_runs_together_equal_runs_alone(algorithm: Algorithm) -> None:
    """Seeds and settings are only more lanes: also runs of other lengths and other methods beside it."""
    tasks = [toy_task(algorithm, seed=0), toy_task(METHODS["fedavg"], rounds=2), toy_task(algorithm, seed=7, lr=0.02)]
    together = train(tasks, Batched(CPU))
    for task, run in zip(tasks, together, strict=True):
        assert_same(train([task])[0], run, ROUNDING)


@every_method
def test_neighbours_and_padding_change_nothing(algorithm: Algorithm) -> None:
    """A lane beside longer ones, in any order, comes out as it does alone."""
    task = toy_task(algorithm)
    _, sent = some_round(task)
    lanes = [Lane(0, task, client, 3, sent, lambda: None) for client in range(6)]
    together = batched_update(lanes, CPU)
    backwards = batched_update(lanes[::-1], CPU)[::-1]
    for lane, one, other in zip(lanes, together, backwards, strict=True):
        (alone,) = batched_update([lane], CPU)
        for state in ("kept", "upload"):
            for name, value in getattr(alone, state).items():
                torch.testing.assert_close(getattr(one, state)[name], value, rtol=0, atol=ROUNDING)
                torch.testing.assert_close(getattr(other, state)[name], value, rtol=0, atol=ROUNDING)


@every_method
def test_the_order_of_clients_changes_nothing(algorithm: Algorithm) -> None:
    task = toy_task(algorithm)
    forwards, backwards = Run(task), Run(task)
    sent = forwards.sent(CPU)
    updates = {client: local_update(task, client, 0, task.init_client(client), sent) for client in (1, 3, 4)}
    forwards.complete_round(updates, sent)
    backwards.complete_round(dict(reversed(updates.items())), sent)
    assert_same(forwards, backwards)


@every_method
def test_inputs_are_left_as_they_were(algorithm: Algorithm) -> None:
    task = toy_task(algorithm)
    kept, sent = some_round(task)
    before = [{name: t.clone() for name, t in state.items()} for state in (kept, sent)]
    local_update(task, 3, 3, kept, sent)
    for state, old in zip((kept, sent), before, strict=True):
        assert all(torch.equal(t, old[name]) for name, t in state.items())


@every_method
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_precision_stays(algorithm: Algorithm, dtype: torch.dtype) -> None:
    task = toy_task(algorithm)
    task = Task(algorithm, VectorModel(toy_network, dtype=dtype), task.data, task.schedule)
    (run,) = train([task], rounds=2)
    assert {t.dtype for t in weights(run).values()} == {dtype}


@every_method
def test_states_survive_files(algorithm: Algorithm, tmp_path: Path) -> None:
    kept, sent = some_round(toy_task(algorithm))
    for number, state in enumerate((kept, sent)):
        write_state(tmp_path / str(number), state)
        again = read_state(tmp_path / str(number))
        assert again.keys() == state.keys()
        assert all(torch.equal(again[name], t) for name, t in state.items())


@every_method
@pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "disk"])
def test_a_resumed_run_ends_in_the_same_bits(algorithm: Algorithm, on_disk: bool, tmp_path: Path) -> None:
    (whole,) = train([toy_task(algorithm)])
    checkpoints = Checkpoints(tmp_path)
    states = {"states": DiskStates(checkpoints.clients)} if on_disk else {}
    first = Run(toy_task(algorithm), **states)  # type: ignore[arg-type]
    go_on([first], rounds=2)
    first.save(checkpoints)
    go_on([first], rounds=1)  # lost: no checkpoint was made of it
    states = {"states": DiskStates(checkpoints.clients)} if on_disk else {}
    second = Run(toy_task(algorithm), **states)  # type: ignore[arg-type]
    assert second.restore(Checkpoints(tmp_path))
    assert second.round == 2
    go_on([second])
    assert_same(whole, second)
    assert whole.records == second.records


@every_method
def test_a_step_is_the_same_for_any_number_of_clients(algorithm: Algorithm) -> None:
    """Nothing of a client's update depends on who else is there."""
    few, many = toy_data((1, 3, 10, 23, 7, 12)), toy_data((1, 3, 10, 23, 7, 12, 5, 5, 5))
    task, crowd = toy_task(algorithm, data=few), toy_task(algorithm, data=many)
    kept, sent = task.init_client(3), Run(task).sent(CPU)
    one = local_update(task, 3, 1, kept, sent)
    other = local_update(crowd, 3, 1, kept, sent)
    assert all(torch.equal(one.upload[name], t) for name, t in other.upload.items())


@every_method
def test_personal_models_answer_with_the_whole_vector(algorithm: Algorithm) -> None:
    task = toy_task(algorithm)
    kept, sent = some_round(task)
    w = [algorithm.personal_model(kept, sent, torch.tensor(lam, dtype=torch.float64), task.model) for lam in (0.0, 1.0)]
    assert w[0].shape == (task.model.size,)
    assert torch.equal(w[0], w[1]) != algorithm.mixes
