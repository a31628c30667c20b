"""Networks that answer nothing are told from all that answer something."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from superfed.metrics.silence import silent


def told(logits: torch.Tensor, labels: torch.Tensor) -> bool:
    """Of one client's samples, in single precision as networks compute them."""
    confidence = logits.softmax(1).amax(1).double().mean()
    loss = torch.nn.functional.cross_entropy(logits, labels).double()
    top1 = (logits.argmax(1) == labels).double().mean()
    return bool(silent(*(np.array([float(value)]) for value in (confidence, loss, top1)))[0])


@pytest.mark.parametrize("classes", [2, 10, 100])
def test_the_same_for_all_classes_is_no_answer(classes: int) -> None:
    labels = torch.arange(200) % classes
    assert told(torch.zeros(200, classes), labels)
    assert told(torch.full((200, classes), 3.7), labels)


@given(st.integers(0, 2**16), st.sampled_from([0.05, 1.0, 30.0]))
def test_anything_else_is_one(seed: int, scale: float) -> None:
    random = torch.Generator().manual_seed(seed)
    logits = scale * torch.randn(30, 10, generator=random)
    assert not told(logits, torch.randint(10, (30,), generator=random))


def test_a_constant_guess_is_an_answer() -> None:
    logits = torch.zeros(40, 10)
    logits[:, 3] = 0.2
    assert not told(logits, torch.arange(40) % 10)


def test_one_that_is_always_right_is_not_silent_however_sure() -> None:
    labels = torch.arange(40) % 10
    for sure in (0.5, 5.0, 100.0):
        assert not told(sure * torch.nn.functional.one_hot(labels, 10).float(), labels)


def test_clients_without_samples_or_with_endless_losses_are_not() -> None:
    nan = float("nan")
    confidence, loss, top1 = np.array([nan, 1.0, 0.1]), np.array([nan, np.inf, np.log(10)]), np.array([nan, 0.0, 0.1])
    assert silent(confidence, loss, top1).tolist() == [False, False, True]
