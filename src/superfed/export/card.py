"""What travels with a model: whose it is, what its answers mean, and what its inputs must be like."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from superfed.core.errors import UserError
from superfed.data.preprocessing import Preprocessing

SCHEMA = "1"
MARK = "superfed_model"
"""The key that tells such a file from others; its value is the schema."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """In a file every value is text: text as it is, all else as JSON, and what is None is left out."""

    method: str
    client: int | None
    """None is the global model."""
    client_name: str | None
    lam: float | None
    """Where on the client's line the model lies; None where there is no line."""
    num_classes: int
    class_names: Sequence[str] | None
    preprocessing: Preprocessing
    model: Mapping[str, Any] | None
    """How the network is built: its name in the registry and its settings; None if it came from Python."""
    columns: Mapping[str, Any] | None
    """What the columns of the run's table were for, where its data was one."""
    batch_statistics: bool
    """Whether the network normalises by the batch's own statistics, so that a sample's answer depends on the others."""
    data_fingerprint: str
    superfed: str
    """The version that wrote it."""
    torch: str

    def texts(self) -> dict[str, str]:
        """As files keep it."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain["preprocessing"] = self.preprocessing.as_plain()
        return {MARK: SCHEMA} | {name: _text(value) for name, value in plain.items() if value is not None}

    @classmethod
    def from_texts(cls, texts: Mapping[str, str], where: str) -> "Card":
        """The card in a file, which anyone may have written."""
        if MARK not in texts:
            raise UserError(f"{where}: was not written by superfed export, so it does not say what its inputs are")
        if texts[MARK] != SCHEMA:
            raise UserError(f"{where}: has schema {texts[MARK]}, and this program reads schema {SCHEMA}")
        try:
            names = _json(texts, "class_names")
            return cls(
                method=texts["method"],
                client=_json(texts, "client", int),
                client_name=texts.get("client_name"),
                lam=_json(texts, "lam", float, int),
                num_classes=_needed(_json(texts, "num_classes", int)),
                class_names=None if names is None else [_needed(name, str) for name in names],
                preprocessing=Preprocessing.from_plain(_needed(_json(texts, "preprocessing", dict))),
                model=_json(texts, "model", dict),
                columns=_json(texts, "columns", dict),
                batch_statistics=_needed(_json(texts, "batch_statistics", bool)),
                data_fingerprint=texts["data_fingerprint"],
                superfed=texts["superfed"],
                torch=texts["torch"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(
                f"{where}: what it says of its model cannot be read ({error!r}); export it again"
            ) from error

    @property
    def called(self) -> str:
        """The model in a sentence."""
        if self.client is None:
            return f"{self.method}, global model"
        name = "" if self.client_name is None else f" ({shown(self.client_name)})"
        return f"{self.method}, client {self.client}{name}" + ("" if self.lam is None else f", λ = {self.lam:g}")

    def class_name(self, number: int) -> str:
        """What a class is called; its number, where it has no name."""
        names = self.class_names or ()
        return names[number] if number < len(names) else str(number)


def shown(name: str) -> str:
    """A name as a terminal can show it: spaces, line ends and the like in quotes."""
    return name if name.isprintable() and name.strip() == name and name else repr(name)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _json(texts: Mapping[str, str], name: str, *kinds: type) -> Any:
    value = json.loads(texts[name]) if name in texts else None
    return value if value is None or not kinds else _needed(value, *kinds)


def _needed(value: Any, *kinds: type) -> Any:
    if value is None or (kinds and type(value) not in kinds):
        raise TypeError(f"{value!r} is not {' or '.join(kind.__name__ for kind in kinds) or 'there'}")
    return value
