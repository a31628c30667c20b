"""What is followed has one name in every tracker: ``round/samples``, ``curve/lambda_0.5/top1``, ``validated/top1``.

A metric by itself is the mean over clients; ``_std`` and ``_worst10`` stand behind its name, and ``_min`` and ``_max`` behind
those that are not by λ.
"""

import math
from collections.abc import Mapping
from typing import Any

Values = dict[str, float]
OVER_LAMBDA = ("mean", "std", "worst10")


def of_round(record: Mapping[str, Any]) -> Values:
    return {
        "round/clients": len(record["cohort"]),
        "round/diverged": len(record["diverged"]),
        "round/samples": record["samples"],
        "round/bytes_down": record["bytes_down"],
        "round/bytes_up": record["bytes_up"],
        "round/rate": record["lr"],
    }


def of_curve(lam: float | None, metrics: Mapping[str, Mapping[str, float]]) -> Values:
    """One λ of an evaluation during training."""
    return {f"curve/{name}": value for name, value in _of_metrics(_at(lam), metrics, OVER_LAMBDA).items()}


def of_summary(summary: Mapping[str, Any]) -> Values:
    """All that a run's results say in numbers."""
    values: Values = {f"total/{key}": told for key, told in summary.items() if type(told) in (int, float)}
    for reading, told in summary["readings"].items():
        values |= _of_metrics(reading, told)
    for point in summary["by_lambda"]:
        values |= _of_metrics(f"final/{_at(point['lam'])}", point, OVER_LAMBDA)
    met = summary.get("newcomers") or {}
    values |= _of_metrics("newcomers/arriving", met.get("arriving") or {})
    for reading, told in met.get("adapted", {}).items():
        values |= _of_metrics(f"newcomers/{reading}", told)
    return {name: value for name, value in values.items() if value is not None}


def _at(lam: float | None) -> str:
    """A method without λ has one model for each client."""
    return "model" if lam is None or math.isnan(lam) else f"lambda_{lam:g}"


def _of_metrics(prefix: str, metrics: Mapping[str, Any], statistics: tuple[str, ...] | None = None) -> Values:
    values: Values = {}
    for metric, told in metrics.items():
        if isinstance(told, Mapping):
            for statistic, value in told.items():
                if statistics is None or statistic in statistics:
                    values[f"{prefix}/{metric}" + ("" if statistic == "mean" else f"_{statistic}")] = value
        elif metric == "lam" and told is not None and not prefix.startswith("final/"):
            values[f"{prefix}/lambda"] = told
    return values
