"""A Ray cluster: found or started, asked what it has, left as it was."""

import os
import signal
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from superfed.core.errors import UserError

LOCAL = "local"
KNOCKING = 5.0
"""Seconds in which somebody must open."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Node:
    """A machine of the cluster, and what tasks may take of it."""

    id: str
    address: str
    cpus: float
    gpus: float


@contextmanager
def connected(address: str) -> Iterator[None]:
    """The cluster at ``address`` while the block lasts; ``local`` is one of this machine's own, ended with it."""
    _knock(address)
    ray = _ray()
    with _signals_kept():
        _connect(ray, address)
    try:
        yield
    finally:
        with _signals_kept():
            ray.shutdown()


def nodes() -> list[Node]:
    """Those that are alive."""
    return [
        Node(
            node["NodeID"],
            node["NodeManagerAddress"],
            node["Resources"].get("CPU", 0.0),
            node["Resources"].get("GPU", 0.0),
        )
        for node in _ray().nodes()
        if node["Alive"]
    ]


def _knock(address: str) -> None:
    """Find out soon whether anybody is there: Ray itself would wait for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():  # local, or a word that Ray knows
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCKING).close()
    except (OSError, OverflowError) as error:
        raise _unreachable(address, error) from error


def _unreachable(address: str, error: Exception) -> UserError:
    said = " ".join(str(error).split())
    return UserError(f"--ray {address}: no Ray cluster can be reached there ({said})")


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told who computes what
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or it tells of it every time
    try:
        import ray
    except ImportError:
        raise UserError("--ray needs Ray; install it with: pip install 'superfed[ray]'") from None
    return ray


def _connect(ray: Any, address: str) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    own = {"include_dashboard": False} if address == LOCAL else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(address=address, **quiet, **own)
            _hush(ray)
    except (ConnectionError, ValueError, RuntimeError, ImportError) as error:
        raise _unreachable(address, error) from error


def _hush(ray: Any) -> None:
    """Ray prints on standard output, whatever it is told, that a process or a machine died; we say it in our own way."""
    inside = ray._private.worker
    if hasattr(inside, "print_to_stdstream"):
        inside.print_to_stdstream = lambda *_, **__: None


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Ray sets handlers of its own; how this program is stopped stays its own business."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
