"""The pages that are made from the program are those of this program."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from shown_blocks import DOCS

import superfed
from superfed.experiments.schema import RunConfig
from superfed.reference.__main__ import PAGES
from superfed.reference.api_page import GROUPS, signature
from superfed.reference.settings import Setting, settings_of


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_the_programs(name: str) -> None:
    assert (DOCS / name).read_text() == PAGES[name](), "run: python -m superfed.reference docs"


def every_setting(kind: Any) -> Iterator[tuple[Any, Setting]]:
    for setting in settings_of(kind):
        yield kind, setting
        metadata = setting.field.metadata
        for inside in {**metadata.get("choices", {}), **metadata.get("several", {})}.values():
            if inside.__module__.startswith("superfed."):
                yield from every_setting(inside)
        if not metadata and hasattr(setting.hint, "__dataclass_fields__"):
            yield from every_setting(setting.hint)


def test_every_setting_has_a_meaning() -> None:
    """A string below the field, or a comment behind it."""
    found = list(every_setting(RunConfig))
    assert len(found) > 100
    assert [f"{kind.__name__}.{one.name}" for kind, one in found if not one.meaning] == []


@dataclass(frozen=True)
class Above:
    kept: int = 1
    """Of the one ``above``."""
    changed: int = 2
    """Of the one above."""


@dataclass(frozen=True)
class Below(Above):
    changed: int = 3  # of the one below
    choice: Literal["a", "b"] | None = None


def test_meanings_are_inherited_and_overridden() -> None:
    kept, changed, choice = settings_of(Below)
    assert (kept.meaning, kept.type, kept.default) == ("Of the one `above`.", "whole number", "`1`")
    assert (changed.meaning, changed.default) == ("of the one below", "`3`")
    assert (choice.meaning, choice.type, choice.default) == ("", "`a` or `b` or `null`", "`null`")


def test_every_public_name_is_told() -> None:
    told = {name for names in GROUPS.values() for name in names}
    assert set(superfed._WHERE) <= told


def something(x: object, *, by: str = "loss", points: "int | None" = None) -> float:
    raise NotImplementedError(x, by, points)


def test_signatures_are_those_of_the_source() -> None:
    assert signature("f", something) == 'f(x: object, *, by: str = "loss", points: int | None = None) -> float'
    assert signature("f", something, width=20).splitlines()[1:3] == ["    x: object,", "    *,"]
    assert signature("Below", Below) == 'Below(changed: int = 3, choice: Literal["a", "b"] | None = None)'
