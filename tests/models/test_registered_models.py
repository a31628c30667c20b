"""Networks of one's own: registered from Python, or named in a config by an import path."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import superfed
from superfed.core.errors import UserError
from superfed.experiments.assemble import Assembler
from superfed.experiments.schema import RunConfig
from superfed.models import MODELS


def settings(model: Any) -> dict[str, Any]:
    return {
        "algorithm": "fedavg",
        "data": {"dataset": "digits", "num_clients": 5, "partition": "iid"},
        "model": model,
        "training": {"rounds": 1},
    }


def assembled(model: Any) -> Any:
    return Assembler(None).task(RunConfig.from_plain(settings(model))).model


def small(input_shape: tuple[int, ...], num_classes: int, width: int = 7, bias: bool = True) -> nn.Module:
    """A small network."""
    pixels = input_shape[0] * input_shape[1] * input_shape[2]
    return nn.Sequential(nn.Flatten(), nn.Linear(pixels, width, bias), nn.ReLU(), nn.Linear(width, num_classes, bias))


class Net(nn.Module):
    def __init__(self, num_classes: int, width: int = 3) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(64, width), nn.Linear(width, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.last(torch.relu(self.first(x.flatten(1))))
        return scores


@pytest.fixture(autouse=True)
def _registry_as_it_was() -> Iterator[None]:
    before = dict(MODELS)
    yield
    MODELS.clear()
    MODELS.update(before)


def test_a_registered_function() -> None:
    superfed.register_model("mine", small)
    assert assembled("mine").size == 64 * 7 + 7 + 70 + 10
    assert assembled({"name": "mine", "width": 2, "bias": False}).size == 64 * 2 + 20
    assert [layer.name for layer in assembled({"name": "mine", "head": "1"}).layers] == ["1", "3"]
    config = RunConfig.from_plain(settings({"name": "mine", "width": 2}))
    again = RunConfig.from_plain(config.as_plain())
    assert again == config
    assert config.as_plain()["model"] == {"name": "mine", "head": None, "width": 2, "bias": True}
    superfed.register_model("mine", lambda: Net(10))  # a notebook's cell is run again
    assert assembled("mine").size == 64 * 3 + 3 + 40


def test_a_class_and_a_function_without_parameters() -> None:
    superfed.register_model("net", Net)
    superfed.register_model("fixed", lambda: Net(10, 4))
    assert assembled({"name": "net", "width": 5}).size == 64 * 5 + 5 + 60
    assert assembled("fixed").size == 64 * 4 + 4 + 50


def test_a_default_that_no_config_could_say_is_no_setting() -> None:
    def build(num_classes: int, widths: tuple[int, ...] = (3,)) -> nn.Module:
        return Net(num_classes, widths[0])

    superfed.register_model("tuples", build)
    assert assembled("tuples").size == 64 * 3 + 3 + 40
    with pytest.raises(UserError, match=r"model\.widths: unknown"):
        assembled({"name": "tuples", "widths": 3})


def test_an_import_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "my_package_of_nets"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "nets.py").write_text(
        "from torch import nn\n"
        "def build(num_classes, width: int = 5):\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.Linear(width, num_classes))\n"
    )
    monkeypatch.chdir(tmp_path)
    assert assembled("my_package_of_nets.nets:build").size == 64 * 5 + 5 + 60
    given = {"name": "my_package_of_nets.nets:build", "width": 2}
    assert assembled(given).size == 64 * 2 + 2 + 30
    assert RunConfig.from_plain(settings(given)).as_plain()["model"]["name"] == "my_package_of_nets.nets:build"


def test_what_is_wrong_with_a_path_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_broken_nets.py").write_text("1 / 0\n")
    (tmp_path / "some_good_nets.py").write_text("build = 3\n")
    monkeypatch.chdir(tmp_path)
    here = tmp_path
    for path, sentence in {
        "nowhere.nets:build": f"model.name: nowhere.nets cannot be imported from {here} (No module named 'nowhere')",
        "some_broken_nets:build": f"model.name: some_broken_nets cannot be imported from {here} "
        "(ZeroDivisionError: division by zero)",
        "some_good_nets:other": "model.name: some_good_nets has no 'other'",
        "some_good_nets:": "model.name: 'some_good_nets:' is no import path; write package.module:function",
        "some_good_nets:build": "model: some_good_nets:build is a int; a function that builds a torch.nn.Module is needed",
    }.items():
        with pytest.raises(UserError) as caught:
            assembled(path)
        assert str(caught.value) == sentence


def star(*layers: nn.Module) -> nn.Module:
    return nn.Sequential(*layers)


def failing(num_classes: int) -> nn.Module:
    raise RuntimeError("no such width")


def none(num_classes: int) -> None:
    return None


def headed(head: str) -> nn.Module:
    return Net(10)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (star, "model: bad takes '*layers: torch.nn.modules.module.Module', and settings need names; wrap it in a "
               "function with named parameters"),
        (3, "model: bad is a int; a function that builds a torch.nn.Module is needed"),
        (failing, "model: bad failed with RuntimeError: no such width"),
        (none, "model: bad returned NoneType, not a torch.nn.Module"),
        (headed, "model: bad has a parameter 'head', a name that superfed uses itself"),
        (lambda: Net(7), "model: its output for one sample is (7,), and 10 class scores are needed"),
        (lambda: nn.Linear(3, 10), "model: it cannot take inputs of shape (1, 8, 8): mat1 and mat2 shapes cannot be "
                                   "multiplied (16x8 and 3x10)"),
    ],
)  # fmt: skip
def test_a_network_that_cannot_be_used_is_a_sentence(build: Callable[..., Any], sentence: str) -> None:
    def registered_and_used() -> None:
        superfed.register_model("bad", build)
        assembled("bad")

    with pytest.raises(UserError) as caught:
        registered_and_used()
    assert str(caught.value) == sentence


@pytest.mark.parametrize("name", ["two_nn", "a:b", "", 3])
def test_names_that_cannot_be_had(name: Any) -> None:
    with pytest.raises(UserError, match="register_model: "):
        superfed.register_model(name, small)
