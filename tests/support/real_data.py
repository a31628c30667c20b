"""Where the real datasets are, if they are."""

import os
from pathlib import Path

import pytest


def root_with(*files: str) -> Path:
    """The data root, if it holds all these files (or their compressed forms); the test is skipped otherwise."""
    root = os.environ.get("SUPERFED_DATA")
    if not root or not all(any(Path(root).glob(f"{file}*")) for file in files):
        pytest.skip(f"real {files[0]} not found: set SUPERFED_DATA to the folder that holds it")
    return Path(root)
