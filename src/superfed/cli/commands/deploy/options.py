"""Arguments that commands of a federation share."""

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER", help="The federation's folder, as superfed deploy init made it.", show_default=False
    ),
]
FolderOption = Annotated[
    Path,
    typer.Option(
        "--federation",
        "-f",
        metavar="FOLDER",
        help="The federation's folder, as superfed deploy init made it.",
        show_default=False,
    ),
]
SiteFolderArgument = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="The folder that this site was handed.", show_default=False),
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="FILE",
        help="The site's own samples, .npz or .parquet; without it, its share of the run's dataset.",
        show_default=False,
    ),
]
Deadline = Annotated[float, typer.Option("--deadline", min=1, metavar="SECONDS", help="How long a round may take.")]
MinReplies = Annotated[
    int | None,
    typer.Option(
        "--min-replies",
        min=1,
        metavar="N",
        help="How many replies a round needs; half of those who are sampled without it.",
        show_default=False,
    ),
]
Gathering = Annotated[
    float,
    typer.Option("--wait", min=0, metavar="SECONDS", help="How long to wait for sites that are needed and not there."),
]
