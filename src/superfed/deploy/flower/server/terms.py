"""All that the server needs to know to conduct a run, as one piece of JSON."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from superfed.core.errors import UserError
from superfed.deploy.flower.agreement import Agreement
from superfed.deploy.flower.server.rules import Rules
from superfed.deploy.flower.wire.limits import Limits


@dataclass(frozen=True)
class Terms:
    agreement: Agreement
    rules: Rules
    keys: tuple[str, ...] = ()
    """The sites' public keys, in their order, and after them those of sites that came later; empty where sites are
    believed by their names alone."""
    num_classes: int | None = None
    """If the sites' own samples may not hold every class."""

    def __post_init__(self) -> None:
        if self.keys and len(self.keys) < len(self.agreement.sites):
            raise UserError("a federation with keys needs one for every site")

    def to_json(self) -> str:
        plain: dict[str, Any] = {
            "agreement": self.agreement.as_plain(),
            "rules": asdict(self.rules),
            "keys": list(self.keys),
            "num_classes": self.num_classes,
        }
        return json.dumps(plain, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Terms":
        try:
            plain = json.loads(text)
            rules = dict(plain["rules"])
            limits = Limits(**rules.pop("limits"))
            agreement = Agreement.from_plain(plain["agreement"])
            return cls(agreement, Rules(**rules, limits=limits), tuple(plain["keys"]), plain["num_classes"])
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"the terms of this run cannot be read ({type(error).__name__})") from error
