"""What is shown in the end, and kept."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from rich.console import Console

from superfed.reproduce.cells import Cell, cells
from superfed.reproduce.compare import Line, compare
from superfed.reproduce.keeping import keep, read_all
from superfed.reproduce.latex import latex
from superfed.reproduce.page import figure_page, index_page, page
from superfed.reproduce.record import Records
from superfed.reproduce.results import results
from superfed.reproduce.scales import IN_WORDS, Scale
from superfed.reproduce.targets import QUESTIONS, draw, is_drawn, title_of
from superfed.reproduce.terminal import show
from superfed.reproduce.terminal_figure import show_figure
from superfed.reproduce.words import counts
from superfed.store.files import write_text

INDEX = "index.html"


def show_all(wanted: Sequence[Cell], scale: str, records: Records, where: Path, console: Console) -> None:
    """Each table and figure that has wanted cells; of several there is a page that leads to all."""
    entries = {}
    for target in dict.fromkeys(cell.table for cell in wanted):
        asked = [cell.id for cell in wanted if cell.table == target]
        own = {cell: records[cell] for cell in asked if cell in records}
        if is_drawn(target):
            together = [cell.id for cell in beside(wanted, scale) if cell.table == target]
            _show_figure(target, scale, {cell: records[cell] for cell in together if cell in records}, where, console)
            state = f"{len(own)} of {len(asked)} cells are there"
        else:
            state = _show_table(target, scale, own, asked, where, console)
        entries[f"{target}.html"] = (title_of(target), state)
        console.print()
    if len(entries) > 1:
        write_text(where / INDEX, index_page(entries, f"Scale {scale}: {IN_WORDS[cast(Scale, scale)]}."))
        _say("index", where / INDEX, console)


def beside(wanted: Sequence[Cell], scale: str) -> list[Cell]:
    """The wanted cells, and where some are of questions all of these: several sweeps answer one."""
    asks = any(cell.table in QUESTIONS for cell in wanted)
    every = [cell for name in QUESTIONS for cell in cells(name, cast(Scale, scale))] if asks else []
    return list(dict.fromkeys([*wanted, *every]))


def keep_all(wanted: Sequence[Cell], scale: str, records: Records, folder: Path, console: Console) -> None:
    """Add what was found to the small files in ``folder``."""
    for target in dict.fromkeys(cell.table for cell in wanted):
        asked = [cell.id for cell in wanted if cell.table == target]
        path = keep(target, cast(Scale, scale), {cell: records[cell] for cell in asked if cell in records}, folder)
        if path is not None:
            _say("kept", path, console)


def write_results(folder: Path, path: Path, console: Console) -> None:
    """The page of all that is kept in ``folder``; its pictures go into a folder beside it, of the same name."""
    text, pictures = results(read_all(folder), path.stem)
    for name, svg in pictures.items():
        write_text(path.parent / path.stem / name, svg)
    write_text(path, text)
    _say("page", path, console)


def _show_table(target: str, scale: str, records: Records, asked: Sequence[str], where: Path, console: Console) -> str:
    """In the terminal, as a page and as LaTeX; returned is how far it has come."""
    title, lines = title_of(target, scale), _lines(target, records, asked)
    if not lines:
        console.print("Nothing that was run has a number in print.")
        return "nothing is in print"
    show(title, lines, console)
    for words, path, text in (
        ("page", where / f"{target}.html", page({title: lines}, records)),
        ("LaTeX", where / f"{target}.tex", latex(title, lines)),
    ):
        write_text(path, text)
        _say(words, path, console)
    return counts(lines)


def _show_figure(target: str, scale: str, records: Records, where: Path, console: Console) -> None:
    """In the terminal, as a page, its pictures and its data in files."""
    title, drawn = title_of(target, scale), draw(target, records)
    show_figure(title, drawn, console)
    write_text(where / f"{target}.html", figure_page(title, drawn, records))
    _say("page", where / f"{target}.html", console)
    files = {f"{picture.name}.svg": f"{picture.svg}\n" for picture in drawn.pictures} | dict(drawn.data)
    for name, text in files.items():
        write_text(where / target / name, text, durable=False)
    if files:
        _say("pictures and data", where / target, console)


def _lines(target: str, records: Records, asked: Sequence[str]) -> list[Line]:
    summaries = {cell: [record.summary for record in of_seeds] for cell, of_seeds in records.items()}
    return [line for line in compare(target, summaries) if line.cell in asked]


def _say(what: str, path: Path, console: Console) -> None:
    console.print(f"{what}: {path}", highlight=False, soft_wrap=True)
