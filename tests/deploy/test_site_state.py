"""A site's personal state lasts, and what became of it is never guessed."""

import json
import multiprocessing
import threading
from pathlib import Path

import pytest
import torch

from superfed.deploy.flower.site.state import NEVER, SiteState
from superfed.deploy.flower.wire.refusal import Refusal
from superfed.store.lock import turn
from support.federations import RUN

STATE = {"w_l": torch.arange(5.0)}


@pytest.fixture
def state(tmp_path: Path) -> SiteState:
    kept = SiteState(tmp_path, RUN)
    with kept.held(1.0):
        kept.save(3, STATE)
    return kept


def test_what_was_kept_is_there(state: SiteState) -> None:
    found = state.after(3)
    assert found is not None
    assert torch.equal(found["w_l"], STATE["w_l"])
    assert state.after(NEVER) is None
    assert state.folder.stat().st_mode & 0o077 == 0


def test_a_lost_state_is_reported(state: SiteState) -> None:
    with pytest.raises(Refusal, match="after round 5 is lost"):
        state.after(4)
    next(state.folder.glob("*.safetensors")).unlink()
    with pytest.raises(Refusal, match="after round 4 is lost"):
        state.after(3)


@pytest.mark.parametrize("place", [0, 10, -1])
def test_a_damaged_state_is_reported(state: SiteState, place: int) -> None:
    file = next(state.folder.glob("*.safetensors"))
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)
    with pytest.raises(Refusal, match="after round 4 is damaged"):
        state.after(3)


@pytest.mark.parametrize("note", ["", "{}", "[]", json.dumps({"schema": 1, "run": "x", "round": 3, "sha256": ""})])
def test_a_damaged_note_is_reported(state: SiteState, note: str) -> None:
    next(state.folder.glob("*.json")).write_text(note)
    with pytest.raises(Refusal, match="damaged"):
        state.after(3)


def test_only_what_may_be_asked_for_is_kept(tmp_path: Path) -> None:
    state = SiteState(tmp_path, RUN)
    with state.held(1.0):
        for round in range(8):
            state.save(round, STATE)
            state.forget(round - 1, round)
    assert state.rounds() == [5, 6, 7]
    assert len(list(state.folder.glob("after-*"))) == 6


def test_one_writes_at_a_time_and_the_other_waits(state: SiteState) -> None:
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with turn(state.folder / ".lock"):
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait(10)
    with pytest.raises(Refusal, match="still writing"), state.held(0.3):
        pass
    leave.set()
    with state.held(10):
        pass
    thread.join()


def _die_with_the_lock(folder: Path) -> None:
    import os

    state = SiteState(folder, RUN)
    with state.held(1.0):
        (state.folder / ".after-000009.safetensors.x.part").write_bytes(b"half")
        os._exit(9)


def test_a_killed_writer_leaves_neither_a_lock_nor_half_a_state(state: SiteState) -> None:
    child = multiprocessing.get_context("spawn").Process(target=_die_with_the_lock, args=(state.folder.parent,))
    child.start()
    child.join(60)
    assert child.exitcode == 9
    with state.held(1.0):
        assert state.rounds() == [3]
        assert not list(state.folder.glob(".*.part"))
