"""The documentation says what was decided where the paper does not."""

from pathlib import Path

from superfed.reproduce.paper import CHOICES

PAGE = Path(__file__).parent.parent.parent / "docs" / "reproduce.md"


def test_every_choice_is_on_the_page_and_no_other() -> None:
    _, _, section = PAGE.read_text().partition("## Where the paper is silent, or says two things\n")
    told = [line.removeprefix("- ") for line in section.split("\n## ")[0].splitlines() if line.startswith("- ")]
    assert sorted(told) == sorted(CHOICES)
