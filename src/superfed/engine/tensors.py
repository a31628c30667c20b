"""States in safetensors files, and nothing pickled."""

from pathlib import Path

import safetensors.torch
from safetensors import SafetensorError, safe_open

from superfed.core.errors import UserError
from superfed.core.state import State
from superfed.store.files import sha256, write_bytes


def write_state(path: Path, state: State, *, durable: bool = True) -> str:
    """Write ``state`` and return the file's checksum."""
    data = safetensors.torch.save({name: t.detach().cpu().contiguous() for name, t in state.items()})
    write_bytes(path, data, durable=durable)
    return sha256(data)


def read_state(path: Path) -> State:
    """The state in a file, memory-mapped."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path}: cannot be read as safetensors ({error})") from error
