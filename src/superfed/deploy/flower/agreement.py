"""What the server and all sites have agreed on for one run."""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from superfed.core.errors import UserError
from superfed.experiments.schema import RunConfig


@dataclass(frozen=True)
class Agreement:
    """A site's place in ``sites`` is its client number, which decides its draws."""

    run: str
    settings: dict[str, Any]
    """The run's config, resolved."""
    sites: tuple[str, ...]
    num_classes: int | None = None
    """Known, as the shape is, when all sites were met."""
    input_shape: tuple[int, ...] | None = None

    @cached_property
    def config(self) -> RunConfig:
        return RunConfig.from_plain(self.settings)

    def number(self, site: str) -> int:
        if site not in self.sites:
            raise UserError(f"the site '{site}' has no part in this run; its sites are {', '.join(self.sites)}")
        return self.sites.index(site)

    def about(self, num_classes: int, input_shape: tuple[int, ...]) -> "Agreement":
        return replace(self, num_classes=num_classes, input_shape=input_shape)

    def as_plain(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "config"}

    def to_json(self) -> str:
        return json.dumps(self.as_plain(), ensure_ascii=False)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Agreement":
        shape = plain.get("input_shape")
        return cls(
            str(plain["run"]),
            plain["settings"],
            tuple(plain["sites"]),
            plain.get("num_classes"),
            None if shape is None else tuple(shape),
        )

    @classmethod
    def from_json(cls, text: str) -> "Agreement":
        try:
            return cls.from_plain(json.loads(text))
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"the agreement for this run cannot be read ({type(error).__name__})") from None


def agreed(run: str, config: RunConfig, sites: tuple[str, ...]) -> Agreement:
    """A config as a federation runs it; refused is what only a simulation can do."""
    if len(set(sites)) != len(sites) or not sites:
        raise UserError("a federation needs sites, each with a name of its own")
    if config.data.newcomers:
        raise UserError(
            "data.newcomers: is for simulations; a real newcomer comes by itself, with: superfed deploy join"
        )
    dealt = config.data.num_clients
    if dealt is not None and dealt != len(sites):
        raise UserError(f"data.num_clients: is {dealt}, and the federation has {len(sites)} sites")
    return Agreement(run, config.of_the_run(), sites)
