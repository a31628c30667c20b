"""Whatever file a model goes into, it answers as it did in the run."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from exported_runs import NETWORKS, own_scores, run_of
from safetensors import safe_open
from safetensors.torch import load_file
from torch import nn

import superfed
from superfed.export.formats import ENDINGS, FORMATS, Format
from superfed.export.subject import Subject
from superfed.export.writing import TOLERANCE, write

Runs = dict[str, superfed.FittedRun]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("networks")
    return {network: run_of(folder / network, network) for network in NETWORKS}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("network", NETWORKS)
def test_every_network_in_every_format(runs: Runs, network: str, kind: Format, tmp_path: Path) -> None:
    run = runs[network]
    client, path = run.client(1), tmp_path / f"model{ENDINGS[kind]}"
    written = superfed.export_model(client, path, lam=0.3)
    assert (written.path, written.format, written.num_bytes) == (path, kind, path.stat().st_size)
    assert kind == "onnx" or written.difference == 0, "torch computes the same, to the bit"
    model = superfed.load_model(path, trust=kind == "torchexport")
    x = run.task.data.train(1).x
    assert len(x) > 8, "more than it was tried on when it was written"
    for some in (x, x[:3], x[:1]):
        difference = np.abs(model.scores(some) - own_scores(run, client.weights(0.3), some)).max()
        assert difference <= TOLERANCE, len(some)
    assert (model.card.method, model.card.client, model.card.lam) == ("SuPerFed-MM", 1, 0.3)
    assert model.card.model is not None
    assert model.card.model["name"] == network
    assert model.card.batch_statistics == (network == "resnet")
    assert model.card.preprocessing == run.preprocessing


def test_a_last_stage_of_single_pixels_gives_its_bias_for_one_sample(tmp_path: Path) -> None:
    """Of one value per channel torch's own kernel makes rounding noise, which the run's evaluation does not have."""
    settings = {"depth": 10, "stages": 4, "channels": 4, "stem_stride": 1, "shortcut": "projection"}
    run = run_of(tmp_path / "run", "resnet", model={"name": "resnet", **settings})
    x = run.task.data.train(0).x
    for kind in FORMATS:
        path = tmp_path / f"model{ENDINGS[kind]}"
        superfed.export_model(run.client(0), path)
        model = superfed.load_model(path, trust=True)
        for some in (x, x[:1]):
            difference = np.abs(model.scores(some) - own_scores(run, run.client(0).weights(), some)).max()
            assert difference <= (1e-6 if len(some) == 1 else TOLERANCE), (kind, len(some))


def test_onnx_runs_without_superfed_on_any_number_of_samples(runs: Runs, tmp_path: Path) -> None:
    onnx, onnxruntime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    path = tmp_path / "model.onnx"
    superfed.export_model(runs["two_nn"].client(0), path)
    proto = onnx.load(path)
    assert [one.version for one in proto.opset_import if one.domain == ""] == [18]
    assert [value.name for value in (*proto.graph.input, *proto.graph.output)] == ["input", "logits"]
    assert proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    session = onnxruntime.InferenceSession(path)
    for count in (1, 2, 17):
        assert session.run(None, {"input": np.zeros((count, 1, 8, 8), "float32")})[0].shape == (count, 10)
    about = session.get_modelmeta().custom_metadata_map
    assert json.loads(about["preprocessing"])["scale"] == pytest.approx(1 / 255)
    assert about["method"] == "SuPerFed-MM"


def test_safetensors_holds_the_networks_own_names(runs: Runs, tmp_path: Path) -> None:
    run, path = runs["stacked_lstm"], tmp_path / "model.safetensors"
    superfed.export_model(run.client(2), path)
    expected = run.client(2).model().state_dict()
    found = load_file(path)
    assert found.keys() == expected.keys()
    assert all(torch.equal(value, expected[name]) for name, value in found.items())
    with safe_open(path, framework="pt") as file:
        about = file.metadata()
    assert json.loads(about["preprocessing"])["alphabet"].startswith("\n !")
    assert json.loads(about["lam"]) == run.client(2).best_lambda
    assert about["data_fingerprint"] == run.task.data.fingerprint
    assert "client_name" in about


@pytest.mark.parametrize("kind", FORMATS)
def test_the_global_model(runs: Runs, kind: Format, tmp_path: Path) -> None:
    run, path = runs["two_nn"], tmp_path / f"global{ENDINGS[kind]}"
    superfed.export_model(run, path, format=kind)
    model = superfed.load_model(path, trust=True)
    x = run.task.data.test(0).x
    assert np.abs(model.scores(x) - own_scores(run, run.global_weights(), x)).max() <= TOLERANCE
    assert (model.card.client, model.card.lam, model.card.called) == (None, None, "SuPerFed-MM, global model")


class Awkward(nn.Module):
    """Tied weights, a frozen parameter, and a norm that has a single value per channel where there is one sample."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.second = nn.Linear(6, 6)
        self.second.weight = self.first.weight
        self.norm = nn.BatchNorm1d(6, track_running_stats=False)
        self.shift = nn.Parameter(torch.ones(6), requires_grad=False)
        self.last = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.last(self.norm(self.second(self.first(x) + self.shift)))
        return scores


def fitted(model: type[nn.Module] | nn.Module, **settings: object) -> superfed.FittedRun:
    rng = np.random.default_rng(0)
    clients = [(rng.normal(size=(30, 6)).astype("float32"), rng.integers(0, 3, 30)) for _ in range(3)]
    return superfed.fit(clients, model, "superfed", rounds=1, local_epochs=1, workers=1, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_network_of_ones_own(kind: Format, tmp_path: Path) -> None:
    run, path = fitted(Awkward, last_batch="even"), tmp_path / f"model{ENDINGS[kind]}"
    superfed.export_model(run.client(0), path)
    model = superfed.load_model(path, trust=True, model=Awkward)
    x = run.task.data.test(0).x
    assert np.abs(model.scores(x) - own_scores(run, run.client(0).weights(), x)).max() <= TOLERANCE
    if kind == "safetensors":
        assert np.array_equal(superfed.load_model(path, model=Awkward()).scores(x), model.scores(x))
        with pytest.raises(superfed.UserError, match="does not say how its network is built"):
            superfed.load_model(path)


class Fickle(nn.Module):
    """What it does depends on the numbers it sees, which no graph can follow."""

    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.last(x if float(x.sum()) > 0 else -x)
        return scores


@pytest.mark.parametrize("kind", ["onnx", "torchexport"])
def test_a_network_that_is_no_graph_is_a_sentence(kind: Format, tmp_path: Path) -> None:
    with pytest.raises(
        superfed.UserError, match=r"model: it cannot be turned into a graph .*; safetensors can hold it"
    ):
        superfed.export_model(fitted(Fickle).client(0), tmp_path / f"model{ENDINGS[kind]}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_that_answers_otherwise_is_not_written(runs: Runs, kind: Format, tmp_path: Path) -> None:
    class Off(Subject):
        def expected(self, x: torch.Tensor) -> torch.Tensor:
            return super().expected(x) + 2e-5

    subject = Subject.of(runs["two_nn"].client(0))
    off = Off(subject.run, subject.weights, subject.card, subject.inputs)
    with pytest.raises(superfed.UserError, match=r"is not written, because its scores would differ .* by 2.0e-05"):
        write(off, tmp_path / "model", kind)
    assert list(tmp_path.iterdir()) == []


def test_double_precision_stays(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    clients = [(rng.normal(size=(20, 4)), rng.integers(0, 2, 20)) for _ in range(2)]
    network = lambda: nn.Sequential(nn.Linear(4, 2)).double()  # noqa: E731
    run = superfed.fit(clients, network, "fedavg", rounds=1, workers=1)
    for kind in FORMATS:
        path = tmp_path / f"model{ENDINGS[kind]}"
        superfed.export_model(run.client(0), path)
        model = superfed.load_model(path, trust=True, model=network)
        x = run.task.data.test(0).x
        assert model.card.preprocessing.dtype == "float64"
        assert np.abs(model.scores(x) - own_scores(run, run.client(0).weights(), x)).max() <= 1e-12
