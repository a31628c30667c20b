"""The report as one HTML file that opens anywhere, offline."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from superfed.report.comparison import Comparison, compare
from superfed.report.document import document
from superfed.report.holdings_style import RULES
from superfed.report.markup import Markup, element
from superfed.report.numbers import listed
from superfed.report.page import sections
from superfed.report.page.assets import script, styles
from superfed.report.page.data import embedded, page_data
from superfed.report.page.made import provenance
from superfed.report.page.source import Source
from superfed.report.page.surfaces import surfaces_section
from superfed.report.page.under_way import UnderWay, under_way_section
from superfed.report.settings import essential, shown
from superfed.report.style import STYLE
from superfed.store.files import write_text
from superfed.store.layout import RunFolder


def write_page(runs: Sequence[RunFolder], path: Path) -> None:
    """Write the comparison of ``runs`` to ``path``, self-contained."""
    write_text(path, page(compare(runs)))


def page(
    comparison: Comparison, under_way: Sequence[UnderWay] = (), name: str = "experiment", version: str | None = None
) -> str:
    """The page of what has results; and, where it is shown live, of what has none yet.

    ``name`` is what it is called while no run says it; ``version`` marks a live page, which looks now and then whether
    there is a newer one.
    """
    source = Source()
    runs = [run for row in comparison.rows for run in row.members]
    title = listed(_distinct(run.config.get("name", "experiment") for run in runs)) if runs else name
    data = page_data(comparison, source, under_way)
    parts = [part for part in _parts(comparison, under_way, source, data) if part[2]]
    content = [
        *_introduction(comparison, live=version is not None),
        element(
            "nav", *(element("a", short, href=f"#{key}") for key, short, _ in parts), aria_label="Parts of this page"
        ),
        *(element("section", *inside, id=key) for key, _, inside in parts),
        embedded(data | {"version": version}),
    ]
    return document(f"{title}: results", title, content, STYLE + RULES + styles(), script(), live=version is not None)


Part = tuple[str, str, list[Markup]]
"""Its anchor, what the contents call it, and what is in it."""


def _parts(
    comparison: Comparison, under_way: Sequence[UnderWay], source: Source, data: dict[str, object]
) -> list[Part]:
    def part(key: str, short: str, words: str, inside: Sequence[Markup]) -> Part:
        return key, short, [element("h2", words), *inside] if inside else []

    found = [part("under-way", "Under way", "Under way", [under_way_section(under_way)] if under_way else [])]
    curves = [one["curve"] for kind in ("methods", "under_way") for one in _listed(data[kind])]
    if not comparison.rows:
        return [*found, part("training", "Training", "As training goes on", sections.training(any(curves), begun=True))]
    return [
        *found,
        part("summary", "Summary", "Summary", sections.summary(comparison)),
        part("explorer", "λ explorer", "Between federated and local", sections.explorer(comparison, source)),
        part("training", "Training", "As training went on", sections.training(any(curves), begun=False)),
        part("fairness", "Fairness", "How evenly it falls on clients", sections.evenness(comparison, source)),
        part("calibration", "Calibration", "Calibration", sections.calibration(comparison, source)),
        part("barrier", "Loss on the way", "Loss on the way from λ = 0 to 1", sections.barriers(comparison, source)),
        part("surfaces", "Loss surfaces", "Loss surfaces", surfaces_section(comparison)),
        part("cost", "Cost", "What it costs", sections.cost(comparison)),
        part("data", "Data", "Who holds what", sections.holdings(comparison)),
        part("provenance", "Provenance", "How the runs were made", provenance(comparison)),
    ]


def _listed(value: object) -> list[dict[str, object]]:
    return value if isinstance(value, list) else []


def _introduction(comparison: Comparison, *, live: bool) -> list[Markup]:
    descriptions = _distinct(run.config.get("description") for row in comparison.rows for run in row.members)
    parts = [element("p", words, class_="lead") for words in descriptions if words]
    if comparison.rows:
        parts.append(element("p", _what_was_run(comparison), class_="facts-line" if parts else "lead"))
    for row in comparison.rows:
        if row.statuses.get("stopped"):
            words = f"{row.name}: {row.statuses['stopped']} of {len(row.seeds)} runs stopped before the last round."
            parts.append(element("p", words, class_="warning"))
    if comparison.unfinished and not live:
        runs = [
            f"{run.name} ({run.status}" + (f", {run.rounds} rounds done)" if run.rounds is not None else ")")
            for run in comparison.unfinished
        ]
        parts.append(element("p", f"Without results yet, and not shown: {listed(runs)}.", class_="warning"))
    if live:
        parts.append(element("p", "", id="live", class_="note", role="status"))
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


def _distinct(values: Iterable[object]) -> list[str]:
    return list(dict.fromkeys(str(value) for value in values if value is not None))
