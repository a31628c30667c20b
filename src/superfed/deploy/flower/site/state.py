"""A site's personal state on its own disk: whole or not at all, checked when read, written by one at a time."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from superfed.core.errors import UserError
from superfed.core.state import State
from superfed.deploy.flower.wire.refusal import Refusal
from superfed.engine.tensors import read_state, write_state
from superfed.store.files import read_json, remove_parts, sha256_of, write_json
from superfed.store.lock import turn

SCHEMA = 1
NEVER = -1
"""The round after which a site's state is its first one."""
KEPT = 2
"""States of rounds that were taken in; the server may go back by one after a damaged checkpoint."""


class SiteState:
    """The states of one run. A round's state is never changed; which one counts is for the server to say.

    A reply can be lost or late, so the state after a round is kept beside the one before it until the server has said
    which rounds it took in.
    """

    def __init__(self, folder: Path, run: str) -> None:
        self.folder, self._run = folder / run, run

    @contextmanager
    def held(self, patience: float) -> Iterator[None]:
        """Be the only one to read and write here; wait for another, who may be about to end, no longer than that."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise UserError(f"{self.folder}: cannot be made ({error.strerror})") from None
        until = time.monotonic() + patience
        while True:
            with turn(self.folder / ".lock", wait=False) as mine:
                if mine:
                    remove_parts(self.folder)
                    yield
                    return
            if time.monotonic() >= until:
                raise Refusal("another process of this site is still writing its personal state")
            time.sleep(0.1)

    def rounds(self) -> list[int]:
        """After which rounds there is a state, in order."""
        return sorted(int(path.stem.rpartition("-")[2]) for path in self.folder.glob("after-*.json"))

    def after(self, round: int) -> State | None:
        """What the site kept after ``round``; None for its first state. What is lost or damaged is refused."""
        if round == NEVER:
            return None
        note, file = self._note(round), self._file(round)
        if not note.exists() or not file.exists():
            raise Refusal(f"its personal state after round {round + 1} is lost ({file.name} is not on its disk)")
        try:
            said = read_json(note)
            known = (said["schema"], said["run"], said["round"]) == (SCHEMA, self._run, round)
            whole = known and said["sha256"] == sha256_of(file)
        except (UserError, KeyError, TypeError):
            whole = False
        if not whole:
            raise Refusal(f"its personal state after round {round + 1} is damaged ({file.name}: its checksum differs)")
        return {name: tensor.clone() for name, tensor in read_state(file).items()}

    def save(self, round: int, state: State) -> None:
        """Keep ``state`` as it is after ``round``: the file first, then the note that says it is whole."""
        checksum = write_state(self._file(round), state)
        write_json(self._note(round), {"schema": SCHEMA, "run": self._run, "round": round, "sha256": checksum})

    def forget(self, taken: int, newest: int) -> None:
        """Remove what the server can no more ask for."""
        keep = {*[r for r in self.rounds() if r <= taken][-KEPT:], newest}
        for round in self.rounds():
            if round not in keep:
                self._note(round).unlink(missing_ok=True)
                self._file(round).unlink(missing_ok=True)

    def _note(self, round: int) -> Path:
        return self.folder / f"after-{round:06d}.json"

    def _file(self, round: int) -> Path:
        return self.folder / f"after-{round:06d}.safetensors"
