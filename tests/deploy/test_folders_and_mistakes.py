"""A federation's folder is as it should be, and a mistake is one sentence."""

import stat
from pathlib import Path

import pytest
import torch

from conftest import Program
from superfed.core.errors import UserError
from superfed.deploy.flower.agreement import agreed
from superfed.deploy.flower.folder.certificates import days_left
from superfed.deploy.flower.folder.create import create_federation
from superfed.deploy.flower.folder.keys import read_public_key
from superfed.deploy.flower.programs.supernode import open_site
from superfed.deploy.flower.site.data import site_data
from support.federations import small_config

pytest.importorskip("flwr")


@pytest.fixture(scope="module")
def folder(superfed: Program, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made") / "clinics"
    done = superfed("deploy", "init", place, "--sites", "anna,bob", "--address", "127.0.0.1:8123")
    assert done.returncode == 0, done.stderr
    assert "superfed deploy server" in done.stdout
    return place


def test_secrets_are_their_owners(folder: Path) -> None:
    secrets = sorted(path.relative_to(folder) for path in folder.rglob("*.key"))
    assert [str(path) for path in secrets] == [
        "authority/ca.key",
        "server/server.key",
        "sites/anna/node.key",
        "sites/bob/node.key",
    ]
    assert all(stat.S_IMODE((folder / path).stat().st_mode) == 0o600 for path in secrets)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert days_left(folder / "server" / "server.crt") > 800
    keys = {read_public_key(folder / "sites" / site / "node.key.pub") for site in ("anna", "bob")}
    assert len(keys) == 2


def test_a_site_is_added_at_the_end_and_nothing_else_changes(superfed: Program, folder: Path) -> None:
    before = (folder / "sites" / "anna" / "node.key").read_bytes()
    assert superfed("deploy", "init", folder, "--add", "cleo").returncode == 0
    assert "  - anna\n  - bob\n  - cleo\n" in (folder / "federation.yaml").read_text()
    assert (folder / "sites" / "anna" / "node.key").read_bytes() == before
    assert superfed("deploy", "init", folder, "--renew").returncode == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("init", "{folder}", "--sites", "a,b"), "is there already and not empty"),
        (("init", "{new}", "--sites", "../evil"), "a site's name has letters"),
        (("init", "{new}", "--sites", "a,a"), "two sites have the same name"),
        (("init", "{new}"), "--sites: name the sites"),
        (("init", "{new}", "--sites", "a", "--address", "nowhere"), "an address is written host:port"),
        (("init", "{new}", "--sites", "a", "--address", "10.0.0.1:80", "--insecure"), "stays on this machine"),
        (("init", "{folder}", "--add", "anna"), "two sites have the same name"),
        (("server", "{new}"), "there is no such file; make a federation with: superfed deploy init"),
        (("status", "{folder}"), "its server is not running; start it with"),
        (("site", "{folder}"), "there is no such file"),
        (("site", "{folder}/sites/anna"), "--state: say where the personal model is kept"),
        (("site", "{folder}/sites/anna", "--state", "{new}", "--data", "none.npz"), "there is no such file"),
        (("join", "{folder}/sites/anna", "--data", "none.npz"), "none.npz: there is no such file"),
        (("run", "demo", "-f", "{folder}"), "stands for 12 runs, and a federation runs one at a time"),
        (
            ("run", "demo", "algorithm=superfed", "seed=0", "-f", "{folder}"),
            "data.num_clients: is 20, and the federation",
        ),
        (("resume", "{new}", "-f", "{folder}"), "its server is not running"),
        (("app", "demo", "algorithm=fedavg", "seed=0", "--to", "{new}"), "name the sites by --sites"),
    ],
)
def test_a_mistake_is_one_sentence(
    superfed: Program, folder: Path, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    done = superfed("deploy", *(word.format(folder=folder, new=tmp_path / "new") for word in words))
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_key_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    made = create_federation(tmp_path / "f", ["anna"], "127.0.0.1:8123", "f")
    (made.site("anna") / "node.key").chmod(0o644)
    with pytest.raises(UserError, match="others may read this private key"):
        open_site(made.site("anna"))


def test_a_sites_own_file_is_split_as_a_simulation_over_the_folder_would(tmp_path: Path) -> None:
    import numpy as np

    from superfed.data.own_folder import ClientFolder
    from superfed.experiments.assemble import Assembler
    from superfed.experiments.schema import DataConfig, RunConfig

    rng, names = np.random.default_rng(0), ("anna", "bob", "cleo")
    (tmp_path / "sites").mkdir()
    for i, name in enumerate(names):
        x, y = rng.normal(size=(20 + i, 6)).astype("float32"), rng.integers(0, 3, 20 + i)
        y[:3] = [0, 1, 2]
        np.savez(tmp_path / "sites" / f"{name}.npz", x=x, y=y)
    small = small_config(sites=3)
    config = RunConfig(
        algorithm=small.algorithm,
        data=DataConfig(dataset=ClientFolder(path=str(tmp_path / "sites"))),
        model=small.model,
        training=small.training,
        seed=4,
    )
    together = Assembler(None).data(config)
    agreement = agreed("0" * 32, config, names)
    for client, name in enumerate(names):
        alone = site_data(agreement, client, tmp_path / "sites" / f"{name}.npz", None)
        assert alone.train_size(client) == together.train_size(client)
        for part in ("train", "validation", "test"):
            one, other = getattr(alone, part)(client), getattr(together, part)(client)
            assert torch.equal(one.x, other.x)
            assert torch.equal(one.y, other.y)
        with pytest.raises(UserError, match="not at this site"):
            alone.train((client + 1) % 3)
