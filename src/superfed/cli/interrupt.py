"""Stopping politely: Ctrl-C and a plain kill end a run at once and say how to go on."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import typer


@contextmanager
def stoppable(out: Path) -> Iterator[None]:
    """Whatever stops the block, what was checkpointed is there; say how to go on from it."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        if (out / "experiment.json").exists():
            typer.echo(f"\nsuperfed: stopped; go on with: superfed resume {out}", err=True)
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)
