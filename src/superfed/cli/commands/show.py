"""superfed show"""

import json
from typing import Any

import typer

from superfed.cli.options import AsJson, Changes, Config


def command(config: Config, changes: Changes = None, as_json: AsJson = False) -> None:
    """Show what a config means: every setting with its value, defaults included, and the runs it stands for."""
    from superfed.experiments.labels import flatten, run_names, varying_settings
    from superfed.experiments.load import load_config, resolve
    from superfed.store.layout import as_yaml

    configs = resolve(load_config(config, changes))
    names = run_names(configs)
    plain = [one.as_plain() for one in configs]
    if as_json:
        typer.echo(json.dumps(dict(zip(names, plain, strict=True)), indent=1, ensure_ascii=False))
        return
    if len(configs) == 1:
        typer.echo(as_yaml(plain[0]), nl=False)
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
