"""Samples kept to choose λ on leave clients a small last batch that the published runs did not have: does it matter?"""

from superfed.reproduce import asked
from superfed.reproduce.questions.changed import Changed

LAST_BATCH = Changed(
    title="Does it matter that an epoch's last batch is small, where the published runs' was whole or larger?",
    how="even",
    usual="small last",
    other="even",
    methods=asked.EVEN,
    so="with batches of about one size",
)
