"""Killed with SIGKILL at any moment, an experiment ends in the same bytes as one that was left in peace."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

CONFIG = """
seed: [0, 1]
algorithm: [{name: fedavg}, {name: superfed, nu: 1.0, start: 3}]
data:
  dataset: digits
  num_clients: 12
  partition: {name: pathological, assignment: cyclic}
model: {name: two_nn, width: 32}
training: {rounds: 9, clients_per_round: 4, local_epochs: 2, batch_size: 10, lr: 0.05}
evaluation: {every: 2, clients: 5}
engine: {workers: 2, checkpoint_every: 2, state: STATE}
"""


def superfed(*arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "superfed.cli.main", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of an experiment but those that tell of time, by its place."""
    files = (p for p in sorted(folder.rglob("*")) if p.is_file())
    aside = ("timing.json", "experiment.json", ".lock", "report.html")
    return {str(p.relative_to(folder)): p.read_bytes() for p in files if p.name not in aside}


def seen(folder: Path) -> set[Path]:
    """What an experiment has written so far that it will not write again."""
    return {*folder.glob("*/checkpoints/round-*.json"), *folder.glob("*/summary.json"), *folder.glob("experiment.json")}


@pytest.mark.parametrize("state", ["memory", "disk"])
def test_killed_as_it_goes(tmp_path: Path, state: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG.replace("STATE", state))
    undisturbed = superfed("run", config, "--out", tmp_path / "peace")
    output, _ = undisturbed.communicate()
    assert undisturbed.returncode == 0, output.decode()

    rng = random.Random(1)
    out, kills = tmp_path / "war", 0
    while True:
        began_at_all = (out / "experiment.json").exists()
        process = superfed("resume", out) if began_at_all else superfed("run", config, "--out", out)
        if kills < 4:
            was = seen(out)
            while process.poll() is None and seen(out) == was:  # it makes headway, however slow the machine is
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 0.2))
            process.kill()
            kills += 1
        output, _ = process.communicate()
        if process.returncode == 0:
            break
        assert process.returncode == -9, output.decode()
    assert kills >= 2
    peace, war = contents(tmp_path / "peace"), contents(out)
    assert peace.keys() == war.keys()
    for name, data in peace.items():
        assert war[name] == data, name
    assert any("clients/0000/client-" in name for name in peace)
