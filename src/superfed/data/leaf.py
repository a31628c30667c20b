"""LEAF's JSON files: shards of users, each with the samples that are theirs."""

import fnmatch
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from superfed.core.errors import UserError
from superfed.data.files import Tick, silent

T = TypeVar("T")
Compact = Callable[[list[Any], list[Any]], T]
"""Makes something small of a user's x and y, which are equally long and not empty, or raises ``BadSamples``."""
SHARDS = "all_data*.json"


class BadSamples(Exception):
    """What is wrong with a user's samples; who the user is will be said by who knows it."""


class User(NamedTuple, Generic[T]):
    path: Path
    name: str
    samples: T | None
    """None if the user has none."""


def places(root: Path, name: str) -> tuple[Path, Path]:
    """The folders that LEAF's dataset ``name`` may be in."""
    return root / "leaf" / name, root / name


def shard_folders(place: Path) -> tuple[Path, Path]:
    """Where in its folder the shards may be: simply there, or where LEAF's own scripts leave them."""
    return place, place / "data" / "all_data"


def shards(folder: Path) -> tuple[Path, ...]:
    """The shards in a folder, the tenth after the ninth."""

    def number(path: Path) -> list[int]:
        return [int(digits) for digits in re.findall(r"\d+", path.name)]

    return tuple(sorted(listed(folder, SHARDS), key=number))


def listed(folder: Path, pattern: str) -> tuple[Path, ...]:
    """What is in a folder under names of this pattern, in the order of the names; nothing if there is no folder."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise UserError(f"{folder}: cannot be read: {error.strerror}") from error
    return tuple(folder / name for name in sorted(fnmatch.filter(names, pattern)))


def read_users(files: Sequence[Path], compact: Compact[T], tick: Tick = silent) -> Iterator[User[T]]:
    """Everybody in the shards, in their order; one shard is in memory at a time, and in it one user's samples."""
    seen: dict[str, Path] = {}
    for done, path in enumerate(files, start=1):
        for user in _read_shard(path, compact):
            if user.name in seen:
                raise UserError(f"{path}: has the user '{user.name}', whom {seen[user.name]} has too; remove one file")
            seen[user.name] = path
            yield user
        tick(done, len(files))


def read_json(path: Path, finished: Callable[[dict[str, Any]], object] = lambda found: found) -> Any:
    """What a JSON file says, or a sentence that names it.

    ``finished`` may replace each object by something smaller as soon as its end is read.
    """

    def pairs_read(pairs: list[tuple[str, Any]]) -> object:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in found if names.count(name) > 1)
            raise UserError(f"{path}: has '{twice}' twice in one object; remove one of them")
        "".join(found).encode()  # JSON can write halves of characters, which no file can
        return finished(found)

    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text, object_pairs_hook=pairs_read)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        where = f"{error.msg}, character {error.pos} of {len(error.doc)}"
        raise UserError(f"{path}: is not JSON or is cut short ({where}); fetch it again") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is not UTF-8 text, as JSON is; fetch it again") from error
    except RecursionError as error:
        raise UserError(
            f"{path}: is not JSON that can be read (too many lists within lists); fetch it again"
        ) from error
    except ValueError as error:
        raise UserError(f"{path}: is not JSON that can be read ({error}); fetch it again") from error


@dataclass(frozen=True)
class _Held(Generic[T]):
    count: int
    samples: T | None = None
    problem: str | None = None


def _read_shard(path: Path, compact: Compact[T]) -> Iterator[User[T]]:
    shard = read_json(path, lambda found: _hold(found, compact))
    if not isinstance(shard, dict):
        raise UserError(f"{path}: is not an object with users, num_samples and user_data, as LEAF's files are")
    for key, kind, called in (("users", list, "list"), ("num_samples", list, "list"), ("user_data", dict, "object")):
        if key not in shard:
            raise UserError(f"{path}: has no {key}, which LEAF's files have; fetch it again")
        if not isinstance(shard[key], kind):
            raise UserError(f"{path}: its {key} is not a JSON {called}")
    names, counts, data = shard["users"], shard["num_samples"], shard["user_data"]
    if not names and not data:
        raise UserError(f"{path}: holds no users; remove it or fetch it again")
    _check_names(path, names, data)
    if len(counts) != len(names):
        raise UserError(f"{path}: has num_samples for {len(counts)} users, but there are {len(names)}")
    for name, count in zip(names, counts, strict=True):
        held = data[name]
        if not isinstance(held, _Held):
            raise UserError(f"{path}: user '{name}': the data are not an object with the lists x and y")
        if held.problem is not None:
            raise UserError(f"{path}: user '{name}': {held.problem}")
        if type(count) is not int or count != held.count:
            raise UserError(
                f"{path}: user '{name}': num_samples says {_shown(count)}, but the data hold {held.count} samples"
            )
        yield User(path, name, held.samples)


def _check_names(path: Path, names: list[Any], data: dict[str, Any]) -> None:
    if not all(isinstance(name, str) for name in names):
        odd = next(name for name in names if not isinstance(name, str))
        raise UserError(f"{path}: users are named by strings, but one is {_shown(odd)}")
    listed = set(names)
    if len(listed) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"{path}: lists the user '{twice}' twice; remove one of them")
    for name in names:
        if name not in data:
            raise UserError(f"{path}: lists the user '{name}', but user_data has nothing of theirs; fetch it again")
    for name in data:
        if name not in listed:
            raise UserError(f"{path}: user_data has samples of '{name}', whom users does not list; fetch it again")


def _hold(found: dict[str, Any], compact: Compact[T]) -> object:
    """A user's samples, made small; any other object stays what it is."""
    x, y = found.get("x"), found.get("y")
    if not isinstance(x, list) or not isinstance(y, list):
        return found
    if len(x) != len(y):
        return _Held[T](len(y), problem=f"has {len(x)} inputs (x), but {len(y)} labels (y)")
    if not x:
        return _Held[T](0)
    try:
        return _Held(len(y), compact(x, y))
    except BadSamples as bad:
        return _Held[T](len(y), problem=str(bad))


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else f"{text[:37]}..."
