"""The paper says that the rate falls by 1 % a round, and the published runs had a tenth of that: does it matter?"""

from superfed.reproduce import asked
from superfed.reproduce.questions.changed import Changed

DECAY = Changed(
    title="Does it matter that the rate falls by 1 % a round in the paper's text and by 0.1 % in its runs?",
    how=asked.Sweep.STEEP,
    usual="0.1 %",
    other="1 %",
    methods=asked.STEEPER,
    so="with 1 %",
)
