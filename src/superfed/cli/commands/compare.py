"""superfed compare"""

from pathlib import Path
from typing import Annotated

import typer

from superfed.cli.options import AsJson


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN…", help="Folders of runs, or of experiments with several.", show_default=False),
    ],
    as_json: AsJson = False,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE", help="Write the comparison as an HTML page too.", show_default=False),
    ] = None,
) -> None:
    """Lay runs side by side: one row per method and setting, seeds taken together.

    [bold]superfed compare runs/nu runs/mu --page comparison.html[/bold]
    """
    import json

    from rich.console import Console

    from superfed.report.comparison import as_json as plain
    from superfed.report.comparison import compare
    from superfed.report.page.build import write_page
    from superfed.report.terminal import comparison_table
    from superfed.store.layout import find_runs

    found = list({run.path.resolve(): run for path in runs for run in find_runs(path)}.values())
    comparison = compare(found)
    if as_json:
        typer.echo(json.dumps(plain(comparison), indent=1, ensure_ascii=False))
    else:
        Console().print(comparison_table(comparison))
    if page is not None:
        write_page(found, page)
        typer.echo(f"page: {page}", err=as_json)
