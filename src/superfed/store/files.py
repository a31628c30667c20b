"""Writing files so that a reader never sees half of one."""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError


def write_bytes(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Put ``data`` at ``path`` in one move: the old content or the new, whatever happens meanwhile.

    ``durable`` also waits until the disk has it, so that it survives a loss of power.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror or error})") from error
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make moves and removals inside ``folder`` survive a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def settle(files: Iterable[Path]) -> None:
    """Wait until the disk has ``files``, written without waiting, and the folders that name them, each folder once."""
    folders = set()
    for file in files:
        sync_file(file)
        folders.add(file.parent)
    for folder in folders:
        sync_folder(folder)


def write_text(path: Path, text: str, *, durable: bool = True) -> None:
    write_bytes(path, text.encode(), durable=durable)


def write_json(path: Path, value: Any, *, durable: bool = True) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_text(path, text, durable=durable)


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path}: there is no such file") from error
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from error


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_parts(folder: Path) -> None:
    """Clear away what a killed writer left behind."""
    for path in folder.glob(".*.part"):
        path.unlink(missing_ok=True)
