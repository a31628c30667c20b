"""superfed predict"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from superfed.cli.options import AsJson

if TYPE_CHECKING:
    from superfed.export.predictions import Predictions


def command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A model that superfed export wrote.", show_default=False)
    ],
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="FILE",
            help="The samples: .npz, .npy, .parquet, .csv, .txt, an image or a folder of images.",
            show_default=False,
        ),
    ],
    label: Annotated[
        str | None,
        typer.Option("--label", metavar="NAME", help="The column or array of labels.", show_default=False),
    ] = None,
    inputs: Annotated[
        str | None,
        typer.Option("--inputs", metavar="NAME", help="The column or array of inputs.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write them to a .json, .csv or .parquet file.", show_default=False
        ),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run code that the file brings or names, as every .pt2 file does.")
    ] = False,
) -> None:
    """Use a model: the class and the probability of each sample; with labels, how good that is.

    [bold]superfed predict client-3.onnx --data samples.npz[/bold]
    """
    from superfed.export.notes import BATCH_STATISTICS
    from superfed.export.opening import load_model
    from superfed.export.predictions import check_ending, predictions
    from superfed.export.samples.given import Wanted
    from superfed.export.samples.reading import read_samples

    if out is not None:
        check_ending(out)
    model = load_model(file, trust=trust)
    found = predictions(model, read_samples(data, model.card, Wanted(label, inputs)))
    if model.card.batch_statistics:
        typer.echo(f"superfed: {BATCH_STATISTICS}", err=True)
    if out is not None:
        found.write(out)
    if as_json:
        typer.echo(json.dumps(found.as_plain(), ensure_ascii=False, allow_nan=False))
        return
    typer.echo(f"{model.card.called}; {model.format}")
    if out is None:
        _show(found)
    typer.echo(_summary(found))
    if out is not None:
        typer.echo(f"predictions: {out}")


def _show(found: "Predictions") -> None:
    from superfed.export.card import shown

    heads = ["sample", "class", "probability"] + ([] if found.labels is None else ["label"])
    lines = [heads]
    for row in found.rows():
        label = [] if found.labels is None else [shown(found.card.class_name(row["label"]))]
        lines.append([shown(row["sample"]), shown(row["name"]), f"{row['probability']:.1%}", *label])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _summary(found: "Predictions") -> str:
    count = f"{len(found.samples)} sample{'s' if len(found.samples) != 1 else ''}"
    if found.metrics is None:
        return f"{count}; no labels to compare with"
    metrics = found.metrics
    return f"{count}; accuracy {metrics['accuracy']:.1%}, loss {metrics['loss']:.4g}, ECE {metrics['ece']:.1%}"
