"""Metrics against plain loops over samples, and on examples done by hand."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from superfed.metrics.scores import BINS, METRICS, NUM_BINS, calibration_errors, score

Floats = NDArray[np.float64]
VALUES = st.floats(-30, 30, width=32)


def probabilities(row: Sequence[float]) -> list[float]:
    highest = max(row)
    powers = [math.exp(value - highest) for value in row]
    return [power / sum(powers) for power in powers]


def plain_bins(samples: Sequence[tuple[float, bool]]) -> list[list[tuple[float, bool]]]:
    return [[(c, right) for c, right in samples if b / 15 < c <= (b + 1) / 15] for b in range(15)]


def plain_calibration(samples: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """Expected and maximum calibration error of (confidence, was it right), bin by bin."""
    expected, worst = 0.0, 0.0
    for inside in plain_bins(samples):
        if inside:
            accuracy = sum(right for _, right in inside) / len(inside)
            confidence = sum(c for c, _ in inside) / len(inside)
            expected += len(inside) / len(samples) * abs(accuracy - confidence)
            worst = max(worst, abs(accuracy - confidence))
    return expected, worst


def plain_score(scores: Sequence[Sequence[float]], labels: Sequence[int], batch_size: int) -> dict[str, float]:
    """All the metrics of one model, one sample at a time."""
    loss, top1, top5 = 0.0, 0, 0
    answers: list[tuple[float, bool]] = []
    for row, label in zip(scores, labels, strict=True):
        ranked = sorted(range(len(row)), key=lambda c: (-row[c], c))
        p = probabilities(row)
        loss -= math.log(p[label]) if p[label] > 0 else -math.inf
        top1 += ranked[0] == label
        top5 += label in ranked[:5]
        answers.append((max(p), ranked[0] == label))
    ece, mce = plain_calibration(answers)
    batches = [plain_calibration(answers[i : i + batch_size]) for i in range(0, len(answers), batch_size)]
    count = len(labels)
    return {
        "loss": loss / count,
        "top1": top1 / count,
        "top5": top5 / count,
        "ece": ece,
        "mce": mce,
        "ece_batchwise": sum(e for e, _ in batches) / len(batches),
        "mce_batchwise": sum(m for _, m in batches) / len(batches),
    }


@st.composite
def answers(draw: st.DrawFn) -> tuple[NDArray[np.float32], NDArray[np.int64], int]:
    models, samples, classes = draw(st.integers(1, 3)), draw(st.integers(1, 12)), draw(st.integers(2, 8))
    scores = draw(arrays(np.float32, (models, samples, classes), elements=VALUES))
    labels = draw(arrays(np.int64, samples, elements=st.integers(0, classes - 1)))
    return scores, labels, draw(st.integers(1, 14))


@given(case=answers())
@settings(deadline=None)
def test_every_metric_is_that_of_a_plain_loop(case: tuple[NDArray[np.float32], NDArray[np.int64], int]) -> None:
    scores, labels, batch_size = case
    confidences = np.array([max(probabilities(row)) for row in scores.reshape(-1, scores.shape[2]).tolist()]) * 15
    at_a_boundary = np.abs(confidences - np.round(confidences)) < 1e-9
    assume(not (at_a_boundary & (confidences < 14.5)).any())  # there the last bit decides the bin
    found = score(scores, labels, batch_size)
    assert tuple(found) == (*METRICS, BINS)
    for index, one in enumerate(scores.tolist()):
        answers = [
            (max(probabilities(row)), max(range(len(row)), key=lambda c: (row[c], -c)) == label)
            for row, label in zip(one, labels.tolist(), strict=True)
        ]
        bins = [[len(held), sum(c for c, _ in held), sum(r for _, r in held)] for held in plain_bins(answers)]
        np.testing.assert_allclose(found[BINS][index], bins, atol=1e-9)
        expected = plain_score(one, labels.tolist(), batch_size)
        for name, value in expected.items():
            assert found[name][index] == pytest.approx(value, rel=1e-9, abs=1e-9), name


def test_completely_wrong_and_sure_of_it() -> None:
    scores = np.zeros((1, 4, 10))
    scores[:, :, 3] = 1000.0
    found = score(scores, np.array([0, 1, 2, 9]), 2)
    assert found["top1"].tolist() == [0.0]
    assert found["top5"].tolist() == [0.75]  # of equal scores the first classes come first: 3, 0, 1, 2, 4
    assert found["loss"].tolist() == [1000.0]
    for name in ("ece", "mce", "ece_batchwise", "mce_batchwise"):
        assert found[name].tolist() == [1.0]


def test_completely_right_and_sure_of_it() -> None:
    labels = np.array([3, 1, 2])
    scores = 1000.0 * np.eye(5)[None, labels]
    found = score(scores, labels, 2)
    assert {name: found[name].item() for name in METRICS} == dict.fromkeys(METRICS, 0.0) | {"top1": 1.0, "top5": 1.0}


def test_perfectly_calibrated() -> None:
    """Four samples at confidence 3/4, of which three are right."""
    scores = np.tile(np.log([0.75, 0.25]), (1, 4, 1))
    found = score(scores, np.array([0, 0, 0, 1]), 4)
    assert found["ece"].item() == pytest.approx(0, abs=1e-12)
    assert found["mce"].item() == pytest.approx(0, abs=1e-12)
    assert found["top1"].item() == 0.75
    assert found["loss"].item() == pytest.approx(-(3 * math.log(0.75) + math.log(0.25)) / 4)


def test_batches_inflate_the_calibration_errors() -> None:
    """The same four samples, one a batch: each is off by 1/4 or 3/4."""
    scores = np.tile(np.log([0.75, 0.25]), (1, 4, 1))
    found = score(scores, np.array([0, 0, 0, 1]), 1)
    assert found["ece"].item() == pytest.approx(0, abs=1e-12)
    assert found["ece_batchwise"].item() == pytest.approx((3 * 0.25 + 0.75) / 4)
    assert found["mce_batchwise"].item() == pytest.approx((3 * 0.25 + 0.75) / 4)


def test_a_short_last_batch_counts_as_much_as_the_others() -> None:
    scores = np.tile(np.log([0.75, 0.25]), (1, 3, 1))
    found = score(scores, np.array([0, 1, 1]), 2)
    first, last = abs(0.75 - 0.5), 0.75
    assert found["ece_batchwise"].item() == pytest.approx((first + last) / 2)


def test_the_expected_error_weighs_bins_and_the_maximum_does_not() -> None:
    confidence = np.array([[0.9, 0.9, 0.9, 0.5]])
    hit = np.array([[True, True, True, False]])
    ece, mce = calibration_errors(confidence, hit)
    assert ece.item() == pytest.approx((3 * 0.1 + 0.5) / 4)
    assert mce.item() == pytest.approx(0.5)


@pytest.mark.parametrize("b", range(NUM_BINS))
def test_a_bin_holds_its_upper_end_and_not_its_lower(b: int) -> None:
    """At the upper end of bin b, one right and one wrong: together if in one bin, and each alone if not."""
    end = (b + 1) / NUM_BINS
    inside = (b + 0.5) / NUM_BINS
    together = abs(end + inside - 1) / 2
    confidence, hit = np.array([[end, inside]]), np.array([[True, False]])
    assert calibration_errors(confidence, hit)[0].item() == pytest.approx(together)
    if b < NUM_BINS - 1:
        above = (b + 1.5) / NUM_BINS
        apart = (abs(1 - end) + above) / 2
        ece = calibration_errors(np.array([[end, above]]), hit)[0].item()
        assert ece == pytest.approx(apart)


def test_fifteen_bins() -> None:
    assert NUM_BINS == 15


@pytest.mark.parametrize("models", [1, 3])
def test_no_samples_no_value(models: int) -> None:
    found = score(np.zeros((models, 0, 10), dtype=np.float32), np.zeros(0, dtype=np.int64), 10)
    assert tuple(found) == (*METRICS, BINS)
    assert all(found[name].shape == (models,) and np.isnan(found[name]).all() for name in METRICS)
    assert found[BINS].tolist() == np.zeros((models, NUM_BINS, 3)).tolist()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_an_answer_that_is_no_number_is_wrong(bad: float) -> None:
    scores = np.zeros((1, 2, 3))
    scores[0, :, 1] = 5.0
    right = score(scores, np.array([1, 1]), 2)
    assert right["top1"].item() == right["top5"].item() == 1.0
    for place in range(3):
        spoilt = scores.copy()
        spoilt[0, 0, place] = bad
        found = score(spoilt, np.array([1, 1]), 2)
        assert found["top1"].item() == 0.5
        assert found["top5"].item() == 0.5
        assert found["loss"].item() == math.inf
        assert np.isfinite(found["ece"]).all()


def test_a_broken_model_does_not_touch_the_others() -> None:
    scores = np.random.default_rng(0).normal(size=(3, 6, 4))
    labels = np.array([0, 1, 2, 3, 0, 1])
    alone = score(scores[[0, 2]], labels, 4)
    scores[1] = math.nan
    together = score(scores, labels, 4)
    for name in METRICS:
        assert together[name][[0, 2]].tolist() == alone[name].tolist()
    assert together["top1"][1] == 0


def test_a_model_that_always_says_the_same_is_not_lucky() -> None:
    labels = np.arange(10)
    found = score(np.zeros((1, 10, 10)), labels, 10)
    assert found["top1"].item() == pytest.approx(0.1)
    assert found["top5"].item() == pytest.approx(0.5)
    assert found["loss"].item() == pytest.approx(math.log(10))


def test_scores_that_differ_by_little_still_differ() -> None:
    scores = np.array([[[0.0, 1e-20]]])
    assert score(scores, np.array([1]), 1)["top1"].item() == 1.0


@pytest.mark.parametrize("shift", [-1e4, 1e4])
def test_large_scores_do_not_overflow(shift: float) -> None:
    scores = np.random.default_rng(1).normal(size=(2, 5, 3))
    labels = np.array([0, 1, 2, 0, 1])
    near, far = score(scores, labels, 2), score(scores + shift, labels, 2)
    for name in METRICS:
        np.testing.assert_allclose(far[name], near[name], atol=1e-9)


def test_nothing_given_is_changed() -> None:
    scores = np.array([[[1.0, math.nan], [0.5, 2.0]]])
    labels: NDArray[Any] = np.array([0, 1])
    before = scores.copy(), labels.copy()
    score(scores, labels, 1)
    np.testing.assert_array_equal(scores, before[0])
    np.testing.assert_array_equal(labels, before[1])
