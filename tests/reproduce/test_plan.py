"""A plan counts what the engine will do, without the data."""

import io

import numpy as np
import pytest
import torch
from rich.console import Console

from superfed.cli.reproduce_plan import show_plan
from superfed.core.errors import UserError
from superfed.data.dataset import Dataset
from superfed.data.dealt import deal
from superfed.data.split import Split
from superfed.engine.plan import plan_update
from superfed.experiments.assemble import Assembler
from superfed.reproduce.cells import TARGETS, Cell, cells, runs
from superfed.reproduce.known import MNIST_CLASSES, KnownPool, dealt
from superfed.reproduce.plan import Counting, Plan
from superfed.reproduce.rates import MACHINES, Rate


def full(id: str) -> Cell:
    return next(cell for cell in cells(id.split("/")[0], "full") if cell.id == id)


@pytest.mark.parametrize("target", ["table1", "table2", "table3", "table4"])
def test_client_steps_are_those_that_the_engine_plans(target: str) -> None:
    assembler, counting = Assembler(None), Counting()
    for run in runs(cells(target, "smoke")[::5], seeds=[0, 1]):
        task = assembler.task(run.config)
        updates = [(client, round) for round in range(task.schedule.rounds) for client in task.cohort(round)]
        steps = sum(phase.steps for client, round in updates for phase in plan_update(task, client, round))
        cost = counting.cost(counting.task(run.config))
        assert (cost.client_steps, cost.lanes) == (steps, task.cohort_size)
        kept = [task.init_client(client) for client in {client for client, _ in updates}]
        assert cost.state_bytes == sum(4 * tensor.numel() for state in kept for tensor in state.values())


@pytest.mark.parametrize("id", ["table1/mnist/k50/fedavg", "table4/mnist/pair0.1/fedavg"])
def test_clients_are_as_large_as_with_the_data_at_hand(id: str) -> None:
    config = full(id).config(seed=5).data
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(10), MNIST_CLASSES))
    pool = Dataset("mnist", torch.zeros(len(labels), 1, dtype=torch.uint8), torch.from_numpy(labels), 10)
    split = Split(config.test_fraction, config.validation_fraction)
    real = deal(pool, config.partition, config.num_clients, split=split, noise=config.label_noise, seed=5)
    known = dealt(config, 5)
    assert [known.train_size(i) for i in range(known.num_clients)] == [
        real.train_size(i) for i in range(known.num_clients)
    ]


@pytest.mark.parametrize(
    ("id", "clients", "samples", "steps"),
    [
        ("table1/mnist/k50/fedavg", 50, 864, 500 * 5 * 10 * 87),
        ("table1/cifar10/k500/superfed_mm", 500, 72, 500 * 5 * 10 * 8),
        ("table1/cifar10/k100/ditto", 100, 360, 500 * 5 * (10 + 5) * 36),
        ("table2/cifar100/alpha100/fedrep", 100, None, None),
        ("table3/femnist/natural/fedavg", 730, None, None),
        ("table3/shakespeare/natural/fedavg", 660, None, None),
    ],
)
def test_client_steps_of_the_paper(id: str, clients: int, samples: int | None, steps: int | None) -> None:
    counting = Counting()
    task = counting.task(full(id).config())
    assert task.data.num_clients == clients
    if samples is None:
        assert counting.cost(task).client_steps > 100_000
    else:
        assert {task.data.train_size(client) for client in range(clients)} == {samples}
        assert counting.cost(task).client_steps == steps


@pytest.mark.parametrize(
    ("id", "parameters"),
    [
        ("table1/mnist/k50/fedavg", 238_800),
        ("table1/cifar10/k50/fedavg", 914_800),  # 722,800 on 28×28, as in the published runs
        ("table2/cifar100/alpha1/fedavg", 5_054_784),
        ("table2/tiny_imagenet/alpha1/fedavg", 364_480),
        ("table3/femnist/natural/fedavg", 1_718_416),
        ("table3/shakespeare/natural/fedavg", 821_024),
    ],
)
def test_networks_are_the_variants_that_were_run(id: str, parameters: int) -> None:
    assert Counting().task(full(id).config()).model.size == parameters


def test_natural_clients_have_about_the_published_sizes() -> None:
    femnist = dealt(full("table3/femnist/natural/fedavg").config().data, 0)
    assert sum(femnist.train_size(client) for client in range(730)) == pytest.approx(0.72 * 163_541, rel=0.01)
    shakespeare = dealt(full("table3/shakespeare/natural/fedavg").config().data, 0)
    assert sum(shakespeare.train_size(client) for client in range(660)) == pytest.approx(0.72 * 4_087_514, rel=0.02)


def test_a_known_pool_holds_no_samples() -> None:
    with pytest.raises(UserError, match="mnist: only the numbers of its samples are known here"):
        KnownPool("mnist", (1, 28, 28), MNIST_CLASSES).inputs(np.zeros(1, dtype=np.int64))


def test_runs_of_one_shape_are_computed_together() -> None:
    plan = Plan.of(cells("table1", "full"), seeds=[0, 1, 2])
    assert (plan.num_cells, plan.num_runs, len(plan.groups)) == (66, 198, 22)
    for group in plan.groups:
        assert (len(group.runs), group.lanes, group.batch_size) == (9, 45, 10)
    networks = {group.network: group.recurrent for group in Plan.of(cells("table3", "smoke"), seeds=[0]).groups}
    assert networks == {"vgg": False, "stacked_lstm": True}
    assert len(Plan.of(cells("figure3", "full"), seeds=[0]).groups) == 2  # ν and μ may differ, the mixing may not


def test_sums_are_over_groups_and_states_over_those_who_took_part() -> None:
    plan = Plan.of([full("table1/mnist/k500/fedavg"), full("table1/mnist/k500/superfed_mm")], seeds=[0])
    fedavg, superfed = plan.groups
    assert plan.client_steps == fedavg.client_steps + superfed.client_steps
    assert fedavg.state_bytes == 0
    took_part, rest = divmod(superfed.state_bytes, 4 * 238_800)
    assert rest == 0
    assert 490 < took_part < 500  # each of 500 is drawn 5 times, on average
    assert plan.state_bytes == superfed.state_bytes


def test_pfedme_takes_as_long_as_its_inner_steps() -> None:
    plan = Plan.of([full("table1/cifar10/k100/fedavg"), full("table1/cifar10/k100/pfedme")], seeds=[0])
    fedavg, pfedme = plan.groups
    assert pfedme.client_steps == fedavg.client_steps
    assert pfedme.seconds("two_cores") == pytest.approx(5 * fedavg.seconds("two_cores"))
    assert fedavg.seconds("two_cores") == pytest.approx(fedavg.client_steps / 120)


def test_few_lanes_are_slower() -> None:
    rate = Rate(1000, half_lanes=10)
    assert rate.at(10) == 500
    assert rate.at(1000) == pytest.approx(1000, rel=0.01)
    assert Rate(120).at(5) == 120


def test_a_short_table_1_is_an_evening_on_two_cores() -> None:
    assert Plan.of(cells("table1", "short"), seeds=[0]).seconds("two_cores") < 5 * 3600


@pytest.mark.parametrize("scale", ["smoke", "short", "full"])
def test_every_plan_can_be_made_and_read_in_80_columns(scale: str) -> None:
    for target in (*TARGETS, "all"):
        plan = Plan.of(cells(target, scale), seeds=[0])  # type: ignore[arg-type]
        out = io.StringIO()
        show_plan(plan, [], Console(file=out, width=80))
        lines = out.getvalue().splitlines()
        assert max(map(len, lines)) <= 80
        assert "…" not in out.getvalue()
        assert lines[0] == f"{plan.num_cells} cells, 1 seed: {plan.num_runs} runs in {len(plan.groups)} groups"
        for word in ("runs", "client-steps", "states", *MACHINES.values(), *(group.title for group in plan.groups)):
            assert word in out.getvalue()


def test_a_gpu_is_quicker_in_bfloat16_where_that_was_seen() -> None:
    lstm, vgg = full("table3/shakespeare/natural/fedavg"), full("table3/femnist/natural/fedavg")
    exact, rough = (Plan.of([lstm, vgg], [0], precision).groups for precision in ("float32", "bf16"))
    assert rough[0].seconds("h200") < exact[0].seconds("h200") / 5
    assert rough[1].seconds("h200") == exact[1].seconds("h200")  # not seen, and not made up
    assert [group.seconds("two_cores") for group in rough] == [group.seconds("two_cores") for group in exact]
    out = io.StringIO()
    show_plan(Plan.of([lstm], [0], "bf16"), [], Console(file=out, width=80))
    assert "of the H200 in bf16 where that was seen" in " ".join(out.getvalue().split())
