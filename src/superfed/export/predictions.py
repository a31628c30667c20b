"""What a model says of samples, and how good that is where their labels are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from superfed.core.errors import UserError
from superfed.data.labels import numbers_of
from superfed.export.card import Card
from superfed.export.opened import ExportedModel, Floats, softmax
from superfed.export.samples.given import Given
from superfed.metrics.scores import score
from superfed.store.files import write_json, write_text
from superfed.store.tables import write_table

ENDINGS = (".json", ".csv", ".parquet")


@dataclass(frozen=True)
class Predictions:
    """A row per sample; ``metrics`` is None where there are no labels."""

    card: Card
    samples: Sequence[str]
    probabilities: Floats
    labels: npt.NDArray[np.int64] | None
    metrics: dict[str, float] | None

    @property
    def classes(self) -> npt.NDArray[np.int64]:
        classes: npt.NDArray[np.int64] = self.probabilities.argmax(axis=1)
        return classes

    def rows(self) -> list[dict[str, Any]]:
        """For each sample what it is called, its class, that class's name and probability, and its label if it is known."""
        rows = []
        for place, (sample, number) in enumerate(zip(self.samples, self.classes.tolist(), strict=True)):
            row = {
                "sample": sample,
                "class": number,
                "name": self.card.class_name(number),
                "probability": float(self.probabilities[place, number]),
            }
            rows.append(row if self.labels is None else row | {"label": int(self.labels[place])})
        return rows

    def as_plain(self) -> dict[str, Any]:
        """Everything, for programs."""
        every = zip(self.rows(), self.probabilities.tolist(), strict=True)
        return {
            "model": self.card.called,
            "class_names": None if self.card.class_names is None else list(self.card.class_names),
            "samples": [row | {"probabilities": probabilities} for row, probabilities in every],
            "metrics": self.metrics,
        }

    def write(self, path: Path) -> None:
        """As JSON with all probabilities, or as a table, by the ending."""
        check_ending(path)
        if path.suffix == ".json":
            write_json(path, self.as_plain())
            return
        rows = self.rows()
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        if path.suffix == ".parquet":
            write_table(path, columns)
            return
        write_text(path, _csv(columns))


def predictions(model: ExportedModel, given: Given) -> Predictions:
    card = model.card
    labels = None
    if given.labels is not None:
        labels = numbers_of(given.labels, given.where, card.num_classes, card.class_names)
    scores = model.scores(given.x, given.where)
    metrics = None
    if labels is not None:
        found = score(scores[None], labels, len(labels))
        metrics = {name: float(found[metric][0]) for name, metric in _METRICS.items()}
    return Predictions(card, given.names, softmax(scores), labels, metrics)


_METRICS = {"accuracy": "top1", "loss": "loss", "ece": "ece"}


def check_ending(path: Path) -> None:
    if path.suffix not in ENDINGS:
        raise UserError(f"{path}: predictions are written to a file that ends in {', '.join(ENDINGS)}")


def _csv(columns: dict[str, list[Any]]) -> str:
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
