"""The task of a run, around whatever is known of the data here."""

import torch

from superfed.core.samples import FederatedData
from superfed.core.vector import VectorModel
from superfed.engine.task import Task
from superfed.experiments.assemble import named
from superfed.experiments.schema import RunConfig


def task_around(data: FederatedData, config: RunConfig) -> Task:
    """As the simulator's, but no sample is looked at, since the server has none and a site only its own; and whatever is
    done to uploads, a site has done before they come here."""
    recipe, engine = config.model, config.engine
    with named("model"):
        builder = recipe.builder(data.input_shape, data.num_classes)
        dtype = torch.float64 if engine.dtype == "float64" else torch.float32
        model = VectorModel(builder, head=recipe.head, dtype=dtype)
    with named("training"):
        task = Task(
            config.algorithm,
            model,
            data,
            config.training,
            config.seed,
            precision=engine.precision,
            aggregation=config.aggregation,
        )
    with named("algorithm"):
        config.algorithm.check(config.training.rounds)
    return task
