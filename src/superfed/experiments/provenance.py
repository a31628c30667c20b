"""Where numbers come from: versions and hardware, stored with every run."""

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


SOURCE = Path(__file__).resolve().parents[2]
"""The folder that this package lies in."""
ABBREVIATED = 12
"""Letters of a commit's name."""
PATIENCE = 5.0
"""Seconds to wait for git, on a folder that is slow to read."""


def versions() -> dict[str, str]:
    """Of Python and of the packages that numbers depend on; and the commit, where this one is a checkout's source."""
    packages = ("superfed", "torch", "numpy", "safetensors", "pyarrow", "numba")
    found = {"python": platform.python_version()} | {package: installed_version(package) for package in packages}
    revision = commit(SOURCE)
    return found if revision is None else found | {"commit": revision}


@cache
def commit(source: Path) -> str | None:
    """The commit of the checkout whose ``src`` folder this is, with ``+changes`` where the source is not as committed.

    None where it is no checkout's, as for an installed package even if that lies inside one, and where git cannot say.
    """
    if source.name != "src" or not (source.parent / ".git").exists():
        return None
    command = ("git", "status", "--porcelain=v2", "--branch", "--no-ahead-behind", "--", "src", "pyproject.toml")
    try:
        done = subprocess.run(
            command,
            cwd=source.parent,
            env=os.environ | {"GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    said = [line for line in done.stdout.splitlines() if line]
    names = [line.split()[-1] for line in said if line.startswith("# branch.oid ")]
    if not names or names == ["(initial)"]:
        return None
    changed = any(not line.startswith("#") for line in said)
    return f"{names[0][:ABBREVIATED]}{'+changes' if changed else ''}"


def installed_version(package: str) -> str:
    """Its version; a program run from its source folder is not installed and has none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def hardware(device: "torch.device") -> dict[str, Any]:
    import torch

    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
    }
