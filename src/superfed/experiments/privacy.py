"""What a run with noise on its uploads has spent of its clients' privacy."""

from collections import Counter
from typing import Any

from superfed.engine.simulation import Run
from superfed.metrics.privacy_spent import epsilon


def privacy_spent(run: Run) -> dict[str, Any]:
    """Of the client that took part most often, and so spent most; None for ε where nothing is protected."""
    privacy = run.task.privacy
    assert privacy is not None
    times = Counter(client for record in run.records for client in record.cohort)
    most = max(times.values(), default=0)
    spent = epsilon(privacy.noise, most, privacy.delta)
    return {"epsilon": spent if spent != float("inf") else None, "delta": privacy.delta, "times": most}
