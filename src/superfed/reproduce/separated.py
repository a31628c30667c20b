"""Columns as comma-separated text, which pgfplots, R and spreadsheets read."""

from collections.abc import Mapping, Sequence


def separated(columns: Mapping[str, Sequence[float | None]]) -> str:
    """Names in the first line; what is missing is nan, as pgfplots wants it."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join("nan" if value is None else f"{value:.6g}" for value in row) for row in rows]
    return "\n".join([",".join(columns), *lines, ""])
