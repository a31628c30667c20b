"""What ``metrics.scores.answers_of`` finds, found on the device where the class scores lie."""

import torch
from torch import Tensor

from superfed.metrics.scores import Answers


def answers_on_device(scores: Tensor, labels: Tensor) -> Answers:
    """For class scores ``[models, samples, classes]`` and each model's ``labels [models, samples]``."""
    return Answers(*(found.cpu().numpy() for found in answer_tensors(scores, labels)))


def answer_tensors(scores: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
    """What ``Answers`` holds, in its order."""
    usable = scores.isfinite().all(dim=2)
    finite = torch.where(usable[:, :, None], scores, 0).double()
    log_p = finite.log_softmax(dim=2)
    true_class = labels[:, :, None]
    true = finite.gather(2, true_class)
    earlier = torch.arange(scores.shape[2], device=scores.device) < true_class
    place = ((finite > true) | ((finite == true) & earlier)).sum(dim=2)
    log_true, confidence = log_p.gather(2, true_class)[:, :, 0], log_p.amax(dim=2).exp()
    return log_true, place, confidence, usable
