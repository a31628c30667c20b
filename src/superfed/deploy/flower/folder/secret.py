"""Files that only their owner may read, from the first byte on."""

import contextlib
import os
from pathlib import Path
from secrets import token_hex

from superfed.core.errors import UserError


def write_secret(path: Path, data: bytes) -> None:
    """Mode 600, whatever the umask; the old content or the new, and never a moment with more rights."""
    temporary = path.with_name(f".{path.name}.{token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def check_secret(path: Path) -> None:
    """Refuse a private key that others may read."""
    if not path.is_file():
        raise UserError(f"{path}: there is no such file")
    if path.stat().st_mode & 0o077:
        raise UserError(f"{path}: others may read this private key; take that right away with: chmod 600 {path}")
