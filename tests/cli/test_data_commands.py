"""superfed data: what it says, and its exit codes."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import Program
from superfed.cli.commands.data import fetch
from superfed.core.errors import UserError
from superfed.data.hugging_face import HuggingFace
from superfed.data.idx_images import IMAGES, LABELS
from superfed.data.mnist import Mnist
from superfed.data.registry import DATASETS
from support.folder_hub import FolderHub
from support.hub_server import hub_server
from support.pictures import HUB_FILES, cifar100_batch, encoded, pixels, write_cifar100, write_hub, write_idx_pair

COUNT = 60


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUPERFED_DATA", raising=False)
    monkeypatch.setenv("SUPERFED_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data root with a little of MNIST and CIFAR-100."""
    root = tmp_path / "root"
    write_idx_pair(root / "MNIST" / "raw", pixels(COUNT, 28, 28), [i % 10 for i in range(COUNT)])
    published = {
        name: hashlib.md5((root / "MNIST" / "raw" / name).read_bytes()).hexdigest() for name in (IMAGES, LABELS)
    }
    monkeypatch.setattr(Mnist, "checksums", published)
    fine, coarse = [i % 100 for i in range(110)], [i % 20 for i in range(110)]
    path = write_cifar100(root, cifar100_batch(pixels(110, 3, 32, 32), fine, coarse))
    monkeypatch.setattr(
        DATASETS["cifar100"].settings, "checksums", {"train": hashlib.md5(path.read_bytes()).hexdigest()}
    )
    return root


# list


def test_list_shows_what_is_here(superfed: Program, root: Path, tmp_path: Path) -> None:
    superfed("data", "prepare", "mnist", "--data-root", root)
    done = superfed("data", "list", "--data-root", root)
    assert done.returncode == 0
    assert done.stderr == ""
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in done.stdout.splitlines() if line.strip()}
    assert lines["dataset"] == "here layout prepared in cache where"
    assert lines["digits"] == lines["synthetic"] == "nothing needed"
    assert re.match(r"here files yes 48\.\d kB /", lines["mnist"])
    assert lines["cifar100"].startswith("here files no /")
    assert lines["cifar10"] == "not here"
    assert lines["folder"].startswith("yours: path=…")
    assert f"\ndata root: {root}\n" in done.stdout
    assert re.search(rf"\ncache: {tmp_path}/cache, 48\.\d kB; it may be deleted at any time\n", done.stdout)
    assert done.stdout.endswith("\nhow to get what is not here: superfed data check mnist_writers\n")


def test_list_for_programs(superfed: Program, root: Path) -> None:
    rows = json.loads(superfed("data", "list", "--data-root", root, "--json").stdout)
    assert rows.keys() == DATASETS.keys()
    assert rows["mnist"] == {
        "state": "here",
        "layout": "files",
        "folder": str(root / "MNIST" / "raw"),
        "prepared": False,
        "cache_bytes": 0,
        "hub": "ylecun/mnist",
        "needed": [],
        "problem": None,
    }
    assert rows["cifar10"]["state"] == "not here"
    assert rows["cifar10"]["problem"].startswith("cifar10: looked for ")
    assert rows["folder"]["state"] == "yours"
    assert rows["folder"]["needed"] == ["path"]
    assert rows["digits"]["state"] == "nothing needed"


def test_list_without_a_root_or_with_one_that_is_not_there(superfed: Program, tmp_path: Path) -> None:
    done = superfed("data", "list", "--cache", "off")
    assert done.returncode == 0
    assert "\ndata root: none is set (SUPERFED_DATA or --data-root)\ncache: off\n" in done.stdout
    done = superfed("data", "list", "--data-root", tmp_path / "nowhere")
    assert done.returncode == 0
    assert f"\ndata root: {tmp_path / 'nowhere'} (there is no such folder)\n" in done.stdout
    assert not (tmp_path / "cache").exists()


# check


def test_check_says_what_is_there(superfed: Program, root: Path) -> None:
    done = superfed("data", "check", "mnist", "cifar100", "labels=coarse", "digits", "synthetic", "--data-root", root)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        f"mnist: in order\n"
        f"  2 files in {root}/MNIST/raw (layout: files)\n"
        f"  60 samples of shape 1×28×28, 10 classes with 6 samples each\n"
        f"  as published, by checksum\n"
        f"  not prepared\n"
        f"cifar100 labels=coarse: in order\n"
        f"  1 file in {root}/cifar-100-python (layout: files)\n"
        f"  110 samples of shape 3×32×32, 20 classes with 5 to 6 samples each\n"
        f"  as published, by checksum\n"
        f"  not prepared\n"
        f"digits: in order\n"
        f"  1,797 samples of shape 1×8×8, 10 classes with 174 to 183 samples each\n"
        f"synthetic: in order\n"
        f"  nothing on disk: generated when asked for\n"
    )


def test_check_counts_clients(superfed: Program, root: Path) -> None:
    np.savez(root / "MNIST" / "writers.npz", train_writer=np.arange(COUNT) // 25)
    done = superfed("data", "check", "mnist_writers", "--data-root", root)
    assert done.returncode == 0, done.stderr
    assert "  3 clients with 10 to 25 samples each\n" in done.stdout
    assert "  2 of 3 files as published, by checksum; the others have no published one\n" in done.stdout


def test_check_without_names_takes_what_is_here(superfed: Program, root: Path, tmp_path: Path) -> None:
    done = superfed("data", "check", "--data-root", root)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^\w.*", done.stdout, re.MULTILINE) == ["mnist: in order", "cifar100: in order"]
    done = superfed("data", "check", "--data-root", tmp_path / "nowhere")
    assert done.returncode == 0
    assert done.stdout == (
        "no dataset is here; where one is looked for and how to get it says: superfed data check NAME\n"
    )


def test_check_goes_on_after_a_problem_and_remembers_it(superfed: Program, root: Path) -> None:
    labels = root / "MNIST" / "raw" / LABELS
    labels.write_bytes(labels.read_bytes()[:-1])
    for names in (["mnist", "cifar10", "cifar100"], []):
        done = superfed("data", "check", *names, "--data-root", root)
        assert done.returncode == 2
        problems = done.stderr.splitlines()
        assert problems[0] == f"superfed: {labels}: promises 60 items in 60 bytes, but only 59 bytes are there"
        assert len(problems) == (2 if names else 1)
        assert done.stdout.startswith("cifar100: in order\n")


def test_check_says_where_it_looked_and_how_to_get_it(superfed: Program, tmp_path: Path) -> None:
    done = superfed("data", "check", "cifar100", "--data-root", tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"superfed: cifar100: looked for {tmp_path}/cifar-100-python/train")
    assert "run superfed data fetch cifar100, or get the files of " in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_check_notices_files_that_are_not_the_published_ones(
    superfed: Program, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Mnist, "checksums", {IMAGES: "0" * 32})
    done = superfed("data", "check", "mnist", "--data-root", root)
    assert done.returncode == 2
    assert re.fullmatch(
        rf"superfed: mnist: raw/{IMAGES}: differs from the published file \(md5 \w{{32}}\)\n", done.stderr
    )


def test_check_compares_what_is_prepared_with_the_files(superfed: Program, root: Path, tmp_path: Path) -> None:
    superfed("data", "prepare", "mnist", "--data-root", root)
    (entry,) = (tmp_path / "cache").glob("mnist-*")
    done = superfed("data", "check", "mnist", "--data-root", root)
    assert done.stdout.endswith(f"\n  prepared, and the same, in {entry}\n")
    content = bytearray((entry / "x.npy").read_bytes())
    content[-1] ^= 1
    (entry / "x.npy").write_bytes(content)
    done = superfed("data", "check", "mnist", "--data-root", root)
    assert done.returncode == 2
    assert done.stderr == f"superfed: {entry}: is prepared, but does not hold what the files hold; delete it\n"


# prepare


def test_prepare_says_where_how_large_and_how_long(superfed: Program, root: Path, tmp_path: Path) -> None:
    words = ["data", "prepare", "mnist", "cifar100", "labels=coarse", "digits", "--data-root", root]
    done = superfed(*words, "--cache", tmp_path / "other")
    assert done.returncode == 0, done.stderr
    place = rf"{tmp_path}/other"
    assert re.fullmatch(
        rf"mnist: prepared in \d+\.\d s, 48\.\d kB in {place}/mnist-[0-9a-f]{{16}}\n"
        rf"cifar100 labels=coarse: prepared in \d+\.\d s, 339\.\d kB in {place}/cifar100-[0-9a-f]{{16}}\n"
        rf"digits: needs no preparing\n",
        done.stdout,
    ), done.stdout
    done = superfed(*words, "--cache", tmp_path / "other")
    assert done.stdout.count("prepared already, ") == 2
    assert not (tmp_path / "cache").exists()


def test_two_programs_prepare_the_same_at_once(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "superfed.cli.main", "data", "prepare", "mnist", "--data-root", str(root)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(program.communicate(timeout=120)[0].split()[2] for program in both)
    assert [program.returncode for program in both] == [0, 0]
    assert said == ["already,", "in"]
    assert len(list((tmp_path / "cache").glob("mnist-*"))) == 1


def test_runs_use_it(superfed: Program, root: Path, tmp_path: Path) -> None:
    changes = ["data={dataset: mnist, num_clients: 4, partition: iid}", "model={name: two_nn, width: 4}", "seed=0"]
    changes += ["algorithm=fedavg", "training={rounds: 1, clients_per_round: 2, local_epochs: 1}", "engine.workers=1"]
    command = ["run", "demo", *changes, "--data-root", str(root), "--out"]
    fingerprints = set()
    for name in ("first", "second"):
        done = superfed(*command, tmp_path / name)
        assert done.returncode == 0, done.stderr
        (info,) = (tmp_path / name).glob("*/run.json")
        fingerprints.add(json.loads(info.read_text())["fingerprint"])
        assert len(list((tmp_path / "cache").glob("mnist-*"))) == 1

    # and do without where they must, with one line about it
    (tmp_path / "file").write_text("in the way")
    program = [sys.executable, "-m", "superfed.cli.main", *command, str(tmp_path / "third")]
    environment = {"SUPERFED_CACHE": str(tmp_path / "file"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    ended = subprocess.run(program, capture_output=True, text=True, env=environment, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == (
        f"superfed: {tmp_path}/file: prepared datasets cannot be kept there (File exists); going on without\n"
    )
    (info,) = (tmp_path / "third").glob("*/run.json")
    assert {json.loads(info.read_text())["fingerprint"]} == fingerprints


# fetch


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FolderHub:
    """A hub that has a little of MNIST, in the layout of the real one."""
    hub = FolderHub(tmp_path / "the hub")
    images = [encoded(image) for image in pixels(20, 28, 28)]
    path = write_hub(tmp_path / "made", "mnist", {"image": images, "label": [i % 10 for i in range(20)]})
    hub.put("ylecun/mnist", HUB_FILES["mnist"].removeprefix("ylecun/mnist/"), path.read_bytes())
    hub.put("ylecun/mnist", "README.md", b"# MNIST")
    monkeypatch.setattr(fetch, "_hub", lambda: hub)
    return hub


def test_what_was_fetched_can_be_used(superfed: Program, hub: FolderHub, tmp_path: Path) -> None:
    root = tmp_path / "new root"
    done = superfed("data", "fetch", "mnist", "--data-root", root)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        rf"mnist: 1 file, [\d.]+ kB, from https://hub\.example/datasets/ylecun/mnist at c0ffeec0ffee \(licence: mit\)\n"
        rf"mnist: whole by the hub's sizes and checksums, in {root}/hub/ylecun/mnist\n",
        done.stdout,
    ), done.stdout
    done = superfed("data", "fetch", "mnist", "--data-root", root, "--revision", "main")
    assert (
        done.stdout == f"mnist: there already, and whole by the hub's sizes and checksums, in {root}/hub/ylecun/mnist\n"
    )
    done = superfed("data", "check", "mnist", "--data-root", root)
    assert done.returncode == 0, done.stderr
    assert f"  1 file in {root}/hub/ylecun/mnist/mnist (layout: hub)\n" in done.stdout
    assert "  20 samples of shape 1×28×28, 10 classes with 2 samples each\n" in done.stdout


def test_a_licence_that_is_not_stated(superfed: Program, hub: FolderHub, tmp_path: Path) -> None:
    hub.license = None
    assert "(licence: not stated)" in superfed("data", "fetch", "mnist", "--data-root", tmp_path / "root").stdout


def test_what_goes_wrong_while_fetching(superfed: Program, hub: FolderHub, tmp_path: Path) -> None:
    words = ["data", "fetch", "mnist", "--data-root", tmp_path / "root"]
    (name,) = (path for path in (hub.folder / "ylecun" / "mnist").rglob("*.parquet"))
    file = str(name.relative_to(hub.folder / "ylecun" / "mnist"))
    place = tmp_path / "root" / "hub" / "ylecun" / "mnist" / file
    hub.damage[file] = b"short"
    done = superfed(*words)
    assert done.returncode == 2
    assert done.stderr == (
        f"superfed: {place}: has 5 bytes where the hub says {name.stat().st_size:,}; it was thrown away: fetch it again\n"
    )
    done = superfed(*words, "--revision", "v7")
    assert (done.returncode, done.stderr) == (2, "superfed: ylecun/mnist: has no revision 'v7'\n")
    hub.damage.clear()
    assert superfed(*words).returncode == 0


def test_fetching_without_a_network(superfed: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub_server("a/b", {}) as server:
        address = server.address
    monkeypatch.setattr(fetch, "_hub", lambda: HuggingFace(address))
    done = superfed("data", "fetch", "mnist", "--data-root", tmp_path / "root")
    assert done.returncode == 2
    assert re.fullmatch(
        r"superfed: ylecun/mnist: the hub cannot be reached \(.*\); is there a network\?\n", done.stderr
    )
    assert not (tmp_path / "root").exists()


def test_fetching_without_the_client(superfed: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)  # what makes an import fail
    done = superfed("data", "fetch", "mnist", "--data-root", tmp_path / "root")
    assert done.returncode == 2
    assert done.stderr == 'superfed: fetching needs the hub\'s client; run pip install "superfed[hub]"\n'


# Mistakes

MISTAKES = [
    (["check", "mnits"], "mnits: unknown; did you mean 'mnist'?"),
    (["check", "mnist"], "mnist: no data root is set; "),
    (["check", "folder"], "folder.path: is needed and not given"),
    (
        ["check", "labels=coarse"],
        "labels=coarse: a setting comes after the name of its dataset, as in: cifar100 labels=",
    ),
    (["check", "cifar100", "labels=both"], "cifar100.labels: must be 'fine' or 'coarse', not 'both'"),
    (["check", "cifar100", "label=fine"], "cifar100.label: unknown; did you mean 'labels'?"),
    (["check", "cifar100", "labels=["], "'labels=[': is no valid YAML ("),
    (["check", "mnist", "=3"], "'=3': a change is written key=value"),
    (["prepare", "nothing"], "nothing: unknown; here there are digits, mnist, "),
    (["prepare", "mnist"], "mnist: no data root is set; "),
    (["prepare", "mnist", "size=3"], "mnist.size: unknown; it takes no settings"),
    (
        ["prepare", "mnist", "--cache", "off"],
        "the cache is off; name a folder for prepared datasets by --cache or SUPERFED",
    ),
    (["prepare", "digits", "nothing"], "nothing: unknown; "),
    (["fetch", "mnist"], "no data root is set; name the folder that datasets go to by --data-root or SUPERFED_DATA"),
    (["fetch", "nothing", "--data-root", "x"], "nothing: unknown; "),
    (["fetch", "digits", "--data-root", "x"], "digits: needs no files, so there is nothing to fetch"),
    (["fetch", "folder", "--data-root", "x"], "folder: is data of your own, so there is nothing to fetch"),
    (
        ["fetch", "mnist_writers", "--data-root", "x"],
        "mnist_writers: is not known to be on the hub; how else to get it says: superfed data check mnist_writers",
    ),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES, ids=lambda a: " ".join(a) if isinstance(a, list) else "")
def test_one_sentence(superfed: Program, arguments: list[str], sentence: str, tmp_path: Path) -> None:
    done = superfed("data", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"superfed: {sentence}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["prepare", "fetch"])
def test_no_name_at_all(superfed: Program, command: str) -> None:
    done = superfed("data", command)
    assert done.returncode == 2
    assert "Missing argument 'NAME" in done.stderr


def test_a_cache_that_cannot_be_written_to(superfed: Program, root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = superfed("data", "prepare", "mnist", "--data-root", root, "--cache", tmp_path / "file")
    assert done.returncode == 2
    assert done.stderr == f"superfed: {tmp_path}/file: prepared datasets cannot be kept there (File exists)\n"


def test_help(superfed: Program) -> None:
    for words in ([], ["list"], ["check"], ["fetch"], ["prepare"]):
        done = superfed("data", *words, "--help")
        assert done.returncode == 0
        assert f"Usage: superfed data {' '.join(words)}".strip() in done.stdout


def test_names_are_completed() -> None:
    from superfed.cli.commands.data.arguments import _complete

    assert _complete("cifar") == ["cifar10", "cifar100"]


def test_a_sentence_that_fails_elsewhere_is_one(superfed: Program, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that cannot read stops the preparing of all that follow, with its sentence."""

    def broken(*_: object) -> None:
        raise UserError("MNIST/raw: is a damaged thing")

    monkeypatch.setattr(Mnist, "read", broken)
    done = superfed("data", "prepare", "mnist", "cifar100", "--data-root", root)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "superfed: MNIST/raw: is a damaged thing\n")
