"""superfed report"""

from pathlib import Path
from typing import Annotated

import typer


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN…", help="Folders of runs, or of experiments with several.", show_default=False),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page to write.", dir_okay=True)] = Path(
        "report.html"
    ),
) -> None:
    """Write one HTML page about runs: it holds everything it shows, and opens offline, from disk or by mail.

    [bold]superfed report runs/demo -o demo.html[/bold]
    """
    from superfed.core.errors import UserError
    from superfed.report.page.build import write_page
    from superfed.store.layout import find_runs

    if out.is_dir():
        raise UserError(f"--out: {out} is a folder; name a file")
    write_page([run for path in runs for run in find_runs(path)], out)
    typer.echo(f"page: {out} ({out.stat().st_size / 1e6:.1f} MB)")
