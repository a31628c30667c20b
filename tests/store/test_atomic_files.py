"""A reader sees the old content or the new, and a failure is a sentence."""

import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.core.errors import UserError
from superfed.store.files import read_json, remove_parts, sha256, sha256_of, write_bytes, write_json, write_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def failing(error: Exception) -> Any:
    def fail(*args: object, **kwargs: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize("durable", [True, False])
def test_the_new_content_replaces_the_old(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "deep" / "down" / "file"
    for data in (b"old", b"", b"new" * 1000):
        write_bytes(path, data, durable=durable)
        assert path.read_bytes() == data
    assert names(path.parent) == ["file"]
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("step", ["replace", "fsync", "chmod"])
def test_a_failed_write_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")
    monkeypatch.setattr(os, step, failing(OSError(28, "No space left on device")))
    with pytest.raises(UserError) as caught:
        write_bytes(path, b"new")
    assert str(caught.value) == f"{path}: cannot be written (No space left on device)"
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_an_interrupted_write_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_until_the_move_the_old_content_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")
    seen = []
    replace = os.replace

    def watch(source: str, target: Path) -> None:
        seen.append((Path(source).read_bytes(), target.read_bytes()))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watch)
    write_bytes(path, b"new")
    assert seen == [(b"new", b"old")]
    assert path.read_bytes() == b"new"


def test_a_folder_that_cannot_be_made_or_written_to_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    below = tmp_path / "file" / "deeper" / "run.json"
    with pytest.raises(UserError) as caught:
        write_bytes(below, b"x")
    assert str(caught.value) == f"{below}: cannot be written (Not a directory)"
    monkeypatch.setattr(tempfile, "mkstemp", failing(PermissionError(13, "Permission denied")))
    with pytest.raises(UserError) as caught:
        write_bytes(tmp_path / "run.json", b"x")
    assert str(caught.value) == f"{tmp_path / 'run.json'}: cannot be written (Permission denied)"


def test_a_folder_in_the_files_place_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()
    with pytest.raises(UserError, match=r"run\.json: cannot be written \("):
        write_json(tmp_path / "run.json", {})
    assert names(tmp_path) == ["run.json"]


@given(value=JSON)
@settings(deadline=None)
def test_json_comes_back_as_it_was(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "value.json"
    write_json(path, value)
    assert read_json(path) == value


def test_json_is_written_for_people_too(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    write_json(path, {"μ": 0.1, "rows": [1]})
    text = path.read_text(encoding="utf-8")
    assert '"μ": 0.1' in text
    assert text.endswith("}\n")
    assert json.loads(text) == {"μ": 0.1, "rows": [1]}


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_json_does_not_know_is_not_written(tmp_path: Path, value: float) -> None:
    write_json(tmp_path / "value.json", [1.0])
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "value.json", [value])
    assert read_json(tmp_path / "value.json") == [1.0]


@pytest.mark.parametrize("content", [b"", b'{"schema": 1', b"not json", b'{"a": "\xff"}'])
def test_a_damaged_json_file_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        read_json(path)
    assert str(caught.value).startswith(f"{path}: cannot be read (")


def test_a_missing_json_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        read_json(tmp_path / "run.json")
    assert str(caught.value) == f"{tmp_path / 'run.json'}: there is no such file"


def test_digests_of_bytes_and_of_files_agree(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "λ")
    assert sha256("λ".encode()) == sha256_of(tmp_path / "a") != sha256(b"")
    assert sha256(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_what_a_killed_writer_left_is_cleared_away(tmp_path: Path) -> None:
    for name in (".run.json.x1.part", "run.json", ".lock", "kept.part"):
        (tmp_path / name).write_text("x")
    remove_parts(tmp_path)
    assert names(tmp_path) == [".lock", "kept.part", "run.json"]
