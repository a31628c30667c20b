"""A hub on this machine: it answers the hub's own client as the Hugging Face hub does, from files in memory."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "a" * 40


class HubServer(ThreadingHTTPServer):
    """Repository ``repo`` with ``files``. What it sends can be made to differ from what it says it has."""

    daemon_threads = True

    def __init__(self, repo: str, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repo, self.files = repo, files
        self.sent: dict[str, bytes] = {}
        """What is sent instead of a file."""
        self.cut_after: int | None = None
        """Connections break after so many bytes of a file."""
        self.status: int | None = None
        """Every answer, if not None."""
        self.fetched: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def hub_server(repo: str, files: dict[str, bytes]) -> Iterator[HubServer]:
    with HubServer(repo, files) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: HubServer
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""

    def _answer(self, *, body: bool) -> None:
        hub, path = self.server, self.path.partition("?")[0]
        api = f"/api/datasets/{hub.repo}"
        resolve = f"/datasets/{hub.repo}/resolve/"
        if hub.status is not None:
            self._send(hub.status, b"{}", {}, body=body)
        elif path in (api, f"{api}/revision/main", f"{api}/revision/{COMMIT}"):
            self._json(self._info(), body=body)
        elif path.startswith(f"{api}/tree/"):
            self._json(self._tree(), body=body)
        elif path.startswith(resolve):
            self._file(path.removeprefix(resolve).partition("/")[2], body=body)
        elif path.startswith(f"{api}/"):
            self._send(404, b"{}", {"X-Error-Code": "RevisionNotFound"}, body=body)
        else:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"}, body=body)

    def _info(self) -> dict[str, Any]:
        siblings = [
            {
                "rfilename": name,
                "size": len(content),
                "blobId": "b",
                "lfs": {"sha256": _sha256(content), "size": len(content), "pointerSize": 1},
            }
            for name, content in self.server.files.items()
        ]
        return {
            "id": self.server.repo,
            "sha": COMMIT,
            "siblings": siblings,
            "private": False,
            "cardData": {"license": ["mit"]},
        }

    def _tree(self) -> list[dict[str, Any]]:
        return [
            {
                "type": "file",
                "path": name,
                "size": len(content),
                "oid": "b",
                "lfs": {"oid": _sha256(content), "size": len(content), "pointerSize": 1},
            }
            for name, content in self.server.files.items()
        ]

    def _file(self, name: str, *, body: bool) -> None:
        content = self.server.files[name]
        headers = {"ETag": f'"{_sha256(content)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        if body:
            self.server.fetched.append(name)
        self._send(200, self.server.sent.get(name, content), headers, body=body, cut=self.server.cut_after)

    def _json(self, value: Any, *, body: bool) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"}, body=body)

    def _send(
        self, status: int, content: bytes, headers: dict[str, str], *, body: bool, cut: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content[:cut])
            if cut is not None:
                self.close_connection = True


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
