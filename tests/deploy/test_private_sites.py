"""Sites that put noise on what they send: by draws nobody can repeat, and counted by themselves."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch

from superfed.algorithms import FedAvg
from superfed.core.aggregation import Median
from superfed.core.privacy import Privacy
from superfed.deploy.flower.wire.letters import Reply, read
from superfed.metrics.privacy_spent import epsilon
from superfed.store.files import read_json, write_text
from support.federations import RUN, SITES, Federation, simulated, small_config

PRIVATE = replace(small_config(FedAvg(), rounds=2, clients_per_round=5), privacy=Privacy(clip=0.5, noise=2.0))


def first_uploads(folder: Path) -> dict[str, np.ndarray]:
    federation = Federation(PRIVATE, folder)
    federation.conduct()
    replies = [(read(Reply, letter.facts), letter.arrays) for _, letter in federation.link.replies]
    return {
        facts.site: np.load(BytesIO(arrays["w"]), allow_pickle=False)
        for facts, arrays in replies
        if arrays and facts.round == 0
    }


def test_noise_is_of_the_right_size_and_never_the_same(tmp_path: Path) -> None:
    one, other = first_uploads(tmp_path / "one"), first_uploads(tmp_path / "other")
    assert one.keys() == other.keys() == set(SITES)
    apart = np.concatenate([one[site].astype(float) - other[site] for site in SITES])
    assert apart.std() == pytest.approx(2.0 * 0.5 * np.sqrt(2), rel=0.15)


def test_each_site_counts_what_it_sent_and_what_that_cost(tmp_path: Path) -> None:
    federation = Federation(PRIVATE, tmp_path)
    federation.conduct()
    for site in federation.link.sites.values():
        said = read_json(site.folder / RUN / "privacy.json")
        assert said["times"] == 2
        assert said["epsilon"] == pytest.approx(epsilon(2.0, 2, 1e-5))


def test_a_count_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    federation = Federation(PRIVATE, tmp_path)
    for site in federation.link.sites.values():
        (site.folder / RUN).mkdir(parents=True)
        write_text(site.folder / RUN / "privacy.json", "{")
    with pytest.raises(Exception, match="0 of 5 sites gave an update"):
        federation.conduct()
    problems = [read(Reply, letter.facts).problem for _, letter in federation.link.replies]
    assert any("what its privacy has cost so far cannot be read" in problem for problem in problems)


def test_the_server_adds_no_noise_of_its_own(tmp_path: Path) -> None:
    """Noise so small that it cannot be seen, and no clipping: what is left is the run without."""
    config = replace(small_config(FedAvg()), privacy=Privacy(clip=1e4, noise=1e-12))
    run, expected = Federation(config, tmp_path).conduct(), simulated(replace(config, privacy=None))
    assert torch.allclose(run.server["w"], expected.server["w"], atol=1e-6)
    loud = replace(config, privacy=Privacy(clip=20.0, noise=1.0))
    assert not torch.allclose(simulated(loud).server["w"], expected.server["w"], atol=1.0)
    assert Federation(loud, tmp_path / "loud").conduct().task.privacy is None


def test_a_robust_aggregation_is_the_simulators(tmp_path: Path) -> None:
    config = replace(small_config(FedAvg()), aggregation=Median())
    run, expected = Federation(config, tmp_path).conduct(), simulated(config)
    assert torch.equal(run.server["w"], expected.server["w"])
    assert not torch.equal(run.server["w"], simulated(small_config(FedAvg())).server["w"])
