"""What a dataclass says of its fields: type, default, and the meaning that stands below a field or behind it."""

import ast
import dataclasses
import inspect
import io
import textwrap
import tokenize
import types
import typing
from dataclasses import dataclass
from typing import Any, Literal

NEEDED = "needed"
_WORDS = {int: "whole number", float: "number", str: "text", bool: "`true` or `false`", types.NoneType: "`null`"}


@dataclass(frozen=True)
class Setting:
    name: str
    type: str
    default: str
    meaning: str
    field: "dataclasses.Field[Any]"
    hint: Any


def settings_of(kind: Any) -> list[Setting]:
    """In the order in which they are declared."""
    hints, meanings = typing.get_type_hints(kind), meanings_in(kind)
    return [
        Setting(f.name, type_words(hints[f.name]), default_words(f), meanings.get(f.name, ""), f, hints[f.name])
        for f in dataclasses.fields(kind)
    ]


def meanings_in(kind: type) -> dict[str, str]:
    """Of each field: the string below it or, where there is none, the comment behind it."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        if dataclasses.is_dataclass(one):
            found |= _in_source(textwrap.dedent(inspect.getsource(one)))
    return found


def _in_source(source: str) -> dict[str, str]:
    (body,) = (node.body for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    found = {}
    for node, after in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        below = _text(after)
        meaning = comments.get(node.end_lineno or 0) if below is None else below
        if meaning:
            found[node.target.id] = " ".join(plain_markup(meaning).split())
    return found


def _text(node: ast.stmt | None) -> str | None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return inspect.cleandoc(node.value.value)
    return None


def plain_markup(words: str) -> str:
    """Docstrings write names between double backquotes; pages do with single ones."""
    return words.replace("``", "`")


def type_words(hint: Any) -> str:
    if typing.get_origin(hint) is Literal:
        return " or ".join(f"`{value}`" for value in typing.get_args(hint))
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(type_words(one) for one in typing.get_args(hint)))
    return _WORDS.get(hint, "settings")


def default_words(field: "dataclasses.Field[Any]") -> str:
    if field.default is dataclasses.MISSING:
        return NEEDED if field.default_factory is dataclasses.MISSING else "as below"
    if dataclasses.is_dataclass(field.default) or field.default == ():
        return ""  # the caller knows its name
    if field.default is None or isinstance(field.default, bool):
        return {None: "`null`", True: "`true`", False: "`false`"}[field.default]
    return f"`{field.default}`" if field.default != "" else "empty"
