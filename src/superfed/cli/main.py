"""The `superfed` program: one small file per command, put together here.

Heavy imports wait until a command runs, so that help and completion answer at once.
"""

import sys
from io import TextIOWrapper

import typer

from superfed.cli.commands import (
    bench,
    compare,
    data,
    deploy,
    evaluate,
    export,
    listing,
    onboard,
    predict,
    report,
    reproduce,
    resume,
    run,
    serve,
    show,
    traffic,
)
from superfed.cli.logs import complain, set_up
from superfed.cli.welcome import WELCOME

app = typer.Typer(
    name="superfed",
    help="""Personalised federated learning: SuPerFed and the methods it is compared with.

    [bold]superfed run demo[/bold]

    [bold]superfed -v run demo seed=0[/bold]
    """,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.command)
app.command("resume")(resume.command)
app.command("evaluate")(evaluate.command)
app.command("onboard")(onboard.command)
app.command("export")(export.command)
app.command("predict")(predict.command)
app.command("compare")(compare.command)
app.command("report")(report.command)
app.command("serve")(serve.command)
app.command("traffic")(traffic.command)
app.command("reproduce")(reproduce.command)
app.command("bench")(bench.command)
app.command("show")(show.command)
app.command("list")(listing.command)
app.add_typer(data.app, name="data")
app.add_typer(deploy.app, name="deploy")


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Say what happens: data, rounds, checkpoints."),
    log_json: bool = typer.Option(False, "--log-json", help="Say it as JSON lines on standard error, for programs."),
    version: bool = typer.Option(False, "--version", help="Say which version this is, and stop.", is_eager=True),
) -> None:
    set_up(verbose=verbose, as_json=log_json)
    if version:
        from superfed.experiments.provenance import installed_version

        typer.echo(f"superfed {installed_version('superfed')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(WELCOME, nl=False)


def main() -> None:
    """Run the program; a user's mistake becomes one sentence and exit code 2."""
    from superfed.core.errors import UserError

    set_up()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no ± gets a question mark
    try:
        app(prog_name="superfed")
    except UserError as error:
        complain(str(error))
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        sys.stderr.close()
        sys.exit(141)


if __name__ == "__main__":
    main()
