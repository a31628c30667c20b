"""The five readings of "the best λ", where they differ, and how ties fall."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from superfed.metrics.readings import READINGS, Curves, choose, picked

Floats = NDArray[np.float64]
HALVES = (0.0, 0.5, 1.0)
ELEVEN = tuple(i / 10 for i in range(11))


def curves(
    validation: list[list[float]],
    test: list[list[float]],
    loss: list[list[float]] | None = None,
    lambdas: tuple[float, ...] = HALVES,
) -> Curves:
    top1 = np.array(validation)
    return Curves(lambdas, top1, np.zeros_like(top1) if loss is None else np.array(loss), np.array(test))


def test_three_clients_for_whom_all_five_readings_differ() -> None:
    case = curves(
        validation=[[0.9, 0.1, 0.2], [0.5, 0.6, 0.1], [0.7, 0.1, 0.8]],
        test=[[0.3, 0.5, 0.6], [0.1, 0.6, 0.5], [0.6, 0.1, 0.5]],
    )
    choice = choose(case)
    assert tuple(choice) == READINGS
    assert {name: indices.tolist() for name, indices in choice.items()} == {
        "validated": [0, 1, 2],
        "validated_shared": [0, 0, 0],
        "best_shared": [2, 2, 2],
        "oracle": [2, 1, 0],
        "fixed": [1, 1, 1],
    }
    means = {name: picked(case.test_top1, indices).mean() for name, indices in choice.items()}
    assert means == pytest.approx(
        {
            "validated": 1.4 / 3,
            "validated_shared": 1.0 / 3,
            "best_shared": 1.6 / 3,
            "oracle": 1.8 / 3,
            "fixed": 1.2 / 3,
        }
    )


def test_of_equal_accuracies_the_lowest_loss_is_validated() -> None:
    case = curves(validation=[[0.5, 0.9, 0.9]], loss=[[0.0, 0.4, 0.3]], test=[[0.0, 0.0, 0.0]])
    choice = choose(case)
    assert choice["validated"].tolist() == [2]
    assert choice["validated_shared"].tolist() == [2]


def test_of_equal_losses_too_the_smallest_lambda_is() -> None:
    case = curves(validation=[[0.5, 0.9, 0.9]], loss=[[0.0, 0.3, 0.3]], test=[[0.2, 0.7, 0.7]])
    choice = choose(case)
    assert {name: indices.item() for name, indices in choice.items()} == dict.fromkeys(READINGS, 1)
    all_equal = choose(curves(validation=[[0.5] * 3], loss=[[0.1] * 3], test=[[0.5] * 3]))
    assert {name: indices.item() for name, indices in all_equal.items()} == dict.fromkeys(READINGS, 0) | {"fixed": 1}


def test_the_test_loss_has_no_say() -> None:
    """The readings on test data know accuracies only, so validation losses must not break their ties."""
    case = curves(validation=[[0.5, 0.5, 0.5]], loss=[[0.9, 0.5, 0.1]], test=[[0.4, 0.4, 0.4]])
    choice = choose(case)
    assert choice["validated"].tolist() == [2]
    assert choice["best_shared"].tolist() == choice["oracle"].tolist() == [0]


def test_an_infinite_loss_does_not_outweigh_the_accuracy() -> None:
    case = curves(validation=[[0.1, 0.2, 0.8]], loss=[[math.inf] * 3], test=[[0.1, 0.2, 0.8]])
    choice = choose(case)
    assert choice["validated"].tolist() == choice["validated_shared"].tolist() == [2]


def test_without_validation_data_a_client_takes_the_middle() -> None:
    missing = [math.nan] * 3
    case = curves(
        validation=[[0.1, 0.2, 0.9], missing],
        loss=[[0.0] * 3, missing],
        test=[[0.1, 0.2, 0.3], [0.9, 0.2, 0.1]],
    )
    choice = choose(case)
    assert choice["validated"].tolist() == [2, 1]
    assert choice["validated_shared"].tolist() == [2, 2]


def test_without_any_validation_data_everybody_takes_the_middle() -> None:
    missing = [[math.nan] * 3] * 2
    choice = choose(curves(validation=missing, loss=missing, test=[[0.1, 0.2, 0.3], [0.9, 0.2, 0.1]]))
    assert choice["validated"].tolist() == choice["validated_shared"].tolist() == [1, 1]
    assert choice["best_shared"].tolist() == [0, 0]
    assert choice["oracle"].tolist() == [2, 0]


def test_a_client_without_test_data_has_no_say_and_no_value() -> None:
    case = curves(
        validation=[[0.1, 0.9, 0.1], [0.1, 0.9, 0.1]],
        test=[[0.1, 0.2, 0.3], [math.nan] * 3],
    )
    choice = choose(case)
    assert choice["best_shared"].tolist() == [2, 2]
    for indices in choice.values():
        assert np.isnan(picked(case.test_top1, indices)).tolist() == [False, True]


def test_nobody_has_test_data() -> None:
    choice = choose(curves(validation=[[0.1, 0.2, 0.9]], test=[[math.nan] * 3]))
    assert choice["best_shared"].tolist() == choice["fixed"].tolist() == [1]


@pytest.mark.parametrize("lam", [math.nan, 0.3, 1.0])
def test_one_lambda_leaves_no_choice(lam: float) -> None:
    choice = choose(curves(validation=[[0.5], [math.nan]], test=[[0.5], [0.1]], lambdas=(lam,)))
    assert all(indices.tolist() == [0, 0] for indices in choice.values())


@pytest.mark.parametrize(("lambdas", "middle"), [(ELEVEN, 5), (HALVES, 1), ((0.0, 1.0), 0), ((0.0, 0.3, 0.6, 1.0), 2)])
def test_the_fixed_lambda_is_the_one_nearest_to_a_half(lambdas: tuple[float, ...], middle: int) -> None:
    row = [[0.5] * len(lambdas)]
    assert choose(curves(validation=row, test=row, lambdas=lambdas))["fixed"].tolist() == [middle]


def test_picked_takes_each_clients_own() -> None:
    assert picked(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0])).tolist() == [2.0, 3.0]


ACCURACIES = st.sampled_from([i / 20 for i in range(21)])


@st.composite
def random_curves(draw: st.DrawFn) -> Curves:
    shape = draw(st.integers(1, 6)), 11
    validation, test = (draw(arrays(np.float64, shape, elements=ACCURACIES)) for _ in range(2))
    loss = draw(arrays(np.float64, shape, elements=st.floats(0, 5)))
    missing = draw(arrays(np.bool_, shape[0]))
    validation[missing], loss[missing] = math.nan, math.nan
    return Curves(ELEVEN, validation, loss, test)


@given(case=random_curves())
@settings(deadline=None)
def test_who_knows_more_does_no_worse(case: Curves) -> None:
    means = {name: picked(case.test_top1, indices).mean() for name, indices in choose(case).items()}
    for name in READINGS:
        assert means["oracle"] >= means[name] - 1e-12
    for shared in ("fixed", "validated_shared"):
        assert means["best_shared"] >= means[shared] - 1e-12


@given(case=random_curves())
@settings(deadline=None)
def test_the_order_of_clients_changes_nothing(case: Curves) -> None:
    backwards = Curves(case.lambdas, case.validation_top1[::-1], case.validation_loss[::-1], case.test_top1[::-1])
    forwards, reverse = choose(case), choose(backwards)
    for name in ("validated", "oracle", "fixed"):
        assert forwards[name].tolist() == reverse[name][::-1].tolist()
