"""The formulas that methods share, against NumPy."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.core.maths import cos_squared, sq_norm, weighted_mean

NUMBERS = st.floats(-1e3, 1e3)
SIZES = st.integers(1, 500)


@given(rows=st.integers(1, 6), columns=st.integers(1, 5), data=st.data())
@settings(deadline=None)
def test_the_weighted_mean_is_numpys_average(rows: int, columns: int, data: st.DataObject) -> None:
    vectors = np.array(data.draw(st.lists(NUMBERS, min_size=rows * columns, max_size=rows * columns)))
    vectors = vectors.reshape(rows, columns)
    weights = np.array(data.draw(st.lists(SIZES, min_size=rows, max_size=rows)))
    ours = weighted_mean(torch.from_numpy(vectors), torch.from_numpy(weights)).numpy()
    np.testing.assert_allclose(ours, np.average(vectors, axis=0, weights=weights), rtol=1e-12, atol=1e-9)


def test_the_weighted_mean_by_hand() -> None:
    vectors = torch.tensor([[0.0, 4.0], [4.0, 0.0]])
    assert weighted_mean(vectors, torch.tensor([3, 1])).tolist() == [1.0, 3.0]
    assert weighted_mean(vectors, torch.tensor([1.0, 1.0])).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_rows_of_any_shape_and_precision_stay_so(shape: tuple[int, ...]) -> None:
    for dtype in (torch.float32, torch.float64):
        mean = weighted_mean(torch.ones(4, *shape, dtype=dtype), torch.tensor([1, 2, 3, 10**9]))
        assert (mean.shape, mean.dtype) == (shape, dtype)
        torch.testing.assert_close(mean, torch.ones(shape, dtype=dtype))


@given(a=st.lists(NUMBERS, min_size=3, max_size=3), b=st.lists(NUMBERS, min_size=3, max_size=3))
@settings(deadline=None)
def test_cos_squared_is_the_formula(a: list[float], b: list[float]) -> None:
    x, y = np.array(a), np.array(b)
    norms = np.linalg.norm(x) * np.linalg.norm(y)
    value = cos_squared(torch.from_numpy(x), torch.from_numpy(y)).item()
    if norms > 1e-100:
        assert value == pytest.approx((x @ y / norms) ** 2, rel=1e-9, abs=1e-12)
    assert 0 <= value <= 1 + 1e-9


@pytest.mark.parametrize(
    ("b", "expected"), [([2.0, 0.0], 1.0), ([-3.0, 0.0], 1.0), ([0.0, 5.0], 0.0), ([1.0, 1.0], 0.5)]
)
def test_cos_squared_by_hand(b: list[float], expected: float) -> None:
    assert cos_squared(torch.tensor([1.0, 0.0]), torch.tensor(b)).item() == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("a", "b"), [([0.0, 0.0], [1.0, 2.0]), ([1.0, 2.0], [0.0, 0.0]), ([0.0, 0.0], [0.0, 0.0])])
def test_a_zero_vector_has_no_angle_and_no_pull(a: list[float], b: list[float], dtype: torch.dtype) -> None:
    x, y = (torch.tensor(values, dtype=dtype, requires_grad=True) for values in (a, b))
    value = cos_squared(x, y)
    assert value.item() == 0
    for gradient in torch.autograd.grad(value, (x, y)):
        assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("size", [1e-15, 1e-10, 1.0, 1e8])
def test_cos_squared_of_small_and_large_vectors_is_finite(size: float) -> None:
    x = torch.tensor([size, size], requires_grad=True)
    value = cos_squared(x, torch.tensor([1.0, 0.0]))
    (gradient,) = torch.autograd.grad(value, x)
    assert 0 <= value.item() <= 0.5 + 1e-6
    assert torch.isfinite(gradient).all()


def test_the_gradient_of_cos_squared_is_the_formulas() -> None:
    a, b = torch.tensor([1.0, 2.0, -1.0]).double(), torch.tensor([0.5, -1.0, 3.0]).double()
    inner, aa, bb = float(a @ b), float(a @ a), float(b @ b)
    x = a.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(cos_squared(x, b), x)
    expected = 2 * inner / (aa * bb) * b - 2 * inner**2 / (aa**2 * bb) * a
    torch.testing.assert_close(gradient, expected, rtol=1e-12, atol=1e-12)


def test_the_squared_norm() -> None:
    assert sq_norm(torch.tensor([3.0, 4.0])).item() == 25.0
