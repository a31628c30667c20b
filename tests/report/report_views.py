"""A comparison as people and programs see it."""

import re
from io import StringIO

from rich.console import Console

from superfed.report.comparison import Comparison
from superfed.report.page.build import page
from superfed.report.terminal import comparison_table


def terminal(comparison: Comparison, width: int = 80) -> str:
    out = StringIO()
    Console(file=out, width=width, color_system=None).print(comparison_table(comparison))
    return out.getvalue()


def said(comparison: Comparison) -> str:
    """The page without the program in it."""
    return re.sub(r"<script>.*?</script>", "", page(comparison), flags=re.DOTALL)


def cells(comparison: Comparison, table: int) -> list[list[str]]:
    """The page's n-th table: the text of its cells, row by row, with a bar between the parts of one."""
    found = re.findall(r"<table>(.*?)</table>", said(comparison), re.DOTALL)[table]
    return [
        [re.sub(r"<[^>]+>", "", cell.replace("<small>", "|")) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", found, re.DOTALL)
    ]
