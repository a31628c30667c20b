"""Orders of the server, replies of a site: some facts of fixed types, and named arrays."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar, cast

from superfed.deploy.flower.wire.npy import Arrays
from superfed.deploy.flower.wire.refusal import Refusal

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SCHEMA = 1
RUN_ID = re.compile(r"[0-9a-f]{32}")
LONGEST = 1_000_000
"""Characters of one fact: settings are a few thousand."""

Fact = str | int | float
Facts = Mapping[str, Fact]
T = TypeVar("T")


@dataclass(frozen=True)
class Letter:
    """What goes over the wire, in either direction."""

    facts: Facts
    arrays: Arrays = field(default_factory=dict)


@dataclass(frozen=True)
class Order:
    """What the server asks of one site."""

    kind: str
    """``meet``: who are you and what do you hold; ``train``; ``evaluate``; ``serve``: here is a model for a newcomer."""
    run: str
    round: int
    ticket: str
    """For this order to this site alone; a reply must carry it, and one reply may."""
    taken: int
    """The last round in which a reply of this site was taken in, or -1: the site goes on from its state after it."""
    patience: float
    """Seconds until the server stops waiting."""
    agreement: str
    """What all have agreed on for this run, as JSON."""
    schema: int = SCHEMA


@dataclass(frozen=True)
class Reply:
    """What a site answers. ``problem`` is empty, or one sentence, and then nothing else counts."""

    run: str
    round: int
    ticket: str
    site: str
    samples: int = 0
    problem: str = ""
    diverged: int = 0
    """1 where the update was not finite and the site stays as it was."""
    numbers: str = "{}"
    """What was counted or measured, as JSON."""
    schema: int = SCHEMA


def written(letter: Order | Reply, arrays: Arrays | None = None) -> Letter:
    return Letter(dict(vars(letter)), arrays or {})


def refusing(order: Letter, problem: str) -> Letter:
    """The reply to an order that could not even be passed on to the site."""
    run, round, ticket = (order.facts.get(name) for name in ("run", "round", "ticket"))
    return written(
        Reply(
            run if isinstance(run, str) and RUN_ID.fullmatch(run) else "0" * 32,
            round if isinstance(round, int) else 0,
            ticket if isinstance(ticket, str) else "",
            "",
            problem=problem,
        )
    )


def read(kind: type[T], facts: Facts) -> T:
    """An order or a reply out of what came, each fact there and of its type."""
    wanted = {f.name: f for f in fields(cast("type[DataclassInstance]", kind))}
    if unknown := sorted(facts.keys() - wanted.keys()):
        raise Refusal(f"it says '{unknown[0][:40]}', which nobody asked for")
    values: dict[str, Any] = {}
    for name, one in wanted.items():
        if name not in facts:
            raise Refusal(f"it does not say '{name}'")
        values[name] = _checked(name, facts[name], str(getattr(one.type, "__name__", one.type)))
    if values["schema"] != SCHEMA:
        raise Refusal(f"it has schema {values['schema']}, and {SCHEMA} is read here; use one version of superfed")
    if RUN_ID.fullmatch(values["run"]) is None:
        raise Refusal("its run is no run's name")
    return kind(**values)


def _checked(name: str, value: object, kind: str) -> Fact:
    right = {
        "str": isinstance(value, str) and len(value) <= LONGEST,
        "int": isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**62,
        "float": isinstance(value, float | int) and not isinstance(value, bool),
    }[kind]
    if not right:
        raise Refusal(f"its '{name}' is no {kind} that can be used")
    return cast("Fact", value)
