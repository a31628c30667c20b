"""A program that was started here, and is ended here."""

import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from superfed.core.errors import UserError
from superfed.deploy.flower.programs.family import die_with_parent, end_family


class Child:
    """``words`` is started with its output in ``log``. It is told to end when this process is gone, however that ends."""

    def __init__(self, name: str, words: Sequence[str], environment: dict[str, str], log: Path) -> None:
        self.name, self.log = name, log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.poll()

    def kill(self) -> None:
        """At once and without a word, as a loss of power would; for tests."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """It, and everything it started."""
        end_family(self._process.pid)
        self._process.wait()

    def wait_until(self, ready: Callable[[], bool], seconds: float) -> None:
        """Until ``ready``; if it ends before, or takes longer, that is said with the last of its log."""
        until = time.monotonic() + seconds
        while not ready():
            code = self.returncode
            if code is not None:
                raise UserError(f"{self.name} ended with code {code}{self.last_words()}")
            if time.monotonic() > until:
                raise UserError(f"{self.name} was not ready after {seconds:.0f} s{self.last_words()}")
            time.sleep(0.1)

    def last_words(self) -> str:
        """What its log says last that looks like a reason, and where the log is."""
        lines = [line.strip() for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        telling = [line for line in lines if "rror" in line or "ailed" in line or "refused" in line]
        reason = (telling or lines or [""])[-1][-300:]
        return f": {reason} (all of it is in {self.log})"


def end_together(children: Sequence[Child]) -> None:
    """Each takes some seconds to end; all of them do too."""
    if children:
        with ThreadPoolExecutor(len(children)) as pool:
            list(pool.map(Child.end, children))
