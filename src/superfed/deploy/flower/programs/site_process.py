"""A site as it runs: its SuperNode, and beside it a warm process that answers, which is this one."""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from superfed.core.errors import UserError
from superfed.deploy.flower.programs.child import Child
from superfed.deploy.flower.programs.environment import flower_environment
from superfed.deploy.flower.programs.family import adopt_orphans
from superfed.deploy.flower.programs.handshake import check_server
from superfed.deploy.flower.programs.ports import free_port
from superfed.deploy.flower.programs.supernode import SiteFolder, supernode_command
from superfed.deploy.flower.site.worker import Answer, Desk
from superfed.deploy.flower.wire.letters import Letter
from superfed.store.lock import locked

if TYPE_CHECKING:
    from superfed.experiments.onboard import Onboarded

NOT_LET_IN = "[code: 2004]"
"""What a SuperNode's log says if its key is unknown; and also if the server has not yet noticed that it was gone."""
FORGETTING = 90.0
"""Seconds until the server has surely noticed."""
KNOWN = ".known"
"""Lies beside the states of a site that the server has let in once."""


@dataclass(frozen=True)
class SiteOptions:
    folder: SiteFolder
    state: Path
    data: Path | None = None
    data_root: Path | None = None
    begin_again: bool = False


def run_site(options: SiteOptions, say: Callable[[str], None]) -> None:
    """Until it is told to end, or its SuperNode does."""
    from superfed.deploy.flower.site.site import Site

    own = None if options.data is None else options.data.absolute()
    site = Site(options.folder.site, options.state.absolute(), own, options.data_root, begin_again=options.begin_again)
    with nodes(options.folder, options.state, site.answer) as start:
        say(f"{options.folder.site} takes part at {options.folder.address}; its states are in {options.state}")
        until = time.monotonic() + FORGETTING
        while True:
            child = start()
            while child.returncode is None:
                time.sleep(0.2)
            if not _may_be_let_in(child, options.state) or time.monotonic() > until:
                raise UserError(_why(child))
            say("the server has not yet noticed that this site was gone; it tries again")
            time.sleep(5.0)


def join(options: SiteOptions, epochs: int, seconds: float) -> "Onboarded":
    """Wait for the model of a finished run, and use it on this site's own samples."""
    from superfed.deploy.flower.site.newcomer import Newcomer

    if options.data is None:
        raise UserError("--data: a newcomer needs samples of its own")
    answers: SimpleQueue[Onboarded | UserError] = SimpleQueue()
    newcomer = Newcomer(options.folder.site, options.data.absolute(), epochs, answers.put)
    with nodes(options.folder, options.state, newcomer.answer) as start:
        child, until = start(), time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                came = answers.get(timeout=0.2)
            except Empty:
                if child.returncode is not None:
                    raise UserError(_why(child)) from None
                continue
            time.sleep(1.0)  # so that the answer gets away too
            if isinstance(came, UserError):
                raise came
            return came
    raise UserError(f"no model came within {seconds:.0f} s; at the server somebody must say: superfed deploy serve RUN")


@contextmanager
def nodes(folder: SiteFolder, state: Path, answer: Answer) -> Iterator[Callable[[], Child]]:
    """What starts the site's SuperNode, whose orders ``answer`` answers in this process; it is ended with the block.

    Two may not share a place for states.
    """
    state = state.absolute()
    state.mkdir(parents=True, exist_ok=True)
    state.chmod(0o700)
    adopt_orphans()
    with locked(state), tempfile.TemporaryDirectory(prefix="superfed-") as private, ExitStack() as opened:
        check_server(folder)
        place = Path(private) / "site.sock"

        def noted(order: Letter, remembered: int | None) -> Letter:
            (state / KNOWN).touch()
            return answer(order, remembered)

        threading.Thread(target=_serve, args=(Desk(place), noted), daemon=True).start()

        def start() -> Child:
            log = state / "supernode.log"
            log.unlink(missing_ok=True)
            command = supernode_command(folder, free_port(), {"site": folder.site, "worker": str(place)})
            child = Child("the SuperNode", command, flower_environment(state / "flower"), log)
            opened.callback(child.end)
            return child

        yield start


def _serve(desk: Desk, answer: Answer) -> None:
    import torch

    torch.set_num_threads(1)  # it counts for this thread, which is the one that trains
    desk.serve(answer)


def _may_be_let_in(child: Child, state: Path) -> bool:
    """Whether it was only the server's memory of an earlier connection that kept this site out."""
    return NOT_LET_IN in child.log.read_text(errors="replace") and (state / KNOWN).exists()


def _why(child: Child) -> str:
    if NOT_LET_IN in child.log.read_text(errors="replace"):
        return f"the server does not let this site in: it does not know its key{child.last_words()}"
    return f"the SuperNode ended with code {child.returncode}{child.last_words()}"
