"""superfed onboard"""

from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.options import DataRoot, RunPath


def command(
    run: RunPath,
    data: Annotated[
        Path,
        typer.Option(
            "--data", metavar="FILE", help="The client's samples: an .npz with arrays x and y.", show_default=False
        ),
    ],
    epochs: Annotated[
        int, typer.Option("--epochs", min=0, help="Local epochs of the method's own rule; 0 takes the global model.")
    ] = 5,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where the client's model goes.")] = Path(
        "newcomer.safetensors"
    ),
    data_root: DataRoot = None,
) -> None:
    """Serve a new client: train its personal model from a finished run, on its own data, and write it."""
    from superfed.experiments.onboard import onboard

    done = onboard(run, data, epochs, data_root)
    train, validation, test = done.samples
    typer.echo(f"{done.title}; {train} samples to train on, {validation} to choose λ on, {test} to test on")
    at_once = "not possible: the method has no global model" if done.arriving is None else f"{done.arriving:.1%}"
    typer.echo(f"accuracy as it arrives: {at_once}")
    if epochs > 0:
        where = "" if done.lam is None else f", at λ = {done.lam:g}"
        typer.echo(f"accuracy after {epochs} epochs: {done.accuracy:.1%}{where}")
    done.save(out)
    typer.echo(f"model: {out}")
