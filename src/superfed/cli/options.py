"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from superfed.experiments.shipped import shipped


def _config_names(incomplete: str) -> list[str]:
    return [name for name in shipped() if name.startswith(incomplete)]


Config = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG",
        help="A shipped config (superfed list experiments) or a YAML file.",
        autocompletion=_config_names,
        show_default=False,
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[KEY=VALUE]…",
        help="Settings to change, for instance training.rounds=50 or algorithm.nu=\\[0,1,2]. A list makes a grid of runs.",
        show_default=False,
    ),
]
RunPath = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="The folder of a run, or of an experiment with several.", show_default=False),
]
DataRoot = Annotated[
    Path | None,
    typer.Option(
        "--data-root",
        envvar="SUPERFED_DATA",
        metavar="DIR",
        help="The folder that holds downloaded datasets.",
        show_default=False,
        file_okay=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
