"""What came of a newcomer, in a few lines."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from superfed.experiments.onboard import Onboarded


def show_and_save(done: "Onboarded", out: Path) -> None:
    train, validation, test = done.samples
    typer.echo(f"{done.title}; {train} samples to train on, {validation} to choose λ on, {test} to test on")
    at_once = "not possible: the method has no global model" if done.arriving is None else f"{done.arriving:.1%}"
    typer.echo(f"accuracy as it arrives: {at_once}")
    if done.epochs > 0:
        where = "" if done.lam is None else f", at λ = {done.lam:g}"
        typer.echo(f"accuracy after {done.epochs} epochs: {done.accuracy:.1%}{where}")
    done.save(out)
    typer.echo(f"model: {out}")
