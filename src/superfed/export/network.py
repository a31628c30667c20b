"""A model from a file, ready to answer: inputs as it takes them in, a score for each class out."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from superfed.core.errors import UserError

Network = Callable[[Tensor], Tensor]


def of_module(module: nn.Module) -> Network:
    def answer(x: Tensor) -> Tensor:
        with torch.no_grad():
            scores: Tensor = module(x)
        return scores

    return answer


def no_code(path: Path, why: str) -> UserError:
    """For files that would have code run."""
    return UserError(
        f"{path}: {why}; if the file comes from you or from someone you trust, give --trust (in Python, trust=True)"
    )
