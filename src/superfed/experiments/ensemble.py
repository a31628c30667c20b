"""Several models that answer as one."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn


class Ensemble(nn.Module):
    """The mean of the probabilities that its models give, as logarithms.

    Logarithms, because everything that takes a network's scores takes them as well: ``argmax`` is the ensemble's choice,
    ``softmax`` gives the mean probabilities back, and the cross-entropy of them is the ensemble's loss.
    """

    def __init__(self, models: Sequence[nn.Module]) -> None:
        super().__init__()
        self.models = nn.ModuleList(models)
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        each = torch.stack([torch.log_softmax(model(x), dim=1) for model in self.models])
        return torch.logsumexp(each, dim=0) - math.log(len(self.models))
