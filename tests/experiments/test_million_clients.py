"""A million clients, from the config to the page: what is asked for and held is that of the few that take part."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Program
from superfed.data.dealt import SyntheticFederation
from superfed.experiments.load import load_config
from superfed.experiments.runner import resume, start
from superfed.store.tables import read_table

MANY = 1_000_000
SMALL = [
    "data.dataset={name: synthetic, dim: 6, num_classes: 3, samples_per_client: 12}",
    "model={name: two_nn, width: 4}",
    "training={rounds: 4, clients_per_round: 10, local_epochs: 1}",
    "evaluation={every: 2, clients: 5, final_clients: 20, lambdas: 3}",
    "engine={workers: 1, state: disk, checkpoint_every: 2}",
]


def small(num_clients: int) -> list[str]:
    return [*SMALL, f"data.num_clients={num_clients}"]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The clients whose samples, labels or sizes anybody asks for."""
    clients: set[int] = set()

    def watched(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: SyntheticFederation, client: int, *rest: object) -> Any:
            clients.add(client)
            return method(self, client, *rest)

        return call

    for name in ("sizes", "labels", "_samples"):
        monkeypatch.setattr(SyntheticFederation, name, watched(getattr(SyntheticFederation, name)))
    return clients


def took_part(run: Path) -> set[int]:
    return {client for cohort in read_table(run / "rounds.parquet")["cohort"] for client in cohort}


def test_only_those_that_train_or_are_evaluated_are_asked_for(tmp_path: Path, asked: set[int]) -> None:
    start(load_config("scale", small(MANY)), tmp_path / "out")
    (run,) = (path.parent for path in tmp_path.glob("out/*/run.json"))
    evaluated = set(read_table(run / "clients.parquet")["client"])
    assert len(evaluated) == 20
    assert len(took_part(run)) == 40
    the_first = {0}  # on its samples the model is tried before anything trains
    followed = asked - took_part(run) - evaluated - the_first
    assert len(followed) <= 5
    assert len(list(run.glob("checkpoints/clients/*/*"))) == 40


def test_memory_does_not_grow_with_clients_that_do_not_take_part(tmp_path: Path) -> None:
    """A list of a million places alone would take 8 MB."""

    def peak(num_clients: int, name: str) -> int:
        tracemalloc.start()
        try:
            start(load_config("scale", small(num_clients)), tmp_path / name)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1_000, "first")  # what is imported and made once is not counted
    few, many = peak(1_000, "few"), peak(MANY, "many")
    assert many - few < 2**20


def test_a_stopped_one_goes_on_to_the_same_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from superfed.engine.simulation import Run

    settings = load_config("scale", small(MANY))
    start(settings, tmp_path / "whole")
    complete = Run.complete_round

    def until_the_third(run: Run, *arguments: Any) -> None:
        if run.round == 3:
            raise KeyboardInterrupt
        complete(run, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "complete_round", until_the_third)
        with pytest.raises(KeyboardInterrupt):
            start(settings, tmp_path / "stopped")
    resume(tmp_path / "stopped")
    for path in tmp_path.glob("whole/*/*.parquet"):
        assert (tmp_path / "stopped" / path.relative_to(tmp_path / "whole")).read_bytes() == path.read_bytes()


def test_the_page_says_what_was_measured_and_that_is_within_the_limit() -> None:
    root = Path(__file__).parent.parent.parent
    found = json.loads((root / "results" / "million-clients.json").read_text())
    few, many = found["medians"].values()
    page = (root / "docs" / "scale.md").read_text()
    for words, name in (("s", "round_s"), ("s of the processor", "round_cpu_s")):
        row = f"| tenth round, {words} | {few[name]:.3f} | {many[name]:.3f} | {found['ratios'][name]:.2f} |"
        assert row in page
    assert max(found["ratios"][name] for name in ("round_s", "round_cpu_s", "peak_rss_mib")) <= 1.3
    assert found["killed_and_resumed_is_the_same"]


def test_the_program_from_beginning_to_end(superfed: Program, tmp_path: Path, asked: set[int]) -> None:
    done = superfed("run", "scale", *small(MANY), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "report.html").exists()
    assert len(asked) < 100
    assert superfed("compare", tmp_path / "out").returncode == 0
    assert superfed("evaluate", tmp_path / "out").returncode == 0
    assert superfed("show", "scale", *small(MANY)).returncode == 0
    assert len(asked) < 100
    shown = superfed("data", "show", "scale", *small(MANY), "--json")
    assert shown.returncode == 0, shown.stderr
    (plain,) = json.loads(shown.stdout)
    assert plain["num_clients"] == MANY
    assert len(asked) < 20_000
