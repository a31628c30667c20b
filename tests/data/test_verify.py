"""Files compared with the published ones."""

import gzip
import hashlib
from pathlib import Path

import pytest

from superfed.core.errors import UserError
from superfed.data.files import Found
from superfed.data.verify import verify
from support.pictures import put

CONTENT = b"what was published"
MD5 = hashlib.md5(CONTENT).hexdigest()


def verdict(path: Path, checksums: dict[str, str]) -> str:
    (line,) = verify(Found("files", (path,)), checksums)
    return line


def test_a_file_is_as_published_or_differs_or_has_no_checksum(tmp_path: Path) -> None:
    same, other = put(tmp_path / "data" / "train", CONTENT), put(tmp_path / "data" / "more", b"something else")
    found = Found("files", (same, other, tmp_path / "data" / "words.txt"))
    assert verify(found, {"train": MD5, "more": MD5}) == [
        "data/train: as published",
        f"data/more: differs from the published file (md5 {hashlib.md5(b'something else').hexdigest()})",
        "data/words.txt: no published checksum",
    ]


@pytest.mark.parametrize("level", [1, 9])
@pytest.mark.parametrize("name", ["train", "train.gz"])
def test_a_gzip_file_is_known_by_what_it_holds(tmp_path: Path, name: str, level: int) -> None:
    path = put(tmp_path / "raw" / name, gzip.compress(CONTENT, level, mtime=level))
    assert verdict(path, {"train": MD5}) == f"raw/{name}: as published"


def test_or_by_itself_where_its_own_checksum_is_given(tmp_path: Path) -> None:
    packed = gzip.compress(CONTENT)
    path = put(tmp_path / "raw" / "train.gz", packed)
    assert verdict(path, {"train.gz": hashlib.md5(packed).hexdigest()}) == "raw/train.gz: as published"
    assert verdict(path, {"train.gz": MD5}).startswith("raw/train.gz: differs from the published file (md5 ")


@pytest.mark.parametrize("damage", [slice(0, -5), slice(0, 12)])
def test_a_damaged_gzip_file_differs(tmp_path: Path, damage: slice) -> None:
    path = put(tmp_path / "raw" / "train.gz", gzip.compress(CONTENT)[damage])
    line = "raw/train.gz: differs from the published file (the gzip file is damaged)"
    assert verdict(path, {"train": MD5}) == line


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone: cannot be read: No such file or directory"):
        verdict(tmp_path / "gone", {"gone": MD5})
