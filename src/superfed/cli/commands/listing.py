"""superfed list"""

import json
from dataclasses import MISSING, fields
from enum import StrEnum
from typing import Annotated, Any

import typer

from superfed.cli.options import AsJson


class Kind(StrEnum):
    algorithms = "algorithms"
    datasets = "datasets"
    models = "models"
    partitions = "partitions"
    experiments = "experiments"


def command(
    kind: Annotated[Kind, typer.Argument(help="What to list.", show_default=False)], as_json: AsJson = False
) -> None:
    """List what there is, with settings and their defaults.

    [bold]superfed list algorithms[/bold]
    """
    entries = _entries(kind)
    if as_json:
        typer.echo(json.dumps(entries, indent=1, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(kind.value.removesuffix("s"), no_wrap=True, style="cyan")
    table.add_column("what it is")
    with_settings = any(entry["settings"] for entry in entries.values())
    if with_settings:
        table.add_column("settings", style="dim")
    for name, entry in entries.items():
        settings = "\n".join(f"{key}={_shown(value)}" for key, value in entry["settings"].items())
        table.add_row(name, entry["summary"], *([settings] if with_settings else []))
    Console().print(table)


def _entries(kind: Kind) -> dict[str, dict[str, Any]]:
    if kind is Kind.experiments:
        import yaml

        from superfed.experiments.shipped import shipped

        return {
            name: {"summary": yaml.safe_load(text).get("description", ""), "settings": {}}
            for name, text in shipped().items()
        }
    from superfed.algorithms import ALGORITHMS
    from superfed.data.partitions import PARTITIONS
    from superfed.data.registry import DATASETS
    from superfed.models import MODELS

    if kind is Kind.datasets:
        return {
            name: {"summary": entry.summary, "settings": _settings(entry.settings)} for name, entry in DATASETS.items()
        }
    registries: dict[Kind, Any] = {Kind.algorithms: ALGORITHMS, Kind.models: MODELS, Kind.partitions: PARTITIONS}
    registry = registries[kind]
    return {name: {"summary": _first_line(cls), "settings": _settings(cls)} for name, cls in registry.items()}


def _settings(cls: Any) -> dict[str, Any]:
    return {f.name: "needed" if f.default is MISSING else f.default for f in fields(cls)}


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)


def _first_line(cls: Any) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0]
