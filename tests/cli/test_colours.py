"""Colours only where somebody looks on and wants them."""

import errno
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

COLOUR = re.compile(rb"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|38|4[0-7]|48|9[0-7])(?:;[0-9;]*)?m")


def environment(**more: str) -> dict[str, str]:
    aside = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "GITHUB_ACTIONS", "PY_COLORS", "CLICOLOR")
    return {key: value for key, value in os.environ.items() if key not in aside} | {"TERM": "xterm-256color"} | more


def on_a_terminal(*arguments: str, **more: str) -> bytes:
    """All that the program writes to a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "superfed", *arguments]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=theirs, env=environment(**more))
    os.close(theirs)
    written = b""
    try:
        while select.select([ours], [], [], 120)[0]:
            written += (more_of_it := os.read(ours, 65536))
            if not more_of_it:
                break
    except OSError as error:
        assert error.errno == errno.EIO, "the other end is closed"  # noqa: PT017
    finally:
        os.close(ours)
        process.wait(60)
    assert process.returncode == 0, written.decode()
    return written


def test_help_on_a_terminal() -> None:
    assert COLOUR.search(on_a_terminal("run", "--help"))
    assert not COLOUR.search(on_a_terminal("run", "--help", NO_COLOR="1"))


RUN = ["algorithm=fedavg", "seed=0", "training.rounds=2", "training.local_epochs=1", "engine.workers=1"]


def test_a_run_on_a_terminal_without_colours(tmp_path: Path) -> None:
    written = on_a_terminal("-v", "run", "demo", *RUN, "--out", str(tmp_path / "out"), NO_COLOR="1")
    assert not COLOUR.search(written)
    assert "━".encode() in written, "a bar"
    assert b"checkpoint after 2 rounds" in written, "and above it what -v says"


def test_a_pipe_gets_plain_lines(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "superfed", "run", "demo", *RUN, "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, env=environment(), check=True, timeout=120)
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"\r" not in done.stdout
    assert b"of 2 rounds" in done.stdout
    assert done.stderr == b""
