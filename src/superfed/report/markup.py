"""Markup in which text can only be text.

Names, titles and settings come from files that anyone may have written. Every string that becomes part of a page goes
through ``element``, which escapes it unless it is markup already, so that nothing depends on remembering to.
"""

from html import escape

_VOID = {"meta", "br", "hr", "img", "input", "link"}


class Markup(str):
    """Text that is markup and is not to be escaped again."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | float | None) -> Markup:
    """An element. ``class_`` stands for class, ``stroke_width`` for stroke-width; an attribute of None is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: "tuple[str, ...] | list[str] | list[Markup]", between: str = "") -> Markup:
    return Markup(between.join(child if isinstance(child, Markup) else escape(child) for child in children))


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
