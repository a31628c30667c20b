"""Whether files are the published ones."""

import gzip
import hashlib
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from superfed.core.errors import UserError
from superfed.data.files import Found
from superfed.data.idx import GZIP


def verify(found: Found, checksums: Mapping[str, str]) -> list[str]:
    """A line for each file. Gzip files get packed anew on their way, so what they hold is what counts, unless the
    checksum of the packed file itself is given."""
    return [f"{path.parent.name}/{path.name}: {_verdict(path, checksums)}" for path in found.files]


def _verdict(path: Path, checksums: Mapping[str, str]) -> str:
    name = path.name if path.name in checksums else path.name.removesuffix(".gz")
    if name not in checksums:
        return "no published checksum"
    try:
        md5 = _md5(path, unpack=not name.endswith(".gz"))
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return "differs from the published file (the gzip file is damaged)"
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    return "as published" if md5 == checksums[name] else f"differs from the published file (md5 {md5})"


def _md5(path: Path, *, unpack: bool) -> str:
    with open(path, "rb") as raw:
        packed = unpack and raw.read(len(GZIP)) == GZIP
        raw.seek(0)
        content: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        return hashlib.file_digest(content, "md5").hexdigest()
