"""Cells in whose runs training blew up or died: their numbers are marked, and what happened is said."""

from collections.abc import Mapping, Sequence
from typing import Any

from superfed.report.mishaps import answer_nothing, left_out

MARK = "!"
SILENT_SHARE = 0.5
"""Of the clients of a run whose networks answer nothing: from that on, its numbers are about nothing."""


def unstable(summaries: Sequence[Mapping[str, Any]]) -> str | None:
    """What is to be said of a cell's runs, one for each seed; None where training went as it should."""
    found = [told for told in (_blown_up(summaries), _died(summaries)) if told is not None]
    return "; ".join(found) or None


def _blown_up(summaries: Sequence[Mapping[str, Any]]) -> str | None:
    lost = sum(summary.get("diverged_updates", 0) for summary in summaries)
    early = sum(bool(summary.get("stopped")) for summary in summaries)
    if not lost:
        return None
    which = "the run" if len(summaries) == 1 else f"{early} of {len(summaries)} runs"
    return f"{left_out(lost)}{f', and {which} ended early' if early else ''}"


def _died(summaries: Sequence[Mapping[str, Any]]) -> str | None:
    dead = [one for one in summaries if (one.get("silent_clients") or 0) >= SILENT_SHARE * one["num_clients"]]
    if not dead:
        return None
    silent, clients = (sum(summary[key] for summary in dead) for key in ("silent_clients", "num_clients"))
    which = "" if len(summaries) == 1 else f" in {len(dead)} of {len(summaries)} runs"
    return f"{answer_nothing(silent, clients)}{which}"
