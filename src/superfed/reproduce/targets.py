"""The paper's tables, figures and open questions by name: what each is called, and how it is drawn from records."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from superfed.reproduce.curves import figure3, figure_b
from superfed.reproduce.drawn import Drawn
from superfed.reproduce.part_tables import parts
from superfed.reproduce.parts import TARGET as PARTS_TARGET
from superfed.reproduce.published import published
from superfed.reproduce.questions.draw import questions
from superfed.reproduce.record import Records
from superfed.reproduce.scales import IN_WORDS, Scale
from superfed.reproduce.surfaces import figure_a
from superfed.reproduce.unstable import MARK, unstable
from superfed.reproduce.words import cell_words

FIGURES = {
    "figure3": "The constants ν and μ: CIFAR-10, 100 rounds, accuracy over λ",
    "figureA": "Loss surfaces of global models: CIFAR-10",
    "figureB": "APFL and SuPerFed between their two models: MNIST, accuracy over λ",
}
QUESTIONS = {"questions": "eleven questions, a sweep each"}
PARTS = {PARTS_TARGET: "parts of Tiny-ImageNet and FEMNIST, and MNIST by its writers"}
DRAWN = FIGURES | QUESTIONS | PARTS
NAMES = {"questions": "What the paper leaves open", PARTS_TARGET: "What stands in for missing data"}
DRAW: dict[str, Callable[[Records], Drawn]] = {
    "figure3": figure3,
    "figureA": figure_a,
    "figureB": figure_b,
    "questions": questions,
    PARTS_TARGET: parts,
}


def is_drawn(target: str) -> bool:
    """Whether it is made of our records alone, with nothing in print that they could be held to."""
    return target in DRAWN


def name_of(target: str) -> str:
    """``table1`` → Table 1."""
    if target in NAMES:
        return NAMES[target]
    kind = "figure" if target in FIGURES else "table"
    return f"{kind.capitalize()} {target.removeprefix(kind)}"


def title_of(target: str, scale: str = "full") -> str:
    subject = DRAWN[target] if is_drawn(target) else published().tables[target].title
    shorter = "" if scale == "full" else f" ({scale}: {IN_WORDS[cast(Scale, scale)]})"
    return f"{name_of(target)}: {subject}{shorter}"


def draw(target: str, records: Records) -> Drawn:
    """``records`` are those of its own cells."""
    drawn = DRAW[target](records)
    told = ((cell, unstable([record.summary for record in of_seeds])) for cell, of_seeds in records.items())
    remarks = (f"{MARK} {cell_words(cell)}: {what}." for cell, what in told if what is not None)
    return replace(drawn, sentences=(*drawn.sentences, *remarks))
