"""Where to start, and an example in every command's help that works as shown."""

import re
import shlex
from collections.abc import Iterator

import click
import pytest
import typer

from conftest import Program
from superfed.cli.main import app
from superfed.cli.welcome import WELCOME
from superfed.experiments.load import load_config, resolve

PROGRAM = typer.main.get_command(app)


def walk(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """The program and all its commands, by what is typed after ``superfed``."""
    yield " ".join(path), command
    for name, below in getattr(command, "commands", {}).items():
        yield from walk(below, (*path, name))


COMMANDS = dict(walk(PROGRAM))


def examples(text: str) -> list[str]:
    """Lines of their own that begin with the program's name."""
    plain = re.sub(r"\[/?[a-z]+\]", "", text).replace("\\[", "[")
    return [line.strip() for line in plain.splitlines() if re.match(r"\s*superfed( |$)", line)]


def parse(example: str) -> tuple[str, list[str]]:
    """Which command is called, and with what; click complains of what it would not take."""
    _, *words = shlex.split(example)
    flags = {name for parameter in PROGRAM.params for name in parameter.opts}
    while words and words[0] in flags:
        words.pop(0)
    command, path = PROGRAM, []
    while isinstance(command, click.Group) and words:
        path.append(words.pop(0))
        command = command.commands[path[-1]]
    if not isinstance(command, click.Group):
        command.make_context(path[-1], list(words))
    return " ".join(path), words


@pytest.mark.parametrize("name", COMMANDS, ids=lambda name: name or "superfed")
def test_every_help_has_an_example_that_parses(name: str, superfed: Program) -> None:
    found = examples(COMMANDS[name].help or "")
    assert found, "no line of its help begins with 'superfed'"
    shown = superfed(*name.split(), "--help")
    assert shown.returncode == 0
    words = " ".join(re.sub(r"[│╭╮╰╯─]", " ", shown.stdout).split())
    for example in found:
        assert example in words, "shown as it is to be typed"
        called, _ = parse(example)
        assert called == name or called.startswith(f"{name} ") or name == ""


@pytest.mark.parametrize("name", [name for name in COMMANDS if name in ("run", "show", "traffic", "data show")])
def test_changes_in_examples_are_settings_there_are(name: str) -> None:
    for example in examples(COMMANDS[name].help or ""):
        _, (config, *rest) = parse(example)
        if not config.endswith(".yaml"):
            assert resolve(load_config(config, [word for word in rest if re.match(r"[a-z_.]+=", word)]))


def test_alone_it_says_where_to_start(superfed: Program) -> None:
    done = superfed()
    assert (done.returncode, done.stdout, done.stderr) == (0, WELCOME, "")
    shown = [line.split("  ")[1] for line in WELCOME.splitlines() if line.startswith("  superfed ")]
    assert len(shown) == 4
    for command in shown:
        parse(command)
    assert max(map(len, WELCOME.splitlines())) <= 110
    assert "Usage" in superfed("--help").stdout


def test_a_command_that_is_none_is_a_sentence(superfed: Program) -> None:
    done = superfed("rum")
    assert done.returncode == 2
    assert "No such command 'rum'" in done.stderr
    assert "Traceback" not in done.stderr
