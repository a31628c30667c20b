"""Every command line that a page shows is one that the program takes."""

import shlex
from pathlib import Path

import click
import pytest
import typer
from shown_blocks import PAGES, Block, blocks, name_of

from superfed.cli.main import app

PROGRAM = typer.main.get_command(app)


def parsed(words: list[str]) -> None:
    """Options and arguments as the program reads them, without doing anything."""
    command, context = PROGRAM, PROGRAM.make_context("superfed", list(words), resilient_parsing=False)
    while isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        name, found, rest = command.resolve_command(context, rest)
        assert found is not None
        command, context = found, found.make_context(name, rest, parent=context)


def shown(page: Path) -> list[tuple[Block, str]]:
    return [(block, command) for block in blocks(page) for command in block.commands]


@pytest.mark.parametrize("page", [page for page in PAGES if shown(page)], ids=name_of)
def test_the_program_takes_it(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block, command in shown(page):
        words = shlex.split(command, comments=True)[1:]
        try:
            parsed(words)
        except click.exceptions.Exit:  # --help and --version
            pass
        except click.UsageError as error:
            pytest.fail(f"{block.where}: {command}: {error.format_message()}")


@pytest.mark.parametrize("words", [["run"], ["run", "demo", "--nonsense"], ["nonsense"], ["data", "nonsense"]])
def test_what_it_does_not_take_is_noticed(words: list[str]) -> None:
    with pytest.raises(click.UsageError):
        parsed(words)
