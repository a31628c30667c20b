"""Deadlines, dropouts, bad replies and restarts, without Flower and without waiting."""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from superfed.algorithms import Scaffold, SuPerFed
from superfed.core.errors import UserError
from superfed.deploy.flower.server.rules import Rules
from superfed.deploy.flower.site.site import Site
from superfed.deploy.flower.wire.arrays import pack
from superfed.deploy.flower.wire.letters import Letter, Reply, read, written
from superfed.engine.simulation import Run
from support.federations import RUN, SITES, Federation, simulated, small_config

EVERYBODY = small_config(SuPerFed(start=0.5), clients_per_round=5)


def same(run: Run, other: Run) -> None:
    assert all(torch.equal(run.server[name], values) for name, values in other.server.items())


def altered(letter: Letter, **changes: object) -> Letter:
    return written(dataclasses.replace(read(Reply, letter.facts), **changes), letter.arrays)  # type: ignore[arg-type]


def is_training(letter: Letter) -> bool:
    return bool(letter.arrays)


def lies(how: Callable[[Letter], Letter]) -> Callable[[int, Letter], Letter]:
    """The site anna sends something else than it should, whenever it sends an update."""
    return lambda node, letter: how(letter) if node == 100 and is_training(letter) else letter


def nans(letter: Letter) -> Letter:
    return Letter(letter.facts, pack({"w": torch.full((10,), float("nan"))}))


def times(letter: Letter, factor: float) -> Letter:
    head = letter.arrays["w"][:-4]
    return Letter(letter.facts, {"w": head + torch.tensor(factor).numpy().tobytes()})


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (nans, "has shape (10,)"),
        (lambda letter: times(letter, float("nan")), "is not finite"),
        (lambda letter: times(letter, float("-inf")), "is not finite"),
        (lambda letter: times(letter, 1e30), "has norm 1e+30"),
        (lambda letter: Letter(letter.facts, {}), "'w' is missing"),
        (lambda letter: Letter(letter.facts, {**letter.arrays, "w_l": letter.arrays["w"]}), "nobody asked for"),
        (lambda letter: altered(letter, samples=10**12), "10,000,000 are believed"),
        (lambda letter: altered(letter, samples=1), "it had announced"),
        (lambda letter: altered(letter, samples=-1), "-1 samples"),
        (lambda letter: altered(letter, round=1, ticket="x"), "and this is round"),
        (lambda letter: altered(letter, site="bob"), "it came from 'anna'"),
        (lambda letter: altered(letter, run="f" * 32), "another run"),
        (lambda letter: Letter({"hello": 1}), "nobody asked for"),
    ],
)
def test_bad_updates_are_refused_with_a_reason_and_the_round_goes_on(
    how: Callable[[Letter], Letter], reason: str, tmp_path: Path
) -> None:
    federation = Federation(EVERYBODY, tmp_path)
    federation.link.altered = lies(how)
    run = federation.conduct()
    logs = federation.book.rounds()
    assert [log["taken"] for log in logs] == [list(SITES[1:])] * 4
    assert all(site == "anna" and reason in why for log in logs for site, why in log["refused"])
    assert all(log["refused"] for log in logs)
    assert all(torch.isfinite(values).all() for values in run.server.values())


def test_a_replayed_reply_is_refused(tmp_path: Path) -> None:
    federation = Federation(EVERYBODY, tmp_path)
    first: list[Letter] = []

    def replay(letter: Letter) -> Letter:
        first.append(letter)
        return first[0]

    federation.link.altered = lies(replay)
    federation.conduct()
    assert [log["refused"] for log in federation.book.rounds()] == [[], *[[["anna", "it was replayed"]]] * 3]


def test_a_dead_site_costs_one_deadline_and_not_one_a_round(tmp_path: Path) -> None:
    federation = Federation(EVERYBODY, tmp_path, Rules(deadline=60))
    federation.link.altered = lambda node, letter: None if node == 102 and is_training(letter) else letter
    federation.conduct()
    logs = federation.book.rounds()
    assert [log["missing"] for log in logs] == [["cleo"]] * 4
    assert [log["seconds"] >= 60 for log in logs] == [True, False, False, False]


def test_a_late_reply_is_ignored_and_counted_and_its_sender_takes_part_again(tmp_path: Path) -> None:
    federation = Federation(EVERYBODY, tmp_path, Rules(deadline=60))
    link, held = federation.link, {}
    pull = link.pull

    def slow_post(ids: object) -> object:
        """The first update of dora comes only when the second round has begun."""
        arrived = pull(ids)  # type: ignore[arg-type]
        for arrival in list(arrived):
            letter = arrival.letter
            if letter is not None and letter.arrays and letter.facts["site"] == "dora" and letter.facts["round"] == 0:
                held[arrival.id] = arrival
                arrived.remove(arrival)
        if federation.book.rounds():
            arrived += [held.pop(id) for id in list(held)]
        return arrived

    link.pull = slow_post  # type: ignore[method-assign, assignment]
    federation.conduct()
    logs = federation.book.rounds()
    assert logs[0]["missing"] == ["dora"]
    assert logs[1]["late"] == ["dora"]
    assert all("dora" in log["taken"] for log in logs[2:])


def test_what_was_not_taken_in_is_not_kept_either(tmp_path: Path) -> None:
    """A site whose reply is lost goes on from the state it had, as if it had not been sampled."""
    config = small_config(SuPerFed(start=0), clients_per_round=5)
    federation = Federation(config, tmp_path, Rules(deadline=60))
    federation.link.altered = lambda node, letter: (
        None if node == 102 and letter.arrays and letter.facts["round"] == 0 else letter
    )
    federation.conduct()
    first, second = (
        letter
        for node, letter in federation.link.sent
        if node == 102 and letter.arrays and letter.facts["round"] in (0, 1)
    )
    assert (first.facts["taken"], second.facts["taken"]) == (-1, -1)
    third = [letter for node, letter in federation.link.sent if node == 102 and letter.facts["round"] == 2]
    assert third[0].facts["taken"] == 1


def test_too_few_replies_and_the_round_is_asked_for_again_and_then_given_up(tmp_path: Path) -> None:
    federation = Federation(EVERYBODY, tmp_path, Rules(deadline=60, min_replies=4, attempts=2))
    silent = {100, 101}
    federation.link.altered = lambda node, letter: None if node in silent and is_training(letter) else letter
    with pytest.raises(UserError, match=r"round 1 of 4: 3 of 5 sites gave an update .* and 4 are needed"):
        federation.conduct()
    assert [log["attempt"] for log in federation.book.rounds()] == [1, 2]
    assert (federation.book.outcome() or {})["state"] == "failed"
    silent.clear()
    same(federation.conduct(), simulated(EVERYBODY))
    assert federation.book.outcome() == {"state": "finished", "reason": ""}


def test_a_site_that_is_away_is_not_asked_and_comes_back(tmp_path: Path) -> None:
    federation = Federation(EVERYBODY, tmp_path, Rules(deadline=60))
    link, send = federation.link, federation.link.send

    def watched(letters: object, patience: float) -> object:
        rounds = {letter.facts["round"] for letter in letters.values() if letter.arrays}  # type: ignore[attr-defined]
        link.away = {104} if rounds & {0, 1} else set()
        federation.clock.now += 2
        return send(letters, patience)  # type: ignore[arg-type]

    link.send = watched  # type: ignore[method-assign, assignment]
    federation.conduct()
    logs = federation.book.rounds()
    assert logs[1]["away"] == ["emil"]
    assert "emil" in logs[-1]["taken"]


def test_a_site_that_restarts_in_mid_round_is_asked_again(tmp_path: Path) -> None:
    config = small_config(SuPerFed(start=0), clients_per_round=5)
    federation = Federation(config, tmp_path, Rules(deadline=60))
    link = federation.link

    def dies_once(node: int, letter: Letter) -> Letter | None:
        if node == 103 and letter.arrays and letter.facts["round"] == 1 and not link.since.get(103):
            link.since[103] = "again"
            return None
        return letter

    link.altered = dies_once
    run = federation.conduct()
    assert all(log["seconds"] < 60 and not log["missing"] for log in federation.book.rounds())
    same(run, simulated(config))


def test_a_server_that_is_killed_goes_on_after_its_last_completed_round(tmp_path: Path) -> None:
    config = small_config(Scaffold(), clients_per_round=3, rounds=6)
    federation = Federation(config, tmp_path)
    link, send = federation.link, federation.link.send

    class Killed(BaseException):
        pass

    def dies(letters: object, patience: float) -> object:
        if any(letter.arrays and letter.facts["round"] == 3 for letter in letters.values()):  # type: ignore[attr-defined]
            send(letters, patience)  # type: ignore[arg-type]  # the sites do train, and nobody hears of it
            raise Killed
        return send(letters, patience)  # type: ignore[arg-type]

    link.send = dies  # type: ignore[method-assign, assignment]
    with pytest.raises(Killed):
        federation.conduct()
    link.send, link.sent = send, []  # type: ignore[method-assign]
    same(federation.conduct(), simulated(config))
    assert min(letter.facts["round"] for _, letter in link.sent if letter.arrays) == 3
    assert [log["round"] for log in federation.book.rounds()] == list(range(6))


def test_a_lost_personal_state_is_reported_and_replaced_only_if_told(tmp_path: Path) -> None:
    config = small_config(SuPerFed(start=0), clients_per_round=5, rounds=2)
    federation = Federation(config, tmp_path)
    site = federation.link.sites[101]
    answer = site.answer

    def loses(letter: Letter, remembered: int | None = None) -> Letter:
        if letter.facts["round"] == 1:
            shutil.rmtree(site.folder / RUN, ignore_errors=True)
        return answer(letter, remembered)

    site.answer = loses  # type: ignore[method-assign]
    federation.conduct()
    ((name, reason),) = federation.book.rounds()[1]["refused"]
    assert name == "bob"
    assert "after round 1 is lost" in reason
    assert "--begin-again" in reason
    told = Federation(config, tmp_path / "told")
    told.link.sites[101] = Site("bob", told.folder / "bob", begin_again=True)
    told.conduct()
    assert not told.book.rounds()[1]["refused"]


def test_a_key_of_nobody_and_a_name_that_is_anothers_are_not_let_in(tmp_path: Path) -> None:
    federation = Federation(EVERYBODY, tmp_path, Rules(gathering=30), keys=tuple(f"key of {name}" for name in SITES))
    link = federation.link
    link.keys = {100 + i: f"key of {name}" for i, name in enumerate(SITES)}
    link.sites[666] = Site("anna", tmp_path / "stranger")
    link.sites[667] = Site("anna", tmp_path / "impostor")
    link.keys |= {666: "key of nobody", 667: "key of bob"}
    federation.conduct()
    assert {node for node, letter in link.sent if letter.arrays} == set(range(100, 105))
    assert 666 not in {node for node, _ in link.sent}


def test_sites_that_do_not_come_are_named(tmp_path: Path) -> None:
    federation = Federation(EVERYBODY, tmp_path, Rules(gathering=30))
    federation.link.away = {102, 104}
    with pytest.raises(UserError, match="cleo, emil did not come"):
        federation.conduct()


def test_divergence_everywhere_ends_the_run_with_a_sentence(tmp_path: Path) -> None:
    federation = Federation(small_config(lr=1e30, clients_per_round=5), tmp_path)
    with pytest.raises(UserError, match="not finite; try a smaller lr"):
        federation.conduct()
    assert federation.book.outcome() is not None


def test_two_servers_do_not_share_a_folder(tmp_path: Path) -> None:
    from superfed.store.lock import locked

    federation = Federation(EVERYBODY, tmp_path)
    federation.book.folder.mkdir()
    with locked(federation.book.folder), pytest.raises(UserError, match="working on it"):
        federation.conduct()
