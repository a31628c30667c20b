"""What the page about one's own data shows works as shown."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from superfed.data.own_table import ClientTable
from superfed.experiments.runner import load_run, start

PAGE = Path(__file__).parents[2] / "docs" / "own-data.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_every_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, as a reader would; then the configs, on the files that the examples wrote."""
    for package in ("datasets", "flwr_datasets", "PIL"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for example in blocks("python"):
        exec(compile(example, PAGE.name, "exec"), names)
        for promise in re.findall(r"print\(.*\)  # (?:… )?(.*)", example):
            assert capsys.readouterr().out.strip().endswith(promise)
    assert names["pool"].owners.names == ["0", "1", "2", "3"]

    configs = [yaml.safe_load(text) for text in blocks("yaml")]
    assert [config["data"]["dataset"]["name"] for config in configs] == ["folder", "table"]
    for config in configs:
        out = start(config | {"engine": {"workers": 1}}, tmp_path / config["data"]["dataset"]["name"])
        data: Any = load_run(out)[0].task.data
        assert data.class_names == ["cat", "dog", "emu"]
        assert data.client_names == ["anna", "bob", "cleo", "dora"]


def test_the_table_config_shows_every_setting() -> None:
    shown = yaml.safe_load(blocks("yaml")[1])["data"]["dataset"]
    assert shown.keys() - {"name"} == {field.name for field in fields(ClientTable)}
