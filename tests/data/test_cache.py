"""Prepared datasets: what comes out is what went in, made once, and whatever goes wrong nothing wrong is ever used."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from superfed.core.errors import UserError
from superfed.data import cache_entry
from superfed.data.cache import NotKeptError, cache_place, load, prepare
from superfed.data.cache_entry import FACTS, Entry, entries
from superfed.data.dataset import Dataset
from superfed.data.digits import Digits
from superfed.data.files import FileDataset, Found
from superfed.data.pool import Pool
from superfed.data.registry import DATASETS
from superfed.data.synthetic import Synthetic
from superfed.data.text import TextWindows
from support.toy_files import ToyFiles, reads, write_toy


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_toy(tmp_path / "root")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def loaded(settings: ToyFiles, root: Path, cache: Path | None) -> Dataset:
    pool = load(settings, root, cache)
    assert isinstance(pool, Dataset)
    return pool


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob(".*.part"))


def assert_same(pool: Pool, other: Pool) -> None:
    assert type(pool) is type(other)
    (arrays, facts), (other_arrays, other_facts) = pool.pack(), other.pack()
    assert facts == other_facts
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        assert array.dtype == other_arrays[name].dtype
        assert array.shape == other_arrays[name].shape
        assert array.tobytes() == other_arrays[name].tobytes()
    assert pool.digest() == other.digest()


# What comes out


def test_what_is_prepared_is_what_is_read_and_is_read_once(root: Path, cache: Path) -> None:
    plain = ToyFiles().load(root)
    first, second = loaded(ToyFiles(), root, cache), loaded(ToyFiles(), root, cache)
    assert reads(root) == 2  # the plain one and the first
    for pool in (first, second):
        assert_same(pool, plain)
        rows = np.array([5, 0, 299])
        assert torch.equal(pool.inputs(rows), plain.inputs(rows))
    assert len(visible(cache)) == 1


def test_the_arrays_are_mapped_and_writing_to_them_changes_no_file(root: Path, cache: Path) -> None:
    pool = loaded(ToyFiles(), root, cache)
    (entry,) = entries(cache)
    maps = Path("/proc/self/maps")
    if maps.exists():
        for name in ("x", "y", "owners", "parts"):
            assert str(entry.path / f"{name}.npy") in maps.read_text()
    before = (entry.path / "x.npy").read_bytes()
    pool.x.fill_(7)
    assert (entry.path / "x.npy").read_bytes() == before
    assert_same(loaded(ToyFiles(), root, cache), ToyFiles().load(root))


def test_the_digest_is_known_without_reading_the_arrays(root: Path, cache: Path) -> None:
    load(ToyFiles(), root, cache)
    pool = loaded(ToyFiles(), root, cache)
    assert pool.known_digest == ToyFiles().load(root).digest()
    (entry,) = entries(cache)
    again = entry.open(trust=False)
    assert isinstance(again, Dataset)
    assert again.known_digest is None
    assert again.digest() == pool.known_digest


def text() -> TextWindows:
    return TextWindows.from_texts("plays", [("Romeo", "a rose by any"), ("Juliet", "other name")], " abehmnorsty", 4)


def bare() -> Dataset:
    return Dataset("bare", torch.rand(5, 3, dtype=torch.float64), torch.tensor([0, 1, 0, 1, 1]), 2)


def by_columns() -> Dataset:
    return Dataset("columns", torch.arange(12).reshape(3, 4).T, torch.zeros(4, dtype=torch.int64), 1)


def of_size_nothing() -> Dataset:
    return Dataset("nothing", torch.zeros(3, 0), torch.zeros(3, dtype=torch.int64), 1)


@pytest.mark.parametrize("make", [text, bare, by_columns, of_size_nothing])
def test_every_kind_of_pool_comes_back(cache: Path, make: Callable[[], Pool]) -> None:
    cache.mkdir()
    pool, entry = make(), Entry(cache / "some-1")
    entry.write(pool)
    back = entry.open()
    assert_same(back, pool)
    rows = np.arange(len(pool))
    assert torch.equal(back.inputs(rows), pool.inputs(rows))


def test_forked_processes_share_it(root: Path, cache: Path) -> None:
    load(ToyFiles(), root, cache)
    pool = loaded(ToyFiles(), root, cache)
    expected = int(pool.x.sum())
    pid = os.fork()
    if pid == 0:
        os._exit(0 if int(pool.x.numpy().sum(dtype=np.int64)) == expected else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_what_does_not_lie_on_disk_is_just_loaded(cache: Path) -> None:
    assert isinstance(load(Synthetic(), None, cache), Synthetic)
    assert isinstance(load(Digits(), None, cache), Dataset)
    assert not cache.exists()


def test_without_a_cache_nothing_is_kept(root: Path, tmp_path: Path) -> None:
    assert_same(loaded(ToyFiles(), root, None), ToyFiles().load(root))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["root"]


def test_missing_files_are_the_same_sentence(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(UserError, match="toy: looked for"):
        load(ToyFiles(), tmp_path, cache)
    assert not cache.exists()


# When it is made anew


class NewReader(ToyFiles):
    reader: ClassVar[int] = 2


class OtherLayout(ToyFiles):
    layout: ClassVar[str] = "hub"


def touched(root: Path) -> Path:
    os.utime(root / "toy", ns=(1, (root / "toy").stat().st_mtime_ns + 1))
    return root


def grown(root: Path) -> Path:
    stat = (root / "toy").stat()
    (root / "toy").write_bytes((root / "toy").read_bytes() + b"x")
    os.utime(root / "toy", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return root


def elsewhere(root: Path) -> Path:
    return shutil.copytree(root, root.with_name("copy"), copy_function=shutil.copy2)


@pytest.mark.parametrize(
    ("settings", "change"),
    [
        (ToyFiles(classes=5), None),
        (NewReader(), None),
        (OtherLayout(), None),
        (ToyFiles(), touched),
        (ToyFiles(), grown),
        (ToyFiles(), elsewhere),
    ],
    ids=["settings", "reader", "layout", "date", "size", "place"],
)
def test_what_decides_the_contents_decides_the_entry(
    root: Path, cache: Path, settings: ToyFiles, change: Callable[[Path], Path] | None
) -> None:
    load(ToyFiles(), root, cache)
    place = change(root) if change else root
    assert_same(loaded(settings, place, cache), settings.load(place))
    assert len(visible(cache)) == 2


def test_a_new_way_of_writing_entries_finds_no_old_ones(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(ToyFiles(), root, cache)
    monkeypatch.setattr(cache_entry, "SCHEMA", cache_entry.SCHEMA + 1)
    load(ToyFiles(), root, cache)
    assert len(visible(cache)) == 2


def test_the_same_place_by_another_path_is_the_same(root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(ToyFiles(), root, cache)
    monkeypatch.chdir(root.parent)
    load(ToyFiles(), Path("root"), Path("cache"))
    assert reads(root) == 1


def test_files_that_change_while_they_are_read_are_not_kept(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = ToyFiles.read

    def read_and_touch(self: ToyFiles, found: Found, *more: Any) -> Dataset:
        pool = read(self, found, *more)
        touched(root)
        return pool

    monkeypatch.setattr(ToyFiles, "read", read_and_touch)
    with pytest.raises(UserError, match="toy: its files changed while they were read; try again"):
        load(ToyFiles(), root, cache)
    assert visible(cache) == []
    assert parts(cache) == []


# Damage


def rewritten(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def with_facts(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    facts = json.loads((folder / FACTS).read_text())
    change(facts)
    (folder / FACTS).write_text(json.dumps(facts))


def emptied(path: Path, remove: Callable[[Path], object]) -> None:
    remove(path)
    path.mkdir()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "array cut": lambda folder: rewritten(folder / "x.npy", lambda data: data[:-1]),
    "array empty": lambda folder: rewritten(folder / "y.npy", lambda data: b""),
    "array longer": lambda folder: rewritten(folder / "owners.npy", lambda data: data + b"x"),
    "array missing": lambda folder: (folder / "parts.npy").unlink(),
    "array a folder": lambda folder: emptied(folder / "x.npy", Path.unlink),
    "array header": lambda folder: rewritten(folder / "x.npy", lambda data: b"\0" * 10 + data[10:]),
    "array type": lambda folder: rewritten(folder / "y.npy", lambda data: data.replace(b"'<i8'", b"'<f8'")),
    "array pickled": lambda folder: rewritten(folder / "y.npy", lambda data: data.replace(b"'<i8'", b"'|O' ")),
    "labels out of range": lambda folder: rewritten(folder / "y.npy", lambda data: data[:-8] + b"\x7f" * 8),
    "facts missing": lambda folder: (folder / FACTS).unlink(),
    "facts empty": lambda folder: (folder / FACTS).write_bytes(b""),
    "facts cut": lambda folder: rewritten(folder / FACTS, lambda data: data[: len(data) // 2]),
    "facts not text": lambda folder: (folder / FACTS).write_bytes(b"\xff\xfe"),
    "facts a list": lambda folder: (folder / FACTS).write_text("[]"),
    "facts deep": lambda folder: (folder / FACTS).write_text("[" * 100_000),
    "no arrays": lambda folder: with_facts(folder, lambda facts: facts.pop("arrays")),
    "no digest": lambda folder: with_facts(folder, lambda facts: facts.pop("digest")),
    "no facts": lambda folder: with_facts(folder, lambda facts: facts["facts"].pop("scale")),
    "array forgotten": lambda folder: with_facts(folder, lambda facts: facts["arrays"].pop("x")),
    "unknown pool": lambda folder: with_facts(folder, lambda facts: facts.update(pool="os")),
    "emptied": lambda folder: emptied(folder, shutil.rmtree),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_entry_is_made_anew_and_says_so(root: Path, cache: Path, damage: Callable[[Path], object]) -> None:
    load(ToyFiles(), root, cache)
    (entry,) = entries(cache)
    damage(entry.path)
    with pytest.warns(UserWarning, match="is damaged") as caught:
        pool = loaded(ToyFiles(), root, cache)
    (warning,) = caught
    assert re.fullmatch(rf"{re.escape(str(entry.path))}: is damaged \(.+\); made anew", str(warning.message))
    assert_same(pool, ToyFiles().load(root))
    before = reads(root)
    assert_same(loaded(ToyFiles(), root, cache), pool)  # and warns of nothing
    assert reads(root) == before
    assert visible(cache) == [entry.path.name]


# A cache that cannot be written to


def failing(number: int, after: int = 0) -> Callable[..., None]:
    """An ``os.fsync`` for a disk that is full after some calls."""
    calls = iter(range(after + 1))

    def fail(*_: object) -> None:
        if next(calls, after) == after:
            raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("after", range(6), ids=lambda n: f"at write {n}")
def test_a_full_disk_is_a_sentence_and_a_run_goes_on(
    root: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    sentence = f"{cache}: prepared datasets cannot be kept there (No space left on device)"
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing(28, after))
        with pytest.raises(NotKeptError) as caught:
            prepare(ToyFiles(), ToyFiles().find(root), cache)
        assert str(caught.value) == sentence
        assert not visible(cache)
        assert not parts(cache)
        patch.setattr(os, "fsync", failing(28, after))
        before = reads(root)
        with pytest.warns(UserWarning, match="going on without") as warned:
            pool = loaded(ToyFiles(), root, cache)
        assert [str(one.message) for one in warned] == [f"{sentence}; going on without"]
        assert reads(root) == before + 1
    assert_same(pool, ToyFiles().load(root))
    assert loaded(ToyFiles(), root, cache).known_digest is not None


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own with room for 128 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.system(f"mount -t tmpfs -o size=128k tmpfs '{disk}' 2>/dev/null") != 0:
        pytest.skip("no disk can be mounted here")
    try:
        yield disk
    finally:
        os.system(f"umount -l '{disk}'")


def test_a_disk_that_is_really_full(tmp_path: Path, small_disk: Path) -> None:
    root = write_toy(tmp_path / "root")
    (root / "toy").write_bytes(bytes(range(256)) * 80)
    cache = small_disk / "cache"
    with pytest.warns(UserWarning, match=r"cannot be kept there \(No space left on device\); going on without"):
        pool = loaded(ToyFiles(), root, cache)
    assert_same(pool, ToyFiles().load(root))
    assert not visible(cache)
    assert not parts(cache)
    write_toy(root)  # a small one fits
    assert loaded(ToyFiles(), root, cache).known_digest is not None


def test_a_cache_that_may_only_be_read_is_read(tmp_path: Path, small_disk: Path) -> None:
    root, cache = write_toy(tmp_path / "root"), small_disk / "cache"
    load(ToyFiles(), root, cache)
    assert os.system(f"mount -o remount,ro '{small_disk}'") == 0
    assert loaded(ToyFiles(), root, cache).known_digest is not None
    with pytest.warns(UserWarning, match=r"cannot be kept there \(Read-only file system\); going on without"):
        load(ToyFiles(classes=5), root, cache)
    with pytest.raises(NotKeptError, match=r"cannot be kept there \(Read-only file system\)$"):
        prepare(ToyFiles(classes=5), ToyFiles().find(root), cache)


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_cache_that_is_no_folder_is_a_sentence(root: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(
        UserWarning, match=rf"{place}: prepared datasets cannot be kept there \((File ex|Not a dir).*\);"
    ):
        pool = loaded(ToyFiles(), root, tmp_path / place)
    assert len(pool) == 300
    assert reads(root) == 1


# Where it is


@pytest.mark.parametrize(
    ("given", "variables", "expected"),
    [
        (None, {}, "/home/me/.cache/superfed"),
        (None, {"SUPERFED_CACHE": ""}, "/home/me/.cache/superfed"),
        (None, {"XDG_CACHE_HOME": "/xdg"}, "/xdg/superfed"),
        (None, {"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/superfed"),
        (None, {"SUPERFED_CACHE": "/mine", "XDG_CACHE_HOME": "/xdg"}, "/mine"),
        (None, {"SUPERFED_CACHE": "off"}, None),
        ("off", {"SUPERFED_CACHE": "/mine"}, None),
        ("/here", {"SUPERFED_CACHE": "off"}, "/here"),
    ],
)
def test_the_place(
    monkeypatch: pytest.MonkeyPatch, given: str | None, variables: dict[str, str], expected: str | None
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    for name in ("SUPERFED_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_place(given) == (None if expected is None else Path(expected))


def test_without_a_home_there_is_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUPERFED_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert cache_place() is None


# The real ones


@pytest.mark.real_data
@pytest.mark.parametrize("name", [name for name, entry in DATASETS.items() if issubclass(entry.settings, FileDataset)])
def test_real_datasets_come_back(name: str, cache: Path) -> None:
    folder = os.environ.get("SUPERFED_DATA")
    if not folder:
        pytest.skip("set SUPERFED_DATA to the folder that holds the real datasets")
    try:
        settings: Any = DATASETS[name].settings()
        found = settings.find(Path(folder))
    except (TypeError, UserError):
        pytest.skip(f"{name} does not lie there")
    plain, fresh = settings.read(found), prepare(settings, found, cache)
    assert fresh.fresh
    again = prepare(settings, found, cache)
    assert not again.fresh
    assert_same(fresh.pool, plain)
    assert_same(again.pool, plain)
