"""superfed traffic"""

from dataclasses import asdict

import typer

from superfed.cli.options import AsJson, Changes, Config, DataRoot


def command(config: Config, changes: Changes = None, as_json: AsJson = False, data_root: DataRoot = None) -> None:
    """Count what each method of a config sends: bytes for one client in one round, up and down.

    [bold]superfed traffic demo model.width=400[/bold]
    """
    import json

    from superfed.experiments.assemble import Assembler
    from superfed.experiments.load import load_config, resolve
    from superfed.experiments.traffic import traffic_of

    assembler = Assembler(data_root)
    first_of_each = {run.algorithm: run for run in reversed(resolve(load_config(config, changes)))}
    counted = [traffic_of(assembler.task(run)) for run in reversed(first_of_each.values())]
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in counted], indent=1))
        return
    typer.echo(f"{'':12}  {'bytes down':>12}  {'of the model':>12}  {'bytes up':>12}  {'of the model':>12}")
    for one in counted:
        down, up = f"{one.down_share:.3g}", f"{one.up_share:.3g}"
        typer.echo(f"{one.title:12}  {one.down:>12,}  {down:>12}  {one.up:>12,}  {up:>12}")
