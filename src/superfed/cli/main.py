"""The `superfed` program: one small file per command, put together here.

Heavy imports wait until a command runs, so that help and completion answer at once.
"""

import sys
import warnings

import typer

from superfed.cli.commands import (
    bench,
    compare,
    data,
    evaluate,
    listing,
    onboard,
    reproduce,
    resume,
    run,
    show,
    traffic,
)

app = typer.Typer(
    name="superfed",
    help="Personalised federated learning: SuPerFed and the methods it is compared with.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.command)
app.command("resume")(resume.command)
app.command("evaluate")(evaluate.command)
app.command("onboard")(onboard.command)
app.command("compare")(compare.command)
app.command("traffic")(traffic.command)
app.command("reproduce")(reproduce.command)
app.command("bench")(bench.command)
app.command("show")(show.command)
app.command("list")(listing.command)
app.add_typer(data.app, name="data")


@app.callback(invoke_without_command=True)
def root(
    version: bool = typer.Option(False, "--version", help="Say which version this is, and stop.", is_eager=True),
) -> None:
    if version:
        from superfed.experiments.provenance import installed_version

        typer.echo(f"superfed {installed_version('superfed')}")
        raise typer.Exit


def main() -> None:
    """Run the program; a user's mistake becomes one sentence and exit code 2."""
    from superfed.core.errors import UserError

    warnings.formatwarning = _one_line
    try:
        app(prog_name="superfed")
    except UserError as error:
        print(f"superfed: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        sys.stderr.close()
        sys.exit(141)


def _one_line(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Warnings as users read them: what, not where in the program."""
    return f"superfed: {message}\n"


if __name__ == "__main__":
    main()
