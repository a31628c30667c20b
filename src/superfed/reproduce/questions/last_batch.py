"""Clients' samples make whole batches and leave some over, other ones where some are kept to choose λ on: does it matter?"""

from superfed.reproduce import asked
from superfed.reproduce.questions.changed import Changed

LAST_BATCH = Changed(
    title="Does it matter that the last batch of an epoch is smaller than the others?",
    how="even",
    usual="small last",
    other="even",
    methods=asked.EVEN,
    so="with batches of about one size",
)
