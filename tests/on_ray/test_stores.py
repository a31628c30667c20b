"""Runs in a store: whole whatever dies, and never taken for another's."""

from pathlib import Path

import pytest

from superfed.core.errors import UserError
from superfed.deploy.ray.stores.remote import Remote
from superfed.deploy.ray.stores.shared import Shared


def experiment(folder: Path, content: str = "{}") -> Path:
    folder.mkdir(parents=True)
    (folder / "experiment.json").write_text(content)
    return folder / "run"


def write(folder: Path, **files: str) -> None:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_JSON", ".json").replace("_ST", ".safetensors")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


FIRST = {"run_JSON": "begun", "checkpoints__clients__0_ST": "a", "checkpoints__round-1_JSON": "1"}
NEXT = {"run_JSON": "further", "checkpoints__clients__1_ST": "b", "checkpoints__round-2_JSON": "2"}


def test_what_one_machine_saved_another_goes_on_with(tmp_path: Path) -> None:
    run, store = experiment(tmp_path / "out"), Remote(f"file://{tmp_path}/store")
    store.check()
    store.mark(run)
    with store.taken(run) as (place, save):
        assert not list(place.iterdir())
        write(place, **FIRST)
        save()
    assert not place.exists()
    with store.taken(run) as (elsewhere, save):
        saved = files(elsewhere)
        assert sorted(saved) == ["checkpoints/clients/0.safetensors", "checkpoints/round-1.json", "run.json"]
        write(elsewhere, **NEXT)
        (elsewhere / "checkpoints" / "round-1.json").unlink()
        (elsewhere / "checkpoints" / "clients" / "0.safetensors").unlink()
        save()
    store.fetch(run)
    assert files(run) == {
        "run.json": "further",
        "checkpoints/clients/1.safetensors": "b",
        "checkpoints/round-2.json": "2",
    }


def test_what_was_not_saved_is_not_there(tmp_path: Path) -> None:
    run, store = experiment(tmp_path / "out"), Remote(f"file://{tmp_path}/store")
    store.mark(run)
    with store.taken(run) as (place, save):
        write(place, **FIRST)
        save()
        write(place, **NEXT)
    store.fetch(run)
    assert files(run)["run.json"] == "begun"


def test_a_machine_that_dies_while_it_saves_leaves_a_whole_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]

    run, store = experiment(tmp_path / "out"), Remote(f"file://{tmp_path}/store")
    store.mark(run)
    copy = LocalFileSystem.cp_file
    for dies_at in range(3):
        with store.taken(run) as (place, save):
            write(place, **FIRST)
            save()
            write(place, **NEXT)
            (place / "checkpoints" / "round-1.json").unlink()
            left = iter(range(dies_at))

            def mortal(self: object, *given: object, left: object = left, **named: object) -> None:
                if next(left, None) is None:  # type: ignore[call-overload]
                    raise ConnectionError("the plug is pulled")
                copy(self, *given, **named)

            with monkeypatch.context() as patch:
                patch.setattr(LocalFileSystem, "cp_file", mortal)
                with pytest.raises(ConnectionError):
                    save()
        store.fetch(run)
        found = files(run)
        assert found["checkpoints/round-1.json"] == "1"
        assert found["checkpoints/clients/0.safetensors"] == "a"
        assert not any(name.endswith(".part") for name in found)


def test_the_experiment_is_there_too(tmp_path: Path) -> None:
    run, store = experiment(tmp_path / "out"), Remote(f"file://{tmp_path}/store")
    store.mark(run)
    (copy,) = (tmp_path / "store").glob("out-*/experiment.json")
    assert copy.read_text() == "{}"


def test_experiments_of_one_name_are_not_taken_for_each_other(tmp_path: Path) -> None:
    store = Remote(f"file://{tmp_path}/store")
    first, second = experiment(tmp_path / "a" / "out", "{1}"), experiment(tmp_path / "b" / "out", "{2}")
    for run in (first, second):
        store.mark(run)
    with store.taken(first) as (place, save):
        write(place, **FIRST)
        save()
    with store.taken(second) as (place, save):
        assert files(place) == {}


def test_a_machine_that_does_not_share_the_folder(tmp_path: Path) -> None:
    run, store = experiment(tmp_path / "out"), Shared()
    store.mark(run)
    with store.taken(run) as (place, save):
        assert place == run
        save()
    (tmp_path / "out" / "experiment.json").write_text("another's")
    words = r"does not see .*; name a folder that all machines share by --out, or a store"
    with pytest.raises(UserError, match=words), store.taken(run):
        pass


@pytest.mark.parametrize("url", ["nothing://there", "file:///proc/nothing"])
def test_a_store_that_cannot_be_used(url: str) -> None:
    with pytest.raises(UserError, match=rf"--store {url}: cannot be used \("):
        Remote(url).check()
