"""The SuperNode of a site, and how it is told which site it is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from superfed.core.errors import UserError
from superfed.deploy.flower.folder.federation import read_settings, split_address
from superfed.deploy.flower.folder.secret import check_secret
from superfed.deploy.flower.programs.environment import program

SETTINGS = {"site", "address", "ca", "key", "data", "state"}


@dataclass(frozen=True)
class SiteFolder:
    """What a site was handed: who it is, where the server is, whom to believe, and what to prove itself by."""

    path: Path
    site: str
    address: str
    ca: Path | None
    key: Path | None
    data: Path | None
    state: Path | None


def open_site(path: Path) -> SiteFolder:
    settings = read_settings(path / "site.yaml", SETTINGS)

    def file(name: str) -> Path | None:
        value = settings.get(name)
        return None if value is None else (path / str(value)).absolute()

    if not settings.get("site") or not settings.get("address"):
        raise UserError(f"{path / 'site.yaml'}: must say its site and the server's address")
    split_address(str(settings["address"]))
    folder = SiteFolder(
        path, str(settings["site"]), str(settings["address"]), file("ca"), file("key"), file("data"), file("state")
    )
    if folder.key is not None:
        check_secret(folder.key)
    if (folder.key is None) != (folder.ca is None):
        raise UserError(f"{path / 'site.yaml'}: must say both ca and key, or neither for tries on one machine")
    return folder


def supernode_command(folder: SiteFolder, port: int, node: Mapping[str, str | bool]) -> list[str]:
    """As anybody may type it; ``port`` is for its own processes on this machine."""
    words = [program("flower-supernode"), "--superlink", folder.address, "--host", "127.0.0.1", "--port", str(port)]
    if folder.ca is None or folder.key is None:
        words.append("--insecure")
    else:
        words += ["--root-certificates", str(folder.ca), "--auth-supernode-private-key", str(folder.key)]
    return [*words, "--node-config", " ".join(f"{name}={json.dumps(value)}" for name, value in node.items())]
