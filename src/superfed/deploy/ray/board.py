"""Where tasks tell how far they are, and hear whether they should go on."""

from typing import Any

Event = tuple[Any, ...]
"""What happened, in a word, and what belongs to it."""


class Board:
    """Kept by an actor beside the program that gave out the tasks."""

    def __init__(self) -> None:
        self._news: list[Event] = []
        self._attempts: dict[int, int] = {}
        self._recalled = False

    def expect(self, number: int, attempt: int) -> None:
        """From now on only this attempt at the parcel is listened to."""
        self._attempts[number] = attempt

    def tell(self, number: int, attempt: int, events: list[Event]) -> bool:
        """Whether the task should go on. One that was taken for lost and replaced should not, and is not listened to."""
        if self._attempts.get(number) != attempt:
            return False
        self._news += events
        return not self._recalled

    def news(self) -> list[Event]:
        """What was told since it was last asked for."""
        news, self._news = self._news, []
        return news

    def recall(self) -> None:
        """All tasks are to stop."""
        self._recalled = True
