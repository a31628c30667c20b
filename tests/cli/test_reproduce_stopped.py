"""superfed reproduce --cell of a run that came to no end: whether it is still running, and how it goes on if not."""

import shutil
from pathlib import Path

import pytest

from conftest import Program
from superfed.experiments.member import Member
from superfed.experiments.together import Together
from superfed.store.lock import locked

CELL = "table1/mnist/k50/fedavg"
ENGINE = ("engine.device=cpu", "engine.workers=1")


def test_a_run_is_running_while_somebody_works_on_it(
    superfed: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUPERFED_DATA", raising=False)  # it would be part of the command, as it should be
    where = ("reproduce", "table1", "--scale", "smoke", "--out", tmp_path)

    def told(what: str) -> str:
        lines = superfed(*where, "--cell", CELL).stdout.splitlines()
        (line,) = (line for line in lines if line.startswith(f"  {what} "))
        return line.split(maxsplit=1)[1]

    def interrupted(self: Together, member: Member, points: int) -> None:
        during.append(told("status"))
        raise KeyboardInterrupt

    during = list[str]()
    with monkeypatch.context() as patch:
        patch.setattr(Together, "_evaluate", interrupted)
        assert superfed(*where, *ENGINE, "--only", CELL).returncode == 130
    assert during == ["running"]
    assert told("status") == "stopped after 2 of 2 rounds; the command below goes on from there"

    (experiment,) = (path for path in (tmp_path / "smoke").iterdir() if path.is_dir())
    with locked(experiment):
        assert told("status") == "running"

    (checkpoints,) = tmp_path.rglob("checkpoints")
    shutil.move(checkpoints, tmp_path / "aside")
    assert told("status").startswith("stopped, and no checkpoint is here; the command below begins it anew, or ")
    shutil.move(tmp_path / "aside", checkpoints)

    again = told("command").split()
    assert superfed(*again[1:]).returncode == 0
    assert told("status") == "finished"
