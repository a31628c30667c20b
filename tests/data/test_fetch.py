"""Fetching: what arrives is what the hub says it has, and what is whole is not fetched again."""

import builtins
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from superfed.core.errors import UserError
from superfed.data.fetch import Hub, plan
from superfed.data.hub import hub_files
from superfed.data.hugging_face import HuggingFace
from support.folder_hub import COMMIT, FolderHub
from support.hub_server import HubServer, hub_server

REPO = "some-lab/some-data"
FIRST, SECOND = "data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet"
FILES = {
    FIRST: b"PAR1 the first of two PAR1",
    SECOND: b"PAR1 the second PAR1",
    "data/test-00000-of-00001.parquet": b"PAR1 not wanted PAR1",
    "README.md": b"# some data",
}


@pytest.fixture
def hub(tmp_path: Path) -> FolderHub:
    hub = FolderHub(tmp_path / "the hub")
    for path, content in FILES.items():
        hub.put(REPO, path, content)
    return hub


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


def fetch(hub: Hub, root: Path, revision: str | None = None) -> list[str]:
    """The files that had to be fetched."""
    work = plan(hub, REPO, root, revision)
    if work.missing:
        work.carry_out(hub)
    return [file.path for file in work.missing]


def here(root: Path) -> dict[str, bytes]:
    folder = root / "hub" / REPO
    return {str(path.relative_to(folder)): path.read_bytes() for path in hub_files(root, REPO)}


WANTED = {path: FILES[path] for path in (FIRST, SECOND)}


def test_the_training_files_come_and_no_others(hub: FolderHub, root: Path) -> None:
    assert fetch(hub, root) == [FIRST, SECOND]
    assert here(root) == WANTED
    assert hub.downloads == [[FIRST, SECOND]]
    assert sorted(path.name for path in root.rglob("*") if path.is_file()) == [Path(FIRST).name, Path(SECOND).name]


def test_it_is_said_beforehand_what_there_is_to_fetch(hub: FolderHub, root: Path) -> None:
    work = plan(hub, REPO, root)
    assert (work.repo, work.folder, work.commit, work.license) == (REPO, root / "hub" / REPO, COMMIT, "mit")
    assert [file.size for file in work.missing] == [26, 20]
    assert not root.exists()


def test_what_is_there_is_not_fetched_again(hub: FolderHub, root: Path) -> None:
    fetch(hub, root)
    assert fetch(hub, root) == []
    (root / "hub" / REPO / SECOND).unlink()
    assert fetch(hub, root, "main") == [SECOND]
    assert hub.downloads == [[FIRST, SECOND], [SECOND]]


@pytest.mark.parametrize("content", [b"", b"PAR1 the first of t", b"PAR1 the first of twX PAR1"])
def test_what_is_there_and_wrong_is_fetched_again(hub: FolderHub, root: Path, content: bytes) -> None:
    fetch(hub, root)
    (root / "hub" / REPO / FIRST).write_bytes(content)
    assert fetch(hub, root) == [FIRST]
    assert here(root) == WANTED


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (FILES[SECOND][:-1], "has 19 bytes where the hub says 20"),
        (FILES[SECOND] + b"!", "has 21 bytes where the hub says 20"),
        (FILES[SECOND].upper(), r"has the sha256 \w{12}… where the hub says \w{12}…"),
    ],
    ids=["short", "long", "altered"],
)
def test_what_arrives_wrong_is_thrown_away(hub: FolderHub, root: Path, content: bytes, problem: str) -> None:
    hub.damage[SECOND] = content
    with pytest.raises(UserError, match=rf"{SECOND}: {problem}; it was thrown away: fetch it again"):
        fetch(hub, root)
    assert here(root).keys() == {FIRST}
    hub.damage.clear()
    assert fetch(hub, root) == [SECOND]
    assert here(root) == WANTED


@pytest.mark.parametrize("at", [FIRST, SECOND])
def test_a_fetch_that_breaks_off_is_gone_on_with(hub: FolderHub, root: Path, at: str) -> None:
    hub.fails_at = at
    with pytest.raises(UserError, match="connection lost"):
        fetch(hub, root)
    hub.fails_at = None
    assert at in fetch(hub, root)
    assert here(root) == WANTED
    assert fetch(hub, root) == []


def test_files_of_another_revision_are_not_mixed_in(hub: FolderHub, root: Path) -> None:
    fetch(hub, root)
    other = root / "hub" / REPO / "data" / "train-00000-of-00001.parquet"
    other.write_bytes(b"PAR1 from before PAR1")
    with pytest.raises(UserError) as caught:
        fetch(hub, root)
    assert str(caught.value) == (
        f"{other}: is not in {REPO} at {COMMIT[:12]} but would be read with what is; remove it first"
    )


def test_a_repository_without_training_files_is_a_sentence(hub: FolderHub, root: Path) -> None:
    hub.put("some-lab/csv", "data.csv", b"a,b")
    with pytest.raises(UserError) as caught:
        plan(hub, "some-lab/csv", root)
    assert str(caught.value) == (
        "some-lab/csv: has neither train-*.parquet nor csv.csv at c0ffeec0ffee; try another revision"
    )


def test_a_repository_may_be_one_table(hub: FolderHub, root: Path) -> None:
    hub.put("some-lab/plays", "plays.csv", b"x,y")
    hub.put("some-lab/plays", "other.csv", b"a,b")
    plan(hub, "some-lab/plays", root).carry_out(hub)
    assert hub.downloads == [["plays.csv"]]
    assert (root / "hub/some-lab/plays/plays.csv").read_bytes() == b"x,y"


# The hub's own client, against a hub on this machine


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    with hub_server(REPO, dict(FILES)) as server:
        yield server


def test_the_real_client_fetches(server: HubServer, root: Path) -> None:
    hub = HuggingFace(server.address)
    assert hub.address(REPO) == f"{server.address}/datasets/{REPO}"
    work = plan(hub, REPO, root)
    assert work.license == "mit"
    assert fetch(hub, root) == [FIRST, SECOND]
    assert here(root) == WANTED
    assert sorted(server.fetched) == [FIRST, SECOND]
    assert fetch(hub, root) == []
    (root / "hub" / REPO / FIRST).write_bytes(b"PAR1 the first of twX PAR1")
    assert fetch(hub, root, "main") == [FIRST]
    assert here(root) == WANTED


def test_the_real_client_brings_something_else(server: HubServer, root: Path) -> None:
    server.sent[FIRST] = FILES[FIRST].upper()
    with pytest.raises(UserError, match=r"train-00000-of-00002\.parquet: has the sha256 .* where the hub says"):
        fetch(HuggingFace(server.address), root)
    assert here(root).keys() == {SECOND}
    server.sent.clear()
    assert fetch(HuggingFace(server.address), root) == [FIRST]


def test_the_real_client_and_a_line_that_breaks(server: HubServer, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda seconds: None)  # between its own tries
    server.cut_after = 5
    with pytest.raises(UserError, match=rf"{REPO}: the hub cannot be reached \(.+\); is there a network\?"):
        fetch(HuggingFace(server.address), root)
    assert here(root) == {}
    server.cut_after = None
    assert fetch(HuggingFace(server.address), root) == [FIRST, SECOND]
    assert here(root) == WANTED


def test_the_real_client_and_what_the_hub_does_not_have(server: HubServer, root: Path) -> None:
    hub = HuggingFace(server.address)
    with pytest.raises(UserError, match=r"^some-lab/nothing: the hub has no such dataset, or does not show it to you$"):
        plan(hub, "some-lab/nothing", root)
    with pytest.raises(UserError, match=rf"^{REPO}: has no revision 'v9'$"):
        plan(hub, REPO, root, "v9")
    server.status = 503
    with pytest.raises(UserError, match=rf"^{REPO}: the hub does not give it out \(.*503.*\)$") as caught:
        plan(hub, REPO, root)
    assert "\n" not in str(caught.value)
    assert not root.exists()


def test_the_real_client_without_a_network(root: Path) -> None:
    with hub_server(REPO, {}) as server:
        address = server.address
    with pytest.raises(UserError, match=rf"^{REPO}: the hub cannot be reached \(.+\); is there a network\?$"):
        plan(HuggingFace(address), REPO, root)


def test_a_full_disk_is_a_sentence(server: HubServer, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = HuggingFace(server.address)
    work = plan(hub, REPO, root)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("huggingface_hub.snapshot_download", full)
    with pytest.raises(UserError) as caught:
        work.carry_out(hub)
    assert str(caught.value) == f"{root / 'hub' / REPO}: cannot be written (No space left on device)"


def test_without_the_client_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    true_import = builtins.__import__

    def without(name: str, *arguments: object) -> object:
        if name.startswith("huggingface_hub"):
            raise ImportError(name)
        return true_import(name, *arguments)  # type: ignore[arg-type]

    monkeypatch.delitem(sys.modules, "huggingface_hub", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UserError) as caught:
        HuggingFace()
    assert str(caught.value) == 'fetching needs the hub\'s client; run pip install "superfed[hub]"'
