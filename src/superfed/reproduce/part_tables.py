"""Parts and stand-ins, laid beside what was published of the data that is missing: no number here is a target."""

from collections.abc import Sequence

from superfed.report.readings import HEADLINE
from superfed.reproduce.compare import scores, told
from superfed.reproduce.drawn import NOT_RUN, Drawn, Row, Section
from superfed.reproduce.methods import METHODS
from superfed.reproduce.parts import PARTS, Part, place_of
from superfed.reproduce.published import published
from superfed.reproduce.record import Record, Records
from superfed.reproduce.unstable import MARK, unstable
from superfed.reproduce.words import METHODS as NAMES
from superfed.reproduce.words import METRICS, column_words, in_print, score_words

ORACLE = "oracle"
HEADINGS = ("method", ORACLE, HEADLINE, "published of the whole")
SENTENCES = (
    "Mean ±std over clients (std over seeds), at each client's best λ on its test samples as the published numbers are, and "
    "at its own choice on validation samples. The published numbers are of other data, and no verdict can be given.",
)


def parts(records: Records) -> Drawn:
    sections = [
        _section(part, metric, records)
        for part in PARTS
        if any(f"{part.column}/{method}" in records for method in METHODS)
        for metric in published().metrics(f"{part.place}/{METHODS[0]}")
    ]
    return Drawn(tuple(sections), (*SENTENCES, *_notes(records))) if sections else NOT_RUN


def _notes(records: Records) -> list[str]:
    """What is known to be wrong with published numbers, each reason once."""
    faults = (published().faults_of(place_of(cell)) for cell in records)
    return list(dict.fromkeys(f"* {reason}" for reason in faults if reason))


def _section(part: Part, metric: str, records: Records) -> Section:
    _, dataset, setting = part.column.split("/")
    heading = f"{column_words(dataset, setting)} ({METRICS[metric]})"
    rows = [_row(part, method, metric, records.get(f"{part.column}/{method}", ())) for method in METHODS]
    return Section(heading, (part.what,), (), HEADINGS, tuple(rows))


def _row(part: Part, method: str, metric: str, runs: Sequence[Record]) -> Row:
    printed = in_print(published().of(f"{part.place}/{method}", metric))
    fault = "*" if published().faults_of(f"{part.place}/{method}") else ""
    summaries = [run.summary for run in runs]
    best, own = (score_words(told(scores(summaries, reading, metric))) for reading in (ORACLE, HEADLINE))
    mark = MARK if unstable(summaries) else ""
    return Row(f"{part.column}/{method}", (NAMES[method], f"{best}{mark}", own, f"{printed}{fault}"))
