"""A checkpoint is whole or it is not used."""

import json
from pathlib import Path

import pytest

from superfed.algorithms import FedAvg
from superfed.core.errors import UserError
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.clients import DiskStates
from superfed.engine.simulation import Run
from support.toys import METHODS, assert_same, go_on, toy_task, train


def checkpointed(folder: Path, at: tuple[int, ...] = (1, 2, 3)) -> Run:
    """A SuPerFed run with checkpoints after some of its rounds."""
    run, checkpoints = Run(toy_task(METHODS["superfed"])), Checkpoints(folder)
    while not run.finished:
        go_on([run], rounds=1)
        if run.round in at:
            run.save(checkpoints)
    return run


def files(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.rglob("*") if p.is_file())


def test_the_last_two_are_kept_and_nothing_else(tmp_path: Path) -> None:
    checkpointed(tmp_path)
    assert [p.name for p in sorted(tmp_path.glob("*.json"))] == ["round-000002.json", "round-000003.json"]
    named = set()
    for path in tmp_path.glob("*.json"):
        manifest = json.loads(path.read_text())["manifest"]
        named |= {f"client-{int(c):07d}.round-{v[0]:06d}.safetensors" for c, v in manifest["clients"].items()}
    assert {p.name for p in (tmp_path / "clients").iterdir()} == named
    assert len(list(tmp_path.glob("server*"))) == 2


HARMS = [
    (what, harm)
    for what in ("round-000003.json", "server.round-000003.safetensors", "client")
    for harm in ("truncate", "flip", "empty", "remove")
    if (what, harm) != ("round-000003.json", "remove")  # a manifest that is gone is a checkpoint that never was
]


@pytest.mark.parametrize(("what", "harm"), HARMS)
def test_a_damaged_checkpoint_is_passed_over_with_a_warning(tmp_path: Path, what: str, harm: str) -> None:
    whole = checkpointed(tmp_path)
    path = (
        next((tmp_path / "clients").glob("*.round-000002.safetensors")) if what == "client" else tmp_path / what
    )  # a file that round 3's checkpoint alone names
    data = path.read_bytes()
    if harm == "remove":
        path.unlink()
    else:
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        path.write_bytes({"truncate": data[:middle], "flip": flipped, "empty": b""}[harm])
    run = Run(toy_task(METHODS["superfed"]))
    with pytest.warns(UserWarning, match=r"round-000003.json cannot be used: .* is (damaged|missing)"):
        assert run.restore(Checkpoints(tmp_path))
    assert run.round == 2
    go_on([run])
    assert_same(whole, run)


def test_without_any_whole_checkpoint_a_run_begins_at_the_beginning(tmp_path: Path) -> None:
    whole = checkpointed(tmp_path)
    for path in tmp_path.glob("server*"):
        path.write_bytes(b"nothing")
    run = Run(toy_task(METHODS["superfed"]))
    with pytest.warns(UserWarning, match="is damaged"):
        assert not run.restore(Checkpoints(tmp_path))
    assert run.round == 0
    go_on([run])
    assert_same(whole, run)


def test_what_a_killed_run_left_behind_is_cleared_away(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    run = Run(toy_task(METHODS["superfed"]), states=DiskStates(checkpoints.clients))
    go_on([run], rounds=2)
    run.save(checkpoints)
    before = files(tmp_path)
    go_on([run], rounds=1)
    (tmp_path / ".round-000003.json.abc.part").write_text("half")
    assert files(tmp_path) != before
    Run(toy_task(METHODS["superfed"])).restore(Checkpoints(tmp_path))
    assert files(tmp_path) == before


def test_states_on_disk_take_one_file_for_each_client(tmp_path: Path) -> None:
    """However many rounds a client takes part in between two checkpoints."""
    run = Run(toy_task(METHODS["superfed"], rounds=12), states=DiskStates(tmp_path))
    go_on([run])
    took_part = {client for record in run.records for client in record.cohort}
    assert len(list(tmp_path.iterdir())) == len(took_part)


def test_states_in_memory_and_on_disk_are_the_same(tmp_path: Path) -> None:
    on_disk = Run(toy_task(METHODS["superfed"]), states=DiskStates(tmp_path))
    go_on([on_disk])
    assert_same(train([toy_task(METHODS["superfed"])])[0], on_disk)


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    checkpointed(tmp_path)
    with pytest.raises(UserError, match="holds a run with other data, method or settings"):
        Run(toy_task(FedAvg())).restore(Checkpoints(tmp_path))


def test_nothing_is_pickled(tmp_path: Path) -> None:
    checkpointed(tmp_path)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert path.suffix in (".json", ".safetensors")
            assert not path.read_bytes().startswith((b"\x80", b"PK"))
