"""The SuperLink of a federation."""

from collections.abc import Iterator
from contextlib import contextmanager

from superfed.core.errors import UserError
from superfed.deploy.flower.folder.certificates import days_left
from superfed.deploy.flower.folder.federation import FederationFolder
from superfed.deploy.flower.folder.keys import read_public_key
from superfed.deploy.flower.folder.secret import check_secret
from superfed.deploy.flower.programs.child import Child
from superfed.deploy.flower.programs.control import Control
from superfed.deploy.flower.programs.environment import flower_environment, program
from superfed.deploy.flower.programs.ports import somebody_listens

READY = 60.0
"""Seconds until it must be there."""


def superlink_command(folder: FederationFolder, host: str, port: int) -> list[str]:
    """As anybody may type it."""
    words = [program("flower-superlink"), "--host", host, "--port", str(port)]
    words += ["--database", str(folder.database), "--disable-runtime-dependency-installation"]
    if folder.insecure:
        return [*words, "--insecure"]
    certificates = ["--ssl-ca-certfile", str(folder.ca), "--ssl-certfile", str(folder.certificate)]
    return [*words, *certificates, "--ssl-keyfile", str(folder.key), "--enable-supernode-auth"]


@contextmanager
def superlink(folder: FederationFolder, host: str, port: int) -> Iterator[Child]:
    """The federation's SuperLink, listening, with every site's key registered; ended with the block."""
    if not folder.insecure:
        check_secret(folder.key)
        if days_left(folder.certificate) < 0:
            raise UserError(f"{folder.certificate}: has expired; make a new one with: superfed deploy init --renew")
    if somebody_listens(host, port):
        raise UserError(f"{host}:{port}: somebody listens there already; choose another --port")
    child = Child("the SuperLink", superlink_command(folder, host, port), _environment(folder), folder.server_log)
    try:
        child.wait_until(lambda: somebody_listens(host, port), READY)
        folder.note_running(f"{host}:{port}")
        if not folder.insecure:
            register_sites(folder)
        yield child
    finally:
        folder.note_running(None)
        child.end()


def register_sites(folder: FederationFolder) -> None:
    """Let the SuperLink know the keys of all sites, and take none away: a run may be under way."""
    with Control(folder) as control:
        known = {node.key.strip() for node in control.nodes()}
        for site in folder.sites:
            key = read_public_key(folder.public_key(site))
            if key.strip() not in known:
                control.register(site, key)


def _environment(folder: FederationFolder) -> dict[str, str]:
    return flower_environment(folder.flower_home)
