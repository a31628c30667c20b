"""LEAF's JSON shards, whole and broken."""

import copy
import gc
import json
from pathlib import Path
from typing import Any

import pytest

from superfed.core.errors import UserError
from superfed.data.leaf import BadSamples, User, listed, read_json, read_users, shards
from support.leaf import shard, write_json

ANN_AND_BOB = shard({"ann": ([1, 2, 3], [0, 1, 0]), "bob": ([4], [1])})


def together(x: list[int], y: list[int]) -> list[tuple[int, int]]:
    if 13 in x:
        raise BadSamples(f"x[{x.index(13)}] is 13, which is bad luck")
    return list(zip(x, y, strict=True))


def everyone(*files: Path) -> list[User[list[tuple[int, int]]]]:
    return list(read_users(files, together))


def changed(**parts: Any) -> dict[str, Any]:
    return {**ANN_AND_BOB, **parts}


def with_ann(x: Any, y: Any, count: Any) -> dict[str, Any]:
    return {"users": ["ann"], "num_samples": [count], "user_data": {"ann": {"x": x, "y": y}}}


def test_users_come_in_the_order_of_the_shard_with_their_samples(tmp_path: Path) -> None:
    path = write_json(tmp_path / "all_data_0.json", changed(users=["bob", "ann"], num_samples=[1, 3]))
    assert everyone(path) == [User(path, "bob", [(4, 1)]), User(path, "ann", [(1, 0), (2, 1), (3, 0)])]


def test_what_else_leaf_writes_is_no_obstacle(tmp_path: Path) -> None:
    content = copy.deepcopy(changed(hierarchies=["play", "play"]))
    content["user_data"]["ann"]["raw"] = "the text itself"
    assert len(everyone(write_json(tmp_path / "a.json", content))) == 2


def test_a_user_without_samples_is_there_without_them(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", shard({"ann": ([], []), "bob": ([4], [1])}))
    assert everyone(path) == [User(path, "ann", None), User(path, "bob", [(4, 1)])]


@pytest.mark.parametrize("names", [["x", "y"], ["users", "user_data", "num_samples"]])
def test_users_may_be_called_what_they_like(tmp_path: Path, names: list[str]) -> None:
    path = write_json(tmp_path / "a.json", shard({name: ([7], [0]) for name in names}))
    assert [user.name for user in everyone(path)] == names


def test_the_tenth_shard_comes_after_the_ninth(tmp_path: Path) -> None:
    for number in (10, 9, 0, 1):
        write_json(tmp_path / f"all_data_{number}.json", shard({f"user {number}": ([number], [0])}))
    write_json(tmp_path / "other.json", "")
    found = shards(tmp_path)
    assert [path.name for path in found] == [f"all_data_{number}.json" for number in (0, 1, 9, 10)]
    ticks: list[tuple[int, int]] = []
    users = read_users(found, together, lambda done, total: ticks.append((done, total)))
    assert [user.samples for user in users] == [[(number, 0)] for number in (0, 1, 9, 10)]
    assert ticks == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_no_folder_holds_nothing_and_one_that_is_closed_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shards(tmp_path / "none") == ()
    assert listed(write_json(tmp_path / "file", ""), "*") == ()

    def forbidden(*_: object) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.listdir", forbidden)
    with pytest.raises(UserError, match=r"cannot be read: Permission denied") as caught:
        shards(tmp_path)
    assert str(caught.value) == f"{tmp_path}: cannot be read: Permission denied"


def test_each_users_lists_are_gone_before_the_next_ones_are_read(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", shard({f"user {i}": ([[i] * 50], [i]) for i in range(20)}))
    alive: list[int] = []

    def small(x: list[Any], y: list[Any]) -> int:
        samples = [[i] * 50 for i in range(20)]
        alive.append(sum(type(o) is list and o in samples for o in gc.get_objects()) - len(samples))
        return len(x)

    assert sum(user.samples or 0 for user in read_users([path], small)) == 20
    assert alive == [1] * 20


WHOLE = json.dumps(ANN_AND_BOB)
DEEP = "[" * 100_000

BROKEN: list[tuple[str, Any, str]] = [
    ("nothing", "", "is not JSON or is cut short (Expecting value, character 0 of 0); fetch it again"),
    (
        "a web page",
        "<html></html>",
        "is not JSON or is cut short (Expecting value, character 0 of 13); fetch it again",
    ),
    (
        "cut within a list",
        '{"users": ["ann", ',
        "is not JSON or is cut short (Expecting value, character 18 of 18); fetch it again",
    ),
    (
        "cut within a name",
        '{"users": ["an',
        "is not JSON or is cut short (Unterminated string starting at, character 11 of 14); fetch it again",
    ),
    (
        "cut before the end",
        WHOLE[:-1],
        "is not JSON or is cut short (Expecting ',' delimiter, character 132 of 132); fetch it again",
    ),
    ("more at the end", WHOLE + "}", "is not JSON or is cut short (Extra data, character 133 of 134); fetch it again"),
    ("other bytes", b"\x93NUMPY\xff", "is not UTF-8 text, as JSON is; fetch it again"),
    (
        "too deep",
        DEEP,
        "is not JSON that can be read (too many lists within lists); fetch it again",
    ),
    (
        "half a character",
        '{"\\ud800": 1}',
        "is not JSON that can be read ('utf-8' codec can't encode character '\\ud800' in position 0: surrogates not "
        "allowed); fetch it again",
    ),
    ("a list", [], "is not an object with users, num_samples and user_data, as LEAF's files are"),
    (
        "someone's samples only",
        {"x": [1], "y": [1]},
        "is not an object with users, num_samples and user_data, as LEAF's files are",
    ),
    ("no users", {"num_samples": [], "user_data": {}}, "has no users, which LEAF's files have; fetch it again"),
    ("no counts", {"users": [], "user_data": {}}, "has no num_samples, which LEAF's files have; fetch it again"),
    ("no data", {"users": [], "num_samples": []}, "has no user_data, which LEAF's files have; fetch it again"),
    ("users are no list", changed(users={"ann": 1}), "its users is not a JSON list"),
    ("counts are no list", changed(num_samples=4), "its num_samples is not a JSON list"),
    ("data are no object", changed(user_data=[]), "its user_data is not a JSON object"),
    ("nobody", shard({}), "holds no users; remove it or fetch it again"),
    ("a name that is none", changed(users=["ann", 7]), "users are named by strings, but one is 7"),
    ("listed twice", changed(users=["ann", "ann"]), "lists the user 'ann' twice; remove one of them"),
    (
        "no data of one",
        changed(users=["ann", "bob", "cid"], num_samples=[3, 1, 0]),
        "lists the user 'cid', but user_data has nothing of theirs; fetch it again",
    ),
    (
        "data of nobody",
        changed(users=["ann"], num_samples=[3]),
        "user_data has samples of 'bob', whom users does not list; fetch it again",
    ),
    ("a count missing", changed(num_samples=[3]), "has num_samples for 1 users, but there are 2"),
    (
        "a wrong count",
        changed(num_samples=[3, 2]),
        "user 'bob': num_samples says 2, but the data hold 1 samples",
    ),
    (
        "a count that is none",
        changed(num_samples=["3", 1]),
        "user 'ann': num_samples says \"3\", but the data hold 3 samples",
    ),
    ("more x than y", with_ann([1, 2], [1], 1), "user 'ann': has 2 inputs (x), but 1 labels (y)"),
    ("more y than x", with_ann([], [1], 1), "user 'ann': has 0 inputs (x), but 1 labels (y)"),
    ("no lists", with_ann("abc", "def", 3), "user 'ann': the data are not an object with the lists x and y"),
    (
        "no y",
        {"users": ["ann"], "num_samples": [1], "user_data": {"ann": {"x": [1]}}},
        "user 'ann': the data are not an object with the lists x and y",
    ),
    ("samples that are not liked", with_ann([1, 13], [0, 0], 2), "user 'ann': x[1] is 13, which is bad luck"),
    (
        "a user with data twice",
        '{"users": ["ann"], "num_samples": [1], "user_data": {"ann": {"x": [1], "y": [1]}, "ann": {"x": [], "y": []}}}',
        "has 'ann' twice in one object; remove one of them",
    ),
]


@pytest.mark.parametrize(("content", "sentence"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_shard_is_a_sentence_that_names_it(tmp_path: Path, content: Any, sentence: str) -> None:
    path = write_json(tmp_path / "all_data_0.json", content)
    with pytest.raises(UserError) as caught:
        everyone(path)
    assert str(caught.value) == f"{path}: {sentence}"


def test_one_user_in_two_shards_is_a_sentence_that_names_both(tmp_path: Path) -> None:
    one, two = (write_json(tmp_path / f"all_data_{i}.json", ANN_AND_BOB) for i in range(2))
    with pytest.raises(UserError) as caught:
        everyone(one, two)
    assert str(caught.value) == f"{two}: has the user 'ann', whom {one} has too; remove one file"


def test_a_file_that_cannot_be_opened_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        read_json(tmp_path / "gone.json")
    assert str(caught.value) == f"{tmp_path / 'gone.json'}: cannot be read: No such file or directory"


def test_a_file_cut_anywhere_is_a_sentence(tmp_path: Path) -> None:
    for end in range(len(WHOLE)):
        path = write_json(tmp_path / "a.json", WHOLE[:end])
        with pytest.raises(UserError, match="is not JSON or is cut short"):
            everyone(path)
