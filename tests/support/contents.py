"""What is in runs' folders, for tests that compare them byte for byte."""

from pathlib import Path

CHANGING = ("run.json", "timing.json", "experiment.json", "report.html", ".lock")
"""Files that tell of times and machines."""


def contents(out: Path) -> dict[str, bytes]:
    """Every file that must be the same wherever it was computed."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name not in CHANGING
    }
