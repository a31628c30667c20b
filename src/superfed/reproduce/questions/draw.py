"""All questions, for every column of which something was run."""

from dataclasses import replace

from superfed.reproduce.drawn import NOT_RUN, Drawn, Section
from superfed.reproduce.questions import choice, held_out, last_batch, newcomers, nu, sampling, shards, tuned
from superfed.reproduce.questions.answer import NOT_YET
from superfed.reproduce.questions.column import Column, columns
from superfed.reproduce.questions.decay import DECAY
from superfed.reproduce.questions.overlap import OVERLAP
from superfed.reproduce.questions.proximity import PROXIMITY
from superfed.reproduce.record import Records
from superfed.reproduce.verdict import LEVEL, SEEDS_NEEDED

OF_TABLE_1 = (
    nu.section,
    choice.section,
    shards.section,
    newcomers.section,
    sampling.section,
    DECAY.section,
    held_out.section,
    last_batch.section,
)
ASKED = [
    *(("table1", ask) for ask in OF_TABLE_1),
    ("table3", PROXIMITY.section),
    ("table1", tuned.section),
    ("table3", OVERLAP.section),
]
"""Each with the table whose columns it is put to."""
SENTENCES = (
    "Top-1 accuracy in %: mean ±std over clients (std over seeds), each client on its own test samples after the last round. "
    "validated: at each client's own choice of λ on its validation samples; validated shared: at one λ for all, chosen on the "
    "validation samples of all; oracle: at each client's choice on its test samples.",
    "Differences are in points, with the chance p of one as large if there were none. Where both sides have "
    f"{SEEDS_NEEDED} seeds or more in common, they are of these seeds, and p is that of a two-sided t test of the seeds' "
    f"differences. Where they have fewer in common and one side has {SEEDS_NEEDED} or more, the difference is that of both "
    "sides' means, tested against the spread of the seeds of the side that has so many, as if the other had it too; the p of "
    "a test over clients is taken instead if it is larger, and 1 if clients point the other way. Where neither side has so "
    'many, p is that of a test over clients and says "over clients": paired where both have the same clients with the same '
    "samples, else Welch's with the degrees of freedom of the smaller side. Such a test takes clients for independent, "
    "which they are not: with another seed all of them can be better, so its p is to be taken for less than it looks.",
    f"A difference with p < {LEVEL:g} counts as seen and has a *, or a ° if p is over clients. In the answers to the first "
    "question p is multiplied by the number of ν that are compared with ν = 0.",
    "The best baseline is that with the highest mean at its validated λ, or without any. Newcomers train by their method's "
    "own rule, alone, for as long as a member does in a round. A client fails that has at most "
    f"{sampling.FAILING:g} % right, about what always naming one of its two labels would give. only before L: sampled, but "
    "in no round in which SuPerFed trained its local model.",
)


def questions(records: Records) -> Drawn:
    found = columns(records)
    if not found:
        return NOT_RUN
    sections = [
        _titled(ask(column), number, column)
        for number, (table, ask) in enumerate(ASKED, 1)
        for column in found
        if column.table == table
    ]
    return Drawn(tuple(sections), SENTENCES)


def _titled(section: Section, number: int, column: Column) -> Section:
    """What has no answer yet has no numbers worth a table."""
    titled = replace(section, heading=f"{number}. {section.heading} ({column.title})")
    return (
        replace(titled, rows=(), unrun=tuple(row.cell for row in section.rows))
        if section.remarks == NOT_YET
        else titled
    )
