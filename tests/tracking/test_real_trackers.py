"""What the real libraries wrote, read back: of an experiment that was stopped halfway and resumed."""

import contextlib
import dataclasses
import json
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
import yaml

from superfed.experiments.load import resolve
from superfed.experiments.observer import Silent
from superfed.experiments.runner import resume, start
from superfed.store.tables import read_table
from superfed.tracking.settings import TRACKERS
from support.wandb_file import items, records

pytestmark = pytest.mark.filterwarnings("ignore:The ``noload`` loader strategy is deprecated")

PAGE = Path(__file__).parents[2] / "docs" / "tracking.md"
ROUNDS, LAMBDAS = 6, 3
RUNS = ["fedavg-seed0", "superfed-mm-seed0"]
SETTINGS: dict[str, Any] = {
    "name": "followed",
    "algorithm": [{"name": "fedavg"}, {"name": "superfed", "nu": 1.0, "start": 0}],
    "data": {"dataset": {"name": "synthetic", "dim": 6, "num_classes": 3, "samples_per_client": 20}, "num_clients": 12},
    "model": {"name": "two_nn", "width": 4},
    "training": {"rounds": ROUNDS, "clients_per_round": 3, "local_epochs": 1, "lr": 0.05},
    "evaluation": {"every": 2, "clients": 10, "lambdas": LAMBDAS},
    "engine": {"workers": 1, "checkpoint_every": 3},
}


class StoppedAfter(Silent):
    """Somebody presses Ctrl-C when all runs have done so many rounds."""

    def __init__(self, rounds: int) -> None:
        self._left = rounds * len(RUNS)

    def round_done(self, run: int) -> None:
        self._left -= 1
        if self._left == 0:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment in all trackers: stopped after round 4, resumed from the checkpoint after round 3."""
    out = tmp_path_factory.mktemp("followed") / "out"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("WANDB_MODE", "WANDB_API_KEY", "MLFLOW_TRACKING_URI"):
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(out.parent))  # where W&B keeps logs, and would find a key
        patch.setattr("superfed.tracking.mailbox.HASTE", 60)
        with pytest.raises(KeyboardInterrupt):
            start(SETTINGS | {"tracking": ["tensorboard", "wandb", "mlflow"]}, out, observer=StoppedAfter(4))
        assert left_behind(out.parent) == []
        resume(out)
        assert left_behind(out.parent) == []
    return out


def left_behind(home: Path) -> list[str]:
    """Processes that a tracker started, wherever they belong now: they know of this home and of no other."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid != os.getpid() and process.environ().get("HOME") == str(home):
                found.append(" ".join(process.cmdline()))
    return found


@pytest.fixture(scope="module")
def unfollowed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return start(SETTINGS, tmp_path_factory.mktemp("unfollowed") / "out")


def test_a_run_is_the_same_to_the_byte_whoever_follows_it(followed: Path, unfollowed: Path) -> None:
    def contents(out: Path) -> dict[str, bytes]:
        files = (path for run in RUNS for path in (out / run).rglob("*") if path.is_file())
        return {str(p.relative_to(out)): p.read_bytes() for p in files if p.name != "timing.json"}

    assert contents(followed) == contents(unfollowed)


def expected_rounds(out: Path, run: str) -> dict[str, dict[int, float]]:
    table = read_table(out / run / "rounds.parquet")
    steps = [done + 1 for done in table["round"]]
    columns = {
        "round/clients": [len(cohort) for cohort in table["cohort"]],
        "round/diverged": [len(diverged) for diverged in table["diverged"]],
        "round/samples": table["samples"],
        "round/bytes_down": table["bytes_down"],
        "round/bytes_up": table["bytes_up"],
        "round/rate": table["lr"],
    }
    return {name: dict(zip(steps, values, strict=True)) for name, values in columns.items()}


def expected_curve(out: Path, run: str) -> dict[str, dict[int, float]]:
    table = read_table(out / run / "curve.parquet")
    found: dict[str, dict[int, float]] = {}
    for after, lam, top1, std in zip(table["round"], table["lam"], table["top1"], table["top1_std"], strict=True):
        at = "model" if lam is None else f"lambda_{lam:g}"
        found.setdefault(f"curve/{at}/top1", {})[after] = top1
        found.setdefault(f"curve/{at}/top1_std", {})[after] = std
    return found


def check(out: Path, run: str, told: dict[str, list[tuple[int, float]]]) -> None:
    """Every step once and in order, each with the number that the run's own tables have."""
    expected = expected_rounds(out, run) | expected_curve(out, run)
    assert len(expected) == 6 + 2 * (LAMBDAS if "superfed" in run else 1)
    for name, values in expected.items():
        assert [step for step, _ in told[name]] == sorted(values), name
        assert dict(told[name]) == pytest.approx(values, rel=1e-6), name
    worst = next(name for name in told if name.endswith("/top1_worst10") and name.startswith("curve/"))
    assert [step for step, _ in told[worst]] == [0, 2, 4, 6]
    summary = json.loads((out / run / "summary.json").read_text())
    validated = summary["readings"]["validated"]["top1"]
    for name, statistic in (("validated/top1", "mean"), ("validated/top1_worst10", "worst10")):
        assert [step for step, _ in told[name]] == [ROUNDS]
        assert told[name][0][1] == pytest.approx(validated[statistic], rel=1e-6)
    assert told["total/bytes_up"] == [(ROUNDS, summary["bytes_up"])]
    final = [name for name in told if name.startswith("final/") and name.endswith("/top1")]
    assert [told[name][0][1] for name in final] == pytest.approx(
        [point["top1"]["mean"] for point in summary["by_lambda"]], rel=1e-6
    )


@pytest.mark.parametrize("run", RUNS)
def test_tensorboard(followed: Path, run: str) -> None:
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData  # type: ignore[import-untyped]

    place = followed / "tracking" / "tensorboard" / run
    check(followed, run, scalars(place))
    events = accumulated(place)
    readings = {tag for tag in events.Tags()["tensors"] if tag.startswith("clients/")}
    assert {"clients/validated/top1", "clients/oracle/top1"} <= readings
    assert ("clients/validated/lambda" in readings) == ("superfed" in run)
    histogram = events.Tensors("clients/validated/top1")
    assert len(histogram) == 1
    assert sum(_numbers(histogram[0].tensor_proto)[2::3]) == 12, "every client is in it"
    (config,) = events.Tensors("config")
    shown = config.tensor_proto.string_val[0].decode().removeprefix("```yaml\n").removesuffix("```")
    assert yaml.safe_load(shown) == yaml.safe_load((followed / run / "config.yaml").read_text())
    told = HParamsPluginData.FromString(events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content)
    settings = told.session_start_info.hparams
    assert settings["training.lr"].number_value == 0.05
    assert settings["algorithm.name"].string_value == run.split("-")[0]


def accumulated(folder: Path) -> Any:
    from tensorboard.backend.event_processing import event_accumulator  # type: ignore[import-untyped]

    return event_accumulator.EventAccumulator(str(folder), {"scalars": 0, "tensors": 0}).Reload()


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    events = accumulated(folder)
    return {tag: [(one.step, one.value) for one in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def _numbers(tensor: Any) -> list[float]:
    from tensorboard.util.tensor_util import make_ndarray  # type: ignore[import-untyped]

    return [float(number) for number in make_ndarray(tensor).ravel()]


@pytest.mark.parametrize("run", RUNS)
def test_wandb(followed: Path, run: str) -> None:
    parts = [list(records(path)) for path in sorted(followed.glob("tracking/wandb/offline-run-*/run-*.wandb"))]
    mine = [part for part in parts if any(one.run.display_name == run for one in part)]
    assert len(mine) == 2, "before and after"
    begun = [one.run for part in mine for one in part if one.WhichOneof("record_type") == "run"]
    assert len({one.run_id for one in begun}) == 1, "both are of the same run"
    assert {(one.project, one.run_group) for one in begun} == {("superfed", "out")}
    config = items(begun[0].config.update)
    assert config["training"]["lr"] == 0.05
    assert config["provenance"]["fingerprint"] == json.loads((followed / run / "run.json").read_text())["fingerprint"]
    assert {"versions.torch", "hardware.machine"} <= config["provenance"].keys()
    told: dict[str, list[tuple[int, Any]]] = {}
    summary: dict[str, Any] = {}
    saved: list[str] = []
    for one in (one for part in mine for one in part):
        for name, value in items(one.history.item).items():
            told.setdefault(name, []).append((one.history.step.num, value))
        summary |= items(one.summary.update)
        saved += [file.path for file in one.files.files]
    check(followed, run, told | {name: [(ROUNDS, value)] for name, value in summary.items() if name not in told})
    assert sum(told["clients/validated/top1.values"][0][1]) == 12
    assert {"config.yaml", "summary.json", "readings.parquet", "report.html"} == {
        path.removeprefix("superfed/") for path in saved if path.startswith("superfed/")
    }
    exits = [one.exit.exit_code for part in mine for one in part if one.WhichOneof("record_type") == "exit"]
    assert exits == [255, 0], "interrupted, then finished"


def test_mlflow(followed: Path) -> None:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{followed}/tracking/mlflow/mlflow.db")
    experiment = client.get_experiment_by_name("followed")
    assert experiment is not None
    every = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}
    assert every.keys() == {"out", *RUNS}
    for name in RUNS:
        run = every[name]
        assert run.data.tags["mlflow.parentRunId"] == every["out"].info.run_id
        assert run.info.status == "FINISHED"
        histories = {key: client.get_metric_history(run.info.run_id, key) for key in run.data.metrics}
        check(followed, name, {key: [(m.step, m.value) for m in history] for key, history in histories.items()})
        assert run.data.params["training.lr"] == "0.05"
        info = json.loads((followed / name / "run.json").read_text())
        assert run.data.tags["fingerprint"] == info["fingerprint"]
        assert run.data.tags["versions.torch"] == info["versions"]["torch"]
        assert run.data.tags["hardware.machine"] == info["hardware"]["machine"]
        files = {file.path for file in client.list_artifacts(run.info.run_id)}
        assert files == {"config.yaml", "summary.json", "readings.parquet", "report.html", "clients.json"}
        place = Path(str(run.info.artifact_uri))
        assert (place / "summary.json").read_bytes() == (followed / name / "summary.json").read_bytes()
        table = json.loads((place / "clients.json").read_text())
        assert len(table["data"]) == len(read_table(followed / name / "readings.parquet")["client"])


def test_nothing_is_told_twice_when_all_is_done(followed: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = {path: path.stat().st_size for path in followed.rglob("*.jsonl")}
    assert len(before) == 3
    with caplog.at_level(logging.WARNING):
        resume(followed)
    assert {path: path.stat().st_size for path in followed.rglob("*.jsonl")} == before
    assert caplog.messages == []


def test_the_page_shows_what_works(
    followed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGE.read_text()
    for block in re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        assert resolve(SETTINGS | yaml.safe_load(block))[0].tracking
    every = {name: {f.name for f in dataclasses.fields(kind)} for name, kind in TRACKERS.items()}
    longest = yaml.safe_load(re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[-1])["tracking"]
    assert {name: set(options) for name, options in longest.items()} == every, "every setting is shown"
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "nu").symlink_to(followed)
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, PAGE.name, "exec"), {})
    shown = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in shown[:-1]} == set(RUNS)
    assert shown[-1].startswith("[(0, ")


def test_a_run_that_is_killed_leaves_nobody_behind(tmp_path: Path) -> None:
    """And what it had told is there all the same."""
    config, out = tmp_path / "config.yaml", tmp_path / "out"
    settings = SETTINGS | {"training": SETTINGS["training"] | {"rounds": 100_000}, "algorithm": "fedavg"}
    config.write_text(yaml.safe_dump(settings | {"tracking": "tensorboard"}))
    command = [sys.executable, "-m", "superfed", "run", str(config), "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ | {"HOME": str(tmp_path)})
    journal = out / "tracking" / "tensorboard.jsonl"
    try:
        wait_until(lambda: journal.exists() and len(journal.read_text().splitlines()) > 10)
        assert len(left_behind(tmp_path)) >= 2
    finally:
        process.kill()
        process.wait()
    wait_until(lambda: left_behind(tmp_path) == [])
    steps = [step for step, _ in scalars(out / "tracking" / "tensorboard" / "fedavg-seed0")["round/samples"]]
    assert steps == list(range(1, len(steps) + 1))
    told = [json.loads(line) for line in journal.read_text().splitlines()]
    assert steps[-1] == max(one["step"] for one in told if one.get("what") == "round")


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it never came true")
