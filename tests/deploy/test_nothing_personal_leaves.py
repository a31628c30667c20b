"""Every message that a site sends is read: it holds what the method uploads, and nothing of what stays."""

import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from flwr.supercore.inflatable.inflatable_object import get_all_nested_objects

from superfed.core.state import State
from superfed.deploy.flower.site.site import UNTOLD, Site
from superfed.deploy.flower.site.state import SiteState
from superfed.deploy.flower.wire.arrays import pack
from superfed.deploy.flower.wire.letters import Letter, Reply, read
from superfed.deploy.flower.wire.records import from_records, to_records
from superfed.engine.executors import OneAtATime
from superfed.engine.lanes import Lane
from superfed.engine.local import CPU, Update
from support.federations import RUN, SITES, Federation, agreement_of, small_config, task_of
from support.toys import METHODS, train


class Recording(OneAtATime):
    """The simulator's own executor, which also notes what each client uploads in each round."""

    def __init__(self) -> None:
        super().__init__(CPU)
        self.uploads: dict[tuple[int, int], State] = {}

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]:
        for place, update in super().update(lanes):
            self.uploads[lanes[place].client, lanes[place].round] = update.upload
            yield place, update


@pytest.mark.parametrize("name", ["superfed", "superfed-layer", "scaffold", "fedrep", "lg_fedavg", "ditto", "local"])
def test_every_message_holds_what_the_method_uploads_to_the_byte_and_some_counts(name: str, tmp_path: Path) -> None:
    config = small_config(METHODS[name], rounds=2)
    federation = Federation(config, tmp_path)
    federation.conduct()
    simulator = Recording()
    train([task_of(config)], simulator)
    updates = 0
    for _, letter in federation.link.replies:
        facts = read(Reply, letter.facts)  # these facts and no others
        where = (SITES.index(facts.site), facts.round)
        known = {
            "run": RUN,
            "ticket": facts.ticket,
            "site": facts.site,
            "problem": "",
            "diverged": 0,
            "samples": task_of(config).data.train_size(where[0]),
        }
        assert {key: letter.facts[key] for key in known} == known
        assert len(facts.ticket) == 32
        if facts.numbers == "{}":
            assert letter.arrays == pack(simulator.uploads[where])
            updates += 1
        else:
            assert letter.arrays == {}
            assert set(json.loads(facts.numbers)) in (
                {"classes", "shape"},
                {"lam", "accuracy", "validation", "test", "by_lambda"},
            )
    assert updates == 6


@pytest.mark.parametrize("name", ["superfed", "ditto", "fedrep"])
def test_nothing_that_stays_is_found_in_what_went_over_the_wire(name: str, tmp_path: Path) -> None:
    config = small_config(METHODS[name], clients_per_round=5, rounds=3)
    federation = Federation(config, tmp_path)
    federation.conduct()
    sent = b"".join(_everything_in(letter) for _, letter in federation.link.replies)
    task = task_of(config)
    for client, site in enumerate(SITES):
        states = SiteState(tmp_path / site, RUN)
        assert states.rounds() == [0, 1, 2]
        stays = [values for round in states.rounds() for values in (states.after(round) or {}).values()]
        stays += [task.data.train(client).x, task.data.validation(client).x, task.data.test(client).x]
        for values in stays:
            for piece in _pieces(values):
                assert piece not in sent, site


def _pieces(values: torch.Tensor, length: int = 4) -> list[bytes]:
    """Some runs of a few numbers as they would stand in a message, in the types one might send them in."""
    flat = values.detach().flatten().numpy()
    runs = [flat[place : place + length] for place in np.linspace(0, len(flat) - length, 15).astype(int)]
    return [run.astype(kind).tobytes() for run in runs if np.any(run) for kind in (np.float32, np.float64)]


def _everything_in(letter: Letter) -> bytes:
    """Every object that Flower makes of the message."""
    objects = get_all_nested_objects(to_records(letter))
    return b"".join(one.deflate() for one in objects.values())


def test_an_error_says_what_kind_it_was_and_shows_no_values(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "0.123456 secret weights"

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError(f"tensor([{secret}])")

    monkeypatch.setattr("superfed.deploy.flower.site.site.local_update", fails)
    federation = Federation(small_config(clients_per_round=5), tmp_path)
    with caplog.at_level(logging.INFO, logger="superfed"), pytest.raises(Exception, match="0 of 5 sites"):
        federation.conduct()
    replies = repr([letter for _, letter in federation.link.replies])
    assert "RuntimeError" in replies
    assert secret not in replies
    assert secret not in caplog.text


def test_what_is_wrong_with_a_sites_samples_stays_in_its_own_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A sentence about bad data names the file and the value."""
    own = tmp_path / "patient-4711.npz"
    np.savez(own, x=np.zeros((3, 6), "float32"), y=np.array([0, 1, -42]))
    site = Site("anna", tmp_path / "state", own)
    with caplog.at_level(logging.INFO, logger="superfed"):
        reply = site.answer(_order(kind="meet"))
    assert reply.facts["problem"] == UNTOLD
    assert not any(word in repr(reply) for word in ("4711", "-42", str(tmp_path)))
    assert "patient-4711.npz: holds the label -42" in caplog.text


def test_a_site_does_what_it_is_asked_and_nothing_else(tmp_path: Path) -> None:
    site = Site("anna", tmp_path)
    assert "cannot be used" in str(site.answer(from_records(to_records(_order(kind=7)))).facts["problem"])
    assert "cannot" in str(site.answer(_order(kind="open")).facts["problem"])
    assert list(tmp_path.iterdir()) == [] or not list(tmp_path.rglob("*.safetensors"))


def _order(**changes: object) -> Letter:
    facts: dict[str, object] = {
        "kind": "train",
        "run": RUN,
        "round": 0,
        "ticket": "t",
        "taken": -1,
        "patience": 1.0,
        "agreement": agreement_of(small_config()).to_json(),
        "schema": 1,
    }
    return Letter(facts | changes)  # type: ignore[arg-type]
