"""The tables of the runs a page is about, each read once."""

from functools import cache

from superfed.report.barrier import Path, path
from superfed.report.bins import Bins, bins_of
from superfed.report.client_scores import ClientScores, client_scores
from superfed.report.comparison import Row
from superfed.report.fairness import Fairness, fairness
from superfed.report.loading import Finished
from superfed.store.layout import RunFolder


class Source:
    """Keeps what it has read for as long as a page is made."""

    def __init__(self) -> None:
        self._scores = cache(client_scores)
        self._bins = cache(bins_of)
        self._folders: dict[str, RunFolder] = {}

    def scores(self, run: Finished) -> ClientScores | None:
        return self._scores(self._folder(run))

    def bins(self, run: Finished) -> Bins | None:
        return self._bins(self._folder(run))

    def fairness(self, row: Row) -> Fairness | None:
        return fairness([scores for run in row.members if (scores := self.scores(run)) is not None])

    def path(self, row: Row) -> Path | None:
        return path(row.members, [self.scores(run) for run in row.members]) if row.mixes else None

    def data_key(self, run: Finished) -> str:
        """Equal for runs whose clients hold the same samples."""
        return str(run.info.get("fingerprint", run.folder.path))[:16]

    def _folder(self, run: Finished) -> RunFolder:
        """One object for each folder, so that it is known again."""
        return self._folders.setdefault(str(run.folder.path), run.folder)
