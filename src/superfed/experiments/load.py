"""Configs from where people keep them: shipped with the program, in a YAML file, changed on the command line."""

import copy
import os
import re
from pathlib import Path
from typing import Any

import yaml

from superfed.core.errors import SettingError, UserError
from superfed.experiments.grid import expand
from superfed.experiments.schema import RunConfig
from superfed.experiments.shipped import shipped


class _Loader(yaml.SafeLoader):
    """YAML as people mean it: 1e-4 is a number, and a key given twice is a mistake."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if (key.tag, key.value) in seen:
                raise yaml.composer.ComposerError(None, None, f"the key '{key.value}' is given twice", key.start_mark)
            seen.add((key.tag, key.value))
        return node


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+0123456789.")
)


def load_config(source: str, overrides: list[str] | None = None) -> dict[str, Any]:
    """The settings of a shipped config or a YAML file, with ``key=value`` changes; lists still stand for grids."""
    path = Path(source)
    configs = shipped()
    if path.suffix in (".yaml", ".yml") or os.path.isfile(source):
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise UserError(f"{source}: there is no such file") from None
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{source}: cannot be read ({error})") from error
        name = path.stem
    elif source in configs:
        text, name = configs[source], source
    elif os.path.isfile(config := os.path.join(source, "config.yaml")):
        raise UserError(f"{source}: is a folder of runs; its config is {config}")
    else:
        raise UserError(f"{source}: is no file, and no shipped config; those are {', '.join(configs)}")
    settings = _parse(text, source)
    if not isinstance(settings, dict):
        raise UserError(f"{source}: must hold a mapping of settings")
    return apply_overrides({"name": name, **settings}, overrides or [])


def apply_overrides(settings: dict[str, Any], overrides: list[str]) -> dict[str, Any]:
    """The settings with each ``a.b=value`` put in; values are YAML, so ``[0, 1]`` is a grid."""
    changed = copy.deepcopy(settings)
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or "" in key.split("."):
            raise UserError(f"'{override}': a change is written key=value, for instance training.rounds=50")
        *above, last = key.split(".")
        node = changed
        for depth, part in enumerate(above):
            inner = {} if node.get(part) is None else node[part]
            if isinstance(inner, str):  # a bare name, as in 'model: two_nn'
                inner = {"name": inner}
            if isinstance(inner, list):
                where = ".".join(above[: depth + 1])
                raise SettingError(key, f"'{where}' is a list of {len(inner)} here; give it whole, {where}=…")
            if not isinstance(inner, dict):
                raise SettingError(key, f"'{'.'.join(above[: depth + 1])}' is no section")
            node[part] = inner
            node = inner
        node[last] = _parse(text, f"'{override}'")
    return changed


def also_tracked(settings: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The settings with these trackers beside those they name already."""
    given = settings.get("tracking") or []
    if isinstance(given, dict) and "name" not in given:
        if any(not isinstance(options, dict | None) for options in given.values()):
            return settings  # which will be complained of
        there = [{"name": name, **(options or {})} for name, options in given.items()]
    else:
        there = given if isinstance(given, list) else [given]
    known = [one.get("name") if isinstance(one, dict) else one for one in there]
    added = [name for name in dict.fromkeys(names) if name not in known]
    return settings | {"tracking": [*there, *added]} if added else settings


def resolve(settings: dict[str, Any]) -> list[RunConfig]:
    """Every run that the settings stand for, checked."""
    return [RunConfig.from_plain(one) for one in expand(settings)]


def _parse(text: str, source: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date such as 2024-13-01
        problem = " ".join(str(error).split())
        raise UserError(f"{source}: is no valid YAML ({problem})") from error
