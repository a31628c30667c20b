"""The paper splits samples at random, and windows of a text overlap: what do tests on text that was trained on add?"""

from superfed.reproduce import asked
from superfed.reproduce.questions.changed import Changed

OVERLAP = Changed(
    title="What does it add that windows of a text that overlap are split at random?",
    how=asked.Sweep.MIXED,
    usual="apart",
    other="mixed",
    methods=asked.SPLIT,
    so="split at random",
)
