"""The page of results, in Markdown, made from kept files alone."""

from collections.abc import Iterable, Mapping, Sequence

from superfed.reproduce.aside import Aside
from superfed.reproduce.below import below
from superfed.reproduce.cells import TARGETS
from superfed.reproduce.compare import Line, compare
from superfed.reproduce.drawn import Drawn, Section
from superfed.reproduce.keeping import Kept
from superfed.reproduce.provenance import PLACES, place_cells, places
from superfed.reproduce.record import summaries
from superfed.reproduce.targets import draw, is_drawn, name_of, title_of
from superfed.reproduce.words import (
    NO_TARGET,
    NOT_RUN,
    UNSTABLE,
    VERDICTS,
    cells_of,
    group_heading,
    headings,
    laid_out,
    tally,
)

HEAD = """# Results

The paper's tables and figures, run again, and answers to what it leaves open. This page and its pictures are written from
the files in `results/reproduce/`, one for each table, figure or set of questions, by
`superfed reproduce all --page docs/results.md`. What they come to, in words, is told in
[What came of the paper](findings.md), how runs are made and compared in [The paper's tables and figures again](reproduce.md).
"""
COUNTED = (*VERDICTS, UNSTABLE, NO_TARGET, NOT_RUN)
NOTHING_YET = "**Nothing has been run at full scale yet.**"


def results(kept: Mapping[str, Kept], pictures: str) -> tuple[str, dict[str, str]]:
    """The page, and its pictures by name, which it looks for in the folder ``pictures`` beside it."""
    parts, files = [HEAD], dict[str, str]()
    if not any(one.scale == "full" and one.records for one in kept.values()):
        parts.append(f"{NOTHING_YET}\n")
    known = {name: summaries(kept[name].records) if name in kept else {} for name in TARGETS}
    lines = {name: compare(name, known[name]) for name in TARGETS if not is_drawn(name)}
    parts.append(_overview(lines, kept))
    every = [record.made for one in kept.values() for of_seeds in one.records.values() for record in of_seeds]
    if every:
        parts += ["## Where it was computed\n", _table(PLACES, [place_cells(place) for place in places(every)])]
    for name, one in kept.items():
        if not one.records:
            continue
        parts.append(f"## {title_of(name, one.scale)}\n")
        if is_drawn(name):
            drawn = draw(name, one.records)
            parts += _figure(drawn, pictures)
            files |= {f"{picture.name}.svg": f"{picture.svg}\n" for picture in drawn.pictures}
        else:
            parts += _comparison(lines[name])
    return "\n".join(parts), files


def _overview(lines: Mapping[str, Sequence[Line]], kept: Mapping[str, Kept]) -> str:
    """How far each has come."""
    rows = []
    for name, of_table in lines.items():
        words = tally(of_table)
        counted = [f"{words[word]}" for word in COUNTED]
        rows.append((name_of(name), f"{len(of_table)} numbers", *counted))
    table = _table(("", "", *COUNTED), rows)
    said = [f"{name_of(name)} {_drawn_so_far(kept.get(name))}" for name in TARGETS if is_drawn(name)]
    return f"{table}\n{'; '.join(said)}.\n"


def _drawn_so_far(kept: Kept | None) -> str:
    if kept is None or not kept.records:
        return "is not run"
    counts = [len(of_seeds) for of_seeds in kept.records.values()]
    fewest, most = min(counts), max(counts)
    seeds = "1 seed" if most == 1 else f"{most} seeds" if fewest == most else f"{fewest} to {most} seeds"
    return f"has {len(kept.records)} cells with {seeds}"


def _comparison(lines: Sequence[Line]) -> list[str]:
    """Columns of which nothing was run are named."""
    parts, (there, sentences) = list[str](), laid_out(lines)
    for group in there:
        parts += [
            f"### {group_heading(group)}\n",
            _table(headings(group), [cells_of(line, group) for line in group]),
        ]
    asides = [part for aside in below([line for group in there for line in group]) for part in _aside(aside)]
    return [*parts, *_paragraphs(sentences), *asides]


def _aside(aside: Aside) -> list[str]:
    return [f"### {aside.title}\n", _table(aside.headings, aside.rows), *_paragraphs([aside.sentence])]


def _figure(drawn: Drawn, pictures: str) -> list[str]:
    parts = []
    for section in drawn.sections:
        parts += [f"### {section.heading}\n"] if section.heading else []
        parts += _said(section.remarks)
        parts += _pictures(section, pictures)
        parts += [_table(section.headings, [row.words for row in section.rows])] if section.rows else []
    return [*parts, *_paragraphs(drawn.sentences)]


def _said(remarks: Sequence[str]) -> list[str]:
    """A list, if there are several."""
    if len(remarks) > 1:
        return ["".join(f"- {_escaped(remark)}\n" for remark in remarks)]
    return _paragraphs(remarks)


def _pictures(section: Section, folder: str) -> list[str]:
    rows = [[f"![{one.words}]({folder}/{one.name}.svg)" for one in row] for row in section.pictures]
    if not rows:
        return []
    if len(rows) == 1 and len(rows[0]) == 1:
        return [f"{rows[0][0]}\n"]
    return [_table(["" for _ in rows[0]], rows, literally=True)]


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, literally: bool = False) -> str:
    """The first column to the left, the others to the right."""
    rules = [":--", *("--:" for _ in headings[1:])]
    written = [cells if literally else [_escaped(cell) for cell in cells] for cells in (headings, *rows)]
    head, *body = (f"| {' | '.join(cells)} |" for cells in written)
    return "\n".join([head, f"|{'|'.join(rules)}|", *body, ""])


def _paragraphs(sentences: Iterable[str]) -> list[str]:
    return [f"{_escaped(sentence)}\n" for sentence in sentences]


def _escaped(words: str) -> str:
    for sign in ("\\", "*", "_", "|", "<", "["):
        words = words.replace(sign, f"\\{sign}")
    return words
