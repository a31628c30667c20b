"""The summary: methods by metrics, with a body for every reading of λ, of which one is shown at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from superfed.report.averages import Accuracy, accuracy_over_seeds, mean
from superfed.report.comparison import Comparison, Row, leaders
from superfed.report.keys import method_cell
from superfed.report.markup import Markup, element, join
from superfed.report.numbers import NOTHING, aligned, percent
from superfed.report.readings import HEADLINE, OWN
from superfed.report.tables import heading, number_cell, wrapped


@dataclass(frozen=True)
class Metric:
    name: str
    heading: str
    shown: Callable[[float], str]
    digits: int
    """To which two values are told apart, when the best is looked for."""
    higher_is_better: bool


METRICS = (
    Metric("top1", "accuracy, %", percent, 4, True),
    Metric("top5", "top-5, %", percent, 4, True),
    Metric("loss", "loss", aligned, 4, False),
    Metric("ece", "ECE", aligned, 4, False),
    Metric("mce", "MCE", aligned, 4, False),
)
WORST = Metric("worst10", "worst 10 %", percent, 4, True)


def metrics_table(comparison: Comparison) -> Markup:
    """What the models did at one reading of λ. Without a program the headline is shown."""
    readings = [reading.name for reading in comparison.readings]
    columns = (METRICS[0], WORST, *METRICS[1:])
    head = [heading("method"), *(heading(metric.heading) for metric in columns), heading("diverged")]
    bodies = [_body(comparison, reading, columns) for reading in readings]
    caption = (
        "Mean ± standard deviation over clients, averaged over seeds; in brackets the standard deviation over seeds. "
    )
    caption += (
        "Worst 10 %: mean accuracy of the worst-off tenth of clients. ECE, MCE: expected and maximum calibration "
    )
    caption += "error. Diverged updates are those of all runs together. The best of a column is bold."
    inside = element("table", element("thead", element("tr", *head)), *bodies)
    return element("div", *_choice(comparison), wrapped(caption, inside, sortable=True))


def _choice(comparison: Comparison) -> list[Markup]:
    if not comparison.mixes:
        return []
    options = [
        element("option", f"{reading.heading}: {reading.meaning}", value=reading.name)
        for reading in comparison.readings
    ]
    label = element("label", "At which λ ", element("select", *options, id="reading"))
    return [element("p", label, class_="control needs-js")]


def _body(comparison: Comparison, reading: str, columns: Sequence[Metric]) -> Markup:
    found = {row: {metric.name: _value(row, reading, metric) for metric in columns} for row in comparison.rows}
    best = {
        metric.name: leaders(
            {row: round(v.mean, metric.digits) for row, of in found.items() if (v := of[metric.name]) is not None},
            higher_is_better=metric.higher_is_better,
        )
        for metric in columns
    }
    rows = [
        element(
            "tr",
            method_cell(row, index),
            *(_cell(found[row][metric.name], metric, row in best[metric.name]) for metric in columns),
            number_cell(str(row.diverged_updates), row.diverged_updates),
        )
        for index, row in enumerate(comparison.rows)
    ]
    return element("tbody", *rows, data_reading=reading, hidden=None if reading == HEADLINE else "")


def _value(row: Row, reading: str, metric: Metric) -> Accuracy | None:
    """None for the own λ of a method that has none."""
    seeds = [run.summary["readings"] for run in row.members]
    if reading == OWN.name and not all(reading in readings for readings in seeds):
        return None
    if metric is WORST:
        worst = mean([readings[reading]["top1"].get("worst10") for readings in seeds])
        return Accuracy(worst, float("nan"), None)
    return accuracy_over_seeds([readings[reading][metric.name] for readings in seeds])


def _cell(found: Accuracy | None, metric: Metric, is_best: bool) -> Markup:
    if found is None:
        return element("td", NOTHING)
    shown = metric.shown(found.mean)
    deviation = metric.shown(found.std)
    spread = "" if found.spread is None else metric.shown(found.spread)
    small = [f"±{deviation}"] if deviation != NOTHING and shown != NOTHING else []
    small += [f"(±{spread})"] if spread and spread != NOTHING else []
    inside = element("small", join(small, " ")) if small else ""
    return number_cell(shown, found.mean, inside, class_="best" if is_best else None)
