"""A disk that will be full before the runs are finished is told of at once."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from superfed.cli import reproduce_runs
from superfed.cli.main import app

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
