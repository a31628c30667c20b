"""What travels arrives to the bit, and what is not as it must be is refused with its reason."""

import dataclasses
import io
import pickle
from typing import Any

import numpy as np
import pytest
import torch

from superfed.deploy.flower.wire.arrays import pack, template_of, unpack
from superfed.deploy.flower.wire.expected import sent_template, upload_template
from superfed.deploy.flower.wire.letters import Letter, Order, Reply, read, written
from superfed.deploy.flower.wire.limits import Limits
from superfed.deploy.flower.wire.numbers import read_holdings, read_scores
from superfed.deploy.flower.wire.records import from_records, to_records
from superfed.deploy.flower.wire.refusal import Refusal
from superfed.engine.local import local_update
from support.toys import METHODS, toy_task

STATE = {"w": torch.randn(7), "c": torch.randn(2, 3, dtype=torch.float64), "alpha": torch.tensor(0.3)}
REPLY = Reply("0" * 32, 2, "ticket", "anna", 12)


def saved(array: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def test_states_come_back_to_the_bit_through_flower() -> None:
    letter = from_records(to_records(written(REPLY, pack(STATE))))
    found = unpack(letter.arrays, template_of(STATE))
    assert read(Reply, letter.facts) == REPLY
    assert all(torch.equal(found[name], values) and found[name].dtype == values.dtype for name, values in STATE.items())


@pytest.mark.parametrize("name", METHODS)
def test_what_a_method_uploads_is_known_without_data(name: str) -> None:
    task = toy_task(METHODS[name])
    sent = task.algorithm.broadcast(task.init_server(), task.model)
    upload = local_update(task, 2, 0, task.init_client(2), sent).upload
    assert upload_template(task) == template_of(upload)
    assert sent_template(task) == template_of(sent)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (saved(np.zeros(8, np.float32)), "has shape (8,), and (7,) is needed"),
        (saved(np.zeros((7, 1), np.float32)), "has shape (7, 1)"),
        (saved(np.zeros(7)), "is float64, and float32 is needed"),
        (saved(np.zeros(7, ">f4")), "is >f4"),
        (saved(np.full(7, np.nan, np.float32)), "is not finite"),
        (saved(np.full(7, np.inf, np.float32)), "is not finite"),
        (saved(np.zeros(7, np.float32))[:-4], "is cut short or too long"),
        (saved(np.zeros(7, np.float32)) + b"more", "is cut short or too long"),
        (saved(np.array([{}] * 7), allow_pickle=True), "cannot be read"),
        (pickle.dumps([0.0] * 7), "cannot be read"),
        (b"", "cannot be read"),
    ],
)
def test_arrays_that_are_not_as_they_must_be_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(Refusal) as refused:
        unpack({"w": data}, template_of({"w": STATE["w"]}))
    assert reason in str(refused.value)


def test_a_header_that_promises_the_moon_costs_nothing() -> None:
    header = saved(np.zeros(7, np.float32)).replace(b"(7,), }     ", b"(9999999999,)}"[:12])
    with pytest.raises(Refusal):
        unpack({"w": header}, template_of({"w": STATE["w"]}))


def test_arrays_must_be_all_and_no_more() -> None:
    with pytest.raises(Refusal, match="'c' is missing"):
        unpack(pack({"w": STATE["w"]}), template_of({"w": STATE["w"], "c": STATE["c"]}))
    with pytest.raises(Refusal, match="'w_l' that nobody asked for"):
        unpack(pack({"w": STATE["w"], "w_l": STATE["w"]}), template_of({"w": STATE["w"]}))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"samples": 1.5}, "'samples' is no int"),
        ({"samples": True}, "'samples' is no int"),
        ({"samples": 2**70}, "'samples' is no int"),
        ({"site": 3}, "'site' is no str"),
        ({"problem": "x" * 2_000_000}, "'problem' is no str"),
        ({"schema": 99}, "schema 99"),
        ({"run": "../../etc"}, "no run's name"),
        ({"w_l": "hidden"}, "'w_l', which nobody asked for"),
    ],
)
def test_facts_of_wrong_types_are_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        read(Reply, {**dataclasses.asdict(REPLY), **changes})


def test_a_fact_that_is_missing_is_named() -> None:
    facts = {name: value for name, value in dataclasses.asdict(REPLY).items() if name != "ticket"}
    with pytest.raises(Refusal, match="does not say 'ticket'"):
        read(Reply, facts)
    with pytest.raises(Refusal):
        read(Order, dataclasses.asdict(REPLY))


def test_records_of_another_app_are_refused() -> None:
    from flwr.app import ConfigRecord, RecordDict

    with pytest.raises(Refusal, match="no letter"):
        from_records(RecordDict({"facts": ConfigRecord({"a": 1})}))
    records = to_records(Letter({"a": 1}))
    records["facts"] = ConfigRecord({"a": [1, 2]})
    with pytest.raises(Refusal, match="neither text nor a number"):
        from_records(records)


@pytest.mark.parametrize("samples", [0, -3, 10**9])
def test_absurd_numbers_of_samples_are_refused(samples: int) -> None:
    with pytest.raises(Refusal, match="samples"):
        Limits().check_samples(samples)


def test_absurd_norms_are_refused_and_usual_ones_are_not() -> None:
    server = {"w": torch.ones(100)}
    Limits().check_norms({"w": 90 * torch.ones(100)}, server)
    with pytest.raises(Refusal, match="norm"):
        Limits().check_norms({"w": 110 * torch.ones(100)}, server)
    with pytest.raises(Refusal, match="norm"):
        Limits().check_norms({"c": torch.full((100,), 1e30)}, server)


@pytest.mark.parametrize(
    "text", ["", "[]", "[" * 100_000, '{"classes": 1e9, "shape": []}', '{"classes": 3, "shape": [0]}']
)
def test_numbers_of_a_site_are_read_with_care(text: str) -> None:
    with pytest.raises(Refusal):
        read_holdings(text)
    with pytest.raises(Refusal):
        read_scores(text)
