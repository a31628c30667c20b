"""The two pictures of the page: accuracy over λ, and over rounds."""

import math
from collections.abc import Sequence
from dataclasses import replace

from superfed.report.comparison import LambdaPoint, Row
from superfed.report.markup import Markup, element
from superfed.report.numbers import accuracy, listed, percent, spread
from superfed.report.rounds import Progress, progress
from superfed.report.scale import Axis, round_axis
from superfed.report.svg import NARROW, WIDE, Labels, Line, Point, chart, legend

_MOST_NAMES = 10
_MOST_BANDS = 4
_LONGEST_NAME = 34
_ACCURACY = "mean test accuracy, %"


def lambda_chart(rows: Sequence[Row]) -> Markup:
    """Accuracy from the federated model (λ = 0) to the local one (λ = 1)."""
    mixing = [row for row in rows if row.mixes]
    banded = mixing[:_MOST_BANDS]
    lines = []
    for index, row in enumerate(rows):
        points = [_lambda_point(row, point) for point in row.by_lambda if math.isfinite(point.mean)]
        lines.append(Line(row.name, points, index, level=not row.mixes, band=row in banded))
    levels = [row.name for row in rows if not row.mixes]
    caption = "Test accuracy of the models between the federated one (λ = 0) and each client's own (λ = 1): mean over "
    caption += "clients, averaged over seeds. "
    caption += "Bands: ± standard deviation over clients" + (
        f", of the best {_MOST_BANDS} only. " if len(mixing) > _MOST_BANDS else ". "
    )
    if levels:
        caption += f"Dashed: {listed(levels)}, without a λ. "
    labels = Labels(
        description=f"Line chart of mean test accuracy over λ from 0 to 1, for {listed([row.name for row in rows])}.",
        x="λ",
        y=_ACCURACY,
        start="federated model",
        end="local model",
    )
    return _figure(lines, Axis(0, 1, (0, 0.2, 0.4, 0.6, 0.8, 1)), labels, caption)


def rounds_chart(rows: Sequence[Row]) -> Markup | None:
    """Accuracy as training went on, or None if no run kept a curve."""
    found = [(index, row, progress(row)) for index, row in enumerate(rows)]
    lines = [
        Line(row.name, _round_points(row, history), index, band=len(row.seeds) > 1)
        for index, row, history in found
        if history.points
    ]
    if not lines:
        return None
    lambdas = sorted({history.lam for _, _, history in found if history.lam is not None})
    caption = "Test accuracy of the clients that were followed through training, by the rounds done"
    if lambdas:
        caption += f"; where there is a λ, at λ = {listed([f'{lam:g}' for lam in lambdas])}"
    caption += ". " + ("Bands: ± standard deviation over seeds. " if any(line.band for line in lines) else "")
    missing = [row.name for _, row, history in found if not history.points]
    if missing:
        caption += f"No curve was kept for {listed(missing)}. "
    last = max(point.x for line in lines for point in line.points)
    marks = round_axis([0, last], marks=7, smallest_step=1)
    rounds = Axis(0, max(last, 1), tuple(tick for tick in marks.ticks if 0 <= tick <= max(last, 1)))
    labels = Labels(
        description=f"Line chart of mean test accuracy by round, for {listed([line.name for line in lines])}.",
        x="rounds",
        y=_ACCURACY,
    )
    return _figure(lines, rounds, labels, caption)


def _lambda_point(row: Row, point: LambdaPoint) -> Point:
    where = row.name if point.lam is None else f"{row.name}, λ = {point.lam:g}"
    note = f"{where}: {accuracy(point.mean, point.std)} {spread(point.spread)}".strip()
    return _point(point.lam or 0.0, point.mean, point.std, note)


def _round_points(row: Row, history: Progress) -> list[Point]:
    return [
        _point(
            point.round,
            point.mean,
            point.spread,
            f"{row.name}, after {point.round} rounds: {percent(point.mean)}"
            + (f" (±{percent(point.spread)})" if len(row.seeds) > 1 else ""),
        )
        for point in history.points
    ]


def _point(x: float, mean: float, band: float, note: str) -> Point:
    band = band if math.isfinite(band) else 0.0
    return Point(x, 100 * mean, 100 * (mean - band), 100 * (mean + band), note)


def _figure(lines: Sequence[Line], x: Axis, labels: Labels, caption: str) -> Markup:
    """The chart twice: one drawn for a screen, one for a phone, of which the page shows the one that fits."""
    shown = [y for line in lines for p in line.points for y in ((p.low, p.high) if _has_band(line) else (p.y, p.y))]
    y = round_axis(shown, limits=(0.0, 100.0))
    named = len(lines) <= _MOST_NAMES and max(len(line.name) for line in lines) <= _LONGEST_NAME
    return element(
        "figure",
        element(
            "div",
            chart(lines, x, y, labels, replace(WIDE, direct=named)),
            chart(lines, x, y, labels, NARROW),
            class_="named" if named else None,
        ),
        legend(lines),
        element("figcaption", caption.strip().replace("λ = ", "λ\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")),
    )


def _has_band(line: Line) -> bool:
    return line.band and not line.level
