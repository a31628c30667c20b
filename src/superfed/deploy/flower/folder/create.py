"""A new federation: its authority, the server's certificate, and for each site a folder to hand over."""

from collections.abc import Sequence
from pathlib import Path

from superfed.core.errors import UserError
from superfed.deploy.flower.folder.certificates import DAYS, make_authority, make_server_certificate
from superfed.deploy.flower.folder.federation import (
    FILE,
    FederationFolder,
    check_names,
    is_loopback,
    open_federation,
    split_address,
)
from superfed.deploy.flower.folder.keys import make_node_key
from superfed.store.files import write_bytes, write_text

FEDERATION = """\
# A federation of superfed. This folder belongs on the server's machine.
name: {name}
address: {address}   # where sites reach the server; its certificate is made for this host
sites:               # a site's place in this list is its client number: add new ones at the end
{sites}
{insecure}"""

SITE = """\
# The site '{site}' of the federation '{name}'. Hand this folder to the site, over a way that others cannot read:
# node.key is what it proves itself by. Nothing else in it is secret.
site: {site}
address: {address}   # where the server is reached
ca: ca.crt           # whose certificates are believed
key: node.key        # this site's own private key; a site may make its own and hand in only node.key.pub:
                     #   ssh-keygen -t ecdsa -b 384 -N "" -f node.key
data: null           # this site's samples, an .npz or .parquet file; --data says it too
state: null          # where the personal model is kept; --state says it too. Do not lose it: nobody else has it.
"""

SITE_INSECURE = """\
# The site '{site}' of the federation '{name}', without encryption and without keys: for tries on one machine only.
site: {site}
address: {address}   # where the server is reached
data: null           # this site's samples, an .npz or .parquet file; --data says it too
state: null          # where the personal model is kept; --state says it too. Do not lose it: nobody else has it.
"""


def create_federation(
    path: Path, sites: Sequence[str], address: str, name: str, *, insecure: bool = False, days: float = DAYS
) -> FederationFolder:
    """Make the folder. What is there already is never written over."""
    check_names(sites)
    host, _ = split_address(address)
    if not sites:
        raise UserError("a federation needs at least one site")
    if path.exists() and any(path.iterdir()):
        raise UserError(
            f"{path}: is there already and not empty; add a site with: superfed deploy init {path} --add NAME"
        )
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o700)
    listed = "\n".join(f"  - {site}" for site in sites)
    unsafe = "insecure: true       # no encryption and no keys: for tries on one machine only\n" if insecure else ""
    write_text(path / FILE, FEDERATION.format(name=name, address=address, sites=listed, insecure=unsafe))
    folder = open_federation(path)
    if not insecure:
        make_authority(folder.ca, folder.ca_key, name)
        make_server_certificate(folder.certificate, folder.key, (folder.ca, folder.ca_key), _hosts(host), days)
    elif not is_loopback(host):
        raise UserError(f"{address}: without encryption a federation stays on this machine; use 127.0.0.1")
    for site in sites:
        make_site(folder, site)
    return folder


def add_site(path: Path, site: str) -> FederationFolder:
    """One more site, at the end of the list."""
    folder = open_federation(path)
    check_names([*folder.sites, site])
    text = (path / FILE).read_text(encoding="utf-8")
    last = f"  - {folder.sites[-1]}\n"
    if last not in text:
        raise UserError(f"{path / FILE}: add '  - {site}' to its sites by hand, and call this again")
    make_site(folder, site)
    write_text(path / FILE, text.replace(last, f"{last}  - {site}\n", 1))
    return open_federation(path)


def renew_certificate(path: Path) -> None:
    """A new certificate for the server, signed by the same authority."""
    folder = open_federation(path)
    make_server_certificate(folder.certificate, folder.key, (folder.ca, folder.ca_key), _hosts(folder.host))


def _hosts(host: str) -> list[str]:
    return [host, *(one for one in ("127.0.0.1", "localhost") if one != host)]


def make_site(folder: FederationFolder, site: str) -> None:
    """The folder that is handed to a site."""
    place = folder.site(site)
    form = SITE_INSECURE if folder.insecure else SITE
    write_text(place / "site.yaml", form.format(site=site, name=folder.name, address=folder.address))
    if not folder.insecure:
        place.chmod(0o700)
        write_bytes(place / "ca.crt", folder.ca.read_bytes())
        make_node_key(place / "node.key", f"{site}@{folder.name}")
