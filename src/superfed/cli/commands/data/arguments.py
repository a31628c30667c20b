"""Arguments that the data commands share."""

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from superfed.data.registry import DatasetSettings


def _complete(incomplete: str) -> list[str]:
    from superfed.data.registry import DATASETS

    return [name for name in DATASETS if name.startswith(incomplete)]


LISTED = "Datasets (superfed data list)"
WITH_SETTINGS = f"{LISTED}, each followed by its settings if it takes any, such as cifar100 labels=coarse."
Names = Annotated[
    list[str], typer.Argument(metavar="NAME…", help=f"{LISTED}.", autocompletion=_complete, show_default=False)
]
Words = Annotated[
    list[str],
    typer.Argument(metavar="NAME [KEY=VALUE]…", help=WITH_SETTINGS, autocompletion=_complete, show_default=False),
]
AnyWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME [KEY=VALUE]…]",
        help=f"{WITH_SETTINGS} Without any, all that are here.",
        autocompletion=_complete,
        show_default=False,
    ),
]
Cache = Annotated[
    str | None,
    typer.Option(
        "--cache",
        envvar="SUPERFED_CACHE",
        metavar="DIR",
        help="The folder for prepared datasets, or off; ~/.cache/superfed without it.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Chosen:
    """A dataset that was asked for."""

    name: str
    """With its settings, as it was written."""
    settings: "DatasetSettings"


def chosen(words: list[str]) -> list[Chosen]:
    """The datasets that the words of a command line name; settings belong to the name before them."""
    from superfed.core.errors import UserError

    groups: list[list[str]] = []
    for word in words:
        if "=" not in word:
            groups.append([word])
        elif groups:
            groups[-1].append(word)
        else:
            raise UserError(f"{word}: a setting comes after the name of its dataset, as in: cifar100 labels=coarse")
    return [Chosen(" ".join(group), _built(*group)) for group in groups]


def _built(name: str, *changes: str) -> "DatasetSettings":
    from superfed.experiments.load import apply_overrides
    from superfed.experiments.strict import build

    return build(kind_of(name), apply_overrides({}, list(changes)), name)


def kind_of(name: str) -> "type[DatasetSettings]":
    from superfed.core.errors import UserError
    from superfed.data.registry import DATASETS
    from superfed.experiments.strict import unknown

    if name not in DATASETS:
        raise UserError(f"{name}: {unknown(name, DATASETS)}")
    return DATASETS[name].settings


def needed(kind: Any) -> tuple[str, ...]:
    """The settings that have no default: those of data of one's own."""
    return tuple(f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING)
