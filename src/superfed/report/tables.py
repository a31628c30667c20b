"""The page's tables."""

import math
from collections.abc import Sequence
from pathlib import Path

from superfed.report.averages import Accuracy
from superfed.report.comparison import Comparison, Row
from superfed.report.keys import method_cell
from superfed.report.loading import Finished
from superfed.report.markup import Markup, element
from superfed.report.newcomers import ARRIVING, adapted_heading, how_many, reservations, told
from superfed.report.numbers import NOTHING, accuracy, amount, spread
from superfed.report.readings import HEADLINE, OWN, READINGS, fixed_heading
from superfed.report.settings import Settings, essential, identity, shown


def table(caption: str, head: Sequence[Markup], body: Sequence[Markup]) -> Markup:
    """A table that scrolls by itself where the screen is narrow; its caption, which is prose, stays where it is."""
    return wrapped(caption, element("table", element("thead", element("tr", *head)), element("tbody", *body)))


def wrapped(caption: str, inside: Markup, *, sortable: bool = False) -> Markup:
    """Around a table; one that is sortable has numbers to sort by in its cells."""
    class_ = "scroll sortable" if sortable else "scroll"
    scroll = element("div", inside, class_=class_, tabindex=0, role="region", aria_label=caption)
    return element("div", element("p", caption, class_="note"), scroll)


def number_cell(words: str, value: float, *more: str, class_: str | None = None, colspan: int | None = None) -> Markup:
    """A cell that is sorted by ``value``; after all others where that is no number."""
    key = value if math.isfinite(value) else None
    return element("td", words, *more, colspan=colspan, class_=class_, data_value=key)


def heading(words: str, class_: str | None = None) -> Markup:
    return element("th", words, scope="col", class_=class_)


def readings_table(comparison: Comparison) -> Markup:
    """A row per method, a column per reading."""
    rows = comparison.rows
    readings = comparison.readings
    best = {reading.name: comparison.best(reading.name) for reading in readings}
    fixed = {lam for row in rows for lam in row.readings["fixed"].lam or []}
    head = [heading("method")]
    for reading in readings:
        words = fixed_heading(fixed) if reading.name == "fixed" else reading.heading
        words = words if comparison.mixes else "accuracy"
        head.append(heading(words, "headline" if reading.name == HEADLINE else None))
    body = []
    for index, row in enumerate(rows):
        cells = [_reading(row.headline, "headline" + (" best" if row in best[HEADLINE] else ""))]
        if row.mixes:
            for reading in READINGS[1:]:
                class_ = "best" if row in best[reading.name] else None
                cells.append(_reading(row.readings[reading.name], class_))
        elif comparison.mixes:
            words = "no λ: the same in every reading"
            cells.append(number_cell(words, row.headline.mean, class_="same", colspan=len(READINGS) - 1))
        if OWN in readings:
            own = row.readings.get(OWN.name)
            class_ = "best" if row in best[OWN.name] else None
            cells.append(element("td", NOTHING) if own is None else _reading(own, class_))
        body.append(element("tr", method_cell(row, index), *cells))
    caption = "Test accuracy in %: mean ± standard deviation over clients"
    if any(row.headline.spread is not None for row in rows):
        caption += ", and in brackets the standard deviation over seeds"
    if best[HEADLINE]:
        on_same = "" if len({row.data for row in rows}) == 1 else " on the same data"
        caption += f". The best of a column{on_same} is bold"
    inside = element("table", element("thead", element("tr", *head)), element("tbody", *body))
    return wrapped(f"{caption}.", inside, sortable=True)


def newcomers_table(comparison: Comparison) -> Markup:
    """How those fare that were not there: before and after they train."""
    met = comparison.newcomers
    found = [newcomers for _, newcomers in met]
    body = []
    for row, newcomers in met:
        arriving = (
            element("td", "not possible: no global model", class_="same")
            if newcomers.arriving is None
            else _newcomers(newcomers.arriving)
        )
        notes = reservations(newcomers, found, len(row.seeds))
        body.append(
            element("tr", method_cell(row, comparison.rows.index(row), notes), arriving, _newcomers(newcomers.headline))
        )
    caption = f"Test accuracy in %: mean ± standard deviation over {how_many(found)}"
    if any(newcomers.headline.spread is not None for newcomers in found):
        caption += ", and in brackets the standard deviation over seeds"
    caption += ". Newcomers arrive to the global model as it is, and then train by the method's own rule"
    if any(row.mixes for row, _ in met):
        caption += "; from then on, λ is each client's validated one"
    return table(f"{caption}.", [heading(words) for words in ("method", ARRIVING, adapted_heading(found))], body)


def differences_table(comparison: Comparison) -> Markup | None:
    """A row per setting that is not the same for all methods; None where all are."""
    rows = [essential(row.members[0].config) for row in comparison.rows]
    keys = [key for key in _keys(rows) if len({identity(row.get(key)) for row in rows}) > 1]
    if not keys:
        return None
    body = [
        element(
            "tr",
            element("th", element("code", key), scope="row"),
            *(element("td", shown(row[key]) if key in row else NOTHING, class_="words") for row in rows),
        )
        for key in keys
    ]
    head = [heading("setting"), *(heading(row.name, "words") for row in comparison.rows)]
    return table(f"Settings that are not the same for all; {NOTHING} where a method has no such setting.", head, body)


def lambda_table(rows: Sequence[Row]) -> Markup:
    """The λ chart in numbers, for those who cannot point at it."""
    mixing = [(index, row) for index, row in enumerate(rows) if row.mixes]
    lambdas = sorted({point.lam for _, row in mixing for point in row.by_lambda if point.lam is not None})
    body = []
    for index, row in mixing:
        at = {point.lam: point for point in row.by_lambda}
        cells = [
            _reading(Accuracy(at[lam].mean, at[lam].std, at[lam].spread)) if lam in at else element("td", NOTHING)
            for lam in lambdas
        ]
        body.append(element("tr", method_cell(row, index), *cells))
    caption = "Test accuracy in % at each λ: mean ± standard deviation over clients."
    return table(caption, [heading("method"), *(heading(f"λ = {lam:g}") for lam in lambdas)], body)


def runs_table(comparison: Comparison) -> Markup:
    """How each run was made. What is the same for all is said once, below the table."""
    runs = [(row, run) for row in comparison.rows for run in row.members]
    facts = [_facts(row, run) for row, run in runs]
    differing = [key for key in _keys(facts) if len({fact.get(key, NOTHING) for fact in facts}) > 1]
    body = []
    for (row, run), fact in zip(runs, facts, strict=True):
        name = element("th", element("code", run.name), scope="row")
        cells = [element("td", fact.get(key, NOTHING), class_="words") for key in differing]
        body.append(element("tr", name, element("td", row.name, class_="words"), *cells))
    head = [heading("folder"), heading("method", "words"), *(heading(key, "words") for key in differing)]
    same = {key: facts[0][key] for key in _keys(facts) if key not in differing}
    return element(
        "div",
        table("The runs, and where they differ.", head, body),
        element("h3", "The same for all runs") if same else "",
        definitions(same, "facts") if same else "",
    )


def settings_details(comparison: Comparison) -> Markup:
    """Every setting: those that all rows share, and each row's own."""
    rows = [essential(row.members[0].config) for row in comparison.rows]
    shared = {key: rows[0][key] for key in _keys(rows) if len({identity(row.get(key)) for row in rows}) == 1}
    own = [{key: value for key, value in row.items() if key not in shared} for row in rows]
    parts = [element("h3", "All methods"), _settings(shared)] if len(rows) > 1 else [_settings(shared)]
    for row, settings in zip(comparison.rows, own, strict=True):
        if settings:
            parts += [element("h3", row.name), _settings(settings)]
    return element("details", element("summary", "Settings"), *parts)


def definitions(pairs: dict[str, str], class_: str | None = None) -> Markup:
    return element(
        "dl",
        *(part for key, value in pairs.items() for part in (element("dt", key), element("dd", value))),
        class_=class_,
    )


def _settings(settings: Settings) -> Markup:
    return definitions({key: shown(value) for key, value in settings.items()}, "facts")


def _newcomers(found: Accuracy) -> Markup:
    small = spread(found.spread)
    return element("td", told(found), element("small", small) if small else "")


def _reading(found: Accuracy, class_: str | None = None) -> Markup:
    small = [spread(found.spread)] if spread(found.spread) else []
    if found.lam is not None:
        chosen = [f"{lam:g}" for lam in (found.lam if len(set(found.lam)) > 1 else found.lam[:1])]
        small.append("λ " + ", ".join(chosen))
    words = accuracy(found.mean, found.std)
    return number_cell(words, found.mean, *(element("small", line) for line in small), class_=class_)


def _facts(row: Row, run: Finished) -> dict[str, str]:
    info, summary = run.info, run.summary
    facts = {"seed": str(run.seed), "experiment": Path(run.folder.path).resolve().parent.name}
    facts["status"] = run.status + (f": {info['reason']}" if info.get("reason") else "")
    facts["data"] = str(info.get("fingerprint", NOTHING))[:12]
    facts["clients evaluated"] = str(summary["num_clients"])
    facts["never sampled"] = str(summary["never_sampled"])
    facts["sent up"] = amount(summary["bytes_up"])
    facts["sent down"] = amount(summary["bytes_down"])
    facts["diverged updates"] = str(summary["diverged_updates"])
    facts["clients whose network answers nothing"] = str(summary.get("silent_clients", NOTHING))
    facts["parameters"] = f"{info['parameters']:,}" if isinstance(info.get("parameters"), int) else NOTHING
    for group in ("hardware", "versions"):
        found = info.get(group)
        if isinstance(found, dict):
            facts |= {f"{key}": str(value) for key, value in found.items()}
    return facts


def _keys(rows: Sequence[dict[str, str]] | Sequence[Settings]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))
