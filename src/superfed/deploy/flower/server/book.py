"""What a federation's run leaves in its folder on the server's machine."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from superfed.deploy.flower.server.announced import Announced
from superfed.deploy.flower.server.rounds import RoundLog
from superfed.store.files import read_json, write_json, write_text

FINISHED, FAILED = "finished", "failed"


class Book:
    """One folder: terms, what was announced, rounds, results, and how it is and how it ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.terms, self.checkpoints = folder / "terms.json", folder / "checkpoints"
        self._told: dict[str, object] = {}
        self._announced, self._rounds = folder / "announced.json", folder / "rounds.json"
        self._progress, self._outcome, self._results = (
            folder / f"{name}.json" for name in ("progress", "outcome", "results")
        )

    def begin(self, terms: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.terms, terms)

    def announced(self) -> Announced | None:
        if not self._announced.exists():
            return None
        said = read_json(self._announced)
        return Announced(tuple(said["sizes"]), said["num_classes"], tuple(said["input_shape"]))

    def announce(self, announced: Announced) -> None:
        write_json(self._announced, asdict(announced))

    def rounds(self) -> list[dict[str, Any]]:
        return list(read_json(self._rounds)) if self._rounds.exists() else []

    def add_round(self, log: RoundLog) -> None:
        """What happened, after what had happened before; of a round that was done again after a crash, the last time."""
        earlier = [one for one in self.rounds() if (one["round"], one["attempt"]) < (log.round, log.attempt)]
        write_json(self._rounds, [*earlier, asdict(log)], durable=False)

    def tell(self, **progress: object) -> None:
        if progress != self._told:
            self._told = progress
            write_json(self._progress, progress, durable=False)

    def progress(self) -> dict[str, Any]:
        return dict(read_json(self._progress)) if self._progress.exists() else {}

    def save_results(self, results: dict[str, Any]) -> None:
        write_json(self._results, results)

    def results(self) -> dict[str, Any]:
        return dict(read_json(self._results)) if self._results.exists() else {}

    def under_way(self) -> None:
        """How it ended last time is not true any more."""
        self._outcome.unlink(missing_ok=True)

    def end(self, state: str, reason: str = "") -> None:
        write_json(self._outcome, {"state": state, "reason": reason})

    def outcome(self) -> dict[str, str] | None:
        return dict(read_json(self._outcome)) if self._outcome.exists() else None
