"""Two real sites and a real server on loopback, with certificates and keys: the short form of what a federation must do.

The longer ones are in test_federation.py, behind the marker ``federation``.
"""

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from superfed.core.errors import UserError
from superfed.deploy.flower.folder.certificates import make_authority
from superfed.deploy.flower.folder.keys import make_node_key
from superfed.deploy.flower.programs.handshake import check_server
from superfed.deploy.flower.programs.supernode import open_site
from superfed.deploy.flower.server.book import Book
from support.flower_processes import Running, assert_as_simulated, running, small_file

pytest.importorskip("flwr")
SITES = ("anna", "bob")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("federation"), SITES) as federation:
        yield federation


@pytest.fixture(scope="module")
def out(here: Running) -> Path:
    """A finished run."""
    out = here.place / "run"
    code, said = here.done(here.submit(small_file(here.place / "small.yaml", 2), out, "--deadline", "120"))
    assert code == 0, said
    assert "mean" in said
    return out


def test_two_sites_learn_what_the_simulator_learns(out: Path) -> None:
    assert_as_simulated(out)
    logs = Book(out).rounds()
    assert [log["taken"] for log in logs] == [list(SITES)] * 3
    assert all(not log["refused"] and not log["late"] for log in logs)
    assert set(Book(out).results()["sites"]) == set(SITES)


def test_a_run_that_fails_says_so_and_so_does_its_exit_code(here: Running) -> None:
    config = small_file(here.place / "failing.yaml", 2)
    code, said = here.done(here.submit(config, here.place / "failing", "--classes", "2"))
    assert code == 2
    assert "a site's labels need 3 classes, and 2 were given" in said
    assert "Traceback" not in said


def test_private_keys_are_for_their_owners_eyes(here: Running) -> None:
    keys = list(here.folder.path.rglob("*.key"))
    assert len(keys) == 4
    assert all(stat.S_IMODE(key.stat().st_mode) == 0o600 for key in keys)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in (here.place / "states").iterdir())


def test_who_is_there_is_said(here: Running, out: Path) -> None:
    code, said = here.done(here.command("status", str(here.folder.path), "--json"))
    told = json.loads(said)
    assert code == 0
    assert told["sites"] == {"anna": "there", "bob": "there"}
    assert "finished:completed" in told["runs"].values()


def test_a_key_that_is_not_registered_is_refused(here: Running) -> None:
    stranger = here.place / "stranger"
    stranger.mkdir()
    for name in ("site.yaml", "ca.crt"):
        (stranger / name).write_bytes((here.folder.site("anna") / name).read_bytes())
    make_node_key(stranger / "node.key", "stranger")
    code, said = here.done(here.command("site", str(stranger), "--state", str(here.place / "strange")), 60)
    assert code == 2
    assert "the server does not let this site in" in said
    assert "Traceback" not in said


def test_a_server_of_another_authority_is_not_believed(here: Running, tmp_path: Path) -> None:
    make_authority(tmp_path / "ca.crt", tmp_path / "ca.key", "another")
    for name in ("site.yaml", "node.key"):
        (tmp_path / name).write_bytes((here.folder.site("anna") / name).read_bytes())
    (tmp_path / "node.key").chmod(0o600)
    with pytest.raises(UserError, match="certificate is not believed"):
        check_server(open_site(tmp_path))


def test_two_sites_do_not_share_their_states(here: Running) -> None:
    state = here.place / "states" / "anna"
    code, said = here.done(here.command("site", str(here.folder.site("anna")), "--state", str(state)), 60)
    assert code == 2
    assert "another process is working on it" in said
