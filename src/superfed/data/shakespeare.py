"""Shakespeare's plays by role: the next character, from LEAF's files, plain texts or the hub."""

import csv
import io
import os
import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar, Literal

from superfed.core.errors import UserError
from superfed.data.checks import one_of, whole
from superfed.data.files import FileDataset, Found, Tick, silent
from superfed.data.hub import FOLDER as HUB
from superfed.data.hub import hub_files, hub_rows
from superfed.data.leaf import SHARDS, BadSamples, listed, places, read_json, read_users, shard_folders, shards
from superfed.data.missing import missing_files, root_or_error
from superfed.data.text import TextWindows

ALPHABETS = {
    "leaf": "\n !\"&'(),-.0123456789:;>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz}",
    "printable": string.printable,
}
FOLDER = "leaf/shakespeare"
ROLES = "roles.json"
TEXTS = ("by_role", "data/raw_data/by_play_and_character")
REPO = "flwrlabs/shakespeare"
COLUMNS = ("character_id", "x", "y")
CSV = "shakespeare.csv"
ROWS = 1024
SOURCE = (
    "LEAF's Shakespeare (github.com/TalwalkarLab/leaf, data/shakespeare after its preprocess.sh: data/all_data, or "
    f"data/raw_data/by_play_and_character as by_role), or {CSV} of {REPO} on the Hugging Face hub"
)
Texts = Iterator[tuple[str, str]]
"""Roles, each with its text."""
Part = tuple[Path, Sequence[list[Any]]]
"""A file, and the COLUMNS of some of its rows."""


@dataclass(frozen=True)
class Shakespeare(FileDataset[TextWindows]):
    """The next character after each 80 of a role's text; the roles are the clients.

    ``alphabet`` is "leaf", LEAF's 80 characters, or "printable", the 100 of Python's ``string.printable`` that the
    published runs of SuPerFed used. Their 660 clients are the roles with at least 800 samples, that is
    ``partition: {name: natural, min_samples: 800}``.

    Text is read as LEAF reads it: line ends are spaces, and several spaces are one. Characters outside the alphabet are
    read as spaces too, and the note counts them. Files that hold windows and not text are turned back into text, so
    ``length`` need not be theirs.
    """

    alphabet: Literal["leaf", "printable"] = "leaf"
    """LEAF's 80 characters, or the 100 of Python's ``string.printable``."""
    length: int = 80
    """Of a window, in characters."""

    key: ClassVar[str] = "shakespeare"
    hub: ClassVar[str | None] = REPO

    def __post_init__(self) -> None:
        one_of("alphabet", self.alphabet, list(ALPHABETS))
        whole("length", self.length, least=2)

    def find(self, root: Path | None) -> Found:
        root = root_or_error(self.key, root, FOLDER, SOURCE)
        looked_for: list[Path] = []
        for place in places(root, self.key):
            for layout, folder, pattern in (
                ("roles", place, ROLES),
                *(("windows", folder, SHARDS) for folder in shard_folders(place)),
                *(("texts", place / folder, "*.txt") for folder in TEXTS),
            ):
                if files := shards(folder) if layout == "windows" else listed(folder, pattern):
                    return Found(layout, files)
                looked_for.append(folder / pattern)
        if files := hub_files(root, REPO):
            return Found("parquet", files)
        hub = root / HUB / REPO
        if files := listed(hub, CSV):
            return Found("csv", files)
        raise missing_files(self.key, looked_for, root / FOLDER, SOURCE, hub)

    def read(self, found: Found, tick: Tick = silent) -> TextWindows:
        texts = READERS[found.layout](found.files, tick)
        return TextWindows.from_texts(self.key, texts, ALPHABETS[self.alphabet], self.length)


def _roles(files: Sequence[Path], tick: Tick) -> Texts:
    (path,) = files
    roles = read_json(path)
    if not isinstance(roles, dict) or not roles:
        raise UserError(f"{path}: is not an object with a text for each role")
    for done, (role, content) in enumerate(roles.items(), start=1):
        text = content.get("text") if isinstance(content, dict) else None
        if not isinstance(text, str):
            raise UserError(f"{path}: role '{role}' has no text, which belongs under its name as \"text\"")
        yield role, as_leaf(text)
        tick(done, len(roles))


def _texts(files: Sequence[Path], tick: Tick) -> Texts:
    for done, path in enumerate(files, start=1):
        try:
            yield path.stem, as_leaf(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: is not UTF-8 text; save it as UTF-8") from error
        tick(done, len(files))


def _windows(files: Sequence[Path], tick: Tick) -> Texts:
    for user in read_users(files, _rebuilt, tick):
        yield user.name, user.samples or ""


def _rebuilt(x: list[Any], y: list[Any]) -> str:
    speech = _Speech()
    speech.add(x, y)
    return speech.text()


def _parquet(files: Sequence[Path], tick: Tick) -> Texts:
    return _assembled(_parquet_rows(files, tick))


def _csv(files: Sequence[Path], tick: Tick) -> Texts:
    (path,) = files
    return _assembled(_csv_rows(path, tick))


def _assembled(parts: Iterable[Part]) -> Texts:
    """The roles of a table, however its rows are spread over files and parts."""
    speeches: dict[str, _Speech] = {}
    for path, (roles, x, y) in parts:
        start = 0
        for role, run in groupby(roles):
            end = start + sum(1 for _ in run)
            if not isinstance(role, str):
                raise UserError(f"{path}: a row has the character_id {role!r}, which should be the name of a role")
            try:
                speeches.setdefault(role, _Speech()).add(x[start:end], y[start:end])
            except BadSamples as bad:
                raise UserError(f"{path}: role '{role}': {bad}") from bad
            start = end
    for role, speech in speeches.items():
        yield role, speech.text()


class _Speech:
    """A role's text, put together again from its windows, each a character further than the one before."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._window = ""
        self._count = 0

    def add(self, x: Sequence[Any], y: Sequence[Any]) -> None:
        """The next windows, and the characters after them."""
        for i, (window, after) in enumerate(zip(x, y, strict=True), start=self._count):
            if not isinstance(window, str):
                raise BadSamples(f"x[{i}] is not a string of text")
            if not isinstance(after, str) or len(after) != 1:
                raise BadSamples(f"y[{i}] is not one character")
        if not self._pieces:
            self._window = x[0]
            self._pieces.append(x[0])
        length = len(self._window)
        spoken = "".join(y)
        text = self._window + spoken
        for i, window in enumerate(x):
            if window != text[i : i + length]:
                raise BadSamples(
                    f"x[{self._count + i}] does not follow from the x and y before it, so the text cannot be put "
                    "together again; take the data from before any sampling, splitting or shuffling"
                )
        self._pieces.append(spoken)
        self._window = text[len(y) :]
        self._count += len(y)

    def text(self) -> str:
        return "".join(self._pieces)


def _parquet_rows(files: Sequence[Path], tick: Tick) -> Iterator[Part]:
    for before, path in enumerate(files):

        def in_this_file(done: int, total: int, before: int = before) -> None:
            tick(before * total + done, len(files) * total)

        for rows in hub_rows([path], COLUMNS, in_this_file):
            yield path, [rows[column] for column in COLUMNS]


def _csv_rows(path: Path, tick: Tick) -> Iterator[Part]:
    try:
        with open(path, "rb") as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            size = os.fstat(raw.fileno()).st_size
            reader = csv.reader(text, strict=True)
            heading = next(reader, [])
            missing = [column for column in COLUMNS if column not in heading]
            if missing:
                raise UserError(f"{path}: has no column '{missing[0]}', only {', '.join(heading) or 'nothing'}")
            wanted = itemgetter(*map(heading.index, COLUMNS))
            while rows := list(islice(reader, ROWS)):
                for row in rows:
                    if len(row) != len(heading):
                        raise UserError(
                            f"{path}: before line {reader.line_num + 1}, a row has {len(row)} columns, but the heading "
                            f"has {len(heading)}; fetch it again"
                        )
                yield path, [list(column) for column in zip(*map(wanted, rows), strict=True)]
                tick(raw.tell(), size)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is not UTF-8 text; fetch it again") from error
    except csv.Error as error:
        raise UserError(f"{path}: is not CSV or is cut short ({error}); fetch it again") from error


def as_leaf(text: str) -> str:
    """The text as LEAF reads it."""
    return re.sub("  +", " ", text.replace("\n", " "))


READERS: dict[str, Callable[[Sequence[Path], Tick], Texts]] = {
    "roles": _roles,
    "windows": _windows,
    "texts": _texts,
    "parquet": _parquet,
    "csv": _csv,
}
