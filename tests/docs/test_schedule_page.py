"""The page of schedules and its pictures are what the program makes of its plan."""

from shown_blocks import DOCS

from superfed.cli.schedule.page import COMMAND, schedule_page


def test_the_page_is_the_programs() -> None:
    text, pictures = schedule_page("schedule")
    again = f"run: {COMMAND} --page docs/schedule.md"
    assert (DOCS / "schedule.md").read_text() == text, again
    assert {path.name: path.read_text() for path in (DOCS / "schedule").iterdir()} == pictures, again
    assert all(f"](schedule/{name})" in text for name in pictures)
