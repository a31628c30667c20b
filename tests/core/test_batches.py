"""Orders, batches, and the loss of a batch that may be padded."""

from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from superfed.core.batch import Batch, LastBatch, batch_sizes, batch_table, epoch_orders, mean_cross_entropy
from superfed.core.random import stream


@given(num_samples=st.integers(1, 60), epochs=st.integers(1, 5), seed=st.integers(0, 1000))
@settings(deadline=None)
def test_every_epoch_is_a_permutation(num_samples: int, epochs: int, seed: int) -> None:
    orders = epoch_orders(num_samples, epochs, stream(seed, "batches"))
    assert orders.shape == (epochs, num_samples)
    assert orders.dtype == np.int64
    assert (np.sort(orders, axis=1) == np.arange(num_samples)).all()


def test_every_epoch_has_an_order_of_its_own() -> None:
    orders = epoch_orders(50, 4, stream(0, "batches"))
    assert len({tuple(order) for order in [*orders.tolist(), list(range(50))]}) == 5


@pytest.mark.parametrize(
    ("num_samples", "batch_size", "expected"),
    [
        (1, 1, [[0]]),
        (1, 3, [[0, -1, -1]]),
        (2, 3, [[0, 1, -1]]),
        (3, 3, [[0, 1, 2]]),
        (4, 3, [[0, 1, 2], [3, -1, -1]]),
        (6, 3, [[0, 1, 2], [3, 4, 5]]),
        (8, 3, [[0, 1, 2], [3, 4, 5], [6, 7, -1]]),
    ],
)
def test_a_short_last_batch_is_filled_with_minus_one(
    num_samples: int, batch_size: int, expected: list[list[int]]
) -> None:
    table = batch_table(np.arange(num_samples)[None], batch_size)
    assert table.tolist() == expected
    assert len(expected) == len(batch_sizes(num_samples, batch_size))


@pytest.mark.parametrize(
    ("last", "sizes"), [("keep", [3, 3, 1]), ("drop", [3, 3]), ("even", [3, 2, 2])], ids=["keep", "drop", "even"]
)
def test_samples_left_over_are_kept_dropped_or_spread(last: LastBatch, sizes: list[int]) -> None:
    orders = np.array([[6, 5, 4, 3, 2, 1, 0], [0, 1, 2, 3, 4, 5, 6]])
    table = batch_table(orders, 3, last)
    assert (table >= 0).sum(axis=1).tolist() == sizes * 2
    used = sum(sizes)
    assert table[table >= 0].tolist() == [*orders[0, :used], *orders[1, :used]]  # in their order, none twice


@given(num_samples=st.integers(0, 200), batch_size=st.integers(1, 45))
@settings(deadline=None)
def test_batches_hold_what_they_should(num_samples: int, batch_size: int) -> None:
    kept, dropped, even = (batch_sizes(num_samples, batch_size, last).tolist() for last in get_args(LastBatch))
    assert sum(kept) == sum(even) == num_samples
    assert len(kept) == len(even)
    assert max(even, default=0) - min(even, default=0) <= 1
    assert max(even, default=0) <= batch_size
    if num_samples >= batch_size:
        assert dropped == [batch_size] * (num_samples // batch_size)
    else:
        assert dropped == kept  # the only batch there is


def test_epochs_follow_each_other_and_no_batch_spans_two() -> None:
    orders = np.array([[2, 0, 1], [1, 2, 0]])
    assert batch_table(orders, 2).tolist() == [[2, 0], [1, -1], [1, 2], [0, -1]]


@given(num_samples=st.integers(1, 40), batch_size=st.integers(1, 45), epochs=st.integers(1, 3))
@settings(deadline=None)
def test_no_sample_is_left_out(num_samples: int, batch_size: int, epochs: int) -> None:
    orders = epoch_orders(num_samples, epochs, stream(0, "batches"))
    table = batch_table(orders, batch_size)
    assert table.shape == (epochs * len(batch_sizes(num_samples, batch_size)), batch_size)
    assert table[table >= 0].tolist() == orders.ravel().tolist()


@given(real=st.integers(1, 12), padding=st.integers(0, 8), classes=st.integers(2, 6), seed=st.integers(0, 2**31))
@settings(deadline=None)
def test_padding_does_not_change_the_loss_or_its_gradient(real: int, padding: int, classes: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(real + padding, classes, dtype=torch.float64, generator=generator) * 5
    labels = torch.randint(classes, (real + padding,), generator=generator)
    weight = torch.tensor([1.0] * real + [0.0] * padding, dtype=torch.float64)
    order = torch.randperm(real + padding, generator=generator)
    padded, plain = scores[order].requires_grad_(), scores[:real].clone().requires_grad_()
    x = torch.empty(0)
    loss = mean_cross_entropy(padded, Batch(x, labels[order], weight[order]))
    expected = mean_cross_entropy(plain, Batch(x, labels[:real]))
    torch.testing.assert_close(loss, expected, rtol=1e-12, atol=1e-12)
    gradient, wanted = (torch.autograd.grad(value, at)[0] for value, at in ((loss, padded), (expected, plain)))
    unshuffled = torch.empty_like(gradient)
    unshuffled[order] = gradient
    torch.testing.assert_close(unshuffled[:real], wanted, rtol=1e-12, atol=1e-12)
    assert unshuffled[real:].abs().sum() == 0


def test_the_loss_without_weights_is_torchs_own() -> None:
    scores, labels = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([0, 0])
    assert torch.equal(mean_cross_entropy(scores, Batch(scores, labels)), F.cross_entropy(scores, labels))


def test_a_batch_of_nothing_but_padding_has_no_loss() -> None:
    scores = torch.tensor([[1.0, 2.0]], requires_grad=True)
    loss = mean_cross_entropy(scores, Batch(scores, torch.tensor([0]), torch.zeros(1)))
    assert loss.item() == 0
    assert torch.autograd.grad(loss, scores)[0].tolist() == [[0.0, 0.0]]
