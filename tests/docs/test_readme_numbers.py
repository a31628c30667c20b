"""The README's table of results is what the kept files say."""

import re
from pathlib import Path

from superfed.reproduce.compare import compare, mean_of
from superfed.reproduce.keeping import read
from superfed.reproduce.methods import MIXINGS
from superfed.reproduce.words import group_title

ROOT = Path(__file__).parent.parent.parent


def test_superfed_beside_the_paper() -> None:
    kept = read(ROOT / "results" / "reproduce" / "table1.json")
    summaries = {cell: [record.summary for record in of_seeds] for cell, of_seeds in kept.records.items()}
    expected: dict[str, list[str]] = {}
    for line in compare("table1", summaries):
        if line.method in MIXINGS and line.ours:
            numbers = (line.published.mean, *(mean_of(scores) for scores in (line.ours, line.shared, line.headline)))
            expected.setdefault(group_title([line]), []).extend(f"{number:.2f}" for number in numbers)
    section = (ROOT / "README.md").read_text().split("## Does it give the paper's numbers?")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\w.*?) \| (.*) \|$", section, flags=re.MULTILINE)
    assert {title: numbers.split(" | ") for title, numbers in rows} == expected
