"""Clients' samples make whole batches and leave some over, other ones where some are kept to choose λ on: does it matter?"""

from superfed.reproduce import asked, paper
from superfed.reproduce.asked import Sweep
from superfed.reproduce.drawn import Section
from superfed.reproduce.questions.changed import Changed
from superfed.reproduce.questions.column import Column

TITLE = "Does it matter that the last batch of an epoch is smaller than the others?"
EVEN = Changed(TITLE, Sweep.EVEN, "small last", "even", asked.BATCHED, "with batches of about one size")
SMALL = Changed(TITLE, Sweep.SMALL, "even", "small last", asked.BATCHED, "with a small last batch")


def section(column: Column) -> Section:
    """Against what is usual in the column."""
    evenly = (column.dataset, int(column.clients.removeprefix("k"))) in paper.EVEN_COLUMNS
    return (SMALL if evenly else EVEN).section(column)
