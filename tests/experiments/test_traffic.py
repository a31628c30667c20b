"""What methods send, counted: the claims of the paper and of the documentation's table."""

from pathlib import Path

import pytest

from superfed.core.state import num_bytes
from superfed.experiments.assemble import Assembler
from superfed.experiments.load import load_config, resolve
from superfed.experiments.traffic import traffic_of
from support.toys import METHODS, toy_task, train

PAGE = Path(__file__).parent.parent.parent / "docs" / "traffic.md"

WHOLE = 1.0
SHARES = {
    "local": 0.0,
    "scaffold": 2 * WHOLE,
    "scaffold-option-I": 2 * WHOLE,
    "lg_fedavg": 15 / 74,  # the toy network's last layer
    "fedper": 59 / 74,
    "fedrep": 59 / 74,
}


@pytest.mark.parametrize("name", METHODS)
def test_each_method_sends_what_it_should(name: str) -> None:
    counted = traffic_of(toy_task(METHODS[name]))
    assert counted.up_share == counted.down_share == pytest.approx(SHARES.get(name, WHOLE))


@pytest.mark.parametrize("name", METHODS)
def test_a_run_counts_the_same_for_every_client_and_round(name: str) -> None:
    counted = traffic_of(toy_task(METHODS[name]))
    (run,) = train([toy_task(METHODS[name])])
    for record in run.records:
        assert record.bytes_up == counted.up * len(record.cohort)
        assert record.bytes_down == counted.down * len(record.cohort)


def test_what_clients_keep_is_never_counted() -> None:
    """SuPerFed costs what FedAvg costs, though its clients hold a second model."""
    task = toy_task(METHODS["superfed"])
    assert num_bytes(task.init_client(0)) == traffic_of(task).model
    assert traffic_of(task).up == traffic_of(toy_task(METHODS["fedavg"])).up


def test_the_documentations_table_is_right() -> None:
    runs = {run.algorithm: run for run in resolve(load_config("compare-digits", ["seed=0"]))}
    assembler = Assembler(None)
    lines = {line.split("  ")[0].strip(): line for line in PAGE.read_text().splitlines()}
    for run in runs.values():
        counted = traffic_of(assembler.task(run))
        assert f"{counted.down:,}" in lines[counted.title]
        assert f"{counted.up:,}" in lines[counted.title]
