"""superfed show"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from superfed.cli.options import AsJson, Changes, Config, DataRoot

if TYPE_CHECKING:
    from superfed.experiments.schema import RunConfig


def command(config: Config, changes: Changes = None, as_json: AsJson = False, data_root: DataRoot = None) -> None:
    """Show what a config means: every setting with its value, defaults included, the runs it stands for, and the model.

    [bold]superfed show demo seed=0 algorithm=superfed[/bold]
    """
    from superfed.experiments.labels import flatten, run_names, varying_settings
    from superfed.experiments.load import load_config, resolve
    from superfed.store.layout import as_yaml

    configs = resolve(load_config(config, changes))
    names = run_names(configs)
    plain = [one.as_plain() for one in configs]
    if as_json:
        typer.echo(json.dumps(dict(zip(names, plain, strict=True)), indent=1, ensure_ascii=False))
        return
    models = dict.fromkeys(_model_shown(one, data_root) for one in configs)
    if len(configs) == 1:
        typer.echo(as_yaml(plain[0]), nl=False)
        typer.echo("".join(models), nl=False)
        return
    flats = [flatten(one) for one in plain]
    shared = {key for key in flats[0] if all(key in flat and flat[key] == flats[0][key] for flat in flats)}
    typer.echo(f"# {len(configs)} runs; all of them have")
    typer.echo(as_yaml(_only(plain[0], shared)), nl=False)
    typer.echo("\n# and each of its own")
    varying = varying_settings(plain)
    for name, flat in zip(names, flats, strict=True):
        own = {key: value for key, value in flat.items() if key not in shared or key in varying}
        typer.echo(f"{name}: {{{', '.join(f'{key}: {value}' for key, value in own.items())}}}")

    typer.echo("".join(models), nl=False)


def _model_shown(config: "RunConfig", data_root: Path | None) -> str:
    """The model's layers, cut into body and head; they depend on the data, which may not be here."""
    from superfed.core.errors import UserError
    from superfed.experiments.assemble import Assembler

    try:
        model = Assembler(data_root).task(config).model
    except UserError as problem:
        return f"\n# the model's layers cannot be shown: {problem}\n"
    parts = {
        "body": [layer for layer in model.layers if layer.start < model.head.start],
        "head": [layer for layer in model.layers if layer.start >= model.head.start],
    }
    lines = [f"\n# the model has {model.size:,} parameters"]
    for part, layers in parts.items():
        words = ", ".join(f"{layer.name} ({layer.size:,})" for layer in layers) or "nothing"
        lines.append(f"# {part}: {words}")
    return "\n".join(lines) + "\n"


def _only(settings: dict[str, Any], keys: set[str], prefix: str = "") -> dict[str, Any]:
    """The settings whose dotted keys are among ``keys``."""
    kept: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            if inner := _only(value, keys, f"{prefix}{key}."):
                kept[key] = inner
        elif f"{prefix}{key}" in keys:
            kept[key] = value
    return kept
