"""Reads what W&B wrote offline: a log of checked records in blocks of 32 KiB, each a message of its protocol."""

import json
import struct
import zlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

BLOCK, HEADER = 32768, struct.Struct("<IHB")
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def records(path: Path) -> Iterator[Any]:
    protocol: Any = import_module("wandb.proto.wandb_internal_pb2")
    for data in _messages(path.read_bytes()):
        record = protocol.Record()
        record.ParseFromString(data)
        yield record


def items(entries: Any) -> dict[str, Any]:
    return {one.key or ".".join(one.nested_key): json.loads(one.value_json) for one in entries}


def _messages(content: bytes) -> Iterator[bytes]:
    assert content[:4] == b":W&B", "the file's mark"
    place, parts = 7, b""
    while place + HEADER.size <= len(content):
        left = BLOCK - place % BLOCK
        if left < HEADER.size:  # no header fits here: the block is filled up
            place += left
            continue
        checksum, length, kind = HEADER.unpack_from(content, place)
        data = content[place + HEADER.size : place + HEADER.size + length]
        assert checksum == zlib.crc32(data, zlib.crc32(bytes([kind]))), "a record's checksum"
        place += HEADER.size + length
        parts = data if kind in (WHOLE, FIRST) else parts + data
        if kind in (WHOLE, LAST):
            yield parts
