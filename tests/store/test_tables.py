"""Columns on disk come back as they were."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superfed.core.errors import UserError
from superfed.store.tables import columns_of, read_table, write_table

NUMBERS = st.none() | st.floats(allow_nan=False)


@st.composite
def columns(draw: st.DrawFn) -> dict[str, list[Any]]:
    rows = draw(st.integers(1, 6))
    kinds: list[st.SearchStrategy[Any]] = [
        st.integers(-(2**63), 2**63 - 1),
        NUMBERS,
        st.text(st.characters(exclude_categories=["Cs"])),
        st.lists(st.integers(0, 100), max_size=3),
    ]
    return {
        f"column {index}": draw(st.lists(kind, min_size=rows, max_size=rows))
        for index, kind in enumerate(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4)))
    }


@given(table=columns())
@settings(deadline=None, max_examples=50)
def test_a_table_comes_back_as_it_was(table: dict[str, list[Any]], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "table.parquet"
    write_table(path, table)
    assert read_table(path) == table


@pytest.mark.parametrize("table", [{}, {"a": []}, {"lam": [None, None]}])
def test_tables_with_nothing_in_them(tmp_path: Path, table: dict[str, list[Any]]) -> None:
    write_table(tmp_path / "t.parquet", table)
    assert read_table(tmp_path / "t.parquet") == table


def test_rows_become_columns() -> None:
    rows = [{"round": 0, "cohort": [1, 2]}, {"round": 1, "cohort": []}]
    assert columns_of(rows) == {"round": [0, 1], "cohort": [[1, 2], []]}
    assert columns_of([]) == {}


def test_a_missing_table_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "clients.parquet"
    with pytest.raises(UserError) as caught:
        read_table(path)
    assert str(caught.value) == f"{path}: there is no such file"


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "flipped"])
def test_a_damaged_table_is_a_sentence(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "clients.parquet"
    write_table(path, {"a": list(range(1000)), "b": ["x"] * 1000})
    whole = path.read_bytes()
    path.write_bytes(
        {
            "empty": b"",
            "text": b"no table at all",
            "cut": whole[: len(whole) // 2],
            "flipped": whole[:4] + bytes(255 - byte for byte in whole[4:-8]) + whole[-8:],
        }[damage]
    )
    with pytest.raises(UserError) as caught:
        read_table(path)
    assert str(caught.value).startswith(f"{path}: cannot be read as Parquet (")


def test_a_failed_write_leaves_the_old_table(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_table(path, {"a": [1]})
    with pytest.raises(ValueError, match="length"):
        write_table(path, {"a": [1, 2], "b": [1]})
    assert read_table(path) == {"a": [1]}
    assert [p.name for p in tmp_path.iterdir()] == ["t.parquet"]
