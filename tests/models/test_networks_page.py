"""The page on networks tells the truth."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from superfed.core.vector import VectorModel
from superfed.experiments.assemble import Assembler
from superfed.experiments.load import load_config, resolve
from superfed.experiments.strict import build
from superfed.models import MODELS

PAGE = (Path(__file__).parent.parent.parent / "docs" / "networks.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| `")]
DATA: dict[str, list[tuple[tuple[int, ...], int]]] = {
    "two_nn": [((1, 28, 28), 10), ((1, 28, 28), 10)],
    "two_cnn": [((1, 28, 28), 10), ((3, 28, 28), 10)],
    "resnet": [((3, 32, 32), 10), ((3, 32, 32), 100)],
    "mobilenet": [((3, 32, 32), 10), ((3, 64, 64), 200)],
    "vgg": [((3, 32, 32), 10), ((1, 28, 28), 62)],
    "stacked_lstm": [((80,), 80), ((80,), 100)],
}
"""What each row's two counts are for."""


@pytest.mark.parametrize("row", ROWS, ids=[row[0].strip("`") for row in ROWS])
def test_the_counts(row: list[str]) -> None:
    name, settings = row[0].strip("`"), row[3].strip("`")
    wordy = re.sub(r"(blocks|layers): ([^,]*[a-z/ ][^,]*),", r'\1: "\2",', settings)  # several words
    for given, said, (shape, num_classes) in zip(
        ({}, yaml.safe_load(f"{{{wordy}}}")), (row[2], row[4]), DATA[name], strict=True
    ):
        model = VectorModel(build(MODELS[name], given).builder(shape, num_classes))
        assert f"{model.size:,}" == said.split(" ")[0]


def test_every_network_is_there() -> None:
    assert [row[0].strip("`") for row in ROWS] == list(DATA)


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(example, "networks.md", "exec"), names)
    try:
        (tmp_path / "nets.py").write_text(example.replace('superfed.register_model("wide", wide)', ""))
        monkeypatch.chdir(tmp_path)
        for name in ("wide", "nets:wide"):
            (config,) = resolve(
                load_config("demo", [f"model={{name: '{name}', width: 5}}", "algorithm=fedavg", "seed=0"])
            )
            assert Assembler(None).task(config).model.size == 64 * 5 + 5 + 60
        (config,) = resolve(load_config("demo", ["model=nets:wide", "algorithm=fedavg", "seed=0"]))
        assert Assembler(None).task(config).model.size == 64 * 64 + 64 + 650
    finally:
        for name in ("wide", "nets:wide"):
            MODELS.pop(name, None)
