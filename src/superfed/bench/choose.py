"""What a user asked for, made into a plan or refused in a sentence."""

from collections.abc import Iterable, Mapping
from typing import cast

from superfed.bench.measure import Effort
from superfed.bench.methods import METHODS
from superfed.bench.networks import NETWORKS
from superfed.bench.suite import Plan
from superfed.core.errors import SettingError, require
from superfed.engine.executors import make_executor
from superfed.engine.precision import Precision, check_precision
from superfed.experiments.strict import unknown

QUICK_METHODS, QUICK_NETWORKS = ("fedavg", "fedrep", "ditto", "superfed"), ("two_nn", "two_cnn")


def plan_for(
    device: str,
    quick: bool,
    methods: str | None,
    networks: str | None,
    lanes: str | None,
    seconds: float | None,
    precision: str = "float32",
) -> Plan:
    """Lists are written with commas; what is not said is decided by ``quick`` and the device."""
    effort = Effort(5.0, 3) if quick else Effort(10.0, 5)
    if seconds is not None:
        require(0 < seconds < float("inf"), "seconds", f"must be more than 0, not {seconds}")
        effort = Effort(seconds, effort.turns)
    where = make_executor([], device, workers=1).device
    check_precision(precision, where)
    return Plan(
        methods=_names("methods", methods, METHODS, QUICK_METHODS if quick else METHODS),
        networks=_names("networks", networks, NETWORKS, QUICK_NETWORKS if quick else NETWORKS),
        lanes=_counts(lanes, (5,) if where.type == "cpu" else (5, 200) if quick else (5, 50, 200)),
        device=where,
        effort=effort,
        precision=cast(Precision, precision),
    )


def _names(key: str, given: str | None, known: Mapping[str, object], default: Iterable[str]) -> list[str]:
    if given is None:
        return list(default)
    names = _listed(key, given)
    for name in names:
        if name not in known:
            raise SettingError(key, f"'{name}' is {unknown(name, known)}")
    return names


def _counts(given: str | None, default: tuple[int, ...]) -> list[int]:
    if given is None:
        return list(default)
    words = _listed("lanes", given)
    for word in words:
        require(word.isdecimal() and int(word) >= 1, "lanes", f"must be whole numbers from 1 on, not '{word}'")
    return [int(word) for word in words]


def _listed(key: str, given: str) -> list[str]:
    """The words between commas, each once."""
    words = list(dict.fromkeys(word.strip() for word in given.split(",") if word.strip()))
    require(bool(words), key, "nothing was named")
    return words
