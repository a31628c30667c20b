"""Shakespeare's plays in every layout, whole and broken; and the real ones."""

import csv
import string
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from superfed.core.errors import SettingError, UserError
from superfed.data.dealt import DealtDataset
from superfed.data.partitions import Natural
from superfed.data.shakespeare import ALPHABETS, COLUMNS, REPO, ROWS, Shakespeare
from superfed.data.split import Split
from superfed.data.text import TextWindows
from support.leaf import shard, write_json
from support.real_data import root_with

HAMLET = "To be, or not to be: that is the question. Whether 'tis nobler in the mind to suffer the slings and arrows "
# A quotation mark, a comma and a line's end in a window are what a table must get right.
GHOST = "I am thy father's spirit, \"Doom'd for a certain term\" to walk the night, and for the day confin'd to fast "
TEXTS = {"HAMLET_HAMLET": HAMLET, "HAMLET_GHOST": GHOST}
Row = tuple[Any, Any, Any]
Samples = Mapping[str, tuple[list[Any], list[Any]]]


def cut(texts: Mapping[str, str], length: int = 80) -> dict[str, tuple[list[Any], list[Any]]]:
    """Text as LEAF cuts it."""
    return {
        role: ([text[i : i + length] for i in range(len(text) - length)], list(text[length:]))
        for role, text in texts.items()
    }


def rows_of(samples: Samples) -> list[Row]:
    return [(role, *sample) for role, (x, y) in samples.items() for sample in zip(x, y, strict=True)]


def as_roles(root: Path, samples: Samples) -> Path:
    texts = {role: {"play": "Hamlet", "text": "".join([*x[:1], *y])} for role, (x, y) in samples.items()}
    return write_json(root / "leaf/shakespeare/roles.json", texts)


def as_texts(root: Path, samples: Samples) -> Path:
    for role, (x, y) in samples.items():
        path = write_json(root / f"leaf/shakespeare/by_role/{role}.txt", "".join([*x[:1], *y]))
    return path


def as_windows(root: Path, samples: Samples) -> Path:
    return write_json(root / "leaf/shakespeare/all_data_0.json", shard(dict(samples)))


def write_parquet(root: Path, rows: list[Row], name: str = "train-00000-of-00001.parquet") -> Path:
    import pyarrow
    import pyarrow.parquet

    path = root / "hub" / REPO / "data" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = map(list, zip(*rows, strict=True))
    pyarrow.parquet.write_table(pyarrow.table(dict(zip(COLUMNS, columns, strict=True))), path)
    return path


def write_csv(root: Path, rows: list[Row]) -> Path:
    path = write_json(root / "hub" / REPO / "shakespeare.csv", "")
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    return path


LAYOUTS: dict[str, Callable[[Path, Samples], Path]] = {
    "roles": as_roles,
    "texts": as_texts,
    "windows": as_windows,
    "parquet": lambda root, samples: write_parquet(root, rows_of(samples)),
    "csv": lambda root, samples: write_csv(root, rows_of(samples)),
}


def texts_of(pool: TextWindows) -> dict[str, str]:
    texts = ["".join(pool.alphabet[token] for token in pool.tokens[i:j]) for i, j in pairwise(pool.starts)]
    return dict(zip(pool.owners.names, texts, strict=True))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_text(tmp_path: Path, layout: str) -> None:
    LAYOUTS[layout](tmp_path, cut(TEXTS))
    assert Shakespeare().find(tmp_path).layout == layout
    pool = Shakespeare().load(tmp_path)
    assert texts_of(pool) == TEXTS
    assert pool.num_classes == 80
    assert pool.input_shape == (80,)
    assert pool.overlap == 79
    assert len(pool) == len(HAMLET) + len(GHOST) - 160
    assert pool.note == f"{len(pool)} samples of 2 roles"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("length", [2, 20, 100])
def test_the_length_need_not_be_that_of_the_files(tmp_path: Path, layout: str, length: int) -> None:
    LAYOUTS[layout](tmp_path, cut(TEXTS))
    pool = Shakespeare(length=length).load(tmp_path)
    assert texts_of(pool) == TEXTS
    assert pool.input_shape == (length,)
    assert len(pool) == len(HAMLET) + len(GHOST) - 2 * length


def test_the_order_of_the_layouts(tmp_path: Path) -> None:
    for layout in ("csv", "parquet", "texts", "windows", "roles"):
        LAYOUTS[layout](tmp_path, cut(TEXTS))
        assert Shakespeare().find(tmp_path).layout == layout


@pytest.mark.parametrize(
    ("folder", "file"),
    [
        ("shakespeare", "roles.json"),
        ("shakespeare/data/all_data", "all_data.json"),
        ("leaf/shakespeare/data/all_data", "all_data_0.json"),
        ("shakespeare/by_role", "A.txt"),
        ("leaf/shakespeare/data/raw_data/by_play_and_character", "A.txt"),
    ],
)
def test_the_folders_where_leaf_leaves_them(tmp_path: Path, folder: str, file: str) -> None:
    contents = {"roles.json": {"A": {"play": "?", "text": HAMLET}}, "A.txt": HAMLET}
    write_json(tmp_path / folder / file, contents.get(file, shard(cut({"A": HAMLET}))))
    assert texts_of(Shakespeare().load(tmp_path)) == {"A": HAMLET}


@pytest.mark.parametrize("layout", ["roles", "texts"])
def test_text_is_read_as_leaf_reads_it(tmp_path: Path, layout: str) -> None:
    text = HAMLET.replace("or not", "or\n   not").replace("is the", "is\nthe").strip() + "\n"
    if layout == "roles":
        write_json(tmp_path / "shakespeare/roles.json", {"A": {"text": text}})
    else:
        write_json(tmp_path / "shakespeare/by_role/A.txt", text.replace("\n", "\r\n").encode("utf-8-sig"))
    assert texts_of(Shakespeare().load(tmp_path)) == {"A": HAMLET}


def test_roles_too_short_or_without_samples_are_counted(tmp_path: Path) -> None:
    as_windows(tmp_path, {**cut({"A": HAMLET, "B": GHOST[:81]}), "C": ([], [])})
    pool = Shakespeare().load(tmp_path)
    assert list(pool.owners.names) == ["A", "B"]
    assert pool.note is not None
    assert pool.note.endswith("; roles of at most 80 characters, too short for a window and left out: 1")


def test_unknown_characters_are_read_as_spaces_and_told(tmp_path: Path) -> None:
    text = HAMLET.replace("slings", "süngs") + "é" * 5 + "*"
    as_texts(tmp_path, cut({"A": text}))
    pool = Shakespeare().load(tmp_path)
    assert texts_of(pool) == {"A": text.replace("ü", " ").replace("é", " ").replace("*", " ")}
    assert pool.note is not None
    assert pool.note.endswith("; unknown characters, read as spaces: 7 (é ×5, * ×1, ü ×1)")
    printable = Shakespeare("printable").load(tmp_path)
    assert printable.note is not None
    assert printable.note.endswith("; unknown characters, read as spaces: 6 (é ×5, ü ×1)")


def test_the_alphabets() -> None:
    assert {name: len(alphabet) for name, alphabet in ALPHABETS.items()} == {"leaf": 80, "printable": 100}
    assert all(len(set(alphabet)) == len(alphabet) for alphabet in ALPHABETS.values())
    assert set(ALPHABETS["leaf"]) < set(ALPHABETS["printable"])
    assert ALPHABETS["leaf"] == "".join(sorted(ALPHABETS["leaf"]))
    assert ALPHABETS["printable"] == string.printable


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"alphabet": "greek"}, "alphabet: must be 'leaf' or 'printable', got 'greek'"),
        ({"length": 1}, "length: must be a whole number of at least 2, got 1"),
        ({"length": "80"}, "length: must be a whole number of at least 2, got '80'"),
    ],
)
def test_a_bad_setting_is_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        Shakespeare(**settings)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("layout", ["parquet", "csv"])
def test_rows_may_be_many_and_roles_take_turns(tmp_path: Path, layout: str) -> None:
    """A role's own samples must be in order; whose turn it is does not matter, nor where parts begin."""
    texts = {"A": HAMLET * 20, "B": GHOST * 25}
    samples = cut(texts)
    in_turn = np.random.default_rng(0).permutation([role for role, _, _ in rows_of(samples)])
    theirs = {role: iter(rows_of({role: samples[role]})) for role in texts}
    rows = [next(theirs[role]) for role in in_turn]
    assert len(rows) > 2 * ROWS
    if layout == "csv":
        write_csv(tmp_path, rows)
    else:
        write_parquet(tmp_path, rows[:1500], "train-0.parquet")
        write_parquet(tmp_path, rows[1500:], "train-1.parquet")
    ticks: list[float] = []
    shakespeare = Shakespeare()
    pool = shakespeare.read(shakespeare.find(tmp_path), lambda done, total: ticks.append(done / total))
    assert texts_of(pool) == texts
    assert ticks == sorted(ticks)
    assert ticks[-1] == 1.0


def test_progress_is_told_by_the_role(tmp_path: Path) -> None:
    for layout in ("texts", "roles"):
        LAYOUTS[layout](tmp_path, cut(TEXTS))
        ticks: list[int] = []
        shakespeare = Shakespeare()
        shakespeare.read(shakespeare.find(tmp_path), lambda *both: ticks.extend(both))  # noqa: B023
        assert ticks == [1, 2, 2, 2]


def damaged(change: Callable[[list[Any], list[Any]], object]) -> dict[str, tuple[list[Any], list[Any]]]:
    """The ghost's samples, changed; Hamlet's are good and come first."""
    samples = cut(TEXTS)
    change(*samples["HAMLET_GHOST"])
    return samples


def put(where: int, at: int, value: Any) -> Callable[[list[Any], list[Any]], object]:
    return lambda *sides: sides[where].__setitem__(at, value)


def drop(at: int) -> Callable[[list[Any], list[Any]], object]:
    return lambda x, y: (x.pop(at), y.pop(at))


def swap(x: list[Any], y: list[Any]) -> None:
    x[3], x[4] = x[4], x[3]
    y[3], y[4] = y[4], y[3]


TORN = (
    "x[{}] does not follow from the x and y before it, so the text cannot be put together again; take the data from "
    "before any sampling, splitting or shuffling"
)
BAD_SAMPLES: dict[str, tuple[Callable[[list[Any], list[Any]], object], str]] = {
    "one left out": (drop(5), TORN.format(5)),
    "two swapped": (swap, TORN.format(3)),
    "another label": (put(1, 7, "Z"), TORN.format(8)),
    "another window": (put(0, 9, "Z" * 80), TORN.format(9)),
    "a window too short": (put(0, 2, GHOST[2:81]), TORN.format(2)),
    "windows padded line by line": (put(0, 0, " " * 79 + "I"), TORN.format(1)),
    "a label of two": (put(1, -1, "ab"), f"y[{len(GHOST) - 81}] is not one character"),
    "no label": (put(1, 4, ""), "y[4] is not one character"),
}
BAD_VALUES: dict[str, tuple[Callable[[list[Any], list[Any]], object], str]] = {
    "a label that is missing": (put(1, 4, None), "y[4] is not one character"),
    "a window that is missing": (put(0, 6, None), "x[6] is not a string of text"),
}


@pytest.mark.parametrize("layout", ["windows", "parquet", "csv"])
@pytest.mark.parametrize(("change", "problem"), BAD_SAMPLES.values(), ids=BAD_SAMPLES.keys())
def test_windows_that_are_not_one_text_are_a_sentence(
    tmp_path: Path, layout: str, change: Callable[[list[Any], list[Any]], object], problem: str
) -> None:
    path = LAYOUTS[layout](tmp_path, damaged(change))
    with pytest.raises(UserError) as caught:
        Shakespeare().load(tmp_path)
    who = "user" if layout == "windows" else "role"
    assert str(caught.value) == f"{path}: {who} 'HAMLET_GHOST': {problem}"


@pytest.mark.parametrize("layout", ["windows", "parquet"])
@pytest.mark.parametrize(("change", "problem"), BAD_VALUES.values(), ids=BAD_VALUES.keys())
def test_values_that_are_not_text_are_a_sentence(
    tmp_path: Path, layout: str, change: Callable[[list[Any], list[Any]], object], problem: str
) -> None:
    path = LAYOUTS[layout](tmp_path, damaged(change))
    with pytest.raises(UserError) as caught:
        Shakespeare().load(tmp_path)
    who = "user" if layout == "windows" else "role"
    assert str(caught.value) == f"{path}: {who} 'HAMLET_GHOST': {problem}"


HEAD = "character_id,x,y\n"
BROKEN: list[tuple[str, str, Any, str | None]] = [
    (
        "roles cut short",
        "leaf/shakespeare/roles.json",
        '{"A": {"text": "To be',
        "{path}: is not JSON or is cut short (Unterminated string starting at, character 15 of 21); fetch it again",
    ),
    ("roles a list", "leaf/shakespeare/roles.json", ["A"], "{path}: is not an object with a text for each role"),
    ("no roles", "leaf/shakespeare/roles.json", {}, "{path}: is not an object with a text for each role"),
    (
        "no text",
        "leaf/shakespeare/roles.json",
        {"A": {"play": "?"}},
        "{path}: role 'A' has no text, which belongs under its name as \"text\"",
    ),
    (
        "text alone",
        "leaf/shakespeare/roles.json",
        {"A": HAMLET},
        "{path}: role 'A' has no text, which belongs under its name as \"text\"",
    ),
    (
        "text a list",
        "leaf/shakespeare/roles.json",
        {"A": {"text": [HAMLET]}},
        "{path}: role 'A' has no text, which belongs under its name as \"text\"",
    ),
    (
        "a role twice",
        "leaf/shakespeare/roles.json",
        '{"A": {"text": "a"}, "A": {"text": "b"}}',
        "{path}: has 'A' twice in one object; remove one of them",
    ),
    (
        "all too short",
        "leaf/shakespeare/roles.json",
        {"A": {"text": "brief"}},
        "shakespeare: none of 1 roles has more "
        "than 80 characters, so there is no window and next character; set a smaller length",
    ),
    (
        "no characters",
        "leaf/shakespeare/by_role/A.txt",
        "",
        "shakespeare: none of 1 roles has more than 80 characters, "
        "so there is no window and next character; set a smaller length",
    ),
    (
        "Latin-1",
        "leaf/shakespeare/by_role/A.txt",
        HAMLET.encode() + b"\xe9",
        "{path}: is not UTF-8 text; save it as UTF-8",
    ),
    ("not Parquet", f"hub/{REPO}/train-0.parquet", "PAR0", None),
    ("empty table", f"hub/{REPO}/shakespeare.csv", "", "{path}: has no column 'character_id', only nothing"),
    (
        "other columns",
        f"hub/{REPO}/shakespeare.csv",
        "role,x,y\n",
        "{path}: has no column 'character_id', only role, x, y",
    ),
    (
        "a column missing",
        f"hub/{REPO}/shakespeare.csv",
        "y,character_id\n",
        "{path}: has no column 'x', only y, character_id",
    ),
    (
        "no rows",
        f"hub/{REPO}/shakespeare.csv",
        HEAD,
        "shakespeare: none of 0 roles has more than 80 characters, so "
        "there is no window and next character; set a smaller length",
    ),
    (
        "a row cut",
        f"hub/{REPO}/shakespeare.csv",
        f'{HEAD}A,"{HAMLET[:80]}",{HAMLET[80]}\nA,"',
        "{path}: is not CSV or is cut short (unexpected end of data); fetch it again",
    ),
    (
        "a row too short",
        f"hub/{REPO}/shakespeare.csv",
        f"{HEAD}A,b\n",
        "{path}: before line 3, a row has 2 columns, but the heading has 3; fetch it again",
    ),
    (
        "not text",
        f"hub/{REPO}/shakespeare.csv",
        HEAD.encode() + b"A,\xff,b\n",
        "{path}: is not UTF-8 text; fetch it again",
    ),
]


@pytest.mark.parametrize(("file", "content", "sentence"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_file_is_a_sentence_that_names_it(
    tmp_path: Path, file: str, content: Any, sentence: str | None
) -> None:
    path = write_json(tmp_path / file, content)
    with pytest.raises(UserError) as caught:
        Shakespeare().load(tmp_path)
    if sentence is None:  # the words are the hub reader's
        assert str(caught.value).startswith(f"{path}: ")
    else:
        assert str(caught.value) == sentence.replace("{path}", str(path))


def test_a_row_without_a_role_is_a_sentence(tmp_path: Path) -> None:
    path = write_parquet(tmp_path, [(None, HAMLET[:80], HAMLET[80])])
    with pytest.raises(UserError) as caught:
        Shakespeare().load(tmp_path)
    assert str(caught.value) == f"{path}: a row has the character_id None, which should be the name of a role"


@pytest.mark.parametrize("file", [f"hub/{REPO}/shakespeare.csv", "leaf/shakespeare/by_role/A.txt"])
def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path, file: str) -> None:
    (tmp_path / file).mkdir(parents=True)
    with pytest.raises(UserError) as caught:
        Shakespeare().load(tmp_path)
    assert str(caught.value) == f"{tmp_path / file}: cannot be read: Is a directory"


def test_missing_files_are_named_with_every_place_looked_in(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        Shakespeare().load(tmp_path)
    sentence = str(caught.value)
    assert sentence.startswith("shakespeare: looked for ")
    for folder in ("leaf/shakespeare", "shakespeare"):
        for file in ("roles.json", "all_data*.json", "data/all_data/all_data*.json", "by_role/*.txt"):
            assert str(tmp_path / folder / file) in sentence
    assert f"and in {tmp_path / 'hub' / REPO} and found nothing; run superfed data fetch shakespeare, or" in sentence
    assert f"put them in {tmp_path / 'leaf/shakespeare'}" in sentence
    with pytest.raises(UserError, match=r"shakespeare: no data root is set; .*leaf/shakespeare.*SUPERFED_DATA"):
        Shakespeare().load(None)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("alphabet", "digest"),
    [
        ("leaf", "643f6f37a0998ec1ac2152d228a195937769130a54031f5a387ea532dd75b6c4"),
        ("printable", "070c182412a39d3b380472375ca5d96d4c442de623e207162ef058592b837b46"),
    ],
)
def test_the_real_roles(alphabet: Any, digest: str) -> None:
    pool = Shakespeare(alphabet).load(root_with("leaf/shakespeare/roles.json"))
    assert pool.note == "4,226,206 samples of 1,130 roles"  # so no character was unknown
    assert len(pool) == 4_226_206
    assert pool.digest() == digest
    # LEAF's alphabet has a line's end, but no line ends in what LEAF makes of the text.
    assert np.count_nonzero(np.bincount(pool.labels, minlength=pool.num_classes)) == 79
    sizes = np.bincount(pool.owners.of)
    assert (len(sizes), int(sizes.min()), int(sizes.max())) == (1130, 3, 66_903)

    data = DealtDataset.deal(pool, Natural(min_samples=800), split=Split(0.2, 0))
    assert data.num_clients == 660
    assert sum(data.partition.size(client) for client in range(660)) == 4_087_514
    for client in range(0, 660, 100):
        size, train = data.partition.size(client), data.train_size(client)
        assert len(data.test(client)) == size - train - 79
        assert data.train(client).x.shape == (train, 80)


@pytest.mark.real_data
def test_the_real_roles_come_out_of_other_layouts_the_same(tmp_path: Path) -> None:
    pool = Shakespeare().load(root_with("leaf/shakespeare/roles.json"))
    texts = dict(sorted(texts_of(pool).items())[:12])
    digests = set()
    for layout, write in LAYOUTS.items():
        write(tmp_path / layout, cut(texts))
        digests.add(Shakespeare().load(tmp_path / layout).digest())
    assert len(digests) == 1
