"""The loss surface of a finished run: which models span it, and that it is theirs at the corners."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from superfed.algorithms import FedPer
from superfed.core.algorithm import Algorithm
from superfed.core.errors import UserError
from superfed.engine.local import local_update
from superfed.engine.simulation import Run
from superfed.experiments.load import load_config
from superfed.experiments.runner import load_run, start
from superfed.experiments.surface import NUM_CLIENTS, last_trained, surface_of, surfaces_of, three_of
from support.toys import METHODS, toy_task, train

three_methods = pytest.mark.parametrize("name", ["fedavg", "superfed", "superfed-layer"])


def trained(algorithm: Algorithm, **schedule: float) -> Run:
    task = toy_task(algorithm)
    (run,) = train([replace(task, schedule=replace(task.schedule, **schedule))])  # type: ignore[arg-type]
    return run


def own_loss(run: Run, w: torch.Tensor, clients: tuple[int, ...]) -> float:
    sets = [run.task.data.train(client) for client in clients]
    scores = run.task.model.apply(w, torch.cat([s.x for s in sets]))
    penalty = run.task.schedule.weight_decay / 2 * float(w.square().sum())
    return float(F.cross_entropy(scores, torch.cat([s.y for s in sets]))) + penalty


@three_methods
def test_at_the_corners_it_is_the_models_own_loss(name: str) -> None:
    run = trained(METHODS[name])
    three = three_of(run)
    surface = surface_of(run, points=5)
    assert surface.samples_of == tuple(run.task.some_members("surface", NUM_CLIENTS))
    for corner, w in zip(surface.corners, three.models, strict=True):
        assert corner.loss == pytest.approx(own_loss(run, w, surface.samples_of), abs=1e-12)
    assert surface.loss.shape == surface.top1.shape == surface.grid.shape
    assert surface.mixes == (name != "fedavg")
    assert surface.num_samples == sum(run.task.data.train_size(c) for c in surface.samples_of)


@three_methods
def test_at_the_grid_points_it_is_the_loss_there(name: str) -> None:
    run = trained(METHODS[name])
    surface = surface_of(run, points=4, samples_of=[3])
    plane = three_of(run).plane
    expected = [[own_loss(run, plane.at(x, y), (3,)) for x in surface.grid.xs] for y in surface.grid.ys]
    np.testing.assert_allclose(surface.loss, expected, atol=1e-12)


@pytest.mark.parametrize("name", ["superfed", "superfed-layer"])
def test_the_models_of_a_method_that_mixes(name: str) -> None:
    run = trained(METHODS[name])
    three = three_of(run)
    assert torch.equal(three.models[0], run.server["w"])
    for client, w in zip(three.clients, three.models[1:], strict=True):
        kept = run.states.get(client)
        assert kept is not None
        assert torch.equal(w, kept["w_l"])


def test_the_models_of_fedavg_are_updates_of_the_global_one() -> None:
    run = trained(METHODS["fedavg"], lr_decay=1.0)
    three = three_of(run)
    for client, w in zip(three.clients, three.models[1:], strict=True):
        update = local_update(run.task, client, run.task.schedule.rounds, {}, run.server)
        torch.testing.assert_close(w, update.upload["w"], rtol=0, atol=1e-14)


def test_updates_can_span_any_methods_plane() -> None:
    run = trained(METHODS["superfed"])
    three = three_of(run, span="updates")
    for client, w in zip(three.clients, three.models[1:], strict=True):
        kept = run.states.get(client)
        assert kept is not None
        assert not torch.equal(w, kept["w_l"])
        assert float((w - run.server["w"]).norm()) < float((kept["w_l"] - run.server["w"]).norm())
    surface = surface_of(run, three=three, points=3)
    assert not surface.mixes
    assert [corner.name.split()[0] for corner in surface.corners] == ["global", "update", "update"]


def test_the_clients_are_the_last_that_trained_and_the_same_for_all_methods() -> None:
    runs = [trained(METHODS[name]) for name in ("fedavg", "superfed")]
    assert runs[0].records[-1].cohort[:2] == list(last_trained(runs[0])) == list(last_trained(runs[1]))


def test_a_client_whose_last_update_was_not_taken_is_passed_over() -> None:
    run = trained(METHODS["superfed"])
    last = run.records[-1]
    assert len(last.cohort) == 3
    run.records[-1] = replace(last, diverged=last.cohort[:1])
    assert list(last_trained(run)) == last.cohort[1:]


def test_where_one_client_trains_a_round_another_is_found_in_earlier_rounds() -> None:
    run = trained(METHODS["superfed"], clients_per_round=1, rounds=6)
    one, other = last_trained(run)
    assert one < other
    assert run.records[-1].cohort[0] in (one, other)


def test_several_runs_are_seen_through_one_window() -> None:
    runs = [trained(METHODS[name]) for name in ("fedavg", "superfed")]
    first, second = surfaces_of(runs, points=4)
    np.testing.assert_array_equal(first.grid.xs, second.grid.xs)
    np.testing.assert_array_equal(first.grid.ys, second.grid.ys)
    for surface in (first, second):
        for corner in surface.corners:
            assert surface.grid.xs[0] < corner.x < surface.grid.xs[-1]
            assert surface.grid.ys[0] < corner.y < surface.grid.ys[-1]


def test_a_run_before_its_first_round_is_refused() -> None:
    with pytest.raises(UserError, match="fewer than two clients have trained"):
        surface_of(Run(toy_task(METHODS["superfed"])))


def test_a_method_without_a_global_model_is_refused() -> None:
    with pytest.raises(UserError, match="has no global model"):
        surface_of(trained(FedPer()))


def test_from_a_stored_run(tmp_path: Path) -> None:
    changes = ["seed=0", "training.rounds=2", "algorithm={name: superfed, start: 0}", "model={name: two_nn, width: 8}"]
    start(load_config("demo", changes), tmp_path / "out")
    run, _ = load_run(tmp_path / "out")
    surface = surface_of(run, points=3)
    assert np.isfinite(surface.loss).all()
    assert surface.title == "SuPerFed-MM"
