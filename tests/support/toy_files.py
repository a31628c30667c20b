"""A dataset on disk that is quick to read, and counts how often it is."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from superfed.core.errors import UserError
from superfed.data.dataset import Dataset
from superfed.data.files import FileDataset, Found, Tick, silent
from superfed.data.pool import Owners

ROWS = 300


@dataclass(frozen=True)
class ToyFiles(FileDataset[Dataset]):
    """Each byte of the file ``toy`` is a sample of 3 × 2 such bytes and, modulo ``classes``, its label."""

    classes: int = 4
    seconds: float = 0.0
    """How long reading takes."""

    key: ClassVar[str] = "toy"
    layout: ClassVar[str] = "files"

    def find(self, root: Path | None) -> Found:
        if root is None or not (root / "toy").is_file():
            raise UserError(f"toy: looked for {root}/toy and found nothing")
        return Found(self.layout, (root / "toy",))

    def read(self, found: Found, tick: Tick = silent) -> Dataset:
        with found.files[0].with_name("reads").open("a") as log:
            log.write("read\n")
        time.sleep(self.seconds)
        content = np.frombuffer(found.files[0].read_bytes(), dtype=np.uint8)
        tick(len(content), len(content))
        return Dataset(
            self.key,
            torch.from_numpy(np.repeat(content, 6).reshape(-1, 3, 2)),
            torch.from_numpy((content % self.classes).astype(np.int64)),
            self.classes,
            scale=1 / 255,
            owners=Owners(["Ἀχιλλεύς", "b", "c"], np.arange(len(content), dtype=np.int32) % 3),
            class_names=[f"class {i}" for i in range(self.classes)],
            parts=(np.arange(len(content)) % 4).astype(np.int8),
        )


def write_toy(root: Path, seed: int = 0) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "toy").write_bytes(np.random.default_rng(seed).bytes(ROWS))
    return root


def reads(root: Path) -> int:
    """How often the dataset was read, by whatever process."""
    log = root / "reads"
    return len(log.read_text().splitlines()) if log.exists() else 0
