"""An experiment and a run of it, as their folders tell of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from superfed.store.layout import RunFolder
from superfed.store.tables import read_table


@dataclass(frozen=True)
class Experiment:
    """Whose runs are followed."""

    folder: Path
    name: str
    """Its config's."""
    several: bool
    """Whether it has more than one run."""

    @property
    def place(self) -> Path:
        """Where trackers write that are not told otherwise."""
        return self.folder / "tracking"


class Followed:
    """What a tracker may want to know of a run besides numbers."""

    def __init__(self, path: Path) -> None:
        self.folder = RunFolder(path)
        self.name = path.name

    @cached_property
    def config(self) -> dict[str, Any]:
        return self.folder.config()

    @property
    def settings(self) -> dict[str, Any]:
        """The config with dotted keys."""
        return _flat(self.config)

    @property
    def tags(self) -> dict[str, str]:
        """Where its numbers come from: method, data, versions, hardware."""
        info = self.folder.info()
        told: tuple[str, ...] = ("title", "fingerprint", "parameters", "versions", "hardware")
        kept = {key: info[key] for key in told if key in info}
        return {key: str(value) for key, value in _flat(kept).items()}

    def summary(self) -> dict[str, Any]:
        return self.folder.summary() or {}

    def clients(self) -> dict[str, list[Any]]:
        """A row per client and reading."""
        return read_table(self.folder.readings)

    def per_client(self) -> dict[str, list[float]]:
        """For each reading the accuracy of every client and the λ it chose, as far as there are any."""
        clients, values = self.clients(), dict[str, list[float]]()
        for column, name in (("top1", "top1"), ("lam", "lambda")):
            for reading, value in zip(clients["reading"], clients[column], strict=True):
                if value is not None:
                    values.setdefault(f"clients/{reading}/{name}", []).append(value)
        return values

    def files(self) -> list[Path]:
        """What is worth having beside the numbers."""
        return [self.folder.path / "config.yaml", self.folder.summary_file, self.folder.readings]

    def page(self, into: Path) -> Path:
        """The run's page, drawn for the occasion."""
        from superfed.report.page.build import write_page

        write_page([self.folder], into / "report.html")
        return into / "report.html"


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
