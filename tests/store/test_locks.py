"""One writer at a time."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from superfed.core.errors import UserError
from superfed.store.lock import locked, nobody_holds

HOLD = """
import sys
from pathlib import Path
from superfed.store.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def holder(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that holds the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_folder_that_another_process_holds_is_refused(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        for _ in range(2):
            with pytest.raises(UserError) as caught, locked(tmp_path):
                pass
            assert str(caught.value) == f"{tmp_path}: another process is working on it"
        process.communicate("go\n", timeout=60)
        assert process.returncode == 0
        with locked(tmp_path):
            pass


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        process.kill()
        process.wait(timeout=60)
        with locked(tmp_path):  # or it would raise
            assert process.returncode == -9


def test_a_lock_is_given_back_whatever_happens(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="inside"), locked(tmp_path):
        raise RuntimeError("inside")
    with locked(tmp_path), pytest.raises(UserError), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_other_folders_are_free(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with locked(tmp_path / "a"), locked(tmp_path / "b"):
        assert (tmp_path / "a" / ".lock").exists()


def test_a_folder_that_cannot_be_locked_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught, locked(tmp_path / "missing"):
        pass
    assert str(caught.value) == f"{tmp_path / 'missing'}: cannot be locked (No such file or directory)"


def test_whether_anybody_holds_a_folder_is_told_without_taking_it(tmp_path: Path) -> None:
    assert nobody_holds(tmp_path)
    assert not list(tmp_path.iterdir())
    with locked(tmp_path):
        assert not nobody_holds(tmp_path)
        assert refused(tmp_path), "asking must not give the lock away"
    with holder(tmp_path) as process:
        assert not nobody_holds(tmp_path)
        process.kill()
        process.wait(timeout=60)
        assert nobody_holds(tmp_path)


def refused(folder: Path) -> bool:
    """Whether another process is."""
    done = subprocess.run([sys.executable, "-c", HOLD, str(folder)], input="", capture_output=True, text=True)
    return "another process is working on it" in done.stderr
