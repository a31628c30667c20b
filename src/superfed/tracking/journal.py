"""What a tracker has been told already, so that a run that is resumed goes on there and tells nothing twice."""

import json
from pathlib import Path


class Journal:
    """A file with a line for each thing told; half a line, as a loss of power leaves, is none."""

    def __init__(self, path: Path) -> None:
        self._names: dict[str, str] = {}
        self._steps: dict[tuple[str, str], int] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._read(line)
        self._file = path.open("a", encoding="utf-8", buffering=1)
        if path.stat().st_size:
            self._file.write("\n")  # whatever the last line was, it has ended

    def known(self, run: str) -> str | None:
        """What the run is called there."""
        return self._names.get(run)

    def name(self, run: str, known: str) -> None:
        if self._names.get(run) != known:
            self._names[run] = known
            self._write({"run": run, "known": known})

    def has(self, run: str, what: str, step: int) -> bool:
        return step <= self._steps.get((run, what), -1)

    def note(self, run: str, what: str, step: int) -> None:
        self._steps[run, what] = step
        self._write({"run": run, "what": what, "step": step})

    def close(self) -> None:
        self._file.close()

    def _write(self, entry: dict[str, object]) -> None:
        self._file.write(json.dumps(entry) + "\n")

    def _read(self, line: str) -> None:
        try:
            entry = json.loads(line)
            if "known" in entry:
                self._names[entry["run"]] = entry["known"]
            else:
                self._steps[entry["run"], entry["what"]] = entry["step"]
        except (ValueError, KeyError, TypeError):
            return
