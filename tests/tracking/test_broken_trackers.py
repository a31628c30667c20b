"""Whatever a tracker does, the runs are what they would be without it, and one sentence says what happened."""

import logging
import time
from pathlib import Path
from typing import Any

import pytest

from superfed.experiments.runner import start
from superfed.store.layout import ExperimentFolder

SETTINGS: dict[str, Any] = {
    "algorithm": "fedavg",
    "data": {"dataset": {"name": "synthetic", "dim": 6, "num_classes": 3, "samples_per_client": 12}, "num_clients": 6},
    "model": {"name": "two_nn", "width": 4},
    "training": {"rounds": 4, "clients_per_round": 2, "local_epochs": 1, "lr": 0.05},
    "evaluation": {"every": 2, "clients": 2},
    "engine": {"workers": 1},
    "tracking": {"wandb": {"mode": "offline"}},
}
WHOLE = """
class Settings:
    def __init__(self, **_): ...
class Histogram:
    def __init__(self, _): ...
class Run:
    id, dir, summary = "x", {place!r}, dict()
    def log(self, values, step): ...
    def save(self, *_, **__): ...
    def finish(self, exit_code): ...
def init(**_): return Run()
def teardown(): ...
"""
NOT_THERE = 'raise ModuleNotFoundError("No module named \'wandb\'", name="wandb")'
BROKEN = 'raise ImportError("libmagic.so is missing\\nand more")'
FAILS_AT_ONCE = "def init(**_): raise OSError(28, 'No space left on device')"
FAILS_LATER = "def _log(self, values, step):\n    if step: raise RuntimeError('the server is on fire')\nRun.log = _log"
HANGS_AT_ONCE = "import time\ntime.sleep(1000)"
HANGS_LATER = "import time\nRun.log = lambda *_, **__: time.sleep(1000)"
DIES = "import os\nRun.log = lambda *_, **__: os._exit(3)"
PRINTS = "print('x' * 100_000)\nimport sys\nprint('y' * 100_000, file=sys.stderr)\nassert sys.stdin.read() == ''"

ALONE = "the runs go on without it"
CASES = {
    "not installed": (NOT_THERE, [f'it is not installed; pip install "superfed[wandb]"; {ALONE}']),
    "broken": (BROKEN, [f"it cannot be used (ImportError: libmagic.so is missing); {ALONE}"]),
    "fails at once": (
        FAILS_AT_ONCE,
        ["not everything reaches it (OSError: [Errno 28] No space left on device); the run's folder has it all"],
    ),
    "fails later": (
        FAILS_LATER,
        ["not everything reaches it (RuntimeError: the server is on fire); the run's folder has it all"],
    ),
    "hangs at once": (HANGS_AT_ONCE, ["it did not finish within 1 s and lacks what came last"]),
    "hangs later": (HANGS_LATER, ["it did not finish within 1 s and lacks what came last"]),
    "dies": (DIES, [f"its process ended unexpectedly; {ALONE}"]),
    "prints and reads": (PRINTS, []),
}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    out = start(SETTINGS | {"tracking": []}, tmp_path_factory.mktemp("alone") / "out")
    return (out / "fedavg-seed0" / "summary.json").read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_a_broken_tracker_costs_a_sentence(
    case: str, alone: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    code, sentences = CASES[case]
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "wandb.py").write_text(WHOLE.format(place=str(tmp_path)) + "\n" + code)
    monkeypatch.syspath_prepend(tmp_path / "lib")
    if "hangs" in case:
        monkeypatch.setattr("superfed.tracking.mailbox.PATIENCE", 1.0)
    began = time.monotonic()
    with caplog.at_level(logging.WARNING):
        out = start(SETTINGS, tmp_path / "out")
    assert time.monotonic() - began < 30
    assert caplog.messages == [f"tracking.wandb: {sentence}" for sentence in sentences]
    run = ExperimentFolder(out).run("fedavg-seed0")
    assert run.has_results()
    assert run.summary_file.read_bytes() == alone


def test_one_that_is_too_slow_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What waits for it does not fill the memory."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "wandb.py").write_text(HANGS_AT_ONCE)
    monkeypatch.syspath_prepend(tmp_path / "lib")
    from superfed.tracking.mailbox import MOST_WAITING, Mailbox

    box = Mailbox("wandb", {"settings": {}, "folder": str(tmp_path), "name": "x", "several": False})
    with caplog.at_level(logging.WARNING):
        for step in range(100):
            box.tell({"what": "round", "run": "x", "step": step, "values": {"x" * (MOST_WAITING // 50): 1.0}})
        box.finish()
        box.wait()
        box.end()
    assert caplog.messages == [f"tracking.wandb: it is too slow for what there is to tell; {ALONE}"]


def test_a_run_that_is_taken_up_later_tells_a_tracker_that_was_not_there_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from superfed.experiments.observer import Silent
    from superfed.experiments.runner import resume

    class Stopped(Silent):
        def saved(self, run: int) -> None:
            raise KeyboardInterrupt

    (tmp_path / "lib").mkdir()
    library, log = tmp_path / "lib" / "wandb.py", tmp_path / "log"
    library.write_text(NOT_THERE)
    monkeypatch.syspath_prepend(tmp_path / "lib")
    with caplog.at_level(logging.WARNING), pytest.raises(KeyboardInterrupt):
        start(SETTINGS | {"engine": {"workers": 1, "checkpoint_every": 2}}, tmp_path / "out", observer=Stopped())
    writing = f"def _log(self, values, step): print(step, *values, file=open({str(log)!r}, 'a'))\nRun.log = _log"
    library.write_text(WHOLE.format(place=str(tmp_path)) + "\n" + writing)
    resume(tmp_path / "out")
    told = [line.split()[:2] for line in log.read_text().splitlines()]
    rounds = [[str(step), "round/clients"] for step in (1, 2, 3, 4)]
    curve = [[str(step), "curve/model/top1"] for step in (0, 2, 4)]
    assert told[:-1] == [curve[0], rounds[0], rounds[1], curve[1], rounds[2], rounds[3], curve[2]]
