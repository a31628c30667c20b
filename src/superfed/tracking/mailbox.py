"""The training's side of a tracker: it never waits while runs go on, and only so long when they are done."""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

from superfed.core.log import LOG

PATIENCE = 60.0
"""Seconds that a tracker may be without headway when all is told."""
HASTE = 5.0
"""Seconds in all that it has when the runs were stopped."""
MOST_WAITING = 2**24
"""Bytes that may wait for a tracker that is slower than the training."""

ALONE = "the runs go on without it"


class Mailbox:
    """A process that tells one tracker of one experiment's runs. Where it fails a sentence says so, and that is all."""

    def __init__(self, tracker: str, first: Mapping[str, Any]) -> None:
        self._tracker, self._waiting, self._heard = tracker, bytearray(), b""
        self._closed, self._process = False, None
        try:
            self._process = _started()
        except OSError as error:
            self._give_up(f"it cannot be started ({error.strerror}); {ALONE}")
        self.tell({"tracker": tracker, **first})

    def tell(self, order: Mapping[str, Any]) -> None:
        """Hand over as much as can be without waiting."""
        if self._process is None:
            return
        self._waiting += json.dumps(order).encode() + b"\n"
        self.look()
        if len(self._waiting) > MOST_WAITING:
            self._give_up(f"it is too slow for what there is to tell; {ALONE}")

    def look(self) -> bool:
        """Send and hear what is possible at once; whether anything was."""
        if self._process is None:
            return False
        sent = self._send()
        return self._hear() or sent

    def finish(self) -> None:
        """No more will be told."""
        self.tell({"what": "close"})

    def wait(self, *, haste: bool = False) -> None:
        """Let it work off what it was told."""
        began = last = time.monotonic()
        with selectors.DefaultSelector() as ready:
            if self._process is not None:
                ready.register(_end(self._process.stdout), selectors.EVENT_READ)
            while self._process is not None and not self._closed:
                ready.select(0.1)
                now = time.monotonic()
                if self.look():
                    last = now
                elif haste and now - began > HASTE:
                    self._give_up(
                        f"it did not finish within {HASTE:g} s; what it lacks follows when the run is resumed"
                    )
                elif now - last > PATIENCE:
                    self._give_up(f"it did not finish within {PATIENCE:g} s and lacks what came last")

    def end(self) -> None:
        """Whatever it does, it is not there any more."""
        process, self._process = self._process, None
        if process is None:
            return
        if self._closed:
            with suppress(subprocess.TimeoutExpired):
                process.wait(HASTE)
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            _pipe(pipe).close()

    def _send(self) -> bool:
        assert self._process is not None
        sent = 0
        try:
            while self._waiting:
                sent = os.write(_end(self._process.stdin), self._waiting)
                del self._waiting[:sent]
        except BlockingIOError:
            pass
        except OSError:  # it has ended; what it said last is still to be heard
            self._waiting.clear()
        return sent > 0

    def _hear(self) -> bool:
        assert self._process is not None
        heard = b""
        with suppress(BlockingIOError):
            heard = os.read(_end(self._process.stdout), 2**16)
            if not heard and not self._closed:
                self._give_up(f"its process ended unexpectedly; {ALONE}")
        *lines, self._heard = (self._heard + heard).split(b"\n")
        for line in lines:
            self._take(json.loads(line))
        return bool(heard)

    def _take(self, told: Mapping[str, Any]) -> None:
        if "said" in told:
            LOG.warning("tracking.%s: %s", self._tracker, told["said"])
        elif "over" in told:
            self._give_up(f"{told['over']}; {ALONE}")
        elif "closed" in told:
            self._closed = True

    def _give_up(self, why: str) -> None:
        LOG.warning("tracking.%s: %s", self._tracker, why)
        self.end()


def _started() -> "subprocess.Popen[bytes]":
    """In a session of its own, so that Ctrl-C is not meant for it; with this one's paths, so that it imports the same."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "superfed.tracking.process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    for pipe in (process.stdin, process.stdout):
        os.set_blocking(_end(pipe), False)
    return process


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None, "it was asked for"
    return pipe


def _end(pipe: IO[bytes] | None) -> int:
    return _pipe(pipe).fileno()
