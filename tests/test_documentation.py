"""What the documentation shows works as shown."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from torch import nn

from superfed.algorithms import ALGORITHMS
from superfed.cli.main import app
from superfed.experiments.assemble import Assembler
from superfed.experiments.load import load_config, resolve
from superfed.experiments.runner import start

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)


def test_the_readmes_python_example(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = blocks(ROOT / "README.md", "python")
    names: dict[str, Any] = {}
    exec(compile(example, "README.md", "exec"), names)
    run, model = names["run"], names["model"]
    assert isinstance(model, nn.Module)
    assert model(torch.zeros(2, 16)).shape == (2, 4)
    assert 0 <= run.client(3).best_lambda <= 1
    assert run.global_model()(torch.zeros(2, 16)).shape == (2, 4)
    assert run.accuracy > 0.85
    assert run.summary()["readings"].keys() >= {"validated", "best_shared", "oracle", "fixed"}


def test_the_readme_names_every_command() -> None:
    commands = {command.name for command in app.registered_commands}
    commands |= {group.name for group in app.registered_groups}
    assert set(re.findall(r"^\| `superfed (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)) == commands


def test_the_example_config_is_valid_and_shows_every_setting() -> None:
    example = yaml.safe_load(blocks(ROOT / "docs" / "config.md", "yaml")[0].replace("1e-4", "1.0e-4"))
    runs = resolve(example)
    assert len(runs) == 3
    Assembler(None).task(runs[0])
    resolved = runs[0].as_plain()
    assert example.keys() == resolved.keys()
    for section in ("data", "training", "evaluation", "engine"):
        assert example[section].keys() == resolved[section].keys(), section


def test_the_example_grid_has_as_many_runs_as_it_says() -> None:
    grid = yaml.safe_load(blocks(ROOT / "docs" / "config.md", "yaml")[1])
    assert len(resolve(load_config("demo") | grid)) == 15


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_run_command_shown_is_valid(page: Path) -> None:
    """Each `superfed run CONFIG …` resolves, and assembles where its data needs no download."""
    shown = re.findall(r"superfed run ((?!CONFIG)[^`#\n|]+)", page.read_text())
    for arguments in shown:
        words = [w for w in shlex.split(arguments) if not w.startswith("--")]
        if words[0].endswith(".yaml"):
            continue  # a file of the page's own, with which tests/docs runs it
        settings = load_config(words[0], [w for w in words[1:] if "=" in w])
        runs = resolve(settings)
        assert runs
        if words[0] == "demo":
            Assembler(None).task(runs[0])


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "algorithms").glob("*.md")), ids=lambda p: p.stem)
def test_every_methods_example_runs(page: Path, tmp_path: Path) -> None:
    """As shown, but for two rounds."""
    (command,) = re.findall(r"^superfed run (.*)$", page.read_text(), re.MULTILINE)
    name, *changes = shlex.split(command)
    settings = load_config(name, [*changes, "training.rounds=2", "training.local_epochs=1", "engine.workers=1"])
    start(settings, tmp_path / "out")
    (summary,) = (tmp_path / "out").glob("*/summary.json")
    assert 0 <= json.loads(summary.read_text())["readings"]["validated"]["top1"]["mean"] <= 1
    assert settings["algorithm"] == page.stem or settings["algorithm"]["name"] == page.stem


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_method_has_its_page() -> None:
    assert {p.stem for p in (ROOT / "docs" / "algorithms").glob("*.md")} == set(ALGORITHMS)
