"""The experiments in a folder, and how far each has come. What is broken is named and shown, never fatal."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from superfed.core.errors import UserError
from superfed.report.comparison import compare_so_far
from superfed.report.page.build import page
from superfed.report.page.under_way import standing_of, under_way
from superfed.store.files import sha256
from superfed.store.layout import ExperimentFolder, RunFolder

DEEPEST = 3
"""Experiments are looked for so many folders down."""


@dataclass(frozen=True)
class Overview:
    """One experiment in a few words."""

    place: str
    """Its folder, from the one that is served; parts joined by slashes."""
    name: str
    created: str
    runs: int
    with_results: int
    failed: int
    rounds: int
    of: int
    """All rounds of all runs."""
    problem: str | None = None

    @property
    def done(self) -> bool:
        return self.problem is not None or self.with_results + self.failed == self.runs

    @property
    def state(self) -> str:
        if self.problem is not None:
            return self.problem
        if self.with_results == self.runs:
            return "finished"
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.with_results} of {self.runs} runs have results{failed}"


class Served:
    """The folder and what is in it. A place is only ever one of those that were found in it."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def places(self) -> dict[str, Path]:
        """Every experiment in the folder, or the folder itself where it is one; links are not followed."""
        return {_name(path, self.root): path for path in _experiments(self.root, DEEPEST)}

    def overview(self, place: str, path: Path) -> Overview:
        try:
            folder = ExperimentFolder(path)
            info, runs = folder.info(), self._runs(folder)
            standings = [standing_of(run) for run in runs]
        except Exception as error:  # whatever is wrong with one folder, the others are shown
            return Overview(place, path.name, "", 0, 0, 0, 0, 0, self.sentence(error))
        waiting = [one for one in standings if one is not None]
        longest = max([one.of or 0 for one in waiting], default=0)
        return Overview(
            place=place,
            name=str(info.get("name", path.name)),
            created=str(info.get("created", "")),
            runs=len(runs),
            with_results=len(runs) - len(waiting),
            failed=sum(one.status in ("failed", "unreadable") for one in waiting),
            rounds=sum(one.rounds for one in waiting),
            of=sum(one.of or longest for one in waiting),
        )

    def sentence(self, error: Exception) -> str:
        """What is wrong, without where on this machine the folder lies."""
        words = str(error) if isinstance(error, UserError) else f"cannot be read ({error!r})"
        return words.replace(f"{self.root}/", "")

    def version(self, path: Path) -> str:
        """Another one whenever a file that its page is made of is another."""
        stamps = []
        for file in sorted([path / "experiment.json", *(f for run in self._safe_runs(path) for f in _files(run))]):
            try:
                found = file.stat()
                stamps.append(f"{file.name} {found.st_mtime_ns} {found.st_size}")
            except OSError:
                stamps.append(f"{file.name} -")
        return sha256("\n".join(stamps).encode())[:16]

    def page(self, path: Path, version: str) -> str:
        runs = self._runs(ExperimentFolder(path))
        begun = [run for run in runs if run.exists()]
        return page(compare_so_far(begun), under_way(runs), path.name, version)

    def _runs(self, folder: ExperimentFolder) -> list[RunFolder]:
        """Those that lie in the experiment's own folder: a name that leads elsewhere is no run of it."""
        runs, here = folder.runs(), folder.path.resolve()
        for run in runs:
            if run.path.resolve() != here / run.path.name:
                raise UserError(f"{folder.path}: its run {run.name} lies outside of it")
            for path in run.path.iterdir() if run.path.is_dir() else ():
                if path.is_symlink() and not path.is_dir():
                    raise UserError(f"{path}: is a link, and links are not followed")
        return runs

    def _safe_runs(self, path: Path) -> list[RunFolder]:
        try:
            return self._runs(ExperimentFolder(path))
        except Exception:  # its overview says what is wrong
            return []


def _experiments(folder: Path, deep: int) -> Iterator[Path]:
    found = folder / "experiment.json"
    if found.is_file() and not found.is_symlink():
        yield folder
        return
    if deep == 0:
        return
    try:
        inside = sorted(p for p in folder.iterdir() if not p.is_symlink() and p.is_dir() and not p.name.startswith("."))
    except OSError:
        return
    for path in inside:
        yield from _experiments(path, deep - 1)


def _name(path: Path, root: Path) -> str:
    return path.name if path == root else path.relative_to(root).as_posix()


def _files(run: RunFolder) -> list[Path]:
    inside = ("run.json", "config.yaml", "surfaces.json")
    tables = (run.rounds, run.curve, run.clients, run.readings, run.bins, run.summary_file)
    return [*(run.path / name for name in inside), *tables]
