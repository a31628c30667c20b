"""A site's warm process: it has torch and the data loaded, and answers what Flower's short-lived ones pass on to it.

They meet at a socket in the site's own folder, which only its owner can open. What goes over it is what went over the
wire: facts as JSON, arrays as bytes.
"""

import json
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from superfed.core.errors import UserError
from superfed.deploy.flower.wire.letters import Letter

HEAD = struct.Struct("<QQ")
Answer = Callable[[Letter, int | None], Letter]


def ask(place: Path, order: Letter, remembered: int | None) -> Letter:
    """Have the warm process at ``place`` answer."""
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(str(place))
            _send(line, order, remembered)
            return _receive(line)[0]
        except OSError as error:
            raise UserError(f"{place}: the site's own process does not answer ({error.strerror})") from None


class Desk:
    """Where the warm process listens. Answers one after another, which is how a node asks."""

    def __init__(self, place: Path) -> None:
        self._place = place
        place.unlink(missing_ok=True)
        self._listening = socket.socket(socket.AF_UNIX)
        before = os.umask(0o177)
        try:
            self._listening.bind(str(place))
        except OSError as error:
            raise UserError(f"{place}: cannot be listened at ({error.strerror or error})") from None
        finally:
            os.umask(before)
        self._listening.listen()

    def serve(self, answer: Answer) -> None:
        """Until the process ends."""
        while True:
            line, _ = self._listening.accept()
            with line:
                try:
                    order, remembered = _receive(line)
                    _send(line, answer(order, remembered), None)
                except (OSError, ValueError, struct.error):  # who asked went away
                    continue

    def close(self) -> None:
        self._listening.close()
        self._place.unlink(missing_ok=True)


def _send(line: socket.socket, letter: Letter, remembered: int | None) -> None:
    sizes = {name: len(data) for name, data in letter.arrays.items()}
    head = json.dumps({"facts": dict(letter.facts), "sizes": sizes, "remembered": remembered}).encode()
    line.sendall(HEAD.pack(len(head), sum(sizes.values())))
    line.sendall(head)
    for data in letter.arrays.values():
        line.sendall(data)


def _receive(line: socket.socket) -> tuple[Letter, int | None]:
    head_size, size = HEAD.unpack(_exactly(line, HEAD.size))
    head = json.loads(_exactly(line, head_size))
    rest, arrays, begin = _exactly(line, size), {}, 0
    for name, length in head["sizes"].items():
        arrays[name] = rest[begin : begin + length]
        begin += length
    return Letter(head["facts"], arrays), head["remembered"]


def _exactly(line: socket.socket, size: int) -> bytes:
    parts, missing = [], size
    while missing:
        part = line.recv(min(missing, 2**20))
        if not part:
            raise OSError(0, "it hung up")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
