"""A federation in one process learns what the simulator learns, to the bit, with every method, over Flower's records."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from superfed.deploy.flower.site.state import SiteState
from superfed.deploy.flower.wire.letters import Letter
from superfed.deploy.flower.wire.records import from_records, to_records
from superfed.engine.evaluate import evaluate_client, lambda_grid
from superfed.experiments.results import Results
from support.federations import RUN, SITES, Federation, simulated, small_config
from support.toys import METHODS


def over_flower(letter: Letter) -> Letter:
    return from_records(to_records(letter))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_learns_what_the_simulator_learns(name: str, tmp_path: Path) -> None:
    config = small_config(METHODS[name])
    federation = Federation(config, tmp_path)
    federation.link.wire = over_flower
    run, expected = federation.conduct(), simulated(config)
    assert run.server.keys() == expected.server.keys()
    for part, values in expected.server.items():
        assert torch.equal(run.server[part], values), part
    assert [vars(record) for record in run.records] == [vars(record) for record in expected.records]
    for client, site in enumerate(SITES):
        state, kept = SiteState(tmp_path / site, RUN), expected.states.get(client)
        if kept is None:
            continue
        found = state.after(state.rounds()[-1])
        assert found is not None
        assert found.keys() == kept.keys()
        for part, values in kept.items():
            assert torch.equal(found[part], values), (site, part)


@pytest.mark.parametrize("tuning_epochs", [0, 2])
def test_what_sites_say_of_their_accuracy_is_what_the_simulator_finds(tuning_epochs: int, tmp_path: Path) -> None:
    plain = small_config(METHODS["superfed"])
    config = replace(plain, training=replace(plain.training, tuning_epochs=tuning_epochs))
    federation = Federation(config, tmp_path)
    federation.conduct()
    run = simulated(config)
    told = federation.book.results()["sites"]
    for client, site in enumerate(SITES):
        kept = run.states.get(client) or run.task.init_client(client)
        scores = evaluate_client(run.task, client, kept, run.server, lambda_grid(3), tuning_epochs)
        results = Results([client], [scores])
        assert told[site]["lam"] == results.chosen_lambda(client)
        assert told[site]["accuracy"] == results.accuracy(client)
