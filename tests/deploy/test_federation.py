"""Real federations in trouble: everything that is too long for the usual suite.

pytest -m federation
"""

import os
import signal
import ssl
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from conftest import Program
from superfed.core.errors import UserError
from superfed.deploy.flower.agreement import agreed
from superfed.deploy.flower.apps.folder import write_app
from superfed.deploy.flower.folder.certificates import make_authority, make_server_certificate
from superfed.deploy.flower.programs.child import Child, end_together
from superfed.deploy.flower.programs.control import write_connection
from superfed.deploy.flower.programs.door import door
from superfed.deploy.flower.programs.environment import flower_environment, program
from superfed.deploy.flower.programs.handshake import check_server
from superfed.deploy.flower.programs.ports import free_port, somebody_listens
from superfed.deploy.flower.programs.superlink import superlink
from superfed.deploy.flower.programs.supernode import open_site, supernode_command
from superfed.deploy.flower.server.book import Book
from superfed.deploy.flower.server.rules import Rules
from superfed.deploy.flower.server.terms import Terms
from superfed.deploy.flower.site.state import SiteState
from support.federations import small_config
from support.flower_processes import (
    MARK,
    Running,
    agreement_in,
    assert_as_simulated,
    assert_nobody_left,
    learnt,
    running,
    small_file,
    wait_until,
)

pytestmark = pytest.mark.federation
FOUR = ("anna", "bob", "cleo", "dora")


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("four"), FOUR) as federation:
        yield federation


@pytest.mark.parametrize(
    "algorithm",
    [
        "{name: superfed, mixing: model, start: 0.34}",
        "{name: superfed, mixing: layer, start: 0.34}",
        "scaffold",
        "fedrep",
        "ditto",
    ],
)
def test_four_sites_learn_what_the_simulator_learns(four: Running, algorithm: str, tmp_path: Path) -> None:
    config, out = small_file(tmp_path / "small.yaml", 4), tmp_path / "run"
    code, said = four.done(four.submit(config, out, f"algorithm={algorithm}", "training.clients_per_round=3"))
    assert code == 0, said
    assert_as_simulated(out)


def rounds_done(out: Path) -> int:
    return len([log for log in Book(out).rounds() if log["complete"]])


def test_a_killed_site_comes_back_with_its_personal_model(tmp_path: Path) -> None:
    with running(tmp_path, ("anna", "bob")) as here:
        out = tmp_path / "run"
        child = here.submit(small_file(tmp_path / "c.yaml", 2), out, "training.rounds=6", "--min-replies", "2")
        wait_until(lambda: rounds_done(out) >= 2, 180, child)
        kill_with_all_below(here.sites["bob"])
        here.start_site("bob")
        code, said = here.done(child)
        assert code == 0, said
        assert_as_simulated(out)
        state = SiteState(tmp_path / "states" / "bob", agreement_in(out).run)
        assert state.rounds()[-1] == 5


def test_a_lost_state_is_reported_and_the_others_go_on(tmp_path: Path) -> None:
    with running(tmp_path, ("anna", "bob")) as here:
        out = tmp_path / "run"
        child = here.submit(
            small_file(tmp_path / "c.yaml", 2), out, "training.rounds=5", "--deadline", "60", "--min-replies", "1"
        )
        wait_until(lambda: rounds_done(out) >= 2, 180, child)
        kill_with_all_below(here.sites["bob"])
        for file in (tmp_path / "states" / "bob" / agreement_in(out).run).glob("after-*"):
            file.unlink()
        here.start_site("bob")
        code, said = here.done(child)
        assert code == 0, said
        told = [reason for log in Book(out).rounds() for site, reason in log["refused"] if site == "bob"]
        told += Book(out).results()["problems"].values()  # the server may let it in again only after the last round
        assert any("is lost" in reason for reason in told), told
        assert "is lost" in said


def test_a_killed_server_goes_on_after_its_last_completed_round(tmp_path: Path) -> None:
    with running(tmp_path, ("anna", "bob")) as here:
        out = tmp_path / "run"
        assert here.link is not None
        child = here.submit(small_file(tmp_path / "c.yaml", 2), out, "training.rounds=6", "--min-replies", "2")
        wait_until(lambda: rounds_done(out) >= 2, 180, child)
        kill_with_all_below(here.link)
        code, said = here.done(child, 60)
        assert code == 2, said
        before = learnt(out).round
        assert before >= 2
        with superlink(here.folder, here.folder.host, here.folder.port):
            again = here.command("resume", str(out), "--federation", str(here.folder.path))
            code, said = here.done(again)
            assert code == 0, said
        assert_as_simulated(out)
        assert "round   1" not in said
        assert [log["round"] for log in Book(out).rounds() if log["complete"]] == list(range(6))


def test_a_dead_site_stalls_one_round_and_not_all(tmp_path: Path) -> None:
    with running(tmp_path, ("anna", "bob", "cleo")) as here:
        out = tmp_path / "run"
        words = ("training.rounds=6", "--deadline", "25", "--min-replies", "2")
        child = here.submit(small_file(tmp_path / "c.yaml", 3), out, *words)
        wait_until(lambda: rounds_done(out) >= 1, 180, child)
        kill_with_all_below(here.sites["cleo"])
        code, said = here.done(child)
        assert code == 0, said
        logs = Book(out).rounds()
        assert sum(log["seconds"] >= 25 for log in logs) <= 1, logs
        assert sum("cleo" in [*log["missing"], *log["away"]] for log in logs) >= 3, logs


def node_of(here: Running, folder: Path) -> Child:
    """A plain SuperNode, which gives up soon."""
    site = open_site(folder)
    words = [*supernode_command(site, free_port(), {"site": site.site}), "--max-retries", "1"]
    log = here.place / f"{folder.name}-{time.monotonic_ns()}.log"
    return Child("the SuperNode", words, flower_environment(here.place / "home"), log)


def test_a_wrong_authority_a_plain_text_client_and_an_expired_certificate_are_refused(tmp_path: Path) -> None:
    with running(tmp_path, ("anna", "bob"), sites=False) as here:
        folder = here.folder
        other = tmp_path / "other"
        make_authority(other / "ca.crt", other / "ca.key", "another")
        (folder.site("anna") / "ca.crt").write_bytes((other / "ca.crt").read_bytes())
        wrong = node_of(here, folder.site("anna"))
        plain = folder.site("bob") / "site.yaml"
        plain.write_text(f"site: bob\naddress: {folder.address}\n")
        plain_node = node_of(here, folder.site("bob"))
        for child in (wrong, plain_node):
            wait_until(lambda child=child: child.returncode is not None, 90, child)  # type: ignore[misc]
            assert child.returncode != 0
        with pytest.raises(UserError, match="is not believed"):
            check_server(open_site(folder.site("anna")))
    with running(tmp_path / "expired", ("anna",), sites=False) as here:
        folder, port = here.folder, free_port()
        make_server_certificate(folder.certificate, folder.key, (folder.ca, folder.ca_key), ["127.0.0.1"], days=-1)
        with pytest.raises(UserError, match="has expired"), superlink(folder, "127.0.0.1", port):
            pass
        words = [program("flower-superlink"), "--host", "127.0.0.1", "--port", str(port), "--enable-supernode-auth"]
        words += ["--ssl-ca-certfile", str(folder.ca), "--ssl-certfile", str(folder.certificate)]
        link = Child(
            "expired",
            [*words, "--ssl-keyfile", str(folder.key)],
            flower_environment(tmp_path / "home"),
            tmp_path / "expired.log",
        )
        try:
            text = (folder.site("anna") / "site.yaml").read_text().replace(folder.address, f"127.0.0.1:{port}")
            (folder.site("anna") / "site.yaml").write_text(text)
            site = open_site(folder.site("anna"))
            wait_until(lambda: somebody_listens("127.0.0.1", port), 60, link)
            with pytest.raises(UserError, match="has expired"):
                check_server(site)
            node = node_of(here, folder.site("anna"))
            wait_until(lambda: node.returncode is not None, 90, node)
            assert node.returncode != 0
        finally:
            link.end()


def test_through_the_door_sites_pass_and_nothing_else(tmp_path: Path) -> None:
    with running(tmp_path, ("anna", "bob"), sites=False) as here:
        folder, port = here.folder, free_port()
        for site in folder.sites:
            settings = folder.site(site) / "site.yaml"
            settings.write_text(settings.read_text().replace(folder.address, f"127.0.0.1:{port}"))
        with door(folder, "127.0.0.1", port, folder.address):
            believed = ssl.create_default_context(cafile=str(folder.ca))
            for path in ("/v1/control/start-run", "/v1/control/register-node", "/v1/runtime/acquire-task", "/docs"):
                answered = httpx.post(f"https://127.0.0.1:{port}{path}", verify=believed)
                assert answered.status_code == 403, path
                inside = httpx.post(f"https://{folder.address}{path}", verify=believed)
                assert inside.status_code != 403
            for site in folder.sites:
                here.start_site(site)
            code, said = here.done(here.submit(small_file(tmp_path / "c.yaml", 2), tmp_path / "run"))
            assert code == 0, said
            assert_as_simulated(tmp_path / "run")
            for child in here.sites.values():
                child.end()


def test_a_newcomer_is_handed_the_model_and_keeps_what_it_makes_of_it(four: Running, tmp_path: Path) -> None:
    out = tmp_path / "run"
    code, said = four.done(four.submit(small_file(tmp_path / "c.yaml", 4), out))
    assert code == 0, said
    four.sites["dora"].end()  # a newcomer needs a key that the server knows; dora's will do
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "mine.npz", x=rng.normal(size=(40, 6)).astype("float32"), y=rng.integers(0, 3, 40))
    model = tmp_path / "mine.safetensors"
    serving = four.command("serve", str(out), "--federation", str(four.folder.path), "--minutes", "3")
    words = ("join", str(four.folder.site("dora")), "--data", str(tmp_path / "mine.npz"), "--out", str(model))
    code, said = four.done(four.command(*words, "--wait", "150"), 200)
    assert code == 0, said
    assert "accuracy as it arrives" in said
    assert model.exists()
    os.kill(serving.pid, signal.SIGINT)
    assert four.done(serving, 60)[0] == 130
    four.start_site("dora")


def test_the_demo_ends_well_and_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = os.urandom(8).hex()
    monkeypatch.setenv(MARK, mark)
    child = demo(tmp_path / "first")
    wait_until(lambda: child.returncode is not None, 400, child)
    said = child.log.read_text()
    assert child.returncode == 0, said
    assert "mean" in said
    assert all(site in said for site in FOUR)
    assert_nobody_left(mark)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_demo_that_is_killed_leaves_no_process(
    how: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = os.urandom(8).hex()
    monkeypatch.setenv(MARK, mark)
    child = demo(tmp_path / "killed")
    wait_until(lambda: "sites start" in child.log.read_text(), 120, child)
    time.sleep(5)
    os.kill(child.pid, how)
    wait_until(lambda: child.returncode is not None, 60, child)
    assert_nobody_left(mark, 30)


def flower_run(place: Path, *, simulation: str | None, more: tuple[tuple[str, list[str]], ...] = ()) -> None:
    """A SuperLink of one's own, nodes of one's own, and `flwr run` itself, as docs/deploy.md shows them."""
    home, port = place / "home", free_port()
    environment = flower_environment(home)
    write_connection(home, f"127.0.0.1:{port}", None)
    words = [program("flower-superlink"), "--insecure", "--host", "127.0.0.1", "--port", str(port)]
    words += ["--disable-runtime-dependency-installation", *(["--simulation"] if simulation else [])]
    children = [Child("the SuperLink", words, environment, place / "link.log")]
    try:
        children[0].wait_until(lambda: somebody_listens("127.0.0.1", port), 60)
        for name, node in more:
            words = [program("flower-supernode"), "--insecure", "--superlink", f"127.0.0.1:{port}", *node]
            children.append(Child(name, words, environment, place / f"{name}.log"))
        words = [program("flwr"), "run", str(place / "app"), "superfed"]
        words += ["--federation-config", simulation] if simulation else []
        children.append(Child("flwr run", words, environment, place / "flwr.log"))
        wait_until(lambda: Book(place / "run").outcome() is not None, 400, children[0])
        assert Book(place / "run").outcome() == {"state": "finished", "reason": ""}
        assert_as_simulated(place / "run")
    finally:
        end_together(children)


def test_flowers_own_simulation_runs_a_hundred_sites(tmp_path: Path) -> None:
    """The same app under Ray."""
    pytest.importorskip("ray")
    config = small_config(sites=100, rounds=2, clients_per_round=10, local_epochs=1)
    terms = Terms(agreed("5" * 32, config, tuple(f"site-{i}" for i in range(100))), Rules(deadline=300))
    Book(tmp_path / "run").begin(terms.to_json())
    write_app(tmp_path / "app", terms, tmp_path / "run", tmp_path / "states")
    flower_run(tmp_path, simulation="num-supernodes=100 client-resources-num-cpus=1 init-args-num-cpus=2")


def test_flowers_own_commands_do_as_well(tmp_path: Path, superfed: Program) -> None:
    words = ("--sites", "anna,bob", "--to", tmp_path / "app", "--out", tmp_path / "run")
    done = superfed("deploy", "app", small_file(tmp_path / "c.yaml", 2), *words)
    assert done.returncode == 0, done.stderr
    nodes = []
    for site in ("anna", "bob"):
        settings = f'site="{site}" state="{tmp_path / site}"'
        nodes.append((site, ["--host", "127.0.0.1", "--port", str(free_port()), "--node-config", settings]))
    flower_run(tmp_path, simulation=None, more=tuple(nodes))


def demo(place: Path) -> Child:
    words = [sys.executable, "-m", "superfed", "deploy", "demo", "--rounds", "2", "--keep", str(place)]
    return Child("the demo", words, dict(os.environ), place.with_suffix(".log"))


def kill_with_all_below(child: Child) -> None:
    """As if the machine had lost its power."""
    from superfed.deploy.flower.programs.family import descendants

    below = descendants(child.pid)
    child.kill()
    for pid in below:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
