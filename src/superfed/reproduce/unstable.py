"""Cells in whose runs training blew up: their numbers are marked, and what happened is said."""

from collections.abc import Mapping, Sequence
from typing import Any

from superfed.report.divergence import left_out

MARK = "!"


def unstable(summaries: Sequence[Mapping[str, Any]]) -> str | None:
    """What is to be said of a cell's runs, one for each seed; None where every update was finite."""
    lost = sum(summary.get("diverged_updates", 0) for summary in summaries)
    early = sum(bool(summary.get("stopped")) for summary in summaries)
    if not lost:
        return None
    which = "the run" if len(summaries) == 1 else f"{early} of {len(summaries)} runs"
    return f"{left_out(lost)}{f', and {which} ended early' if early else ''}"
