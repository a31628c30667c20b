"""The pictures of the idea are those of the numbers that are kept, and the script that measures them runs."""

import importlib.util
import json
from typing import Any

import pytest
from shown_blocks import DOCS, ROOT

PAGE = (DOCS / "idea.md").read_text()


@pytest.fixture(scope="module")
def idea() -> Any:
    spec = importlib.util.spec_from_file_location("idea", ROOT / "benchmarks" / "idea.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_are_those_of_the_numbers(idea: Any) -> None:
    made = idea.pictures(json.loads(idea.KEPT.read_text()))
    assert made.keys() == {path.name for path in idea.PICTURES.glob("idea-*.svg")}
    for name, picture in made.items():
        assert (idea.PICTURES / name).read_text() == f"{picture}\n", "run: python benchmarks/idea.py"
        assert f"](images/{name})" in PAGE


def test_numbers_on_the_page_are_those_that_are_kept(idea: Any) -> None:
    lines = json.loads(idea.KEPT.read_text())["lines"]

    def percent(value: float) -> str:
        return f"{100 * value:.1f} %"

    for nu in idea.NUS:
        one = lines[f"nu{nu}"]
        accuracy = [mean for mean, _ in one["accuracy"]]
        cells = [percent(one["differ"][0]), *map(percent, (accuracy[0], max(accuracy), accuracy[-1]))]
        assert f"| ν = {float(nu):g} | {one['cosine'][0]:.2f} | {' | '.join(cells)} |" in PAGE
    apart = [mean for mean, _ in lines["apart"]["accuracy"]]
    words = " ".join(PAGE.split())
    assert f"falls from {percent(apart[0])} and {percent(apart[-1])} to {percent(min(apart))}" in words


def test_the_script_runs(idea: Any) -> None:
    """On less: two rounds, coarse lines, a coarse surface."""
    found = idea.measured("training.rounds=2", "training.local_epochs=1", points=3, surface=4)
    assert [len(one["accuracy"]) for one in found["lines"].values()] == [3] * 4
    assert len(idea.pictures(found)) == 5
