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
    """Serve a new client: train its personal model from a finished run, on its own data, and write it.

    [bold]superfed onboard runs/demo-20260101-120000/superfed-mm-seed0 --data client.npz[/bold]
    """
    from superfed.cli.onboarded import show_and_save
    from superfed.experiments.onboard import onboard

    show_and_save(onboard(run, data, epochs, data_root), out)
