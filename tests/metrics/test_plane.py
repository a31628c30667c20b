"""The plane through three models: distances on it are distances between models."""

import numpy as np
import pytest
import torch

from superfed.core.errors import UserError
from superfed.metrics.plane import Plane, Window


def three(size: int = 40, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    return [torch.randn(size, generator=rng, dtype=torch.float64).to(dtype) for _ in range(3)]


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
def test_the_three_models_lie_at_their_corners(dtype: torch.dtype, tolerance: float) -> None:
    models = three(dtype=dtype)
    plane = Plane.through(*models)
    for w, (x, y) in zip(models, plane.corners.tolist(), strict=True):
        found = plane.at(x, y)
        assert found.dtype == dtype
        torch.testing.assert_close(found, w, rtol=0, atol=tolerance)
        assert plane.coordinates(w) == pytest.approx((x, y), abs=1e-9)
    assert torch.equal(plane.at(0.0, 0.0), models[0])


def test_distances_are_kept() -> None:
    models = three()
    plane = Plane.through(*models)
    for i in range(3):
        for j in range(3):
            apart = float((models[i] - models[j]).norm())
            assert np.linalg.norm(plane.corners[i] - plane.corners[j]) == pytest.approx(apart)
    assert float((plane.u * plane.v).sum()) == pytest.approx(0, abs=1e-14)
    assert float(plane.u.norm()) == pytest.approx(1)
    assert float(plane.v.norm()) == pytest.approx(1)


def test_a_model_off_the_plane_has_the_coordinates_of_the_nearest_point() -> None:
    plane, w = Plane.through(*three()), torch.randn(40, generator=torch.Generator().manual_seed(5)).double()
    x, y = plane.coordinates(w)
    nearest = float((plane.at(x, y) - w).norm())
    for dx, dy in ((0.1, 0), (-0.1, 0), (0, 0.1), (0, -0.1)):
        assert float((plane.at(x + dx, y + dy) - w).norm()) > nearest


def test_squared_norms() -> None:
    plane = Plane.through(*three())
    grid = plane.window().grid(4)
    expected = [[float(plane.at(x, y).square().sum()) for x in grid.xs] for y in grid.ys]
    np.testing.assert_allclose(plane.sq_norms(grid), expected)


def test_the_basis_is_orthogonal_though_the_models_are_nearly_on_a_line() -> None:
    a, b, c = three(2000)
    plane = Plane.through(a, b, a + 3 * (b - a) + 1e-5 * c)
    assert abs(float((plane.u * plane.v).sum())) < 1e-14


@pytest.mark.parametrize("share", [0.0, 1.0, 0.3, -2.0, 1e9])
def test_three_on_a_line_are_refused(share: float) -> None:
    a, b, _ = three()
    with pytest.raises(UserError, match="lie on one line, so there is no plane through them; choose other clients"):
        Plane.through(a, b, a + share * (b - a))


def test_two_that_are_the_same_are_refused() -> None:
    a, b, _ = three()
    with pytest.raises(UserError, match="on one line"):
        Plane.through(a, a.clone(), b)


def test_what_is_not_finite_is_refused() -> None:
    a, b, c = three()
    with pytest.raises(UserError, match="not all finite"):
        Plane.through(a, b, c * torch.inf)


def test_the_window_holds_the_models_and_a_margin() -> None:
    plane = Plane.through(*three())
    window = plane.window(0.5)
    x, y = plane.corners.T
    room = 0.5 * max(np.ptp(x), np.ptp(y))
    assert window.left == pytest.approx(x.min() - room)
    assert window.top == pytest.approx(y.max() + room)
    grid = window.grid(21)
    assert max(grid.shape) == 21
    assert np.diff(grid.xs).mean() == pytest.approx(np.diff(grid.ys).mean(), rel=0.06)


def test_a_window_for_several_planes() -> None:
    joined = Window(-1, 2, 0, 1).joined(Window(0, 1, -3, 0.5))
    assert joined == Window(-1, 2, -3, 1)


def test_a_grid_of_one_point_is_refused() -> None:
    with pytest.raises(UserError, match="2 points or more"):
        Window(0, 1, 0, 1).grid(1)
