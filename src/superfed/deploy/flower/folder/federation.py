"""A federation's folder, on the server's machine."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from superfed.core.errors import UserError
from superfed.store.files import read_json, write_json

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
FILE = "federation.yaml"


@dataclass(frozen=True)
class FederationFolder:
    path: Path
    name: str
    address: str
    """Where sites reach the server: host:port."""
    sites: tuple[str, ...]
    insecure: bool = False

    @property
    def ca(self) -> Path:
        return self.path / "authority" / "ca.crt"

    @property
    def ca_key(self) -> Path:
        return self.path / "authority" / "ca.key"

    @property
    def certificate(self) -> Path:
        return self.path / "server" / "server.crt"

    @property
    def key(self) -> Path:
        return self.path / "server" / "server.key"

    @property
    def database(self) -> Path:
        return self.path / "server" / "state.db"

    @property
    def flower_home(self) -> Path:
        return self.path / "server" / "flower"

    @property
    def server_log(self) -> Path:
        return self.path / "server" / "superlink.log"

    def site(self, name: str) -> Path:
        return self.path / "sites" / name

    def public_key(self, name: str) -> Path:
        return self.site(name) / "node.key.pub"

    @property
    def host(self) -> str:
        return split_address(self.address)[0]

    @property
    def port(self) -> int:
        return split_address(self.address)[1]

    def running(self) -> dict[str, Any]:
        """Where the server that runs now is controlled from."""
        file = self.path / "server" / "running.json"
        if not file.exists():
            raise UserError(
                f"{self.path}: its server is not running; start it with: superfed deploy server {self.path}"
            )
        return dict(read_json(file))

    def note_running(self, control: str | None) -> None:
        file = self.path / "server" / "running.json"
        if control is None:
            file.unlink(missing_ok=True)
        else:
            write_json(file, {"control": control})


def open_federation(path: Path) -> FederationFolder:
    settings = read_settings(path / FILE, {"name", "address", "sites", "insecure"})
    sites = settings.get("sites")
    if not isinstance(sites, list) or not sites:
        raise UserError(f"{path / FILE}: sites must be a list of names")
    check_names([str(site) for site in sites])
    address = str(settings.get("address", ""))
    split_address(address)
    return FederationFolder(
        path.absolute(),
        str(settings.get("name", "federation")),
        address,
        tuple(map(str, sites)),
        bool(settings.get("insecure", False)),
    )


def read_settings(path: Path, known: set[str]) -> dict[str, Any]:
    """A small YAML file of ours, in which nothing unknown stands."""
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; make a federation with: superfed deploy init") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{path}: cannot be read ({' '.join(str(error).split())[:200]})") from error
    if not isinstance(settings, dict):
        raise UserError(f"{path}: must hold a mapping of settings")
    if unknown := sorted(map(str, settings.keys() - known)):
        raise UserError(f"{path}: '{unknown[0]}' is unknown; known are {', '.join(sorted(known))}")
    return settings


def check_names(names: Sequence[str]) -> None:
    for name in names:
        if NAME.fullmatch(name) is None:
            raise UserError(
                f"'{name[:80]}': a site's name has letters, digits, '.', '_' and '-', and begins with no sign"
            )
    if len(set(names)) != len(names):
        raise UserError("two sites have the same name")


def split_address(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise UserError(f"'{address}': an address is written host:port, for instance 127.0.0.1:8000")
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
