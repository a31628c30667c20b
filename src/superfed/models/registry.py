"""Networks by name: the zoo's, those that users register, and any function that an import path leads to."""

import importlib
import inspect
import os
import sys
import typing
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import field, fields, make_dataclass
from typing import Any

from torch import nn

from superfed.core.errors import SettingError, UserError
from superfed.models.recipe import ModelRecipe

Build = Callable[..., nn.Module]
PLAIN = (bool, int, float, str, type(None))
FROM_DATA = ("input_shape", "num_classes")
RESERVED = ("name", *(f.name for f in fields(ModelRecipe)))


class Models(dict[str, type[ModelRecipe]]):
    """Recipes by name. ``package.module:function`` is a name too, and is imported when it is asked for."""

    def __init__(self, zoo: Mapping[str, type[ModelRecipe]]) -> None:
        super().__init__(zoo)
        self._zoo = frozenset(zoo)

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        if not isinstance(name, str) or ":" not in name:
            return False
        self[name] = recipe_of(name, _imported(name))
        return True

    def register(self, name: str, build: Build) -> None:
        """Have ``name`` in configs mean the network that ``build`` makes.

        ``build`` is a function or a module's class. It is given ``input_shape`` and ``num_classes`` if it has parameters
        of these names; its other parameters are the model's settings.
        """
        if not isinstance(name, str) or not name or ":" in name:
            raise UserError(f"register_model: a name is text without a colon, not {name!r}")
        if name in self._zoo:
            raise UserError(f"register_model: '{name}' is a network of the zoo; choose another name")
        self[name] = recipe_of(name, build)


def recipe_of(name: str, build: Build) -> type[ModelRecipe]:
    """A recipe whose fields are the parameters of ``build``."""
    parameters = _parameters(name, build)
    hints = _hints(build)
    settings: list[Any] = []
    for parameter in parameters.values():
        if parameter.name in FROM_DATA:
            continue
        if parameter.name in RESERVED:
            raise UserError(f"model: {name} has a parameter '{parameter.name}', a name that superfed uses itself")
        needed = parameter.default is inspect.Parameter.empty
        if not needed and not isinstance(parameter.default, PLAIN):
            continue  # no setting: a config could not say it
        hint = hints.get(parameter.name, _hint_of(parameter.default))
        settings.append((parameter.name, hint, field() if needed else field(default=parameter.default)))
    from_data = [wanted for wanted in FROM_DATA if wanted in parameters]
    own = [one[0] for one in settings]

    def made(self: ModelRecipe, input_shape: tuple[int, ...], num_classes: int) -> nn.Module:
        data = {"input_shape": input_shape, "num_classes": num_classes}
        given = {key: data[key] for key in from_data} | {key: getattr(self, key) for key in own}
        try:
            module = build(**given)
        except UserError:
            raise
        except Exception as error:  # whatever a user's function may raise
            raise UserError(f"model: {name} failed with {type(error).__name__}: {error}") from error
        if not isinstance(module, nn.Module):
            raise UserError(f"model: {name} returned {type(module).__name__}, not a torch.nn.Module")
        return module

    summary = (inspect.getdoc(build) or f"The network that {name} builds.").splitlines()[0]
    return make_dataclass(
        "RegisteredModel",
        settings,
        bases=(ModelRecipe,),
        namespace={"build": made, "__doc__": summary},
        frozen=True,
        kw_only=True,
    )


def _parameters(name: str, build: Build) -> dict[str, inspect.Parameter]:
    if not callable(build):
        raise UserError(
            f"model: {name} is a {type(build).__name__}; a function that builds a torch.nn.Module is needed"
        )
    try:
        parameters = dict(inspect.signature(build).parameters)
    except (TypeError, ValueError) as error:
        raise UserError(f"model: what parameters {name} takes cannot be found out; wrap it in a function") from error
    for parameter in parameters.values():
        if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            raise UserError(
                f"model: {name} takes '{parameter}', and settings need names; wrap it in a function with named parameters"
            )
    return parameters


def _hints(build: Build) -> dict[str, Any]:
    """The annotations as they were meant; one that cannot be resolved says nothing."""
    function = build.__init__ if inspect.isclass(build) else build
    try:
        return typing.get_type_hints(function)
    except Exception:  # an annotation may name anything at all
        return {}


def _hint_of(default: object) -> Any:
    return type(default) if isinstance(default, PLAIN) and default is not None else Any


def _imported(path: str) -> Build:
    """What ``package.module:function`` names. The working directory counts, as it does for ``python -m``."""
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        raise SettingError("name", f"{path!r} is no import path; write package.module:function")
    with _working_directory_importable():
        try:
            found: Any = importlib.import_module(module_name)
        except Exception as error:  # importing runs whatever the module holds
            why = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
            raise SettingError("name", f"{module_name} cannot be imported from {os.getcwd()} ({why})") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise SettingError("name", f"{module_name} has no '{attribute}'")
        found = getattr(found, part)
    build: Build = found
    return build


@contextmanager
def _working_directory_importable() -> typing.Iterator[None]:
    here = os.getcwd()
    if here in sys.path or "" in sys.path:
        yield
        return
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
