"""Strict settings: plain data into frozen dataclasses, and one sentence for whatever does not fit.

The dataclasses are the program's own (a method, a model, a schedule), so a setting is declared in one place, with its
type, its default and its check, and is the same from YAML, from the command line and from Python.
"""

import dataclasses
import difflib
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from superfed.core.errors import SettingError

T = TypeVar("T")


def choice(registry: Mapping[str, type], default: Any = dataclasses.MISSING) -> Any:
    """A field that holds one of the registry's dataclasses: given as its name, or as a mapping with ``name``."""
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata={"choices": registry})
    return dataclasses.field(default=default, metadata={"choices": registry})


def several(registry: Mapping[str, type]) -> Any:
    """A field that holds any of the registry's dataclasses, each at most once: given as a name, as a list of names and
    mappings with ``name``, or as a mapping from names to settings."""
    return dataclasses.field(default=(), metadata={"several": registry})


def build(kind: type[T], value: object, path: str = "") -> T:
    """An instance of the dataclass ``kind`` from plain data."""
    if not isinstance(value, Mapping):
        raise SettingError(path or "config", f"must be a mapping of settings, not {_shown(value)}")
    fields = {f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name in value:
        if name not in fields:
            raise SettingError(_join(path, str(name)), unknown(str(name), fields))
    hints = typing.get_type_hints(kind)
    arguments: dict[str, Any] = {}
    for name, field in fields.items():
        key = _join(path, name)
        if name in value:
            registry = field.metadata.get("choices")
            if "several" in field.metadata:
                arguments[name] = _choose_several(field.metadata["several"], value[name], key)
            elif registry is None:
                arguments[name] = convert(hints[name], value[name], key)
            elif value[name] is None and field.default is None:
                arguments[name] = None
            else:
                arguments[name] = _choose(registry, value[name], key)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise SettingError(key, "is needed and not given")
    try:
        return kind(**arguments)
    except SettingError as error:
        raise error.under(path) from error


def _choose(registry: Mapping[str, type], value: object, path: str) -> object:
    given = {"name": value} if isinstance(value, str) else value
    if not isinstance(given, Mapping):
        raise SettingError(path, f"must be a name or a mapping with 'name', not {_shown(value)}")
    if "name" not in given:
        raise SettingError(_join(path, "name"), f"is needed; choose from {', '.join(registry)}")
    name = given["name"]
    if not isinstance(name, str):
        raise SettingError(_join(path, "name"), f"must be {_listed(list(registry))}, not {_shown(name)}")
    try:
        known = name in registry  # which may have to import it
    except SettingError as error:
        raise error.under(path) from error
    if not known:
        raise SettingError(_join(path, "name"), f"{name!r} is unknown{_suggest(name, registry)}")
    return build(registry[name], {k: v for k, v in given.items() if k != "name"}, path)


def _choose_several(registry: Mapping[str, type], value: object, path: str) -> tuple[object, ...]:
    if isinstance(value, Mapping) and "name" not in value:
        for name in value:
            if name not in registry:
                raise SettingError(_join(path, str(name)), unknown(str(name), registry))
        return tuple(
            build(registry[name], {} if settings is None else settings, _join(path, name))
            for name, settings in value.items()
        )
    if value is None:
        return ()
    chosen = tuple(_choose(registry, one, path) for one in (value if isinstance(value, list) else [value]))
    for kind in map(type, chosen):
        if [type(one) for one in chosen].count(kind) > 1:
            raise SettingError(path, f"{_name_in(registry, kind)} is given twice")
    return chosen


def plain(value: Any, registry: Mapping[str, type] | None = None) -> Any:
    """The reverse of ``build``: an instance as plain data, defaults and all."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    settings = {
        f.name: {_name_in(f.metadata["several"], type(one)): plain(one) for one in getattr(value, f.name)}
        if "several" in f.metadata
        else plain(getattr(value, f.name), f.metadata.get("choices"))
        for f in dataclasses.fields(value)
    }
    return settings if registry is None else {"name": _name_in(registry, type(value)), **settings}


def _name_in(registry: Mapping[str, type], kind: type) -> str:
    return next(name for name, one in registry.items() if one is kind)


def convert(hint: Any, value: object, path: str) -> Any:
    """``value`` as what ``hint`` says, or a sentence. Nothing is guessed: 'true' is no boolean and '3' no number."""
    if hint is Any:
        return value
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return _convert_union(typing.get_args(hint), value, path)
    if origin is Literal:
        allowed = typing.get_args(hint)
        if isinstance(value, bool) and {"on", "off"} <= set(allowed):
            return "on" if value else "off"  # YAML takes these two words for booleans
        if value not in allowed or isinstance(value, bool):
            raise SettingError(path, f"must be {_listed([repr(a) for a in allowed])}, not {_shown(value)}")
        return value
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return build(hint, value, path)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        if not abs(value) <= sys.float_info.max:
            raise SettingError(path, f"must be a finite number, not {value}")
        return float(value)
    if hint in (int, str, bool) and type(value) is hint:
        return value
    raise SettingError(path, f"must be {_kind(hint)}, not {_shown(value)}")


def _convert_union(hints: tuple[Any, ...], value: object, path: str) -> Any:
    exact = [h for h in hints if type(value) is h]
    for hint in exact + [h for h in hints if h not in exact]:
        if hint is types.NoneType:
            if value is None:
                return None
            continue
        if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
            return convert(hint, value, path)
        try:
            return convert(hint, value, path)
        except SettingError:
            continue
    kinds = [_kind(h) for h in hints if not (h is int and float in hints)]
    raise SettingError(path, f"must be {_listed(kinds)}, not {_shown(value)}")


def unknown(name: str, known: Mapping[str, object]) -> str:
    return f"unknown{_suggest(name, known)}"


def _suggest(name: str, known: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; here there are {', '.join(known)}" if known else "; it takes no settings"


def _kind(hint: Any) -> str:
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false", types.NoneType: "nothing"}
    if typing.get_origin(hint) is Literal:
        return _listed([repr(a) for a in typing.get_args(hint)])
    return names.get(hint, "a mapping of settings")


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _shown(value: object) -> str:
    return "nothing" if value is None else f"{value!r}"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
