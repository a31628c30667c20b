"""The pages of the documentation, and the blocks of code in them.

A comment above a block may say ``<!-- not run: why -->``, or ``<!-- in tests: key=value … -->`` with what a test adds to the
block's ``superfed run`` to be done soon. A block with a title is a file of that name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

_FENCED = re.compile(
    r'(?:<!-- (?P<comment>[^>]*?) -->\n+)?^(?P<indent> *)```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n'
    r"(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    title: str | None
    text: str
    not_run: str | None
    """Why."""
    added: tuple[str, ...]
    """What a test adds to ``superfed run``."""

    @property
    def where(self) -> str:
        return f"{name_of(self.page)}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """The lines that call the program; what it answered may stand below them."""
        lines = (line.removeprefix("$ ") for line in self.text.splitlines())
        return [line for line in lines if line.startswith("superfed ")]


def blocks(page: Path) -> Iterator[Block]:
    content = page.read_text()
    for found in _FENCED.finditer(content):
        yield Block(
            page=page,
            line=content.count("\n", 0, found.start("language")) + 1,
            language=found["language"],
            title=found["title"],
            text=re.sub(rf"^{found['indent']}", "", found["text"], flags=re.MULTILINE),
            not_run=_said(found["comment"], "not run: "),
            added=tuple((_said(found["comment"], "in tests: ") or "").split()),
        )


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _said(comment: str | None, opening: str) -> str | None:
    return comment.removeprefix(opening) if comment and comment.startswith(opening) else None
