"""A step pays for what it trains, and for nothing else."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from superfed.algorithms import FedRep
from superfed.core.algorithm import Context, functional_gradients
from superfed.core.batch import Batch
from superfed.core.sgd import SGD
from superfed.core.vector import VectorModel
from superfed.models.two_cnn import TwoCNN

SHAPE = (3, 32, 32)
BATCH = Batch(torch.randn(4, *SHAPE), torch.arange(4))


def flops_of_step(model: VectorModel, phase: str) -> int:
    sgd = SGD(torch.tensor(0.1), torch.tensor(0.9), torch.tensor(0.0))
    method, ctx, w = FedRep(), Context(model, sgd, functional_gradients, phase, {}, {}), model.fresh(0)
    sent = {"w": w[model.body]}
    work = method.begin({"head": w[model.head]}, sent, ctx)
    with FlopCounterMode(display=False) as count:
        method.step(work, sent, BATCH, ctx)
    return int(count.get_total_flops())


def test_training_a_head_costs_little_more_than_a_forward_pass() -> None:
    model = VectorModel(lambda: TwoCNN().build(SHAPE, 10))
    with FlopCounterMode(display=False) as count:
        model.apply(model.fresh(0), BATCH.x)
    forward = int(count.get_total_flops())
    assert forward < flops_of_step(model, "head") < 1.2 * forward
    assert flops_of_step(model, "body") > 2 * forward
