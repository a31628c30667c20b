"""docs/config-reference.md: every key of a config, with type, default and meaning, from the schema itself."""

import dataclasses
import inspect
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from superfed.data.registry import DATASETS
from superfed.experiments.schema import RunConfig
from superfed.reference.settings import Setting, plain_markup, settings_of

INTRO = """# Every setting

All keys that a [config](config.md) may have, with type, default and meaning. They are the program's own dataclasses, and
this page is made from them by `python -m superfed.reference docs`.

Changes on the command line name keys as they stand here: `superfed run demo training.rounds=10`. Where settings have a
`name`, it is one of the list, and the name alone will do if nothing else is to be said: `model: two_nn`. A list where one
value belongs is a grid ([sweeps](sweeps.md)).
"""
PAGES = {"algorithm": "algorithms/{}.md"}
"""Where each of a list has a page of its own."""
NOTES = {
    "algorithm": "Or [a method of your own](own-method.md), from Python.",
    "model": "Or [a network of your own](networks.md): the name it was registered under, or `package.module:function`.",
    "tracking": "A name, a list of names, or names with settings ([how](tracking.md)); a list is no grid here.",
}


def config_page() -> str:
    return "\n".join([INTRO, *_section("", RunConfig)]).rstrip() + "\n"


def _section(path: str, kind: Any) -> Iterator[str]:
    """A dataclass, and after it what lies inside it."""
    yield f"## {'The top level' if not path else f'`{path}`'}\n"
    yield _doc(kind)
    yield from _table(path, kind)
    for setting in settings_of(kind):
        inside = f"{path}.{setting.name}" if path else setting.name
        if registry := _registry(setting):
            yield from _choices(inside, setting, registry)
        elif section := _dataclass_in(setting.hint):
            yield from _section(inside, section)


def _choices(path: str, setting: Setting, registry: Mapping[str, Any]) -> Iterator[str]:
    several = "several" in setting.field.metadata
    yield f"## `{path}`\n"
    names = ", ".join(f"[{name}](#{name})" for name in registry)
    yield f"{'Any' if several else 'One'} of {names}.{' ' if path in NOTES else ''}{NOTES.get(path, '')}\n"
    for name, kind in registry.items():
        yield f"### {name}\n"
        yield _summary(name, kind) if path == "data.dataset" else _doc(kind)
        if path in PAGES:
            yield f"More: [its page]({PAGES[path].format(name)}).\n"
        yield from _table(f"{path}.{name}" if several else path, kind)


def _table(path: str, kind: Any) -> Iterator[str]:
    settings = settings_of(kind)
    if not settings:
        yield "No settings.\n"
        return
    rows = [_row(f"{path}.{one.name}" if path else one.name, one) for one in settings]
    yield "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows, ""])


def _row(key: str, setting: Setting) -> str:
    kind, default, anchor = setting.type, setting.default, key.replace(".", "")
    if registry := _registry(setting):
        kind = f"[by name](#{anchor})"
        default = default or (f"`{_default_name(setting, registry)}`" if setting.field.default else "none")
    elif _dataclass_in(setting.hint) is not None:
        kind = kind.replace("settings", f"[settings](#{anchor})")
        default = default.replace("as below", "its defaults")
    cells = (cell.replace("|", r"\|") for cell in (f"`{key}`", kind, default, setting.meaning))
    return f"| {' | '.join(cells)} |"


def _registry(setting: Setting) -> Mapping[str, Any] | None:
    """What there is to choose from; not what somebody registered in this process."""
    metadata = setting.field.metadata
    found: Mapping[str, Any] | None = metadata.get("choices", metadata.get("several"))
    return found and {name: kind for name, kind in found.items() if kind.__module__.startswith("superfed.")}


def _default_name(setting: Setting, registry: Mapping[str, Any]) -> str:
    return next(name for name, kind in registry.items() if kind is type(setting.field.default))


def _dataclass_in(hint: Any) -> Any | None:
    """The dataclass that a field holds, also where it may be null."""
    candidates = (hint, *typing.get_args(hint))
    return next((one for one in candidates if isinstance(one, type) and dataclasses.is_dataclass(one)), None)


def _doc(kind: Any) -> str:
    words = vars(kind).get("__doc__") or ""
    if words.startswith(f"{kind.__name__}("):  # what a dataclass without a docstring says
        return ""
    return plain_markup(inspect.cleandoc(words)) + "\n"


def _summary(name: str, kind: Any) -> str:
    summary = DATASETS[name].summary
    return f"{summary[0].upper()}{summary[1:]}.\n" + (f"\n{_doc(kind)}" if dataclasses.fields(kind) else "")
