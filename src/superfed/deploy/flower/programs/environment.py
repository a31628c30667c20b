"""The environment of Flower's programs: nothing calls home, nothing is installed, and nobody rests longer than needed."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from superfed.core.errors import UserError

SAFE = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
}
QUICK = {
    "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.25",
    "OMP_NUM_THREADS": "1",
    "RAY_DISABLE_DOCKER_CPU_WARNING": "1",
}
BIN = Path(sys.executable).parent


def flower_environment(home: Path) -> dict[str, str]:
    """``home`` is where Flower keeps its own files, in place of the user's home."""
    home.mkdir(parents=True, exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("FLWR_")}
    path = os.pathsep.join([str(BIN), os.environ.get("PATH", "")])  # Flower starts its programs by their names
    return inherited | QUICK | SAFE | {"FLWR_HOME": str(home.absolute()), "PATH": path}


def program(name: str) -> str:
    """One of Flower's programs, of the Flower that is installed beside us."""
    if find_spec("flwr") is None:
        raise UserError('Flower is not installed; install it with: pip install "superfed[flower]"')
    return str(BIN / name)
