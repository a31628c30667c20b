"""The paper's tables and figures by name: what each is called, and how a figure is drawn."""

from collections.abc import Callable
from typing import cast

from superfed.reproduce.curves import figure3, figure_b
from superfed.reproduce.drawn import Drawn
from superfed.reproduce.published import published
from superfed.reproduce.record import Records
from superfed.reproduce.scales import IN_WORDS, Scale
from superfed.reproduce.surfaces import figure_a

FIGURES = {
    "figure3": "The constants ν and μ: CIFAR-10, 100 rounds, accuracy over λ",
    "figureA": "Loss surfaces of global models: CIFAR-10",
    "figureB": "APFL and SuPerFed between their two models: MNIST, accuracy over λ",
}
DRAW: dict[str, Callable[[Records], Drawn]] = {"figure3": figure3, "figureA": figure_a, "figureB": figure_b}


def is_figure(target: str) -> bool:
    return target in FIGURES


def name_of(target: str) -> str:
    """``table1`` → Table 1."""
    kind = "figure" if is_figure(target) else "table"
    return f"{kind.capitalize()} {target.removeprefix(kind)}"


def title_of(target: str, scale: str = "full") -> str:
    subject = FIGURES[target] if is_figure(target) else published().tables[target].title
    shorter = "" if scale == "full" else f" ({scale}: {IN_WORDS[cast(Scale, scale)]})"
    return f"{name_of(target)}: {subject}{shorter}"


def draw(figure: str, records: Records) -> Drawn:
    """``records`` are those of the figure's own cells."""
    return DRAW[figure](records)
