"""What happens goes to the log that Flower keeps of an app's process."""

import logging
import sys

from superfed.core.log import LOG


def say_what_happens() -> None:
    if not LOG.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s superfed: %(message)s", "%H:%M:%S"))
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)
