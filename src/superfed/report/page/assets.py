"""The page's program and its rules of style, from the files beside this one, as text to be put into the page."""

from functools import cache
from importlib.resources import files

PROGRAM = (
    "dom.js",
    "numbers.js",
    "packed.js",
    "axes.js",
    "lines.js",
    "bars.js",
    "reliability.js",
    "state.js",
    "sorting.js",
    "people.js",
    "curves.js",
    "dots.js",
    "panel.js",
    "client.js",
    "explorer.js",
    "rounds.js",
    "fairness.js",
    "barrier.js",
    "cost.js",
    "live.js",
    "start.js",
)


@cache
def script() -> str:
    """One program: the files share their names and give none to the page; the last one begins."""
    return '"use strict";(()=>{\n' + "\n".join(_text(name) for name in PROGRAM) + "\n})();\n"


@cache
def styles() -> str:
    return _text("page.css")


def _text(name: str) -> str:
    return files("superfed.report.page").joinpath(name).read_text(encoding="utf-8")
