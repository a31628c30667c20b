"""Where the compared methods become one another, they agree: exactly, or to rounding where sums are ordered differently."""

from dataclasses import replace

import pytest
import torch

from superfed.algorithms import APFL, L2GD, Ditto, FedAvg, FedAvgFT, FedPer, FedRep, LGFedAvg, Local, Scaffold
from superfed.core.algorithm import Algorithm
from superfed.core.vector import VectorModel
from superfed.engine.evaluate import evaluate_client
from superfed.engine.local import local_update
from superfed.engine.simulation import Run
from support.toys import CPU, assert_same, toy_data, toy_network, toy_task, train, weights


def learnt(run: Run, name: str) -> dict[str, torch.Tensor]:
    """What clients keep under ``name``, by client."""
    return {place.split("/")[0]: t for place, t in weights(run).items() if place.endswith(f"/{name}")}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(t, other[name]) for name, t in one.items())


def with_head(algorithm: Algorithm, start: int) -> Run:
    """A run whose head begins at parameter ``start``."""
    model = VectorModel(toy_network)
    model.head, model.body = slice(start, model.size), slice(0, start)
    (run,) = train([replace(toy_task(algorithm), model=model)])
    return run


def test_ditto_without_attraction_is_local() -> None:
    ditto, local = train([toy_task(Ditto(lam=0.0)), toy_task(Local())])
    assert same(learnt(ditto, "v"), {c: t for c, t in learnt(local, "w").items() if c != "server"})


def test_dittos_global_model_does_not_depend_on_the_personal_one() -> None:
    one, other = train([toy_task(Ditto(lam=0.0)), toy_task(Ditto(lam=9.0, personal_epochs=1))])
    assert torch.equal(one.server["w"], other.server["w"])
    assert not same(learnt(one, "v"), learnt(other, "v"))


def test_apfl_at_zero_is_fedavg() -> None:
    apfl, fedavg = train([toy_task(APFL(alpha=0.0)), toy_task(FedAvg())])
    assert torch.equal(apfl.server["w"], fedavg.server["w"])
    kept = apfl.states.get(3) or apfl.task.init_client(3)
    chosen = apfl.task.algorithm.own_lambda(kept)
    assert chosen is not None
    personal = apfl.task.algorithm.personal_model(kept, apfl.sent(CPU), chosen, apfl.task.model)
    assert torch.equal(personal, fedavg.server["w"])


def test_apfl_at_one_is_local() -> None:
    apfl, local = train([toy_task(APFL(alpha=1.0)), toy_task(Local())])
    assert same(learnt(apfl, "v"), {c: t for c, t in learnt(local, "w").items() if c != "server"})


@pytest.mark.parametrize("option", ["I", "II"])
def test_scaffolds_first_round_is_fedavgs(option: str) -> None:
    scaffold, fedavg = train([toy_task(Scaffold(option=option)), toy_task(FedAvg())], rounds=1)  # type: ignore[arg-type]
    torch.testing.assert_close(scaffold.server["w"], fedavg.server["w"], rtol=0, atol=1e-14)
    assert float(scaffold.server["c"].abs().max()) > 0
    later = train([toy_task(Scaffold(option=option)), toy_task(FedAvg())], rounds=2)  # type: ignore[arg-type]
    assert float((later[0].server["w"] - later[1].server["w"]).abs().max()) > 1e-4


def test_scaffolds_weightings_agree_for_clients_of_equal_size() -> None:
    data = toy_data((10, 10, 10, 10))
    one, other = train([toy_task(Scaffold(weighting=w), data=data) for w in ("samples", "uniform")])
    assert_same(one, other, 1e-12)


def test_scaffolds_server_variate_is_the_mean_of_the_clients() -> None:
    (run,) = train([toy_task(Scaffold(weighting="uniform"))])
    variates = [learnt(run, "c").get(str(client), torch.zeros_like(run.server["c"])) for client in range(6)]
    torch.testing.assert_close(run.server["c"], torch.stack(variates).mean(0), rtol=0, atol=1e-12)


def test_fedper_with_an_empty_head_is_fedavg() -> None:
    fedper = with_head(FedPer(), VectorModel(toy_network).size)
    (fedavg,) = train([toy_task(FedAvg())])
    assert torch.equal(fedper.server["w"], fedavg.server["w"])


def test_lg_fedavg_with_an_empty_body_is_fedavg() -> None:
    lg = with_head(LGFedAvg(), 0)
    (fedavg,) = train([toy_task(FedAvg())])
    assert torch.equal(lg.server["w"], fedavg.server["w"])


def test_l2gd_that_never_meets_is_local() -> None:
    l2gd, local = train([toy_task(L2GD(p=0.0, lam=5.0)), toy_task(Local())])
    mine = {c: t for c, t in learnt(l2gd, "w").items() if c != "server"}
    assert same(mine, {c: t for c, t in learnt(local, "w").items() if c != "server"})


def test_l2gd_that_agrees_at_once_sets_everyone_to_the_mean() -> None:
    run = Run(toy_task(L2GD(p=0.999, lam=1e9), clients_per_round=6))
    sent = run.sent(CPU)

    round = next(r for r in range(99) if run.task.round_values(r)["aggregating"])
    update = local_update(run.task, 3, round, run.task.init_client(3), sent)
    torch.testing.assert_close(update.kept["w"], sent["w"], rtol=0, atol=1e-14)


def test_fedrep_without_head_epochs_trains_only_the_body() -> None:
    (run,) = train([toy_task(FedRep(head_epochs=0))])
    for client, head in learnt(run, "head").items():
        assert torch.equal(head, run.task.init_client(int(client))["head"])
    assert not torch.equal(run.server["w"], run.task.init_server()["w"])


def test_fedrep_without_body_epochs_trains_only_the_head() -> None:
    (run,) = train([toy_task(FedRep(body_epochs=0))])
    torch.testing.assert_close(run.server["w"], run.task.init_server()["w"], rtol=0, atol=1e-15)
    for client, head in learnt(run, "head").items():
        assert not torch.equal(head, run.task.init_client(int(client))["head"])


def test_fine_tuning_is_sgd_from_the_global_model() -> None:
    """One client's own round after the last one, by hand."""

    (run,) = train([toy_task(FedAvgFT(epochs=2))])
    task, sent = run.task, run.sent(CPU)
    trained = replace(task, schedule=replace(task.schedule, local_epochs=2, lr_decay=1.0))
    tuned = local_update(trained, 3, task.schedule.rounds, {}, sent).upload["w"]
    test = task.data.test(3)
    expected = (task.model.apply(tuned, test.x).argmax(1) == test.y).double().mean()
    scores = evaluate_client(task, 3, {}, run.server, (0.0,), task.algorithm.adapt_epochs)
    assert float(scores.test["top1"][0]) == float(expected)
    plain = evaluate_client(task, 3, {}, run.server, (0.0,), 0)
    assert scores.test["loss"][0] != plain.test["loss"][0]
