"""The digits that come with scikit-learn: real images, no download."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from superfed.core.errors import UserError
from superfed.data.dataset import Dataset


@dataclass(frozen=True)
class Digits:
    """1,797 handwritten digits of 8 by 8 pixels. They lie inside scikit-learn, so no data root is needed."""

    def load(self, root: Path | None) -> Dataset:
        try:
            from sklearn.datasets import load_digits
        except ImportError as error:
            raise UserError('digits: comes with scikit-learn; run pip install "superfed[digits]"') from error
        digits = load_digits()
        x = torch.from_numpy(digits.images.astype(np.uint8)[:, None])
        y = torch.from_numpy(digits.target.astype(np.int64))
        return Dataset("digits", x, y, num_classes=10, scale=1 / 16)
