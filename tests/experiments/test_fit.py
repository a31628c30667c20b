"""Training from Python, as the README promises it."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import superfed
from superfed.algorithms import ALGORITHMS
from superfed.core.algorithm import Algorithm
from superfed.data.dataset import Dataset
from superfed.data.dealt import DealtDataset
from superfed.data.own import ClientArrays
from superfed.data.split import Split
from support.toys import METHODS


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))


def clients(count: int = 5, size: int = 30) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    labels = [rng.choice([i % 3, (i + 1) % 3], size) for i in range(count)]
    return [(rng.normal(size=(size, 6)).astype("float32") + 2 * np.eye(3, 6, dtype="float32")[y], y) for y in labels]


def fitted(algorithm: Algorithm | str, **settings: object) -> superfed.FittedRun:
    defaults: dict[str, object] = {"rounds": 4, "local_epochs": 2, "lr": 0.05, "workers": 1}
    return superfed.fit(clients(), network, algorithm, **(defaults | settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", METHODS)
def test_the_model_handed_out_is_the_one_that_was_evaluated(name: str) -> None:
    run = fitted(METHODS[name])
    for index in range(run.num_clients):
        client = run.client(index)
        test = run._run.task.data.test(index)
        with torch.no_grad():
            hits = client.model()(test.x).argmax(1) == test.y
        assert float(hits.double().mean()) == pytest.approx(client.accuracy)


def test_a_tuned_model_is_handed_out_as_it_was_evaluated() -> None:
    plain, run = fitted("superfed", seed=1), fitted("superfed", seed=1, tuning_epochs=2)
    for index in range(run.num_clients):
        client, test = run.client(index), run._run.task.data.test(index)
        with torch.no_grad():
            hits = client.model()(test.x).argmax(1) == test.y
        assert float(hits.double().mean()) == pytest.approx(client.accuracy)
        assert not torch.equal(client.weights(0.5), plain.client(index).weights(0.5))
    assert torch.equal(run.global_weights(), plain.global_weights())


def test_every_point_of_the_line_is_a_model_of_ones_own() -> None:
    run = fitted("superfed")
    client = run.client(3)
    ends = [client.model(lam=lam).state_dict() for lam in (0.0, 0.5, 1.0)]
    for name, value in ends[1].items():
        torch.testing.assert_close(value, (ends[0][name] + ends[2][name]) / 2)
    assert all(torch.equal(v, run.global_model().state_dict()[n]) for n, v in ends[0].items())
    with torch.no_grad():
        next(client.model(lam=0.0).parameters()).zero_()
    assert torch.equal(next(client.model(lam=0.0).parameters()), next(iter(ends[0].values())))


def test_names_and_methods_are_the_same() -> None:
    for name, method in ALGORITHMS.items():
        assert getattr(superfed, method.__name__) is method
        assert fitted(name, rounds=1).accuracy == fitted(method(), rounds=1).accuracy


def test_a_method_without_a_line_refuses_a_place_on_it() -> None:
    client = fitted("fedavg").client(0)
    assert client.best_lambda is None
    with pytest.raises(superfed.UserError, match="the models of FedAvg have no λ; leave it out"):
        client.model(lam=0.4)


def test_a_method_that_chooses_tells_its_choice() -> None:
    assert fitted(superfed.APFL(alpha=0.4)).client(0).own_lambda == pytest.approx(0.4)
    assert fitted("superfed").client(0).own_lambda is None


def test_a_method_without_a_global_model_says_so() -> None:
    with pytest.raises(superfed.UserError, match="FedPer has no global model"):
        fitted("fedper").global_model()


def test_a_pretrained_network_is_where_everything_starts() -> None:
    torch.manual_seed(1)
    pretrained = network()
    run = superfed.fit(clients(), pretrained, "ditto", rounds=1, clients_per_round=1, lr=1e-12, lr_decay=1.0, workers=1)
    for model in (run.global_model(), run.client(0).model()):
        for mine, given in zip(model.parameters(), pretrained.parameters(), strict=True):
            torch.testing.assert_close(mine, given, rtol=0, atol=1e-6)


def test_an_interrupted_fit_goes_on(tmp_path: Path) -> None:
    whole = fitted("superfed", rounds=4)
    fitted("superfed", rounds=4, checkpoints=tmp_path, checkpoint_every=1)
    for path in [*tmp_path.glob("*round-000004*")]:
        path.unlink()  # as if it had been stopped in the last round
    again = fitted("superfed", rounds=4, checkpoints=tmp_path)
    for one, other in zip(
        whole.client(2).model(0.3).parameters(), again.client(2).model(0.3).parameters(), strict=True
    ):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"algorithm": "superfedd"}, "algorithm: 'superfedd' is unknown; there are local, fedavg"),
        ({"rounds": 0}, "rounds: must be 1 or more, not 0"),
        ({"clients_per_round": 9}, "clients_per_round: 9 clients a round are more than the 5 there are"),
        ({"head": "nose"}, "head: the model has no layer 'nose'; its layers are 0, 2"),
        ({"device": "tpu"}, "device: must be auto, cpu, cuda or cuda:N, not 'tpu'"),
        ({"workers": 0}, "workers: must be 1 or more, or auto, not 0"),
        ({"algorithm": superfed.SuPerFed(start=9)}, "start: round 9 is beyond the last of 4 rounds"),
    ],
)
def test_mistakes_are_sentences(settings: dict[str, object], sentence: str) -> None:
    algorithm = settings.pop("algorithm", "superfed")
    with pytest.raises(superfed.UserError) as caught:
        fitted(algorithm, **settings)  # type: ignore[arg-type]
    assert str(caught.value).startswith(sentence)


def test_too_large_a_rate_is_told() -> None:
    with pytest.raises(superfed.UserError, match="every client's update in round 0 was not finite; try a smaller lr"):
        fitted("fedavg", lr=1e30)


def test_clients_may_bring_their_own_split() -> None:
    x, y = clients(1)[0]
    own = [ClientArrays(train=(x[:20], y[:20]), test=(x[20:], y[20:])) for _ in range(3)]
    run = superfed.fit(own, network, "local", rounds=1, workers=1)
    assert len(run._run.task.data.test(0)) == 10
    assert run._run.task.data.train_size(0) == 18


def test_the_network_may_know_classes_that_nobody_has() -> None:
    x, y = clients(1)[0]
    assert y.max() == 1
    assert superfed.fit([(x, y)] * 2, network, "local", rounds=1, workers=1)._run.task.data.num_classes == 3
    with pytest.raises(superfed.UserError, match=r"its output for one sample is .3,., and 2 class scores are needed"):
        superfed.fit([(x, y)] * 2, network, "local", rounds=1, workers=1, num_classes=2)


NAMES = ["cat", "dog", "emu"]


def named_clients(count: int = 5) -> list[tuple[np.ndarray, list[str]]]:
    return [(x, [NAMES[label] for label in y]) for x, y in clients(count)]


def as_pool(**settings: object) -> Dataset:
    every = named_clients()
    x, y = np.concatenate([x for x, _ in every]), [label for _, labels in every for label in labels]
    owners = [f"c{i}" for i, (x, _) in enumerate(every) for _ in x]
    return superfed.from_arrays(x, y, owners, **settings)  # type: ignore[arg-type]


QUICK: dict[str, object] = {"rounds": 4, "local_epochs": 2, "lr": 0.05, "workers": 1}


def test_labels_may_be_names() -> None:
    run = superfed.fit(named_clients(), network, "superfed", **QUICK)  # type: ignore[arg-type]
    assert run.class_names == NAMES
    assert run.client_names is None
    assert run.accuracy == fitted("superfed").accuracy
    assert fitted("local", rounds=1).class_names is None


def test_a_pretrained_network_may_have_the_classes_in_another_order() -> None:
    run = superfed.fit(named_clients(), network, "local", class_names=NAMES[::-1], **QUICK)  # type: ignore[arg-type]
    assert run.class_names == NAMES[::-1]
    assert run._run.task.data.train(0).y.max() == 2
    assert run._run.task.data.train(0).y.min() == 1


def test_the_network_may_know_classes_without_a_name() -> None:
    for given in (named_clients(1) * 2, superfed.from_arrays(*named_clients(1)[0], ["a", "b"] * 15)):
        run = superfed.fit(given, network, "local", rounds=1, workers=1)
        assert run.class_names == NAMES[:2]
        assert run._run.task.data.num_classes == 3


def test_a_pool_is_dealt_to_its_owners() -> None:
    settings = QUICK | {"test_fraction": 0.3, "validation_fraction": 0.2, "seed": 3}
    run = superfed.fit(as_pool(), network, "superfed", **settings)  # type: ignore[arg-type]
    assert (run.class_names, run.client_names) == (NAMES, [f"c{i}" for i in range(5)])
    as_pairs = superfed.fit(named_clients(), network, "superfed", **settings)  # type: ignore[arg-type]
    assert run.summary() == as_pairs.summary()
    dealt = DealtDataset.deal(as_pool(), split=Split(0.3, 0.2), seed=3)
    assert superfed.fit(dealt, network, "superfed", **settings).summary() == run.summary()  # type: ignore[arg-type]


def test_a_pool_keeps_its_own_split() -> None:
    split = ["train"] * 20 + ["test"] * 10
    run = superfed.fit(as_pool(split=split * 5), network, "local", **QUICK)  # type: ignore[arg-type]
    assert len(run._run.task.data.test(2)) == 10


def test_pools_that_cannot_be_used_are_sentences() -> None:
    x, y = clients(1)[0]
    with pytest.raises(superfed.UserError) as caught:
        superfed.fit(superfed.from_arrays(x, y), network)
    assert str(caught.value) == "arrays: does not say whose its samples are; give clients, or deal it first"
    for given in (as_pool(), DealtDataset.deal(as_pool())):
        with pytest.raises(superfed.SettingError) as wrong:
            superfed.fit(given, network, class_names=NAMES)
        assert str(wrong.value) == "class_names: these clients come with their classes; leave it out"
    with pytest.raises(superfed.UserError, match="labels run from 0 to 2, but 2 classes are 0 to 1"):
        superfed.fit(as_pool(), network, num_classes=2)


def test_one_class_or_one_sample_is_enough_for_a_client() -> None:
    x, _ = clients(1)[0]
    given = [(x[:1], ["dog"]), (x, ["cat"] * 30), *named_clients(2)]
    run = superfed.fit(given, network, "superfed", rounds=3, clients_per_round=4, local_epochs=1, workers=1)
    assert np.isnan(run.client(0).accuracy)
    assert 0 <= run.accuracy <= 1
