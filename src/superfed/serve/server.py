"""Answers over HTTP: the list, each experiment's page, and whether there is a newer one. It reads, and nothing else.

An answer is made for a place that was found in the folder, by its name: no path that a request holds ever reaches the disk.
On the loopback a request must also call the server by a loopback name, so that no web page elsewhere can have its own name
point here and read along.
"""

import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from superfed.core.errors import UserError
from superfed.report.document import document, policy
from superfed.report.markup import element
from superfed.report.page.assets import script
from superfed.serve.folder import Served
from superfed.serve.index_page import EVERY, index_page

HTML, JSON = "text/html; charset=utf-8", "application/json"


class Server(ThreadingHTTPServer):
    """Serves ``root`` until it is shut down."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, root: Path, host: str, port: int) -> None:
        if not root.is_dir():
            raise UserError(f"{root}: there is no such folder")
        self.served = Served(root)
        self.loopback = _is_loopback(host)
        self._kept: dict[str, tuple[str, str]] = {}
        self._making = threading.Lock()
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise UserError(
                f"{host}:{port}: cannot be listened on ({error.strerror or error}); choose another --port"
            ) from error
        except OverflowError as error:
            raise UserError(f"--port: must be from 0 to 65535, not {port}") from error

    @property
    def address(self) -> str:
        host, port = self.server_address[:2]
        return f"http://{_bracketed(str(host))}:{port}/"

    def page_of(self, place: str, path: Path) -> str:
        """Made once for each version, however many look at it."""
        version = self.served.version(path)
        with self._making:
            kept = self._kept.get(place)
            if kept is None or kept[0] != version:
                kept = self._kept[place] = version, self.served.page(path, version)
        return kept[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of an answer is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        if self.server.loopback and not _names_loopback(self.headers.get("Host", "")):
            return self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "This server answers to loopback names only.")
        try:
            start, *parts = [unquote(part, errors="strict") for part in self.path.partition("?")[0].split("/")]
        except UnicodeDecodeError:
            start, parts = "no text", []
        if start or not parts:
            return self._refuse(HTTPStatus.BAD_REQUEST, "This is no address.")
        served = self.server.served
        if parts == [""]:
            experiments = [served.overview(place, path) for place, path in served.places().items()]
            under_way = any(not one.done for one in experiments)
            return self._answer(index_page(served.root.name, experiments), HTML, again=EVERY if under_way else None)
        places, place = served.places(), "/".join(parts[:-1])
        if place not in places or parts[-1] not in ("", "state.json"):
            if "/".join(parts) in places:
                return self._refuse(HTTPStatus.NOT_FOUND, "An experiment's address ends in a slash.")
            return self._refuse(HTTPStatus.NOT_FOUND, "There is no such experiment in this folder.")
        path = places[place]
        if parts[-1] == "state.json":
            done = served.overview(place, path).done
            return self._answer(json.dumps({"version": served.version(path), "done": done}), JSON)
        try:
            made = self.server.page_of(place, path)
        except Exception as error:  # whatever is in the folder, the server goes on
            return self._refuse(HTTPStatus.OK, f"This experiment cannot be shown: {served.sentence(error)}")
        return self._answer(made, HTML)

    do_HEAD = do_GET

    def version_string(self) -> str:
        return "superfed"

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads along."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """For what is not GET or HEAD, and for what is no HTTP: no body, and no word of what was asked for."""
        known = code != HTTPStatus.NOT_IMPLEMENTED
        self.send_response(code if known else HTTPStatus.METHOD_NOT_ALLOWED)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        if not known:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()
        self.close_connection = True

    def _refuse(self, status: HTTPStatus, words: str) -> None:
        self._answer(document("superfed", "superfed", [element("p", words)]), HTML, status)

    def _answer(self, text: str, kind: str, status: HTTPStatus = HTTPStatus.OK, again: int | None = None) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", f"{policy(script(), live=True)}; frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")
        if again is not None:
            self.send_header("Refresh", str(again))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _names_loopback(header: str) -> bool:
    """Of ``127.0.0.1:8000``, ``localhost`` or ``[::1]:8000``: whether the name in it is a loopback one."""
    name = header[1 : header.find("]")] if header.startswith("[") else header.partition(":")[0]
    return _is_loopback(name.lower())


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
