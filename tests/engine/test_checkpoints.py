"""A checkpoint is whole or it is not used."""

import json
from pathlib import Path

import pytest
import torch

from superfed.algorithms import FedAvg
from superfed.core.errors import UserError
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.clients import DiskStates, MemoryStates
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
    assert set(files(tmp_path / "clients")) == named
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
        next((tmp_path / "clients").rglob("*.round-000002.safetensors")) if what == "client" else tmp_path / what
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
    assert len(files(tmp_path)) == len(took_part)


def test_a_folder_holds_the_files_of_a_thousand_clients_and_no_more(tmp_path: Path) -> None:
    states, state = DiskStates(tmp_path), {"w": torch.zeros(1)}
    for client in (0, 999, 1000, 123_456, 12_345_678):
        states.put(client, state, 0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0000", "0001", "0123", "12345"]
    assert files(tmp_path / "0000") == [f"client-{c:07d}.round-000000.safetensors" for c in (0, 999)]
    assert all(states.get(client) for client in (0, 999, 1000, 123_456, 12_345_678))


@pytest.mark.parametrize("on_disk", [False, True])
def test_checkpoints_whose_client_files_lie_in_one_folder_can_be_gone_on_with(tmp_path: Path, on_disk: bool) -> None:
    """As they did before they were spread over folders."""
    whole = checkpointed(tmp_path / "new")
    checkpointed(tmp_path / "old")
    clients = tmp_path / "old" / "clients"
    for path in list(clients.rglob("*.safetensors")):
        path.rename(clients / path.name)
    (clients / "0000").rmdir()
    checkpoints = Checkpoints(tmp_path / "old")
    run = Run(toy_task(METHODS["superfed"]), states=DiskStates(checkpoints.clients) if on_disk else MemoryStates())
    assert run.restore(checkpoints)
    assert files(tmp_path / "old") == files(tmp_path / "new")
    assert run.round == 3
    go_on([run])
    assert_same(whole, run)


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
