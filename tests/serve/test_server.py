"""The server: what it shows, and what nobody gets out of it."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from conftest import Program
from superfed.core.errors import UserError
from superfed.serve.server import Server
from superfed.store.files import write_json
from superfed.store.layout import ExperimentFolder

SECRET = "a secret that lies outside"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str


class Asking:
    def __init__(self, server: Server) -> None:
        self.port = int(server.server_address[1])

    def __call__(self, path: str, method: str = "GET", host: str | None = None) -> Answer:
        """The path goes as it is: nothing in between makes it harmless."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True)
            connection.putheader("Host", f"127.0.0.1:{self.port}" if host is None else host)
            connection.endheaders()
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read().decode())
        finally:
            connection.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, experiment: Path) -> Path:
    """A finished experiment, one below a folder, one that just began, broken ones, and links that lead out."""
    top = tmp_path_factory.mktemp("serve")
    (top / "outside").mkdir()
    (top / "outside" / "secret.txt").write_text(SECRET)
    write_json(top / "outside" / "experiment.json", {"schema": 1, "name": SECRET, "runs": [], "config": {}})
    root = top / "runs"
    root.mkdir()
    _copy(experiment, root / "done")
    _copy(experiment, root / "below" / "deeper")
    _copy(experiment, root / "under way")
    for results in (root / "under way").glob("*/summary.json"):
        results.unlink()
    (root / "half").mkdir()
    (root / "half" / "experiment.json").write_text('{"schema": 1, "na')
    ExperimentFolder(root / "begun").write_info({"name": "<b>begun</b>", "runs": ["a", "b"]}, {})
    ExperimentFolder(root / "leads-out").write_info({"name": "x", "runs": ["../../outside"]}, {})
    ExperimentFolder(root / "run-is-a-link").write_info({"name": "x", "runs": ["away"]}, {})
    (root / "run-is-a-link" / "away").symlink_to(experiment / "fedavg-seed0")
    (root / "linked").symlink_to(top / "outside")
    _copy(experiment, root / "file-is-a-link")
    table = next((root / "file-is-a-link").glob("*/curve.parquet"))
    table.unlink()
    table.symlink_to(top / "outside" / "secret.txt")
    (root / "notes.txt").write_text("not an experiment")
    return root


def _copy(experiment: Path, to: Path) -> None:
    """Without checkpoints, which nobody shows."""
    for path in experiment.rglob("*"):
        if path.is_file() and "checkpoints" not in path.parts:
            copy = to / path.relative_to(experiment)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())


@pytest.fixture(scope="module")
def ask(folder: Path) -> Iterator[Asking]:
    with Server(folder, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield Asking(server)
        server.shutdown()
        thread.join()


def test_the_list_has_every_experiment_and_says_how_it_stands(ask: Asking, folder: Path) -> None:
    answer = ask("/")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    rows = {
        re.sub("<[^>]+>", "", re.split("</a>|<small>|</th>", row)[0]).strip(): row
        for row in re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", answer.text)
    }
    assert rows.keys() == {
        "done",
        "below/deeper",
        "under way",
        "half",
        "begun",
        "leads-out",
        "run-is-a-link",
        "file-is-a-link",
    }
    assert "finished" in rows["done"]
    assert 'href="/done/"' in rows["done"]
    assert 'href="/under%20way/"' in rows["under way"]
    assert "0 of 4 runs have results" in rows["under way"]
    assert '12 of 12 <progress value="12" max="12"' in rows["under way"]
    assert "experiment.json: cannot be read" in rows["half"]
    assert "href" not in rows["half"]
    assert "0 of 2 runs have results" in rows["begun"]
    assert "&lt;b&gt;begun&lt;/b&gt;" in rows["begun"]
    assert "lies outside of it" in rows["leads-out"]
    assert "lies outside of it" in rows["run-is-a-link"]
    assert "links are not followed" in rows["file-is-a-link"]
    assert str(folder) not in answer.text
    assert answer.headers["Refresh"] == "5"


@pytest.mark.parametrize("path", ["/done/", "/below/deeper/", "/done/?x=1", "/%64one/"])
def test_a_finished_experiment_has_the_page_of_its_report(ask: Asking, folder: Path, path: str) -> None:
    answer = ask(path)
    assert answer.status == 200
    assert "<h2>Summary</h2>" in answer.text
    report = (folder / "done" / "report.html").read_text()
    for part in re.findall(r"<section id=\"(?:summary|fairness)\">.*?</section>", report, re.DOTALL):
        assert part in answer.text


def test_one_under_way_shows_how_far_it_is_and_its_curves(ask: Asking) -> None:
    text = ask("/under%20way/").text
    assert text.count("3 of 3 <progress") == 4
    assert "evaluating all clients" in text
    found = json.loads(re.findall(r'id="page-data">(.*?)</script>', text)[0])
    assert [one["name"] for one in found["under_way"]] == ["FedAvg", "SuPerFed-MM"]
    assert all(one["curve"]["rounds"] == [0, 3] for one in found["under_way"])


def test_one_that_just_began_has_a_page(ask: Asking) -> None:
    answer = ask("/begun/")
    assert answer.status == 200
    assert answer.text.count(">waiting</td>") == 2
    assert "curves come with the first checkpoint" in answer.text


@pytest.mark.parametrize("place", ["half", "leads-out", "run-is-a-link", "file-is-a-link"])
def test_a_broken_one_says_what_is_wrong(ask: Asking, place: str) -> None:
    answer = ask(f"/{place}/")
    assert "This experiment cannot be shown: " in answer.text
    assert SECRET not in answer.text
    assert json.loads(ask(f"/{place}/state.json").text)["done"]


def test_the_state_changes_when_a_table_does(ask: Asking, folder: Path) -> None:
    first = json.loads(ask("/below/deeper/state.json").text)
    assert first == json.loads(ask("/below/deeper/state.json").text)
    assert first["done"]
    page = ask("/below/deeper/").text
    assert f'"version":"{first["version"]}"' in page
    curve = next((folder / "below" / "deeper").glob("*/curve.parquet"))
    os.utime(curve, ns=(1, 1))
    second = json.loads(ask("/below/deeper/state.json").text)
    assert second["version"] != first["version"]
    assert f'"version":"{second["version"]}"' in ask("/below/deeper/").text


@pytest.mark.parametrize(
    "path",
    [
        "/../outside/secret.txt",
        "/../outside/",
        "/done/../../outside/secret.txt",
        "/%2e%2e/outside/secret.txt",
        "/%2e%2e%2foutside%2fsecret.txt",
        "/..%2foutside/",
        "/..%5coutside/",
        "/%252e%252e/outside/",
        "//etc/passwd",
        "/etc/passwd",
        "/done/%00",
        "/%ff/",
        "/linked/",
        "/linked/secret.txt",
        "/done/experiment.json",
        "/done/report.html",
        "/done/fedavg-seed0/run.json",
        "/notes.txt",
        "/done/state.json/",
        "/" + "a/" * 2000,
        "/.",
        "/./",
        "/..",
        "/done/./",
        "/done/state.json/..",
    ],
)
def test_nothing_else_is_reachable(ask: Asking, path: str) -> None:
    answer = ask(path)
    assert answer.status in (400, 404)
    assert SECRET not in answer.text
    assert "root:" not in answer.text
    assert path.strip("/.") not in answer.text or path in ("/.", "/./", "/..")


def test_an_address_that_is_none(ask: Asking) -> None:
    assert ask("http://127.0.0.1/done/").status == 400
    assert ask("done/").status == 400
    assert ask("*").status == 400


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_it_only_reads(ask: Asking, method: str) -> None:
    answer = ask("/done/", method)
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD"
    assert answer.text == ""


def test_head_has_no_body(ask: Asking) -> None:
    answer = ask("/", "HEAD")
    assert (answer.status, answer.text) == (200, "")
    assert int(answer.headers["Content-Length"]) > 1000


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "0.0.0.0", "[::2]:1"]
)
def test_other_names_for_the_loopback_are_refused(ask: Asking, host: str) -> None:
    """A page elsewhere could have its own name lead here."""
    for path in ("/", "/done/", "/done/state.json"):
        answer = ask(path, host=host)
        assert answer.status == 421
        assert "done" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "[::1]:8000", "127.0.0.2:1"])
def test_its_own_names_are_heard(ask: Asking, host: str) -> None:
    assert ask("/", host=host).status == 200


def test_a_browser_is_told_to_run_and_fetch_nothing_else(ask: Asking) -> None:
    for path in ("/", "/done/", "/done/state.json", "/nowhere/"):
        headers = ask(path).headers
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; ")
        assert re.search(r"script-src 'sha256-[\w+/]+='; connect-src 'self'", policy)
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "Access-Control-Allow-Origin" not in headers


def test_a_folder_that_is_an_experiment_is_served_as_one(experiment: Path) -> None:
    with Server(experiment, "127.0.0.1", 0) as server:
        assert list(server.served.places()) == [experiment.name]


def test_a_port_in_use_and_a_folder_that_is_not_there(folder: Path, superfed: Program, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match="cannot be listened on"):
            Server(folder, "127.0.0.1", port)
        done = superfed("serve", folder, "--port", port)
    assert done.returncode == 2
    assert done.stderr.strip().count("\n") == 0
    assert "choose another --port" in done.stderr
    for arguments, words in (
        ((tmp_path / "none",), "there is no such folder"),
        ((folder, "--port", 99999), "--port"),
        ((folder, "--host", "no.such.host.invalid", "--port", 0), "cannot be listened on"),
    ):
        done = superfed("serve", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_cleanly(folder: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "superfed.cli.main", "serve", str(folder), "--port", "0"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # which tests in the background ignore
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert re.search(r"http://127\.0\.0\.1:\d+/ \(stop with Ctrl-C\)", line)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert (out, err) == ("", "\nsuperfed: stopped serving; runs that train go on\n")
