"""A figure of the paper in numbers, for a terminal."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from superfed.reproduce.drawn import Drawn


def show_figure(title: str, drawn: Drawn, console: Console) -> None:
    console.print(Text(title, style="bold"))
    for section in drawn.sections:
        what = Text(section.heading, style="italic") if section.heading else None
        table = Table(
            title=what, title_justify="left", box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0)
        )
        for number, heading in enumerate(section.headings):
            table.add_column(heading, justify="left" if number == 0 else "right", no_wrap=True)
        for row in section.rows:
            table.add_row(*row.words)
        console.print(table)
        console.print()
        if section.remark:
            console.print(Text(section.remark, style="dim"))
    for sentence in drawn.sentences:
        console.print(Text(sentence, style="dim"))
