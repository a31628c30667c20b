"""The report as one HTML file that opens anywhere, offline."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from superfed.report.charts import lambda_chart, rounds_chart
from superfed.report.comparison import Comparison, compare
from superfed.report.document import document
from superfed.report.markup import Markup, element
from superfed.report.newcomers import TITLE as NEWCOMERS
from superfed.report.numbers import listed
from superfed.report.settings import essential, shown
from superfed.report.tables import (
    definitions,
    lambda_table,
    metrics_table,
    newcomers_table,
    readings_table,
    runs_table,
    settings_details,
)
from superfed.store.files import write_text
from superfed.store.layout import RunFolder


def write_page(runs: Sequence[RunFolder], path: Path) -> None:
    """Write the comparison of ``runs`` to ``path``, self-contained."""
    write_text(path, page(compare(runs)))


def page(comparison: Comparison) -> str:
    title = listed(_distinct(run.config.get("name", "experiment") for row in comparison.rows for run in row.members))
    content = [*_introduction(comparison), *_results(comparison), *_made(comparison)]
    return document(f"{title}: results", title, content)


def _introduction(comparison: Comparison) -> list[Markup]:
    descriptions = _distinct(run.config.get("description") for row in comparison.rows for run in row.members)
    parts = [element("p", words, class_="lead") for words in descriptions if words]
    parts.append(element("p", _what_was_run(comparison), class_=None if parts else "lead"))
    for row in comparison.rows:
        if row.statuses.get("stopped"):
            words = f"{row.name}: {row.statuses['stopped']} of {len(row.seeds)} runs stopped before the last round."
            parts.append(element("p", words, class_="warning"))
    if comparison.unfinished:
        runs = [
            f"{run.name} ({run.status}" + (f", {run.rounds} rounds done)" if run.rounds is not None else ")")
            for run in comparison.unfinished
        ]
        parts.append(element("p", f"Without results yet, and not shown: {listed(runs)}.", class_="warning"))
    return parts


def _what_was_run(comparison: Comparison) -> str:
    rows = comparison.rows
    count = sum(len(row.seeds) for row in rows)
    seeds = sorted({seed for row in rows for seed in row.seeds})
    configs = [essential(row.members[0].config) for row in rows]

    def values(key: str) -> str:
        return " or ".join(_distinct(shown(config[key]) for config in configs if key in config))

    words = f"{count} {'run' if count == 1 else 'runs'} of {listed(_distinct(row.title for row in rows))}, "
    words += f"{'seed' if len(seeds) == 1 else 'seeds'} {listed([str(seed) for seed in seeds])}"
    facts = [
        (values("data.dataset.name"), "data: {}"),
        (values("data.num_clients"), "{} clients"),
        (values("data.partition.name"), "{} partition"),
        (values("model.name"), "model: {}"),
        (values("training.rounds"), "{} rounds"),
        (values("training.clients_per_round"), "{} clients a round"),
    ]
    told = [form.format(value) for value, form in facts if value]
    return f"{words}; {', '.join(told)}." if told else f"{words}."


def _results(comparison: Comparison) -> list[Markup]:
    parts = [element("h2", "Accuracy"), readings_table(comparison)]
    if comparison.mixes:
        meanings = {reading.heading: reading.meaning for reading in comparison.readings}
        explained = element("details", element("summary", "How λ is chosen"), definitions(meanings), open="")
        parts += [explained, element("h2", "Between the federated and the local model")]
        parts += [lambda_chart(comparison.rows)]
        parts += [element("details", element("summary", "The same in numbers"), lambda_table(comparison.rows))]
    by_round = rounds_chart(comparison.rows)
    if by_round is not None:
        parts += [element("h2", "As training went on"), by_round]
    if comparison.newcomers:
        parts += [element("h2", NEWCOMERS), newcomers_table(comparison)]
    return [*parts, element("h2", "More about the headline"), metrics_table(comparison)]


def _made(comparison: Comparison) -> list[Markup]:
    return [element("h2", "How the runs were made"), runs_table(comparison), settings_details(comparison)]


def _distinct(values: Iterable[object]) -> list[str]:
    return list(dict.fromkeys(str(value) for value in values if value is not None))
