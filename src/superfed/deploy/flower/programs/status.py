"""How a federation is: its server, its sites, its runs."""

from typing import Any

from superfed.core.errors import UserError
from superfed.deploy.flower.folder.federation import FederationFolder
from superfed.deploy.flower.folder.keys import read_public_key
from superfed.deploy.flower.programs.control import Control


def status_of(folder: FederationFolder) -> dict[str, Any]:
    with Control(folder) as control:
        nodes, runs = control.nodes(), control.runs()
    sites: dict[str, str] = {}
    if folder.insecure:
        sites["nodes"] = f"{sum(node.online for node in nodes)} there; without keys nobody knows who"
    else:
        by_key = {node.key.strip(): node for node in nodes}
        for site in folder.sites:
            try:
                node = by_key.pop(read_public_key(folder.public_key(site)).strip(), None)
            except UserError as problem:
                sites[site] = str(problem)
                continue
            sites[site] = "not registered" if node is None else "there" if node.online else "away"
        for node in by_key.values():
            sites[f"node {node.id}"] = "registered with a key that is no site's; it gets no orders"
    return {"server": control.address, "sites": sites, "runs": {str(id): state for id, state in runs.items()}}
