"""Text of many roles, cut into windows only when they are asked for."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from superfed.core.errors import UserError
from superfed.data.fingerprint import fingerprint
from superfed.data.pool import IntArray, Owners, Packed, Pool

UNKNOWN = " "
"""What characters outside the alphabet are read as: it is in every alphabet, and what LEAF itself makes of line ends."""
MOST_SHOWN = 5


class TextWindows(Pool):
    """The next character after each ``length`` characters of a role's text, for every role.

    All text lies in one array, a byte a character, which is its place in the ``alphabet``; role i's is
    ``tokens[starts[i]:starts[i + 1]]``. Sample j of a role is the window that begins at its character j, and the label
    is the character after the window, so a role has as many samples as it has characters beyond the first ``length``.

    As in LEAF, ``overlap`` is one less than the length: where so many samples are left out, the last one before the gap
    and the first one after it share a single character, the label of the one, with which the other's window begins.
    """

    def __init__(
        self,
        name: str,
        tokens: npt.NDArray[np.uint8],
        starts: IntArray,
        roles: Sequence[str],
        alphabet: str,
        length: int,
        known_digest: str | None = None,
        note: str | None = None,
    ) -> None:
        self.name = name
        self.tokens = tokens
        self.starts = starts
        self.alphabet = alphabet
        self.length = length
        self.known_digest = known_digest
        self.note = note
        self._check(roles)
        self.num_classes = len(alphabet)
        self.class_names = list(alphabet)
        self.overlap = length - 1
        counts = np.diff(starts) - length
        self.owners: Owners = Owners(roles, np.repeat(np.arange(len(roles), dtype=np.int32), counts))
        self._first_rows = np.cumsum(counts) - counts
        self._labels = np.concatenate([tokens[i + length : j] for i, j in pairwise(starts)])

    @classmethod
    def from_texts(cls, name: str, texts: Iterable[tuple[str, str]], alphabet: str, length: int) -> "TextWindows":
        """Windows over the text of each role, given in pairs.

        Roles too short for a window are left out, and the note counts them; it also tells which characters are not in
        the alphabet.
        """
        codes = _Codes(alphabet)
        tokens, starts, roles, short = bytearray(), [0], list[str](), 0
        for role, text in texts:
            if len(text) <= length:
                short += 1
                continue
            tokens += codes.of(text).data
            starts.append(len(tokens))
            roles.append(role)
        if not roles:
            raise UserError(
                f"{name}: none of {short} roles has more than {length} characters, so there is no window and next "
                "character; set a smaller length"
            )
        note = [f"{len(tokens) - length * len(roles):,} samples of {len(roles):,} roles"]
        note += (
            [f"roles of at most {length} characters, too short for a window and left out: {short:,}"] if short else []
        )
        note += codes.unknown()
        return cls(
            name,
            np.frombuffer(tokens, dtype=np.uint8),
            np.array(starts, dtype=np.int64),
            roles,
            alphabet,
            length,
            note="; ".join(note),
        )

    @property
    def labels(self) -> npt.NDArray[np.integer[Any]]:
        return self._labels

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.length,)

    def inputs(self, rows: IntArray) -> Tensor:
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(self):
            raise IndexError(f"{self.name}: rows are 0 to {len(self) - 1}")
        role = np.searchsorted(self._first_rows, rows, side="right") - 1
        windows = np.lib.stride_tricks.sliding_window_view(self.tokens, self.length)
        # Before a row's own window lie as many others, and in each role before it as many positions without one.
        return torch.from_numpy(windows[rows + role * self.length].astype(np.int64))

    def pack(self) -> Packed:
        facts = {
            "name": self.name,
            "roles": list(self.owners.names),
            "alphabet": self.alphabet,
            "length": self.length,
            "note": self.note,
        }
        return Packed({"tokens": self.tokens, "starts": self.starts}, facts)

    @classmethod
    def unpack(cls, packed: Packed, digest: str | None = None) -> "TextWindows":
        arrays, facts = packed
        return cls(
            facts["name"],
            arrays["tokens"],
            arrays["starts"],
            facts["roles"],
            facts["alphabet"],
            facts["length"],
            digest,
            facts["note"],
        )

    def digest(self) -> str:
        return self.known_digest or self._digest

    @cached_property
    def _digest(self) -> str:
        return fingerprint(self.tokens, self.starts, list(self.owners.names), self.alphabet, self.length)

    def _check(self, roles: Sequence[str]) -> None:
        if self.length < 2:
            raise UserError(f"{self.name}: windows need at least 2 characters, got {self.length}")
        if self.tokens.dtype != np.uint8 or self.tokens.ndim != 1:
            raise UserError(f"{self.name}: the text must be a flat uint8 array")
        if self.starts.dtype != np.int64 or self.starts.shape != (len(roles) + 1,):
            raise UserError(f"{self.name}: {len(roles)} roles need {len(roles) + 1} starts in a flat int64 array")
        if not len(roles) or self.starts[0] != 0 or self.starts[-1] != len(self.tokens):
            raise UserError(f"{self.name}: the starts must begin at 0 and end at the length of the text")
        if (np.diff(self.starts) <= self.length).any():
            raise UserError(f"{self.name}: every role must have more than {self.length} characters")
        if int(self.tokens.max()) >= len(self.alphabet):
            raise UserError(
                f"{self.name}: the text holds the character {self.tokens.max()}, but an alphabet of "
                f"{len(self.alphabet)} is 0 to {len(self.alphabet) - 1}"
            )


class _Codes:
    """Characters to their places in an alphabet; those that are not in it are counted."""

    def __init__(self, alphabet: str) -> None:
        if UNKNOWN not in alphabet or not len(set(alphabet)) == len(alphabet) <= 256:
            raise UserError("an alphabet is at most 256 characters, all different, and a space must be one of them")
        self._place = np.full(0x110000, alphabet.index(UNKNOWN), dtype=np.uint8)
        self._place[[ord(character) for character in alphabet]] = np.arange(len(alphabet))
        self._alphabet = frozenset(alphabet)
        self._strangers = Counter[str]()

    def of(self, text: str) -> npt.NDArray[np.uint8]:
        for stranger in set(text) - self._alphabet:
            self._strangers[stranger] += text.count(stranger)
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        places: npt.NDArray[np.uint8] = self._place[points]
        return places

    def unknown(self) -> list[str]:
        """How many characters were unknown, and which, the commonest first; nothing if none was."""
        if not self._strangers:
            return []
        ranked = sorted(self._strangers.items(), key=lambda item: (-item[1], item[0]))
        shown = [f"{_shown(character)} ×{count:,}" for character, count in ranked[:MOST_SHOWN]]
        shown += [f"{len(ranked) - MOST_SHOWN} others"] if len(ranked) > MOST_SHOWN else []
        return [f"unknown characters, read as spaces: {self._strangers.total():,} ({', '.join(shown)})"]


def _shown(character: str) -> str:
    return character if character.isprintable() else f"U+{ord(character):04X}"
