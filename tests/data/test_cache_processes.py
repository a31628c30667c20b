"""Several processes prepare the same, and processes are killed at it."""

import os
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from superfed.data import cache_entry
from superfed.data.cache import load
from superfed.data.cache_entry import Entry, entries
from superfed.data.files import Found
from superfed.store import lock
from superfed.store.lock import turn
from support.toy_files import ToyFiles, reads, write_toy


def forked(work: Callable[[], object]) -> int:
    """A process that does the work and ends with 0, or with 1 if it failed."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return pid


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def hidden(cache: Path) -> list[Path]:
    return sorted(cache.glob(".*.part"))


def test_of_several_processes_one_makes_it_and_the_others_wait(tmp_path: Path) -> None:
    root, cache, settings = write_toy(tmp_path / "root"), tmp_path / "cache", ToyFiles(seconds=0.3)
    pids = [forked(lambda: load(settings, root, cache)) for _ in range(4)]
    assert [ended(pid) for pid in pids] == [0] * 4
    assert reads(root) == 1
    assert len(entries(cache)) == 1
    assert not hidden(cache)


def test_where_there_is_no_lock_the_first_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "fcntl", None)
    root, cache, settings = write_toy(tmp_path / "root"), tmp_path / "cache", ToyFiles(seconds=0.5)
    pids = [forked(lambda: load(settings, root, cache)) for _ in range(3)]
    assert [ended(pid) for pid in pids] == [0] * 3
    assert reads(root) == 3
    assert len(entries(cache)) == 1
    assert not hidden(cache)


def test_other_datasets_need_not_wait(tmp_path: Path) -> None:
    root, cache = write_toy(tmp_path / "root"), tmp_path / "cache"
    slow = forked(lambda: load(ToyFiles(seconds=30), root, cache))
    try:
        while reads(root) == 0:
            time.sleep(0.01)
        load(ToyFiles(), root, cache)
        assert os.waitpid(slow, os.WNOHANG) == (0, 0)  # while the other one is still at it
    finally:
        os.kill(slow, signal.SIGKILL)
        ended(slow)


STEPS = ("read", "mkdtemp", "fsync", "chmod", "rename")


def die_at(step: str, call: int) -> None:
    """From now on this process is killed, as by the kernel, when it comes to some call of a step."""
    place: object = {"mkdtemp": tempfile, "read": ToyFiles}.get(step, os)
    original, calls = getattr(place, step), iter(range(call + 1))

    def deadly(*arguments: object, **more: object) -> object:
        if step == "rename" and call == 1:  # the moment after
            original(*arguments, **more)
            os.kill(os.getpid(), signal.SIGKILL)
        if next(calls, None) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments, **more)

    setattr(place, step, deadly)


@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("read", 0),
        ("mkdtemp", 0),
        *(("fsync", call) for call in range(7)),
        ("chmod", 0),
        ("chmod", 1),
        ("rename", 0),
        ("rename", 1),
    ],
)
def test_a_kill_leaves_nothing_half_made_in_its_place(tmp_path: Path, step: str, call: int) -> None:
    root, cache = write_toy(tmp_path / "root"), tmp_path / "cache"

    def killed() -> None:
        die_at(step, call)
        load(ToyFiles(), root, cache)

    assert ended(forked(killed)) == -signal.SIGKILL
    for entry in entries(cache):
        entry.open()  # whole, or it would raise
    moved = (step, call) in (("rename", 1), ("fsync", 6))
    assert len(entries(cache)) == moved
    assert len(hidden(cache)) == (not moved and step not in ("read", "mkdtemp"))

    load(ToyFiles(classes=5), root, cache)  # the preparation of anything clears up
    assert not hidden(cache)
    pool = load(ToyFiles(), root, cache)
    assert pool.pack().arrays["x"].tobytes() == ToyFiles().load(root).x.numpy().tobytes()  # type: ignore[union-attr]
    assert len(entries(cache)) == 2


def test_killed_again_and_again_at_any_moment(tmp_path: Path) -> None:
    root, cache = write_toy(tmp_path / "root"), tmp_path / "cache"
    (root / "toy").write_bytes(bytes(range(256)) * 4000)
    for attempt in range(12):
        pid = forked(lambda: load(ToyFiles(classes=5), root, cache))
        time.sleep(0.004 * attempt)
        os.kill(pid, signal.SIGKILL)
        ended(pid)
        for entry in entries(cache):
            entry.open()
    pool = load(ToyFiles(), root, cache)
    assert pool.digest() == ToyFiles().load(root).digest()  # type: ignore[union-attr]
    assert not hidden(cache)


def test_what_somebody_is_at_work_on_is_not_cleared_away(tmp_path: Path) -> None:
    root, cache = write_toy(tmp_path / "root"), tmp_path / "cache"
    cache.mkdir()
    other = Entry(cache / "other-0123456789abcdef")
    part = Path(tempfile.mkdtemp(dir=cache, prefix=f".{other.path.name}.", suffix=".part"))
    with turn(other.lock) as held:
        assert held
        load(ToyFiles(), root, cache)
        assert part.exists()
    load(ToyFiles(classes=5), root, cache)
    assert not part.exists()


def test_ctrl_c_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, cache = write_toy(tmp_path / "root"), tmp_path / "cache"

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cache_entry, "write_json", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load(ToyFiles(), root, cache)
    assert not hidden(cache)
    assert not entries(cache)


def test_a_turn_is_waited_for(tmp_path: Path) -> None:
    path, log = tmp_path / "lock", tmp_path / "log"

    def work() -> None:
        with turn(path), log.open("a") as file:
            file.write("in ")
            file.flush()
            time.sleep(0.1)
            file.write("out ")

    pids = [forked(work) for _ in range(3)]
    assert [ended(pid) for pid in pids] == [0] * 3
    assert log.read_text() == "in out " * 3
    with turn(path) as first, turn(path, wait=False) as second:
        assert (first, second) == (True, False)


def test_found_is_not_asked_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for very many files takes its time."""
    root, cache, asked = write_toy(tmp_path / "root"), tmp_path / "cache", []
    find = ToyFiles.find

    def counted(self: ToyFiles, root: Path | None) -> Found:
        asked.append(root)
        return find(self, root)

    monkeypatch.setattr(ToyFiles, "find", counted)
    load(ToyFiles(), root, cache)
    assert asked == [root]
