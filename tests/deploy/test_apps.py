"""Flower's two apps are thin: what they pass on is what they were given, and no error's own words get out."""

from pathlib import Path

import pytest

pytest.importorskip("flwr")

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from superfed.deploy.flower.agreement import agreed
from superfed.deploy.flower.apps import client
from superfed.deploy.flower.apps.folder import write_app
from superfed.deploy.flower.server.rules import Rules
from superfed.deploy.flower.server.terms import Terms
from superfed.deploy.flower.site.site import Site
from superfed.deploy.flower.wire.arrays import pack
from superfed.deploy.flower.wire.letters import Letter, Order, Reply, read, written
from superfed.deploy.flower.wire.records import from_records, to_records
from support.federations import RUN, SITES, agreement_of, small_config, task_of


@pytest.fixture(autouse=True)
def _as_in_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flower's processes know which run and node they are of."""
    for name in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


def order(kind: str = "train", round: int = 0, taken: int = -1) -> Letter:
    config = small_config()
    task = task_of(config)
    sent = task.algorithm.broadcast(task.init_server(), task.model)
    facts = Order(kind, RUN, round, "ticket", taken, 5.0, agreement_of(config).to_json())
    return written(facts, pack(sent))


def asked(letter: Letter, context: Context, kind: str = "train") -> Reply:
    message = Message(to_records(letter), 7, kind)
    message.metadata.__dict__["_message_id"] = "some id"
    return read(Reply, from_records(client.app(message, context).content).facts)


def node(**settings: str) -> Context:
    return Context(1, 2, dict(settings), RecordDict(), {})


def test_a_message_is_answered_as_the_site_answers_and_its_round_is_remembered(tmp_path: Path) -> None:
    context = node(site="anna", state=str(tmp_path / "one"))
    reply = asked(order(), context)
    assert reply == read(Reply, Site("anna", tmp_path / "other").answer(order()).facts)
    assert not reply.problem
    assert context.state["superfed"] == ConfigRecord({"run": RUN, "round": 0})


def test_a_state_that_flower_remembers_and_the_disk_does_not_is_reported(tmp_path: Path) -> None:
    context = node(site="anna", state=str(tmp_path))
    context.state["superfed"] = ConfigRecord({"run": RUN, "round": 3})
    assert "its personal state is lost" in asked(order(), context).problem
    context.state["superfed"] = ConfigRecord({"run": "f" * 32, "round": 3})
    assert not asked(order(), context).problem


def test_a_numbered_node_of_a_simulation_is_the_site_with_that_number(tmp_path: Path) -> None:
    context = Context(1, 2, {"partition-id": 3, "num-partitions": 5}, RecordDict(), {"site-states": str(tmp_path)})
    assert asked(order(), context).site == SITES[3]
    assert (tmp_path / SITES[3] / RUN).is_dir()


@pytest.mark.parametrize("settings", [{}, {"site": "anna"}, {"site": "anna", "worker": "/nowhere/site.sock"}])
def test_what_a_node_lacks_is_said(settings: dict[str, str]) -> None:
    assert asked(order(), node(**settings)).problem


def test_no_error_of_its_own_words_gets_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("tensor([0.123456])")

    monkeypatch.setattr(client, "answer", fails)
    problem = asked(order(), node(site="anna", state=str(tmp_path))).problem
    assert "ValueError" in problem
    assert "0.123456" not in problem


def test_an_app_folder_holds_the_terms_and_no_code(tmp_path: Path) -> None:
    import tomllib

    terms = Terms(agreed(RUN, small_config(), SITES), Rules(deadline=3.5), tuple(f'key "{name}"\n' for name in SITES))
    write_app(tmp_path / "app", terms, tmp_path / "run")
    assert [path.name for path in (tmp_path / "app").iterdir()] == ["pyproject.toml"]
    app = tomllib.loads((tmp_path / "app" / "pyproject.toml").read_text())["tool"]["flwr"]["app"]
    assert Terms.from_json(app["config"]["terms"]) == terms
    assert app["config"]["out"] == str(tmp_path / "run")
