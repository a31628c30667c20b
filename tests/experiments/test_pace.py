"""Checkpoints where nobody said how often: they cost little, and do not show in what a run leaves behind."""

from pathlib import Path

import pytest
from test_stopped_at_every_write import SETTINGS, contents

from superfed.experiments.pace import EVERY, SHARE, Pace
from superfed.experiments.runner import start


def test_the_next_one_waits_many_times_as_long_as_the_last_took() -> None:
    now = 0.0
    pace = Pace(lambda: now)
    assert pace.allows(EVERY)
    assert not pace.allows(EVERY + 1)
    with pace.writing():
        now = 2.0
    now = 2.0 + SHARE * 2.0 - 0.1
    assert not pace.allows(2 * EVERY)
    now += 0.2
    assert pace.allows(3 * EVERY)


def test_a_run_leaves_the_same_files_whenever_checkpoints_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = []
    for every in (1, 2, 1000):
        monkeypatch.setattr(Pace, "allows", lambda self, round, every=every: round % every == 0)
        out = tmp_path / str(every)
        start(SETTINGS | {"engine": {"workers": 1}}, out)
        left.append(contents(out))
        assert len(list(out.glob("*/checkpoints/round-*.json"))) == len([p for p in out.iterdir() if p.is_dir()])
    assert left[0] == left[1] == left[2]
