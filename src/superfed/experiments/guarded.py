"""An executor whose own failures can be told from those of whoever asked it."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from superfed.engine.evaluate import ClientScores
from superfed.engine.executors import Executor
from superfed.engine.lanes import Lane
from superfed.engine.local import Update

Result = TypeVar("Result")


class Broken(Exception):
    """The executor raised ``error`` while it computed lanes; whose lane it was is not known."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Guarded:
    """Passes everything on to an executor, and what it raises as ``Broken``."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.device = executor.device

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]:
        return _guarded(lambda: self._executor.update(lanes))

    def evaluate(
        self, lanes: Sequence[Lane], lambdas: Sequence[float], epochs: int, brief: bool = False
    ) -> Iterator[tuple[int, ClientScores]]:
        return _guarded(lambda: self._executor.evaluate(lanes, lambdas, epochs, brief))

    def notes(self) -> dict[str, float]:
        return self._executor.notes()

    def close(self) -> None:
        self._executor.close()


def _guarded(compute: Callable[[], Iterator[Result]]) -> Iterator[Result]:
    try:
        yield from compute()
    except Exception as error:
        raise Broken(error) from error
