"""Anyone's own data, given from Python: one pair of arrays for each client."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from superfed.core.errors import UserError
from superfed.core.random import stream
from superfed.core.samples import Samples
from superfed.data.arrays import handed_out_as, to_tensor
from superfed.data.checks import client_in_range, seed_in_range
from superfed.data.fingerprint import fingerprint
from superfed.data.labels import Classes, Labels, agree, class_limit
from superfed.data.pairs import read_pair
from superfed.data.split import Rows, Sizes, Split

Pair = tuple[Any, Any]
"""Inputs and labels: arrays, tensors or lists."""


@dataclass(frozen=True, eq=False)
class ClientArrays:
    """A client that brings its own split. What is None is cut from ``train``."""

    train: Pair
    validation: Pair | None = None
    test: Pair | None = None


@dataclass(frozen=True, eq=False)
class _Part:
    """Samples as they were given, in the memory they were given in; ``where`` is how a sentence calls them."""

    where: str
    x: npt.NDArray[Any]
    labels: Labels

    @property
    def y(self) -> npt.NDArray[np.int64]:
        return self.labels.of

    def numbered(self, numbers: npt.NDArray[np.int64]) -> "_Part":
        return replace(self, labels=Labels(numbers))

    def samples(self, rows: npt.NDArray[np.int64] | None = None) -> Samples:
        if rows is None:
            return Samples(to_tensor(self.x), to_tensor(self.y))
        return Samples(to_tensor(self.x[rows]), torch.from_numpy(self.y[rows]))


@dataclass(frozen=True, eq=False)
class _Client:
    train: _Part
    validation: _Part | None
    test: _Part | None

    @property
    def parts(self) -> list[_Part]:
        return [part for part in (self.train, self.validation, self.test) if part is not None]

    def numbered(self, numbers: Iterator[npt.NDArray[np.int64]]) -> "_Client":
        """With the next of these numbers as the labels of each of its parts."""
        train = self.train.numbered(next(numbers))
        validation = None if self.validation is None else self.validation.numbered(next(numbers))
        return _Client(train, validation, None if self.test is None else self.test.numbered(next(numbers)))


class OwnData:
    """Clients built by :meth:`from_clients`. The arrays are kept, not copied: do not write to them afterwards.

    Inputs are handed out as they are if float32 or float64. Unsigned numbers such as uint8 pixels become float32 and
    are not scaled: divide by 255 yourself if you want [0, 1]. Signed whole numbers are text and become int64. Lists of
    plain numbers are float32, or text if all are whole.
    """

    def __init__(self, clients: list[_Client], classes: Classes, split: Split, seed: int) -> None:
        self.num_classes, self.class_names = classes
        self._clients = clients
        self._split = split
        self._seed = seed

    @classmethod
    def from_clients(
        cls,
        clients: Iterable[Pair | ClientArrays],
        *,
        num_classes: int | None = None,
        class_names: Sequence[str] | None = None,
        test_fraction: float = 0.2,
        validation_fraction: float = 0.1,
        seed: int = 0,
    ) -> "OwnData":
        """One pair or :class:`ClientArrays` a client; ``num_classes`` is by default one more than the largest label.

        Labels may be the names of classes instead; these are numbered in the order of ``class_names``, or sorted.
        """
        split = Split(test_fraction, validation_fraction)
        seed_in_range(seed)
        limit = class_limit(num_classes, class_names)
        if not isinstance(clients, Iterable):
            raise UserError(f"expected a list with an (x, y) pair for each client, got {_described(clients)}")
        read = [_read_client(client, f"client {i}", limit) for i, client in enumerate(clients)]
        if not read:
            raise UserError("there are no clients: give an (x, y) pair for at least one")
        _all_alike(read)
        numbers, classes = agree(
            [(part.where, part.labels) for client in read for part in client.parts], num_classes, class_names
        )
        if classes.names is not None:
            rest = iter(numbers)
            read = [client.numbered(rest) for client in read]
        return cls(read, classes, split, seed)

    @property
    def num_clients(self) -> int:
        return len(self._clients)

    @property
    def input_shape(self) -> tuple[int, ...]:
        return self._clients[0].train.x.shape[1:]

    @property
    def given_as(self) -> str:
        """The type of the inputs as they were given, such as uint8 for pixels."""
        return str(self._clients[0].train.x.dtype)

    @cached_property
    def fingerprint(self) -> str:
        contents = [
            (
                [client.validation is not None, client.test is not None],
                *(array for part in client.parts for array in (part.x, part.y)),
            )
            for client in self._clients
        ]
        settings: list[object] = [
            self.num_classes,
            self._split.test_fraction,
            self._split.validation_fraction,
            self._seed,
        ]
        settings += [] if self.class_names is None else [list(self.class_names)]
        return fingerprint("own", settings, *(value for client in contents for value in client))

    def labels(self, client: int) -> npt.NDArray[np.int64]:
        """The labels of everything the client brought."""
        return np.concatenate([part.y for part in self._client(client).parts])

    def sizes(self, client: int) -> Sizes:
        """How many samples train, validate and test."""
        own = self._client(client)
        cut = self._split.sizes(len(own.train.y), cut_test=own.test is None, cut_validation=own.validation is None)
        return Sizes(
            cut.train,
            cut.validation if own.validation is None else len(own.validation.y),
            cut.test if own.test is None else len(own.test.y),
        )

    def train_size(self, client: int) -> int:
        return self.sizes(client).train

    def train(self, client: int) -> Samples:
        own = self._client(client)
        if own.test is not None and own.validation is not None:
            return own.train.samples()
        return own.train.samples(self._rows(client).train)

    def validation(self, client: int) -> Samples:
        own = self._client(client)
        if own.validation is not None:
            return own.validation.samples()
        return own.train.samples(self._rows(client).validation)

    def test(self, client: int) -> Samples:
        own = self._client(client)
        return own.test.samples() if own.test is not None else own.train.samples(self._rows(client).test)

    def _client(self, client: int) -> _Client:
        client_in_range(client, self.num_clients)
        return self._clients[client]

    def _rows(self, client: int) -> Rows:
        own = self._clients[client]
        rng = stream(self._seed, "split", client=client)
        return self._split.rows(len(own.train.y), rng, cut_test=own.test is None, cut_validation=own.validation is None)


def _read_client(client: Pair | ClientArrays, who: str, num_classes: int | None) -> _Client:
    if isinstance(client, ClientArrays):
        return _Client(
            _read_part(client.train, f"{who}, training", num_classes),
            None if client.validation is None else _read_part(client.validation, f"{who}, validation", num_classes),
            None if client.test is None else _read_part(client.test, f"{who}, test", num_classes),
        )
    return _Client(_read_part(client, who, num_classes), None, None)


def _read_part(pair: object, where: str, num_classes: int | None) -> _Part:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise UserError(f"{where}: expected a pair (x, y) or ClientArrays, got {_described(pair)}")
    return _Part(where, *read_pair(pair[0], pair[1], where, num_classes))


def _all_alike(clients: list[_Client]) -> None:
    """One network serves all, so one shape and one type must."""
    first = clients[0].train.x
    for i, client in enumerate(clients):
        for part in client.parts:
            if part.x.shape[1:] != first.shape[1:]:
                raise UserError(
                    f"client {i}: its inputs have shape {part.x.shape[1:]}, but client 0's have {first.shape[1:]}"
                )
            kind, expected = handed_out_as(part.x.dtype), handed_out_as(first.dtype)
            if kind != expected:
                raise UserError(
                    f"client {i}: its inputs are {kind}, but client 0's are {expected}; use one type for all"
                )


def _described(value: object) -> str:
    length = f" of {len(value)}" if isinstance(value, (tuple, list)) else ""
    return f"a {type(value).__name__}{length}"
