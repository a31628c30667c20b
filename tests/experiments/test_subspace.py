"""A client's line of models, as notebooks use it."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import superfed

NAMES = ["<b>ant</b>", "cat", "dog"]


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))


@pytest.fixture(scope="module")
def run() -> superfed.FittedRun:
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.choice([i % 3, (i + 1) % 3], 40) for i in range(4)])
    x = rng.normal(size=(160, 6)).astype("float32") + 1.5 * np.eye(3, 6, dtype="float32")[y]
    pool = superfed.from_arrays(x, [NAMES[label] for label in y], np.repeat(["<i>anna", "bob", "cleo", "7"], 40))
    return superfed.fit(pool, network, superfed.SuPerFed(start=0.0), rounds=6, local_epochs=2, lr=0.05, workers=1)


@pytest.fixture(scope="module")
def subspace(run: superfed.FittedRun) -> superfed.Subspace:
    return run.client("bob").subspace


def held_out(run: superfed.FittedRun, index: int) -> tuple[torch.Tensor, torch.Tensor]:
    samples = run.task.data.test(index)
    return samples.x, samples.y


def test_models_and_their_accuracy(run: superfed.FittedRun, subspace: superfed.Subspace) -> None:
    client = run.client("bob")
    x, y = held_out(run, client.index)
    for lam in (0.0, 0.35, 1.0):
        hits = subspace.model(lam)(x).argmax(1) == y
        assert subspace.accuracy(lam) == pytest.approx(float(hits.double().mean()))
        assert subspace.accuracy(lam, x[:5], [NAMES[label] for label in y[:5]]) == pytest.approx(
            float(hits[:5].double().mean())
        )
    assert subspace.accuracy() == pytest.approx(client.accuracy)
    with pytest.raises(superfed.SettingError, match=r"lam: must be from 0 to 1, not 1\.2"):
        subspace.accuracy(1.2)


def test_the_curve(run: superfed.FittedRun, subspace: superfed.Subspace) -> None:
    curve = subspace.curve(points=5)
    x, y = held_out(run, run.client("bob").index)
    assert curve.lambdas == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert curve.samples == len(y)
    for lam, accuracy, loss in zip(curve.lambdas, curve.accuracy, curve.loss, strict=True):
        scores = subspace.model(lam)(x).detach()
        assert accuracy == pytest.approx(float((scores.argmax(1) == y).double().mean()))
        assert loss == pytest.approx(float(F.cross_entropy(scores, y)), rel=1e-5)


def test_the_ensemble_averages_probabilities(run: superfed.FittedRun, subspace: superfed.Subspace) -> None:
    x, _ = held_out(run, 0)
    for given, lambdas in ((None, [i / 10 for i in range(11)]), ([0.0, 0.9], [0.0, 0.9])):
        answer = subspace.ensemble(given)(x)
        mean = torch.stack([subspace.model(lam)(x).softmax(1) for lam in lambdas]).mean(0)
        torch.testing.assert_close(answer.exp(), mean)
        torch.testing.assert_close(answer.softmax(1), mean)
    assert not subspace.ensemble([0.5]).training
    with pytest.raises(superfed.SettingError, match="lambdas: must name one λ or more"):
        subspace.ensemble([])


def test_by_accuracy_the_choice_is_the_validated_one(run: superfed.FittedRun) -> None:
    for index in range(run.num_clients):
        client, samples = run.client(index), run.task.data.validation(index)
        assert client.subspace.choose(samples.x, samples.y, by="accuracy") == client.best_lambda


def test_a_handful_of_samples_choose_by_loss(run: superfed.FittedRun, subspace: superfed.Subspace) -> None:
    x, y = held_out(run, run.client("bob").index)
    for count in (1, 3, len(y)):
        curve = subspace.curve(x[:count], y[:count], points=21)
        chosen = subspace.choose(x[:count], y[:count], points=21)
        assert chosen == curve.lambdas[int(np.argmin(curve.loss))]


@pytest.mark.parametrize(
    ("x", "y", "sentence"),
    [
        (np.zeros((0, 6), "float32"), [], "the samples: holds no samples"),
        (np.zeros((2, 5), "float32"), [0, 1], r"the samples: its inputs have shape .5,., and the model was trained on"),
        (np.zeros((2, 6), "float32"), [0, 3], "the samples: holds the label 3, but 3 classes are 0 to 2"),
        (
            np.zeros((2, 6), "float32"),
            ["cat", "yak"],
            "the samples: holds the label 'yak', but the classes are <b>ant",
        ),
        (np.zeros((2, 6), "float32"), [0], "the samples: has 2 inputs but 1 labels"),
        (np.full((2, 6), np.nan), [0, 1], "the samples: the inputs hold NaN"),
        (None, [0, 1], "choose: needs the inputs x and the labels y"),
    ],
)
def test_samples_that_cannot_choose(subspace: superfed.Subspace, x: object, y: object, sentence: str) -> None:
    with pytest.raises(superfed.UserError, match=sentence):
        subspace.choose(x, y)


def test_settings_that_cannot_be(subspace: superfed.Subspace) -> None:
    x = np.zeros((2, 6), "float32")
    with pytest.raises(superfed.SettingError, match="by: must be 'loss' or 'accuracy', not 'luck'"):
        subspace.choose(x, [0, 1], by="luck")  # type: ignore[arg-type]
    with pytest.raises(superfed.SettingError, match="points: must be 2 or more"):
        subspace.curve(points=1)
    with pytest.raises(superfed.SettingError, match="y: is missing; give inputs and labels, or neither"):
        subspace.accuracy(0.5, x)


def test_a_method_without_a_line_has_none() -> None:
    rng = np.random.default_rng(0)
    clients = [(rng.normal(size=(20, 6)).astype("float32"), rng.integers(0, 3, 20)) for _ in range(2)]
    client = superfed.fit(clients, network, "fedavg", rounds=1, workers=1).client(0)
    with pytest.raises(superfed.UserError, match="subspace: the models of FedAvg have no λ; the client has one model"):
        _ = client.subspace


def test_pixels_are_scaled_as_the_runs_were() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (60, 6), dtype=np.uint8), rng.integers(0, 3, 60)
    pool = superfed.from_arrays(x, y, np.arange(60) % 2, scale=1 / 255)
    subspace = superfed.fit(pool, network, "superfed", rounds=1, local_epochs=1, workers=1).client(0).subspace
    raw, scaled = subspace.curve(x, y), subspace.curve(x.astype("float32") / np.float32(255), y)
    np.testing.assert_allclose(raw.loss, scaled.loss, rtol=1e-6)


def test_clients_go_by_names_and_numbers(run: superfed.FittedRun) -> None:
    names = list(run.client_names or [])
    assert [run.client(name).index for name in names] == list(range(4))
    assert run.client("7").name == "7", "a name goes before a number"
    assert run.client("3").index == 3
    with pytest.raises(superfed.UserError, match="client 'zoe': there is none of this name; there are "):
        run.client("zoe")


class Printer:
    def __init__(self) -> None:
        self.said = ""

    def text(self, text: str) -> None:
        self.said += text


def test_a_notebook_shows_them_and_names_are_only_text(run: superfed.FittedRun) -> None:
    anna = run.client("<i>anna")
    for thing in (run, anna, anna.subspace, anna.subspace.curve()):
        page, printer = thing._repr_html_(), Printer()
        thing._repr_pretty_(printer, False)
        assert printer.said == repr(thing)
        assert page.startswith("<div>")
        assert "<i>" not in page
        assert len(page) < 2000
    assert "&lt;i&gt;anna" in anna._repr_html_()
    assert "accuracy in %" in repr(run)
