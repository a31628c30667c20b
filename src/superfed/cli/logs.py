"""What the program says of itself on standard error: complaints always, events if asked, for people or for programs."""

import json
import logging
import sys
import warnings
from datetime import UTC, datetime

from superfed.core.log import LOG


def set_up(*, verbose: bool = False, as_json: bool = False) -> None:
    """Only complaints; with ``verbose`` or as JSON lines also what happens."""
    for handler in [one for one in LOG.handlers if isinstance(one, ToStderr)]:
        LOG.removeHandler(handler)
    handler = ToStderr()
    handler.setFormatter(AsJson() if as_json else AsText())
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO if verbose or as_json else logging.WARNING)
    warnings.formatwarning = _warning_as_json if as_json else _warning_as_text


def complain(sentence: str) -> None:
    LOG.error(sentence)


class ToStderr(logging.Handler):
    """To whatever standard error is at the moment: while bars are shown, it is a place above them."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            print(self.format(record), file=sys.stderr)
        except OSError:
            self.handleError(record)


class AsText(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        if record.levelno >= logging.WARNING:
            return f"superfed: {record.getMessage()}"
        return f"{datetime.fromtimestamp(record.created):%H:%M:%S} {record.getMessage()}"


class AsJson(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        level = record.levelname.lower()
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": level,
            "event": getattr(record, "event", level),
            "message": record.getMessage(),
        }
        return json.dumps(told | getattr(record, "details", {}), ensure_ascii=False, default=str)


def _warning_as_text(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Warnings as users read them: what, not where in the program."""
    return f"superfed: {message}\n"


def _warning_as_json(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    record = logging.LogRecord("superfed", logging.WARNING, filename, lineno, str(message), None, None)
    return AsJson().format(record) + "\n"
