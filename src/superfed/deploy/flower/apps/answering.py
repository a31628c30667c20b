"""Who answers an order that reached this node: a process that the site keeps warm, or this one."""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from superfed.core.errors import UserError
from superfed.deploy.flower.wire.letters import Letter

if TYPE_CHECKING:
    from superfed.deploy.flower.site.site import Site

Settings = Mapping[str, Any]


def answer(order: Letter, node: Settings, run: Settings, remembered: int | None) -> Letter:
    """``node`` is what the node was started with, ``run`` what the app's folder says."""
    if worker := str(node.get("worker", "")):
        from superfed.deploy.flower.site.worker import ask

        return ask(Path(worker), order, remembered)
    name = str(node.get("site") or _simulated_name(order, node))
    state = str(node.get("state") or run.get("site-states") or "")
    if not state:
        raise UserError('the node must say where its states are kept: --node-config \'site="anna" state="/where"\'')
    folder = Path(state) if node.get("state") else Path(state) / name
    site = _site(name, folder, str(node.get("data", "")), str(node.get("data-root", "")), bool(node.get("begin-again")))
    return site.answer(order, remembered)


def _simulated_name(order: Letter, node: Settings) -> str:
    """Flower's simulation engine numbers its nodes."""
    if "partition-id" not in node:
        raise UserError("the node must say which site it is: --node-config 'site=\"anna\"'")
    sites = json.loads(str(order.facts.get("agreement", "{}"))).get("sites", [])
    return str(sites[int(node["partition-id"]) % len(sites)])


@lru_cache(maxsize=256)
def _site(name: str, folder: Path, data: str, data_root: str, begin_again: bool) -> "Site":
    """One for as long as this process lives: what it has read and built serves the next round too."""
    import torch

    from superfed.deploy.flower.site.site import Site

    torch.set_num_threads(1)  # more of them only stand in each other's way in steps this small
    return Site(
        name,
        folder,
        Path(data) if data else None,
        Path(data_root) if data_root else None,
        begin_again=begin_again,
    )
