"""The documentation says what was decided where the paper does not."""

from pathlib import Path

from superfed.reproduce.paper import CHOICES

PAGE = Path(__file__).parent.parent.parent / "docs" / "reproduce.md"


def test_every_choice_is_on_the_page() -> None:
    text = PAGE.read_text()
    assert [choice for choice in CHOICES if f"- {choice}\n" not in text] == []
