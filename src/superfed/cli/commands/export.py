"""superfed export"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from superfed.cli.options import DataRoot, RunPath
from superfed.core.errors import UserError

WORDS: tuple[Literal["best"], Literal["own"]] = ("best", "own")

if TYPE_CHECKING:
    from superfed.experiments.fitted import FittedRun
    from superfed.export.writing import Written


def command(
    run: RunPath,
    client: Annotated[
        str | None,
        typer.Option("--client", metavar="ID", help="A client's number or name.", show_default=False),
    ] = None,
    whole: Annotated[bool, typer.Option("--global", help="The global model.")] = False,
    every: Annotated[bool, typer.Option("--all", help="The models of all clients, a file each.")] = False,
    lam: Annotated[
        str | None,
        typer.Option(
            "--lam",
            metavar="best|own|NUMBER",
            help="Where on the client's line: its validated λ (best, also without it), the one that the method chose "
            "itself (own), or a number from 0 (federated) to 1 (local).",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="safetensors|onnx|torchexport",
            help="Without it, as the ending of the file's name says, or safetensors.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Where the model goes; with --all a folder.", show_default=False
        ),
    ] = None,
    data_root: DataRoot = None,
) -> None:
    """Take models along: write a client's, all clients' or the global one to a file with all it takes to use it.

    [bold]superfed export runs/mine --client 3 -o client-3.onnx[/bold]

    [bold]superfed export runs/mine --all -o models[/bold]
    """
    if (client is not None) + whole + every != 1:
        raise UserError("export: give one of --client ID, --global and --all")
    where = _lambda(lam)
    from superfed.experiments.reload import load
    from superfed.export.formats import ENDINGS, format_for

    kind = format_for(None if every else out, format)
    if every and out is not None and out.suffix in ENDINGS.values():
        raise UserError(f"{out}: is the name of a file; with --all give that of a folder")
    by_batch = False
    for written in _written(load(run, data_root), client, every, where, kind, out):
        _tell(written)
        by_batch = written.card.batch_statistics
    if by_batch:
        from superfed.export.notes import BATCH_STATISTICS

        typer.echo(f"superfed: {BATCH_STATISTICS}", err=True)


def _tell(written: "Written") -> None:
    card, size = written.card, f"{written.num_bytes / 1000:,.1f} kB"
    equal = "exactly the run's" if written.difference == 0 else f"the run's to {written.difference:.0e}"
    typer.echo(f"{written.path}: {card.called}; {written.format}, {size}; its scores are {equal}")


def _written(
    run: "FittedRun",
    client: str | None,
    every: bool,
    lam: float | Literal["best", "own"] | None,
    kind: Literal["safetensors", "onnx", "torchexport"],
    out: Path | None,
) -> "Iterator[Written]":
    from superfed.export.every_client import export_all, file_name
    from superfed.export.formats import ENDINGS
    from superfed.export.subject import Subject
    from superfed.export.writing import write

    if every:
        yield from export_all(run, out or Path("models"), kind, lam)
    elif client is None:
        yield write(Subject.of(run, lam), out or Path(f"global{ENDINGS[kind]}"), kind)
    else:
        chosen = run.client(client)
        yield write(Subject.of(chosen, lam), out or Path(file_name(chosen, kind)), kind)


def _lambda(given: str | None) -> float | Literal["best", "own"] | None:
    if given is None:
        return None
    for word in WORDS:
        if given == word:
            return word
    try:
        return float(given)
    except ValueError:
        raise UserError(f"lam: must be best, own or a number from 0 to 1, not '{given}'") from None
