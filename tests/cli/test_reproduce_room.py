"""A disk that will be full before the runs are finished is told of at once."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from superfed.cli import elsewhere, reproduce_runs
from superfed.cli.main import app
from superfed.deploy.ray.place import OnRay
from superfed.deploy.ray.reached import Reached
from superfed.deploy.ray.stores.kinds import Store
from superfed.deploy.ray.stores.remote import Remote
from superfed.deploy.ray.stores.shared import Shared
from superfed.experiments.observer import Observer
from superfed.experiments.orders import Order
from superfed.experiments.places import Here, Outcome
from superfed.experiments.schema import EngineConfig
from superfed.reproduce.cells import cells, runs
from superfed.reproduce.room import room_for
from superfed.reproduce.running import in_jobs

SMALL = ("reproduce", "table1", "--scale", "smoke", "--only", "mnist/k50/apfl", "engine.device=cpu", "engine.workers=1")


@pytest.mark.parametrize(
    ("keep", "end"), [("true", "; engine.keep_models=false keeps results alone\n"), ("false", " 100 B free\n")]
)
def test_before_anything_is_run(keep: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, warned in ((100, True), (2**40, False)):
        monkeypatch.setattr(reproduce_runs, "room_at", lambda folder, free=free: free)
        out = tmp_path / str(free)
        done = CliRunner().invoke(app, [*SMALL, f"engine.keep_models={keep}", "--out", str(out)])
        assert done.exit_code == 0, done.output
        assert done.stderr.startswith("superfed: these runs' models take ") == warned
        assert done.stderr.endswith(end) == warned
        assert bool(list(out.rglob("*.safetensors"))) == (keep == "true")


class NoCluster(OnRay):
    """Reaches nobody, and computes here."""

    def check(self, engine: EngineConfig) -> None:
        pass

    def train(self, orders: Sequence[Order], observer: Observer) -> Outcome:
        return Here().train(orders, observer)


@pytest.mark.parametrize(
    ("store", "warned"), [(None, False), (Shared(), True), (Remote("memory://store"), False)], ids=["", "shared", "url"]
)
def test_what_machines_compute_at_once_can_be_there_at_once(
    store: Store | None, warned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder that they share, if they do; one dataset after another, if they are none."""

    @contextmanager
    def place_for(*options: object) -> Iterator[Here | NoCluster]:
        with ExitStack() as stack:
            yield Here() if store is None else NoCluster(Reached("local", None, stack), store)

    two = runs([cell for cell in cells("table1", "smoke") if cell.id.endswith("/k50/apfl")], [0])
    largest, both = room_for(in_jobs(two), keep_models=False), room_for([two], keep_models=False)
    assert largest < both
    monkeypatch.setattr(elsewhere, "place_for", place_for)
    monkeypatch.setattr(reproduce_runs, "room_at", lambda folder: largest)
    small = [word.replace("mnist/k50/apfl", "k50/apfl") for word in SMALL]
    done = CliRunner().invoke(app, [*small, "engine.keep_models=false", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert (" if all are computed at once, and " in done.stderr) == warned
    assert bool(done.stderr) == warned
