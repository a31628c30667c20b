"""Figures 3 and B: accuracy from the federated model to the local one."""

from collections.abc import Sequence
from dataclasses import dataclass

from superfed.report.markup import Markup
from superfed.report.numbers import NOTHING
from superfed.report.panels import Panel, panels
from superfed.report.scale import Axis, round_axis
from superfed.report.svg import Line, Point
from superfed.reproduce.address import Addressed
from superfed.reproduce.compare import Told, told
from superfed.reproduce.drawn import NOT_RUN, Drawn, Picture, Row, Section
from superfed.reproduce.record import Record, Records
from superfed.reproduce.separated import separated
from superfed.reproduce.unstable import MARK, unstable
from superfed.reproduce.verdict import Score
from superfed.reproduce.words import METHODS, score_words, setting_words

COLOURS = {"superfed_mm": 1, "superfed_lm": 0, "apfl": 2}
"""Orange and blue, as the paper has them."""
LAMBDA = Axis(0, 1, (0, 0.5, 1))
ACCURACY = "test accuracy, %"
HEADINGS = ("", "method", "λ = 0", "λ = 0.5", "λ = 1", "best", "at λ")


@dataclass(frozen=True)
class Curve(Addressed):
    """Of one cell, over its seeds."""

    cell: str
    at: tuple[tuple[float, Told], ...]
    """By λ, ascending; in percent."""
    unstable: bool = False
    """Whether training blew up or died in any of its runs."""

    @property
    def address(self) -> str:
        return self.cell

    @property
    def name(self) -> str:
        return METHODS[self.method]

    @property
    def best(self) -> tuple[float, Told]:
        """The λ with the highest mean over clients, the lowest where several have it."""
        return max(self.at, key=lambda place: place[1].mean)


def curve(cell: str, records: Sequence[Record]) -> Curve:
    by_lambda: dict[float, list[Score]] = {}
    for record in records:
        for place in record.by_lambda:
            top1 = place["top1"]
            if place["lam"] is not None and top1["mean"] is not None:
                std = None if top1["std"] is None else 100 * top1["std"]
                by_lambda.setdefault(place["lam"], []).append(Score(100 * top1["mean"], std, record.num_clients))
    at = tuple((lam, value) for lam in sorted(by_lambda) if (value := told(by_lambda[lam])) is not None)
    return Curve(cell, at, unstable([record.summary for record in records]) is not None)


def figure3(records: Records) -> Drawn:
    """A panel for each ν, by row, and μ, by column, with a curve for each way of mixing."""
    curves = sorted(_curves(records), key=lambda one: _constants(one.setting))
    if not curves:
        return NOT_RUN
    nus, mus = (sorted({_constants(one.setting)[i] for one in curves}) for i in (0, 1))
    rows = []
    for nu in nus:
        row = []
        for mu in mus:
            setting = f"nu{nu:g}_mu{mu:g}"
            here = [one for one in curves if one.setting == setting]
            row.append(_panel(setting_words(setting), here, [f"{one.best[1].mean:.2f}" for one in here] or ["not run"]))
        rows.append(row)
    size = (225.0 if len(mus) > 2 else 320.0, 140.0)
    picture = Picture("figure3", _words("ν and μ", curves), _drawn("Accuracy over λ, by ν and μ", rows, curves, size))
    sentences = (*_sentences(curves), "Colours are the paper's: orange for SuPerFed-MM, blue for SuPerFed-LM.")
    return _figure("figure3", picture, curves, sentences)


def figure_b(records: Records) -> Drawn:
    """A panel for each method."""
    curves = _curves(records)
    if not curves:
        return NOT_RUN
    row = [_panel(one.name, [one], [f"{one.best[1].mean:.2f} at λ = {one.best[0]:g}"]) for one in curves]
    picture = Picture(
        "figureB", _words("the method", curves), _drawn("Accuracy over λ, by method", [row], curves, (300.0, 240.0))
    )
    return _figure("figureB", picture, curves, _sentences(curves))


def _constants(setting: str) -> tuple[float, float]:
    """``nu1_mu0.01`` → 1, 0.01."""
    nu, mu = (float(part[2:]) for part in setting.split("_"))
    return nu, mu


def _curves(records: Records) -> list[Curve]:
    return [found for cell, of_seeds in records.items() if (found := curve(cell, of_seeds)).at]


def _panel(title: str, curves: Sequence[Curve], remarks: Sequence[str]) -> Panel:
    lines = [
        Line(
            one.name,
            [
                Point(
                    lam,
                    value.mean,
                    value.mean - (value.std or 0.0),
                    value.mean + (value.std or 0.0),
                    f"{one.name}, {title}, λ = {lam:g}: {score_words(value)}",
                )
                for lam, value in one.at
            ],
            COLOURS.get(one.method, 3),
        )
        for one in curves
    ]
    return Panel(title, lines, remarks, tuple(one.best[0] for one in curves))


def _drawn(title: str, rows: list[list[Panel]], curves: Sequence[Curve], size: tuple[float, float]) -> Markup:
    ends = [v.mean + sign * (v.std or 0.0) for one in curves for _, v in one.at for sign in (-1, 1)]
    y = round_axis(ends, limits=(0.0, 100.0), marks=5)
    return panels(title, rows, LAMBDA, y, "λ, from the federated model (0) to the local one (1)", ACCURACY, size)


def _figure(name: str, picture: Picture, curves: Sequence[Curve], sentences: Sequence[str]) -> Drawn:
    rows = tuple(Row(one.cell, (setting_words(one.setting), one.name, *_reading(one))) for one in curves)
    section = Section("", (), ((picture,),), HEADINGS, rows)
    return Drawn((section,), tuple(sentences), {f"{name}.csv": _data(curves)})


def _reading(one: Curve) -> tuple[str, ...]:
    by_lambda = dict(one.at)
    ends = (f"{by_lambda[lam].mean:.2f}" if lam in by_lambda else NOTHING for lam in (0.0, 0.5, 1.0))
    lam, value = one.best
    return (*ends, f"{score_words(value)}{MARK if one.unstable else ''}", f"{lam:g}")


def _sentences(curves: Sequence[Curve]) -> tuple[str, ...]:
    seeds = {value.seeds for one in curves for _, value in one.at}
    over = (
        ", averaged over seeds where there are several (their spread in brackets)" if max(seeds, default=1) > 1 else ""
    )
    return (
        "Top-1 accuracy in % of the models between the federated one (λ = 0) and each client's own (λ = 1), each client on "
        f"its own test samples after the last round: mean over clients{over}, bands ± the standard deviation over them. "
        "No client chooses its λ here: the number above a panel, ringed in it, is the highest of the means.",
        "The paper prints no numbers with this figure, so nothing is laid beside ours.",
    )


def _data(curves: Sequence[Curve]) -> str:
    """A row for each λ; for each curve its mean and its spread over clients."""
    lambdas = sorted({lam for one in curves for lam, _ in one.at})
    columns: dict[str, list[float | None]] = {"lambda": list(lambdas)}
    for one in curves:
        at, name = dict(one.at), f"{one.setting}_{one.method}"
        columns[name] = [at[lam].mean if lam in at else None for lam in lambdas]
        columns[f"{name}_std"] = [at[lam].std if lam in at else None for lam in lambdas]
    return separated(columns)


def _words(what: str, curves: Sequence[Curve]) -> str:
    return f"Test accuracy over λ by {what}: {len(curves)} curves with bands."
