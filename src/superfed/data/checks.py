"""Checks that turn a bad setting into a sentence before numpy can turn it into a traceback."""

import math
from collections.abc import Sequence
from numbers import Integral, Real

from superfed.core.errors import SettingError, require


def whole(key: str, value: object, *, least: int, most: int | None = None) -> None:
    """``value`` must be a whole number from ``least`` to ``most``."""
    wanted = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise SettingError(key, f"must be {wanted}, got {value!r}")
    number = int(value)
    require(number >= least and (most is None or number <= most), key, f"must be {wanted}, got {number}")


def finite(key: str, value: object) -> float:
    """``value`` as a float, if it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise SettingError(key, f"must be a finite number, got {value!r}")
    return float(value)


def one_of(key: str, value: object, choices: Sequence[str]) -> None:
    """``value`` must be one of ``choices``."""
    names = " or ".join(repr(choice) for choice in choices)
    require(value in choices, key, f"must be {names}, got {value!r}")


def seed_in_range(seed: object) -> None:
    """A seed enters the key of every draw as 64 bits."""
    whole("seed", seed, least=-(2**63), most=2**63 - 1)


def client_in_range(client: int, num_clients: int) -> None:
    """Numpy would take client -1 to be the last one."""
    require(0 <= client < num_clients, "client", f"must be from 0 to {num_clients - 1}, got {client}")
