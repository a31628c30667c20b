"""How often a site has sent something with noise on it, and what that has cost: counted by the site, which knows."""

from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.core.log import event
from superfed.core.privacy import Privacy
from superfed.deploy.flower.wire.refusal import Refusal
from superfed.metrics.privacy_spent import epsilon
from superfed.store.files import read_json, write_json


class Spending:
    """In one file of a run's folder on the site. A reply that is asked for twice is noise drawn twice, and counts twice."""

    def __init__(self, folder: Path, privacy: Privacy) -> None:
        self._file, self._privacy = folder / "privacy.json", privacy

    @property
    def times(self) -> int:
        if not self._file.exists():
            return 0
        try:
            return int(read_json(self._file)["times"])
        except (UserError, KeyError, TypeError, ValueError):
            raise Refusal(f"what its privacy has cost so far cannot be read ({self._file.name} is damaged)") from None

    def one_more(self) -> None:
        """On disk before anything leaves."""
        write_json(self._file, self._said(self.times + 1))

    def add_up(self) -> None:
        """Write what was spent in all, and tell the site's log."""
        times, delta = self.times, self._privacy.delta
        spent = epsilon(self._privacy.noise, times, delta)
        known = None if spent == float("inf") else spent
        write_json(self._file, self._said(times) | {"epsilon": known})
        words = (
            "nothing is protected, since there is no noise" if known is None else f"ε = {known:.2f} at δ = {delta:g}"
        )
        event("privacy", f"sent {times} times; {words}", times=times, epsilon=known, delta=delta)

    def _said(self, times: int) -> dict[str, Any]:
        return {"times": times, **vars(self._privacy)}
