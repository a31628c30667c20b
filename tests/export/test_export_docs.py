"""What the page about taking models along shows works as shown."""

import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Program
from superfed.export.card import MARK, Card

PAGE = Path(__file__).parents[2] / "docs" / "export.md"


def test_every_example_runs(
    superfed: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, as a reader would."""
    for package in ("sklearn", "onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    examples = re.findall(r"^```(\w+)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert {language for language, _ in examples} == {"sh", "python"}
    for language, example in examples:
        if language == "sh":
            for line in example.splitlines():
                program, *arguments = shlex.split(line)
                assert program == "superfed"
                done = superfed(*arguments)
                assert done.returncode == 0, (line, done.stderr)
            continue
        exec(compile(example, PAGE.name, "exec"), names)
        for promise in re.findall(r"print\(.*\)  # (.*)", example):
            assert capsys.readouterr().out.strip() == promise
    assert len(list((tmp_path / "models").iterdir())) == 20
    client = names["client"]
    in_runtime, in_torch = names["logits"], names["plain"].detach().numpy()
    for found, lam in ((in_runtime, None), (in_torch, 0.4)):
        expected = client.model(lam)(names["torch"].from_numpy(names["inputs"])).detach().numpy()
        assert np.abs(found - expected).max() <= 1e-5


def test_every_key_is_told() -> None:
    told = set(re.findall(r"`(\w+)`", PAGE.read_text()))
    assert {MARK, *(field.name for field in fields(Card))} <= told
