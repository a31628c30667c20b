"""Every block of Python, YAML and shell does what its page says, in the order of the page and in an empty folder."""

import contextlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from shown_blocks import PAGES, ROOT, Block, blocks, name_of

from conftest import Program
from superfed.experiments.load import load_config, resolve
from superfed.models import MODELS

BY_THEMSELVES = {
    "README.md": "tests/test_documentation.py",
    "docs/config.md": "tests/test_documentation.py",
    "docs/export.md": "tests/export/test_export_docs.py",
    "docs/networks.md": "tests/models/test_networks_page.py",
    "docs/own-data.md": "tests/data/test_own_data_docs.py",
    "docs/tracking.md": "tests/tracking/test_real_trackers.py",
}
"""Pages whose blocks need more around them than an empty folder, and the tests that run these."""
LANGUAGES = {"", "python", "yaml", "sh"}
WHOLE = {"algorithm", "data", "model", "training"}


def runnable(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.language and not block.not_run]


def execute(block: Block, names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """What a ``print`` promises in a comment behind it is what it prints."""
    capsys.readouterr()
    exec(compile("\n" * block.line + block.text, block.where.rpartition(":")[0], "exec"), names)
    printed = capsys.readouterr().out
    for promise in re.findall(r"^print\(.*\)  # (?:… )?(.*)", block.text, re.MULTILINE):
        assert promise in printed, block.where


def command_line(line: str, added: tuple[str, ...]) -> list[str]:
    words = shlex.split(line, comments=True)[1:]
    return [*words, *added, "engine.workers=1"] if words[0] == "run" else words


def check_config(block: Block, folder: Path) -> None:
    """A whole config by itself; a part of one, put into the demo's."""
    file = folder / (block.title or "part.yaml")
    file.write_text(block.text)
    settings = load_config(str(file))
    assert resolve(settings if settings.keys() >= WHOLE else load_config("demo") | settings), block.where


@pytest.mark.parametrize(
    "page", [page for page in PAGES if runnable(page) and name_of(page) not in BY_THEMSELVES], ids=name_of
)
def test_every_block_runs(
    page: Path,
    superfed: Program,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict[str, Any] = {"__name__": "page"}
    with restored_models():
        for block in runnable(page):
            if block.title:
                (tmp_path / block.title).write_text(block.text)
            if block.language == "yaml":
                check_config(block, tmp_path)
            elif block.language == "python":
                execute(block, names, capsys)
            for line in block.commands if block.language == "sh" else []:
                done = superfed(*command_line(line, block.added))
                assert done.returncode == 0, f"{block.where}: {line}: {done.stderr}"


@contextlib.contextmanager
def restored_models() -> Any:
    before = set(MODELS)
    try:
        yield
    finally:
        for name in set(MODELS) - before:
            del MODELS[name]


@pytest.mark.parametrize("page", BY_THEMSELVES)
def test_pages_left_to_other_tests_are_tested_there(page: str) -> None:
    assert Path(page).name in (ROOT / BY_THEMSELVES[page]).read_text()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_block_escapes(page: Path) -> None:
    """Every fence is understood, in a language that is run or none; and what is not run says why."""
    found = list(blocks(page))
    assert 2 * len(found) == len(re.findall(r"^ *```", page.read_text(), re.MULTILINE))
    assert {block.language for block in found} <= LANGUAGES
    assert all(len(block.commands) == len(block.text.splitlines()) for block in found if block.language == "sh")
    assert all(block.not_run is None or len(block.not_run) > 10 for block in found)
