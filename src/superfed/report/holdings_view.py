"""What is to be shown of who holds what, and how it is put into words and bins; screen and page draw from it alike."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from superfed.report.numbers import listed

IntArray = npt.NDArray[np.int64]

ALL_DRAWN = 60
SOME_DRAWN = 40
PARTS = ("training", "validation", "test")
LEFT_OUT = "left out between them"


class Held(Protocol):
    """What some clients hold; row i is about ``clients[i]``."""

    @property
    def clients(self) -> IntArray: ...

    @property
    def counts(self) -> IntArray:
        """[clients, classes]"""

    @property
    def parts(self) -> IntArray:
        """[clients, 3]: training, validation, test"""

    @property
    def names(self) -> Sequence[str] | None: ...


@dataclass(frozen=True, eq=False)
class View:
    """One way of dealing data to clients."""

    title: str
    details: str
    num_clients: int
    class_names: Sequence[str] | None
    counted: Held
    """All clients or, of very many, a sample."""
    shown: Held
    """Those to be drawn one by one."""
    summary: Mapping[str, float]

    @property
    def num_classes(self) -> int:
        return int(self.counted.counts.shape[1])

    @property
    def who(self) -> str:
        """Whom the numbers are about."""
        if len(self.counted.clients) == self.num_clients:
            return _many(self.num_clients, "client")
        return f"{len(self.counted.clients):,} of {self.num_clients:,} clients, drawn at random,"

    def some(self, rows: IntArray) -> str:
        """Who these rows of those shown are; they are all, the first few or evenly spaced."""
        if len(rows) == self.num_clients:
            return "All clients"
        of_all = f"{len(rows):,} of {_many(self.num_clients, 'client')}"
        return f"The first {of_all}" if self.shown.clients[rows[-1]] == len(rows) - 1 else f"{of_all}, evenly spaced"

    def client_name(self, row: int) -> str:
        """A name, or else a number, of one of those shown."""
        names = self.shown.names
        return str(self.shown.clients[row]) if names is None else _visible(names[row])

    def class_name(self, label: int) -> str:
        return str(label) if self.class_names is None else _visible(self.class_names[label])


def in_words(view: View) -> dict[str, str]:
    """The summary, each number with what it means."""
    found = view.summary
    words = {
        "samples": f"{view.who} {'hold' if len(view.counted.clients) > 1 else 'holds'} "
        f"{_many(found['samples'], 'sample')} of {_many(found['classes_held'], 'class')}",
        "sizes": _range(found["size_min"], found["size_max"], "sample", f"median {found['size_median']:,.10g}"),
        "classes": _range(
            found["classes_per_client_min"],
            found["classes_per_client_max"],
            "class",
            f"{found['classes_per_client_mean']:.3g} on average",
        ),
        "parts": listed([f"{int(found[key]):,} {part}" for key, part in zip(_KEYS, PARTS, strict=True)]) + " samples",
        "label skew": f"{found['label_skew']:.2f} ({found['label_skew_by_chance']:.2f} by chance alone): the share of a "
        "client's samples that would have to change class, on average, for its mix of classes to be that of all together; "
        "0 is all alike, 1 nothing in common",
    }
    nobody = view.num_classes - int(found["classes_held"])
    if nobody:
        words["samples"] += f"; {_many(nobody, 'class')} of {view.num_classes:,} {_are(nobody)} held by nobody"
    left_out = int(found["samples"] - sum(found[key] for key in _KEYS))
    if left_out:
        words["parts"] += f"; {left_out:,} {_are(left_out)} {LEFT_OUT}"
    return words


@dataclass(frozen=True)
class Bin:
    """How many clients have a number from ``low`` to ``high``, both of which count."""

    low: int
    high: int
    clients: int

    @property
    def label(self) -> str:
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}–{self.high:,}"


def binned(values: IntArray, most: int) -> list[Bin]:
    """At most so many bins with round edges: equally wide, or, where a few values dwarf the rest, ever wider."""
    low, high = int(values.min()), int(values.max())
    if high > max(100, 20 * np.median(values)):
        inner = [edge for edge in round_numbers(high) if low < edge <= high]
        edges = [low, *inner[:: math.ceil(len(inner) / (most - 1))], high + 1]
    else:
        step = next(step for step in round_numbers(high + 1) if high // step - low // step < most)
        edges = list(range(low // step * step, (high // step + 1) * step + 1, step))
    counts = np.histogram(values, bins=np.array(edges))[0].tolist()
    return [Bin(first, after - 1, n) for first, after, n in zip(edges[:-1], edges[1:], counts, strict=True)]


def shortened(name: str, most: int) -> str:
    """Names often begin alike, so the middle goes."""
    if len(name) <= most:
        return name
    end = most // 2
    return f"{name[: most - end - 1]}…{name[len(name) - end :]}"


def evenly(rows: int, most: int) -> IntArray:
    """At most so many of ``rows`` rows, evenly spaced, the first and the last among them."""
    return np.linspace(0, rows - 1, min(rows, most)).round().astype(np.int64)


def drawn_of(rows: int) -> IntArray:
    """Those of ``rows`` rows that a picture shows one by one: all of a few, and of many some."""
    return evenly(rows, rows if rows <= ALL_DRAWN else SOME_DRAWN)


def grouped(counts: IntArray, most: int) -> tuple[IntArray, list[tuple[int, int]]]:
    """Neighbouring classes taken together until there are at most so many columns; first and last class of each."""
    num_classes = counts.shape[1]
    width = math.ceil(num_classes / most)
    firsts = np.arange(0, num_classes, width)
    spans = [(int(first), min(int(first) + width, num_classes) - 1) for first in firsts]
    return np.add.reduceat(counts, firsts, axis=1), spans


_KEYS = ("train", "validation", "test")


def round_numbers(enough: int) -> list[int]:
    """1, 2, 5, 10, 20, … until one is ``enough``."""
    found = [1]
    while found[-1] < enough:
        found.append(found[-1] * 5 // 2 if str(found[-1])[0] == "2" else found[-1] * 2)
    return found


def _visible(name: str) -> str:
    """A name that can be read: classes may be characters, such as a space or the end of a line."""
    if not name.isprintable():
        return repr(name)[1:-1]
    return name if name.strip() else repr(name)


def _many(number: float, word: str) -> str:
    plural = "es" if word.endswith("s") else "s"
    return f"{int(number):,} {word}{'' if number == 1 else plural}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _range(low: float, high: float, word: str, middle: str) -> str:
    if low == high:
        return f"every client has {_many(low, word)}"
    return f"{int(low):,} to {_many(high, word)} a client, {middle}"
