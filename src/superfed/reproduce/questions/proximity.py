"""The formula has the distance to the global model squared, and the published runs had it plain: does that fit a high rate?"""

from superfed.reproduce.asked import Sweep
from superfed.reproduce.methods import MIXINGS
from superfed.reproduce.questions.changed import Changed

PROXIMITY = Changed(
    title="Does the proximity term, squared as in the paper, fit a rate of 0.8?",
    how=Sweep.UNHELD,
    usual="μ = 0.01",
    other="μ = 0",
    methods=tuple(MIXINGS),
    so="without it",
)
