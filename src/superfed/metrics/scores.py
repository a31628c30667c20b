"""How good a model is on one client's samples: loss, top-1, top-5, and calibration errors.

ECE and MCE use 15 equal-width confidence bins over all the samples. ``batchwise`` averages them over mini-batches
instead, which inflates them; it is there only to compare with figures that were published that way. The bins themselves
are kept under ``BINS``, for reliability diagrams.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

NUM_BINS = 15
METRICS = ("loss", "top1", "top5", "ece", "mce", "ece_batchwise", "mce_batchwise")
HIGHER_IS_BETTER = ("top1", "top5")
BINS = "bins"
"""Beside the metrics, [models, 15, 3]: each bin's samples, their confidences added up, and how many were right."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """What models say of samples, all ``[models, samples]``."""

    log_true: Floats
    """The logarithm of the true class's probability."""
    place: NDArray[np.int64]
    """How many classes come before the true one."""
    confidence: Floats
    """The probability of the class that comes first."""
    usable: NDArray[np.bool_]
    """Whether all scores are finite."""

    @classmethod
    def none(cls, num_models: int) -> Self:
        """Of no samples."""
        numbers, yes = np.zeros((num_models, 0)), np.zeros((num_models, 0), bool)
        return cls(numbers, numbers.astype(np.int64), numbers, yes)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Of the parts' samples, one part's after another's."""
        return cls._concatenated(parts, axis=1)

    @classmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        """Of the parts' models, one part's after another's."""
        return cls._concatenated(parts, axis=0)

    @classmethod
    def _concatenated(cls, parts: Sequence[Self], axis: int) -> Self:
        return cls(*(np.concatenate([getattr(part, f.name) for part in parts], axis) for f in fields(cls)))

    def part(self, models: slice, samples: slice) -> Self:
        return type(self)(*(getattr(self, f.name)[models, samples] for f in fields(self)))


def score(
    scores: NDArray[np.floating], labels: NDArray[np.integer], batch_size: int, *, brief: bool = False
) -> Mapping[str, Floats]:
    """Metrics for class scores ``[models, samples, classes]``, as ``metrics_of`` has them."""
    return metrics_of(answers_of(scores, labels), batch_size, brief=brief)


def answers_of(scores: NDArray[np.floating], labels: NDArray[np.integer]) -> Answers:
    usable = np.isfinite(scores).all(axis=2)
    finite: Floats = np.where(usable[:, :, None], scores, 0).astype(np.float64)
    log_p = _log_softmax(finite)
    log_true = log_p[:, np.arange(len(labels)), labels]
    return Answers(log_true, _place(finite, labels), np.exp(log_p.max(axis=2)), usable)


def metrics_of(answers: Answers, batch_size: int, *, brief: bool = False) -> Mapping[str, Floats]:
    """Metrics, one value per model; NaN where there are no samples. Bins too.

    ``brief`` leaves it at loss and top-1, which are most quickly had.
    """
    usable, confidence = answers.usable, answers.confidence  # a model that answers NaN is wrong, not lucky
    num_models, num_samples = usable.shape
    if num_samples == 0:
        return {name: np.full(num_models, np.nan) for name in METRICS} | {BINS: np.zeros((num_models, NUM_BINS, 3))}
    hit = (answers.place < 1) & usable
    basic = {"loss": np.where(usable, -answers.log_true, np.inf).mean(axis=1), "top1": hit.mean(axis=1)}
    if brief:
        return basic
    ece, mce = calibration_errors(confidence, hit)
    by_batch = _calibration_errors(confidence, hit, batch_size)
    return basic | {
        "top5": ((answers.place < 5) & usable).mean(axis=1),
        "ece": ece,
        "mce": mce,
        "ece_batchwise": by_batch[0].mean(axis=1),
        "mce_batchwise": by_batch[1].mean(axis=1),
        BINS: reliability_bins(confidence, hit),
    }


def calibration_errors(confidence: Floats, hit: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Expected and maximum calibration error, for ``[models, samples]``.

    Bin b holds confidences in (b/15, (b+1)/15]; empty bins count in neither.
    """
    ece, mce = _calibration_errors(confidence, hit, confidence.shape[1])
    return ece[:, 0], mce[:, 0]


def _calibration_errors(confidence: Floats, hit: NDArray[np.bool_], batch_size: int) -> tuple[Floats, Floats]:
    """Of each mini-batch, ``[models, batches]``."""
    count, surplus = _binned(confidence, None, confidence - hit, batch_size=batch_size)
    ece = np.abs(surplus).sum(axis=2) / count.sum(axis=2)
    mce = (np.abs(surplus) / np.maximum(count, 1)).max(axis=2)
    return ece, mce


def reliability_bins(confidence: Floats, hit: NDArray[np.bool_]) -> Floats:
    """What a reliability diagram shows, for ``[models, samples]``: as ``BINS`` says."""
    return np.stack(_binned(confidence, None, confidence, hit), axis=3)[:, 0]


def _binned(confidence: Floats, *weights: NDArray[Any] | None, batch_size: int | None = None) -> list[Floats]:
    """Each of ``weights`` added up by bin of confidence, ``[models, batches, 15]``; None counts the samples.

    Without a ``batch_size`` all samples are one batch.
    """
    num_models, num_samples = confidence.shape
    batch = np.arange(num_samples) // (batch_size or num_samples)
    shape = (num_models, int(batch[-1]) + 1, NUM_BINS)
    bins = np.clip(np.ceil(confidence * NUM_BINS).astype(np.int64) - 1, 0, NUM_BINS - 1)
    flat = (bins + NUM_BINS * (batch + shape[1] * np.arange(num_models)[:, None])).ravel()
    sums = (np.bincount(flat, None if w is None else w.ravel(), prod(shape)) for w in weights)
    return [one.reshape(shape).astype(np.float64) for one in sums]


def _place(scores: Floats, labels: NDArray[np.integer]) -> NDArray[np.int64]:
    """Of equal scores the first class comes before, so that no tie is luck."""
    true = scores[:, np.arange(len(labels)), labels][:, :, None]
    earlier = np.arange(scores.shape[2]) < labels[:, None]
    place: NDArray[np.int64] = ((scores > true) | ((scores == true) & earlier)).sum(axis=2)
    return place


def _log_softmax(scores: Floats) -> Floats:
    shifted = scores - scores.max(axis=2, keepdims=True)
    normalised: Floats = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    return normalised
