"""The parts of the page. Each says in words and numbers what it can; pictures are drawn into its ``plot`` places."""

from collections.abc import Callable, Sequence

from superfed.report.comparison import Comparison, Row
from superfed.report.holdings_page import section as holdings_of
from superfed.report.holdings_stored import stored_view
from superfed.report.keys import method_cell
from superfed.report.markup import Markup, element
from superfed.report.newcomers import TITLE as NEWCOMERS
from superfed.report.numbers import NOTHING, aligned, amount, listed, percent
from superfed.report.page.metrics import metrics_table
from superfed.report.page.source import Source
from superfed.report.settings import essential, shown
from superfed.report.tables import (
    definitions,
    differences_table,
    heading,
    lambda_table,
    newcomers_table,
    number_cell,
    readings_table,
    table,
    wrapped,
)

Parts = list[Markup]


def plot(name: str) -> Markup:
    """Where a picture goes, once there is a program to draw it."""
    return element("div", class_="plot", data_plot=name)


def details(words: str, *inside: Markup) -> Markup:
    return element("details", element("summary", words), *inside)


def note(words: str) -> Markup:
    return element("p", unbroken(words), class_="note")


def unbroken(words: str) -> str:
    """No line ends within λ = 0."""
    return words.replace("λ = ", "λ\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def summary(comparison: Comparison) -> Parts:
    parts = [readings_table(comparison)]
    if comparison.mixes:
        meanings = {reading.heading: reading.meaning for reading in comparison.readings}
        parts.append(details("How λ is chosen", definitions(meanings)))
    parts += [element("h3", "Every metric"), metrics_table(comparison)]
    if comparison.newcomers:
        parts += [element("h3", NEWCOMERS), newcomers_table(comparison)]
    differing = differences_table(comparison)
    return [*parts, details("Where the settings differ", differing)] if differing is not None else parts


def explorer(comparison: Comparison, source: Source) -> Parts:
    """Empty where nothing is mixed."""
    mixing = [row for row in comparison.rows if row.mixes]
    if not mixing:
        return []
    words = (
        "Every client has a line of models from the federated one (λ = 0) to its own local one (λ = 1). Move λ: the curves "
        "are the mean test accuracy over clients with a band of ± one standard deviation, and beside them each dot is a "
        "client. The bars count the clients that chose a λ on their own validation data."
    )
    parts = [element("p", unbroken(words), class_="needs-js"), plot("explorer")]
    parts += _without(
        mixing,
        "No scores of single clients are stored",
        lambda row: all(source.scores(run) is None for run in row.members),
    )
    return [*parts, details("The same in numbers", lambda_table(comparison.rows))]


def training(has_curves: bool, *, begun: bool) -> Parts:
    """``begun`` where nothing has come to its end yet."""
    if has_curves:
        return [plot("rounds")]
    return [note("Nothing to draw yet: curves come with the first checkpoint." if begun else "No curve was kept.")]


def evenness(comparison: Comparison, source: Source) -> Parts:
    columns = ("lowest", "worst 10 %", "median", "best 10 %", "Gini")
    body = []
    for index, row in enumerate(comparison.rows):
        found = source.fairness(row)
        if found is not None:
            shares = (found.lowest, found.worst_tenth, found.median, found.best_tenth)
            cells = [number_cell(percent(share), share) for share in shares]
            body.append(element("tr", method_cell(row, index), *cells, number_cell(aligned(found.gini), found.gini)))
    lost = _without(
        comparison.rows,
        "No scores of single clients are stored",
        lambda row: all(source.scores(run) is None for run in row.members),
    )
    if not body:
        return lost
    at = "at their validated λ" if comparison.mixes else "over clients"
    caption = (
        f"Clients' test accuracy in %, {at}, averaged over seeds. Gini: 0 where all clients fare alike, towards 1 "
    )
    caption += "where few have everything."
    head = [heading("method"), *(heading(words) for words in columns)]
    inside = element("table", element("thead", element("tr", *head)), element("tbody", *body))
    return [plot("fairness"), wrapped(caption, inside, sortable=True), *lost]


def calibration(comparison: Comparison, source: Source) -> Parts:
    words = (
        "Of the samples that a model was so sure of, how many did it get right? On the diagonal it is as good as it thinks; "
        "below, it is too sure of itself. Dots are bins of confidence, their area is how many test samples of all clients "
        "fall there. ECE weighs the gaps by samples, MCE is the widest; over clients they are means of clients' own."
    )
    lost = _without(
        comparison.rows,
        "No bins of confidence are stored",
        lambda row: all(source.bins(run) is None for run in row.members),
    )
    any_there = any(source.bins(run) is not None for row in comparison.rows for run in row.members)
    return [note(words), plot("calibration"), *lost] if any_there else lost


def barriers(comparison: Comparison, source: Source) -> Parts:
    """Empty where nothing is mixed."""
    body = []
    for index, row in enumerate(comparison.rows):
        found = source.path(row)
        if found is not None:
            without = NOTHING if found.without is None else f"{100 * found.without:.0f} %"
            of_clients = NOTHING if found.of_clients is None else aligned(found.of_clients)
            cells = [
                number_cell(aligned(found.barrier), found.barrier),
                element("td", NOTHING if found.barrier <= 0 else f"{found.at:g}"),
                number_cell(of_clients, found.of_clients or 0.0),
                number_cell(without, found.without or 0.0),
            ]
            body.append(element("tr", method_cell(row, index), *cells))
    if not body:
        return []
    caption = "Barrier: the most by which the test loss on the way exceeds the straight line between its ends. Clients "
    caption += "without: the share whose own path rises by less than 0.01."
    words = ("method", "of the mean loss", "at λ", "mean of clients' own", "clients without")
    head = [heading(word) for word in words]
    return [plot("barrier"), table(caption, head, body)]


def cost(comparison: Comparison) -> Parts:
    rounds = [essential(row.members[0].config).get("training.rounds") for row in comparison.rows]
    body = [
        element(
            "tr",
            method_cell(row, index),
            *(number_cell(amount(size), size) for size in (row.bytes_up, row.bytes_down)),
            element("td", shown(rounds[index]) if rounds[index] is not None else NOTHING),
        )
        for index, row in enumerate(comparison.rows)
    ]
    head = [heading(words) for words in ("method", "sent up", "sent down", "rounds")]
    numbers = table("What all clients of one run sent and were sent, as it would be on a wire.", head, body)
    return [element("div", plot("bytes"), plot("seconds"), class_="pair"), details("The same in numbers", numbers)]


def holdings(comparison: Comparison) -> Parts:
    """One way of dealing after another; the first seed's deal stands for all."""
    parts: Parts = []
    seen: set[str] = set()
    lost: list[Row] = []
    for row in comparison.rows:
        if row.data in seen:
            continue
        seen.add(row.data)
        run = row.members[0]
        data = {key: value for key, value in essential(run.config).items() if key.startswith("data.")}
        title = ", ".join(shown(data[key]) for key in ("data.dataset.name", "data.partition.name") if key in data)
        facts = "; ".join(f"{key.removeprefix('data.')}={shown(value)}" for key, value in data.items())
        view = stored_view(run, title or "data", f"{facts}; seed {run.seed}")
        if view is None:
            lost.append(row)
        else:
            parts += holdings_of(view, "h3")
    return [*parts, *_without(lost, "Who holds what is not stored", lambda row: True)]


def _without(rows: Sequence[Row], what: str, is_missing: Callable[[Row], bool]) -> Parts:
    """Say for which methods something was not stored, and how it can be had."""
    names = [row.name for row in rows if is_missing(row)]
    if not names:
        return []
    words = f"{what} for {listed(names)}: the runs are of an older program, or a table of theirs cannot be read. "
    return [note(f"{words}superfed evaluate RUN writes it anew.")]
