"""Small made-up data in the shape of the paper's datasets, so that everything can be tried without a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import torch

from superfed.core.random import stream
from superfed.data.checks import one_of
from superfed.data.dataset import Dataset
from superfed.data.pool import Owners, Pool
from superfed.data.shakespeare import ALPHABETS
from superfed.data.text import TextWindows

Like = Literal["mnist", "cifar10", "cifar100", "tiny_imagenet", "femnist", "shakespeare"]

NAME = "stand_in"
SIDE = 8
SAMPLES = 320
CLASSES = {"cifar100": 20, "tiny_imagenet": 20}
GREY = ("mnist", "femnist")
PEOPLE = 8
LENGTH = 10
SPOKEN = "to sea in"


@dataclass(frozen=True)
class StandIn:
    """Images with a pattern for each class, or text in which a letter hints at the next; always the same."""

    like: Like
    """The dataset whose shape it has, made small."""

    def __post_init__(self) -> None:
        one_of("like", self.like, get_args(Like))

    def load(self, root: Path | None) -> Pool:
        return self._text() if self.like == "shakespeare" else self._images()

    def _images(self) -> Dataset:
        rng = stream(0, f"stand-in {self.like}")
        num_classes = CLASSES.get(self.like, 10)
        patterns = rng.random((num_classes, 1 if self.like in GREY else 3, SIDE, SIDE))
        y = rng.permutation(np.arange(SAMPLES) % num_classes)
        x = 255 * (patterns[y] + rng.random((SAMPLES, *patterns.shape[1:]))) / 2
        owners = Owners([f"writer{i}" for i in range(PEOPLE)], _owners(rng)) if self.like == "femnist" else None
        pixels, labels = torch.from_numpy(x.astype(np.uint8)), torch.from_numpy(y.astype(np.int64))
        return Dataset(f"{NAME} {self.like}", pixels, labels, num_classes, scale=1 / 255, owners=owners)

    def _text(self) -> TextWindows:
        rng = stream(0, f"stand-in {self.like}")
        roles = np.bincount(_owners(rng), minlength=PEOPLE)
        texts = [(f"role{i}", _speech(rng, LENGTH + 2 * size)) for i, size in enumerate(roles.tolist())]
        return TextWindows.from_texts(f"{NAME} {self.like}", texts, ALPHABETS["leaf"], LENGTH)


def _owners(rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Whose each sample is; some have several times as many as others."""
    shares = np.arange(1, PEOPLE + 1) + PEOPLE / 2
    return rng.choice(PEOPLE, SAMPLES, p=shares / shares.sum())


def _speech(rng: np.random.Generator, length: int) -> str:
    """The same letters round and round, one now and then left out."""
    places = np.cumsum(rng.choice([1, 2], length, p=[0.8, 0.2])) % len(SPOKEN)
    return "".join(SPOKEN[place] for place in places)
