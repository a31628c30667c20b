"""What the comparison says of this program is so, and what it says of others names its source."""

import re

from shown_blocks import DOCS, ROOT

from superfed.algorithms import ALGORITHMS

PAGE = (DOCS / "peers.md").read_text()


def test_what_it_says_of_this_program() -> None:
    assert f"[{len(ALGORITHMS)}](comparison.md)" in PAGE
    assert "fourteen methods" in PAGE
    assert len(list((ROOT / "tests").rglob("test_*.py"))) > 170


def test_what_it_says_of_others_can_be_looked_up() -> None:
    """Programs by their repositories, readings by commits, and questions by the issues."""
    for program in ("TsingZ0/PFLlib", "KarhouTam/FL-bench", "flwrlabs/flower", "apple/pfl-research", "google/fedjax"):
        assert f"](https://github.com/{program})" in PAGE
    assert all(commit in PAGE for commit in ("d832e76", "06e658b", "55064b9"))
    _, asked = PAGE.split("## What their users ask for")
    for row in re.findall(r"^\| (?!asked|---).*$", asked, re.MULTILINE):
        assert "/issues/" in row


def test_every_cell_on_this_program_leads_to_its_proof() -> None:
    _, table = PAGE.split("## Side by side")
    rows = re.findall(r"^\| (?!\||---).*\|$", table.split("\n\n")[2], re.MULTILINE)
    assert len(rows) == 7
    assert all("](" in row.split("|")[-2] for row in rows)
