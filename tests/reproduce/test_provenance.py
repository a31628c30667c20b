"""Where numbers come from, in words."""

from dataclasses import replace

import pytest
from some_records import MADE

from superfed.reproduce.provenance import duration, facts, place_cells, places


def test_a_machine_and_its_software() -> None:
    assert MADE.machine == "NVIDIA H200, 16 cores, Linux x86_64"
    assert MADE.software == "superfed 0.1.0, torch 2.11.0, Python 3.11.7"
    assert replace(MADE, engine={"precision": "tf32"}).software.endswith(", tf32")
    assert replace(MADE, hardware=MADE.hardware | {"device": "cpu"}).machine.startswith("CPU, ")
    assert replace(MADE, hardware={}).machine == "unknown"


def test_runs_are_counted_by_where_they_were_computed_and_once() -> None:
    later = replace(MADE, folder="b/b", began="2026-02-03T01:00:00+00:00", seconds=30.0)
    elsewhere = replace(MADE, folder="c/c", hardware=MADE.hardware | {"device": "cpu"})
    found = places([later, MADE, MADE, elsewhere])
    assert [(place.runs, place.seconds) for place in found] == [(2, 120.0), (1, 90.0)]
    assert place_cells(found[0])[2:] == ("2", "2 min", "2026-01-31 to 2026-02-03")
    assert place_cells(found[1])[2:] == ("1", "90 s", "2026-01-31")


def test_a_run_that_stopped_says_why() -> None:
    assert "stopped" not in facts(MADE)
    assert facts(replace(MADE, stopped="the loss is not finite"))["stopped"] == "the loss is not finite"


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "0 s"), (99, "99 s"), (600, "10 min"), (6000, "1.7 h")])
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_the_commit_is_told_by_itself_and_makes_no_other_place() -> None:
    committed = replace(MADE, folder="b/b", versions=MADE.versions | {"commit": "0123456789ab+changes"})
    assert "commit" not in facts(MADE)
    assert facts(committed)["commit"] == "0123456789ab+changes"
    assert facts(committed)["versions"] == facts(MADE)["versions"]
    (place,) = places([MADE, committed])
    assert place.runs == 2
