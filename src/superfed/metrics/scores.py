"""How good a model is on one client's samples: loss, top-1, top-5, and calibration errors.

ECE and MCE use 15 equal-width confidence bins over all the samples. ``batchwise`` averages them over mini-batches
instead, which inflates them; it is there only to compare with figures that were published that way.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

NUM_BINS = 15
METRICS = ("loss", "top1", "top5", "ece", "mce", "ece_batchwise", "mce_batchwise")

Floats = NDArray[np.float64]


def score(
    scores: NDArray[np.floating], labels: NDArray[np.integer], batch_size: int, *, brief: bool = False
) -> Mapping[str, Floats]:
    """Metrics for class scores ``[models, samples, classes]``, one value per model; NaN where there are no samples.

    ``brief`` leaves it at loss and top-1, which are most quickly had.
    """
    num_models, num_samples, _ = scores.shape
    if num_samples == 0:
        return {name: np.full(num_models, np.nan) for name in METRICS}
    usable = np.isfinite(scores).all(axis=2)  # a model that answers NaN is wrong, not lucky
    finite: Floats = np.where(usable[:, :, None], scores, 0).astype(np.float64)
    log_p = _log_softmax(finite)
    true = log_p[:, np.arange(num_samples), labels]
    place = _place(finite, labels)
    hit = (place < 1) & usable
    loss = np.where(usable, -true, np.inf).mean(axis=1)
    if brief:
        return {"loss": loss, "top1": hit.mean(axis=1)}
    confidence = np.exp(log_p.max(axis=2))
    among_five = (place < 5) & usable
    ece, mce = calibration_errors(confidence, hit)
    batches = [slice(i, i + batch_size) for i in range(0, num_samples, batch_size)]
    by_batch = np.array([calibration_errors(confidence[:, b], hit[:, b]) for b in batches]).mean(axis=0)
    return {
        "loss": loss,
        "top1": hit.mean(axis=1),
        "top5": among_five.mean(axis=1),
        "ece": ece,
        "mce": mce,
        "ece_batchwise": by_batch[0],
        "mce_batchwise": by_batch[1],
    }


def calibration_errors(confidence: Floats, hit: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Expected and maximum calibration error, for ``[models, samples]``.

    Bin b holds confidences in (b/15, (b+1)/15]; empty bins count in neither.
    """
    num_models, num_samples = confidence.shape
    bins = np.clip(np.ceil(confidence * NUM_BINS).astype(np.int64) - 1, 0, NUM_BINS - 1)
    flat = (bins + NUM_BINS * np.arange(num_models)[:, None]).ravel()
    surplus = np.bincount(flat, (confidence - hit).ravel(), NUM_BINS * num_models).reshape(num_models, NUM_BINS)
    count = np.bincount(flat, minlength=NUM_BINS * num_models).reshape(num_models, NUM_BINS)
    ece = np.abs(surplus).sum(axis=1) / num_samples
    mce = (np.abs(surplus) / np.maximum(count, 1)).max(axis=1)
    return ece, mce


def _place(scores: Floats, labels: NDArray[np.integer]) -> NDArray[np.int64]:
    """How many classes come before the true one; of equal scores the first class does, so that no tie is luck."""
    true = scores[:, np.arange(len(labels)), labels][:, :, None]
    earlier = np.arange(scores.shape[2]) < labels[:, None]
    place: NDArray[np.int64] = ((scores > true) | ((scores == true) & earlier)).sum(axis=2)
    return place


def _log_softmax(scores: Floats) -> Floats:
    shifted = scores - scores.max(axis=2, keepdims=True)
    normalised: Floats = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    return normalised
