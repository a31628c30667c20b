"""The loss on the straight ways from the global model, beside the surface."""

import numpy as np
import torch
from torch.nn import functional as F

from superfed.experiments.surface import STEPS, surface_of, three_of
from support.toys import METHODS, toy_task, train


def test_the_ways_are_those_between_the_models() -> None:
    (run,) = train([toy_task(METHODS["superfed"])])
    three, samples = three_of(run), run.task.data.train(3)
    surface = surface_of(run, three=three, points=3, samples_of=[3])
    for line, end in zip(surface.lines, three.models[1:], strict=True):
        models = [torch.lerp(three.models[0], end, step / STEPS) for step in range(STEPS + 1)]
        decay = run.task.schedule.weight_decay / 2
        expected = [
            float(F.cross_entropy(run.task.model.apply(w, samples.x), samples.y) + decay * w.square().sum())
            for w in models
        ]
        np.testing.assert_allclose(line, expected, atol=1e-10)
    assert [line[0] for line in surface.lines] == [surface.corners[0].loss] * 2
    assert [line[-1] for line in surface.lines] == [corner.loss for corner in surface.corners[1:]]
