"""The server as it runs: the SuperLink, who comes and goes, and a door if it is to be reached from elsewhere."""

import time
from collections.abc import Callable
from contextlib import ExitStack

from superfed.core.errors import UserError
from superfed.deploy.flower.folder.federation import FederationFolder, is_loopback
from superfed.deploy.flower.programs.door import door
from superfed.deploy.flower.programs.family import adopt_orphans
from superfed.deploy.flower.programs.ports import free_port
from superfed.deploy.flower.programs.status import status_of
from superfed.deploy.flower.programs.superlink import superlink
from superfed.store.lock import locked

LOOK = 3.0


def run_server(folder: FederationFolder, host: str, port: int, say: Callable[[str], None]) -> None:
    """Until it is told to end, or the SuperLink does."""
    if folder.insecure and not is_loopback(host):
        raise UserError(f"--host {host}: without encryption a federation stays on this machine")
    adopt_orphans()
    with locked(folder.path / "server"), ExitStack() as opened:
        if is_loopback(host):
            link = opened.enter_context(superlink(folder, host, port))
        else:  # Flower lets whoever reaches its port register keys and start runs; from outside only sites' calls get in
            inner = free_port()
            link = opened.enter_context(superlink(folder, "127.0.0.1", inner))
            opened.enter_context(door(folder, host, port, f"127.0.0.1:{inner}"))
        say(f"{folder.name} listens at {host}:{port}")
        known: dict[str, str] = {}
        while link.returncode is None:
            now = status_of(folder)["sites"]
            for site, state in now.items():
                if known.get(site, "away") != state:
                    say(f"{site}: {state}")
            known = now
            time.sleep(LOOK)
        raise UserError(f"the SuperLink ended with code {link.returncode}{link.last_words()}")
