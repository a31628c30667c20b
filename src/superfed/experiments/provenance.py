"""Where numbers come from: versions and hardware, stored with every run."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def versions() -> dict[str, str]:
    packages = ("superfed", "torch", "numpy", "safetensors", "pyarrow", "numba")
    return {"python": platform.python_version()} | {package: installed_version(package) for package in packages}


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
