"""What happens, told to Python's logging under the name ``superfed``. Nobody hears it who does not ask.

A record's message is for people; ``event`` and ``details`` on it are the same for programs.
"""

import logging

LOG = logging.getLogger("superfed")


def event(name: str, words: str, **details: object) -> None:
    LOG.info(words, extra={"event": name, "details": details})
