"""Where numbers come from: versions and hardware, stored with every run."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in ("superfed", "torch", "numpy", "safetensors", "pyarrow"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def hardware(device: torch.device) -> dict[str, Any]:
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
    }
