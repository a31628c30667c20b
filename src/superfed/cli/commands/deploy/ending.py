"""Told to stop, by Ctrl-C or a plain kill, a command ends what it started before it ends itself."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

from superfed.cli.logs import complain


@contextmanager
def ending_all(again: str | None = None) -> Iterator[None]:
    """The block is left by an exception, so that whatever it opened is closed; ``again`` is how to go on."""

    def stop(number: int, frame: FrameType | None) -> None:
        for heard in before:  # once is enough: what is being ended must not be interrupted
            signal.signal(heard, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except KeyboardInterrupt:
        if again is not None:
            complain(f"stopped; go on with: {again}")
        raise typer.Exit(130) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
