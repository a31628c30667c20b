"""What is shown in the end, and kept."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from rich.console import Console

from superfed.core.errors import UserError, require
from superfed.reproduce.cells import Cell, cells
from superfed.reproduce.compare import Line, compare
from superfed.reproduce.drawn import narrowed
from superfed.reproduce.index_page import index_page
from superfed.reproduce.keeping import keep, kept_records, read_all
from superfed.reproduce.latex import PAPER, latex
from superfed.reproduce.links import Runs
from superfed.reproduce.page import INDEX, figure_page, page
from superfed.reproduce.record import Records, of_seeds, summaries
from superfed.reproduce.results import results
from superfed.reproduce.scales import Scale
from superfed.reproduce.targets import draw, is_drawn, title_of
from superfed.reproduce.terminal import show
from superfed.reproduce.terminal_figure import show_figure
from superfed.store.files import write_text


def show_all(
    wanted: Sequence[Cell], scale: str, found: Runs, those: Records, where: Path, console: Console
) -> list[str]:
    """Each table and figure that has wanted cells: in the terminal of ``those`` runs that were asked for, as pages of all that
    were found; and a page that leads to all there are, of whatever command. Why some cannot be had."""
    complaints = []
    for target in dict.fromkeys(cell.table for cell in wanted):
        asked = [cell.id for cell in wanted if cell.table == target]
        every, some = (
            {cell: of_cell for cell, of_cell in records.items() if cell.startswith(f"{target}/")}
            for records in (found.records, those)
        )
        show_one = _show_figure if is_drawn(target) else _show_table
        try:
            show_one(target, scale, replace(found, records=every), some, asked, where, console)
        except UserError as error:  # such as a page that cannot be written: others may
            complaints.append(str(error))
        console.print()
    try:
        index = index_page(where, cast(Scale, scale))
        if index is not None:
            write_text(where / INDEX, index)
            _say("index", where / INDEX, console)
    except UserError as error:
        complaints.append(str(error))
    return complaints


def beside(wanted: Sequence[Cell], scale: str) -> list[Cell]:
    """All cells of the tables and figures that have wanted ones: what is written of them is of all that is there."""
    return [
        cell for target in dict.fromkeys(cell.table for cell in wanted) for cell in cells(target, cast(Scale, scale))
    ]


def keep_all(wanted: Sequence[Cell], scale: str, records: Records, folder: Path, console: Console) -> list[str]:
    """Add what was found to the small files in ``folder``; why that could not be done of some."""
    complaints = []
    for target in dict.fromkeys(cell.table for cell in wanted):
        asked = [cell.id for cell in wanted if cell.table == target]
        there = {cell: records[cell] for cell in asked if cell in records}
        try:
            path = keep(target, cast(Scale, scale), there, folder)
        except UserError as error:
            complaints.append(f"nothing of {target} is kept: {error}")
            continue
        if path is not None:
            _say("kept", path, console)
    return complaints


def tell_kept(wanted: Sequence[Cell], there: Records, scale: str, folder: Path, console: Console) -> list[str]:
    """Of cells that are not there, but whose small files are in ``folder``; why these cannot be read."""
    try:
        kept = kept_records({cell.table for cell in wanted}, scale, folder)
    except UserError as error:
        return [str(error)]
    more = sum(cell.id in kept and cell.id not in there for cell in wanted)
    if more:
        cells_were = "a cell that was" if more == 1 else f"{more} cells that were"
        what = f"{folder} keeps the numbers of {cells_were} not run here"
        how = "--show-kept shows them, --cell says where they come from"
        console.print(f"{what}: {how}", highlight=False, markup=False, soft_wrap=True)
    return []


def show_kept(
    wanted: Sequence[Cell], scale: str, seeds: Collection[int] | None, folder: Path, where: Path, console: Console
) -> list[str]:
    """The same of what is kept in ``folder``, of whose runs nothing else may be left."""
    found = kept_records({cell.table for cell in wanted}, scale, folder)
    if not any(cell.id in found for cell in wanted):
        raise UserError(f"{folder}: nothing of what is asked for is kept there at the scale {scale}")
    return show_all(wanted, scale, Runs(found, here=False), of_seeds(found, seeds), where, console)


def write_results(folder: Path, path: Path, console: Console) -> None:
    """The page of all that is kept in ``folder``; its pictures go into a folder beside it, of the same name."""
    markdown = path.suffix == ".md" and not path.is_dir()
    require(markdown, "--page", f"must be a file in Markdown, as in FILE.md, not {path}")
    found = read_all(folder)
    if not any(one.records for one in found.values()):
        raise UserError(f"{folder}: nothing is kept there, and a page of nothing is not written")
    text, pictures = results(found, path.stem)
    for name, svg in pictures.items():
        write_text(path.parent / path.stem / name, svg)
    write_text(path, text)
    _say("page", path, console)


def _show_table(
    target: str, scale: str, every: Runs, some: Records, asked: Sequence[str], where: Path, console: Console
) -> None:
    """What was asked for in the terminal, and all there is as a page and as LaTeX."""
    title, shown = title_of(target, scale), [line for line in _lines(target, some, asked) if line.cell in asked]
    if not shown:
        console.print("Nothing that was run has a number in print.")
        return
    show(title, shown, console)
    lines = _lines(target, every.records, asked)
    for words, path, text in (
        ("page", where / f"{target}.html", page({title: lines}, every)),
        ("LaTeX", where / f"{target}.tex", latex(f"{PAPER}, {title}", lines)),
    ):
        write_text(path, text)
        _say(words, path, console)


def _show_figure(
    target: str, scale: str, every: Runs, some: Records, asked: Sequence[str], where: Path, console: Console
) -> None:
    """In the terminal, as a page, its pictures and its data in files."""
    title, drawn, all_cells = title_of(target, scale), draw(target, every.records), cells(target, cast(Scale, scale))
    show_figure(title, narrowed(draw(target, some), asked if len(asked) < len(all_cells) else None), console)
    state = f"{len(every.records)} of {len(all_cells)} cells are there"
    write_text(where / f"{target}.html", figure_page(title, drawn, every, state))
    _say("page", where / f"{target}.html", console)
    files = {f"{picture.name}.svg": f"{picture.svg}\n" for picture in drawn.pictures} | dict(drawn.data)
    for name, text in files.items():
        write_text(where / target / name, text, durable=False)
    if files:
        _say("pictures and data", where / target, console)


def _lines(target: str, records: Records, asked: Sequence[str]) -> list[Line]:
    """Of what was asked for or is there."""
    return [line for line in compare(target, summaries(records)) if line.cell in asked or line.ours]


def _say(what: str, path: Path, console: Console) -> None:
    console.print(f"{what}: {path}", highlight=False, markup=False, soft_wrap=True)
