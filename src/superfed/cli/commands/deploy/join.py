"""superfed deploy join"""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.commands.deploy.needs import needs_flower
from superfed.cli.commands.deploy.options import SiteFolderArgument


def command(
    folder: SiteFolderArgument,
    data: Annotated[
        Path,
        typer.Option("--data", metavar="FILE", help="Your samples: an .npz with arrays x and y.", show_default=False),
    ],
    epochs: Annotated[
        int, typer.Option("--epochs", min=0, help="Local epochs of the method's own rule; 0 takes the global model.")
    ] = 5,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where your model goes.")] = Path(
        "newcomer.safetensors"
    ),
    wait: Annotated[
        float, typer.Option("--wait", min=1, metavar="SECONDS", help="How long to wait for the model.")
    ] = 600.0,
) -> None:
    """Join after the training: fetch the global model, and evaluate and personalise it on your own samples.

    Nothing but a word of thanks goes back. At the server somebody says: superfed deploy serve RUN.

    [bold]superfed deploy join dora --data samples.npz --out mine.safetensors[/bold]
    """
    needs_flower()
    from superfed.cli.commands.deploy.ending import ending_all
    from superfed.cli.onboarded import show_and_save
    from superfed.core.errors import UserError
    from superfed.deploy.flower.programs.site_process import SiteOptions, join
    from superfed.deploy.flower.programs.supernode import open_site

    here = open_site(folder)
    if not data.is_file():
        raise UserError(f"{data}: there is no such file")
    with ending_all(), tempfile.TemporaryDirectory(prefix="superfed-join-") as state:
        done = join(SiteOptions(here, Path(state), data), epochs, wait)
    show_and_save(done, out)
