"""Results as small files that stay: one for each table or figure, to which later runs are added.

A file has a record on each line, by cell and seed. What is in it is replaced by the same cell and seed with the same
settings, which remembers the numbers that it replaces, and by nothing else.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from superfed.core.errors import UserError
from superfed.reproduce.cells import TARGETS, cells
from superfed.reproduce.record import Record, Records
from superfed.reproduce.scales import Scale
from superfed.store.files import read_json, write_text
from superfed.store.lock import turn_in

SCHEMA = 1


@dataclass(frozen=True)
class Kept:
    """Of one table or figure."""

    target: str
    scale: Scale
    records: Records


def keep(target: str, scale: Scale, found: Records, folder: Path) -> Path | None:
    """Add what was found to the target's file in ``folder``; None if there is nothing to add."""
    if not any(found.values()):
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: no folder can be made there ({error.strerror or error})") from error
    with turn_in(folder):  # others may keep theirs at the same time
        return _keep(target, scale, found, folder / f"{target}.json")


def _keep(target: str, scale: Scale, found: Records, path: Path) -> Path:
    before = read(path) if path.exists() else Kept(target, scale, {})
    if before.scale != scale:
        raise UserError(f"{path}: holds results at the scale {before.scale}; keep those at the scale {scale} elsewhere")
    merged = {cell: {record.seed: record for record in of_seeds} for cell, of_seeds in before.records.items()}
    for cell, of_seeds in found.items():
        for record in of_seeds:
            _add(record, merged.setdefault(cell, {}), path)
    order = {cell.id: place for place, cell in enumerate(cells(target, scale))}
    lines = [
        merged[cell][seed]
        for cell in sorted(merged, key=lambda id: order.get(id, len(order)))
        for seed in sorted(merged[cell])
    ]
    write_text(path, _text(target, scale, lines))
    return path


def read(path: Path) -> Kept:
    file = read_json(path)
    if not isinstance(file, dict) or file.get("schema") != SCHEMA:
        schema = file.get("schema") if isinstance(file, dict) else None
        raise UserError(f"{path}: has schema {schema}, and this program reads schema {SCHEMA}")
    target, scale = file.get("target"), file.get("scale")
    if not isinstance(target, str) or target not in TARGETS or scale not in get_args(Scale):
        raise UserError(f"{path}: is of {target} at the scale {scale}, which this program does not know")
    records: dict[str, list[Record]] = {}
    try:
        for plain in file["records"]:
            record = Record.from_plain(plain)
            records.setdefault(record.cell, []).append(record)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path}: cannot be read ({error} in record {sum(map(len, records.values())) + 1})") from error
    return Kept(target, cast(Scale, scale), records)


def read_all(folder: Path) -> dict[str, Kept]:
    """By target, in the order of the paper; of those that there are."""
    paths = {target: folder / f"{target}.json" for target in TARGETS}
    return {target: read(path) for target, path in paths.items() if path.exists()}


def kept_records(targets: Collection[str], scale: str, folder: Path) -> dict[str, Sequence[Record]]:
    """By cell, of these targets at this scale."""
    paths = [path for target in targets if (path := folder / f"{target}.json").exists()]
    of_scale = [kept for kept in map(read, paths) if kept.scale == scale]
    return {cell: records for kept in of_scale for cell, records in kept.records.items()}


def _add(record: Record, seeds: dict[int, Record], path: Path) -> None:
    others = [other.made.settings for other in seeds.values() if other.made.settings != record.made.settings]
    if others:
        raise UserError(
            f"{path}: holds {record.cell} with other settings ({others[0]}, and these are {record.made.settings}); remove "
            "it there, or keep these elsewhere"
        )
    earlier = seeds.get(record.seed)
    seeds[record.seed] = record if earlier is None else record.instead_of(earlier)


def _text(target: str, scale: str, records: Sequence[Record]) -> str:
    """A record on each line, so that what changes is seen."""
    head = json.dumps({"schema": SCHEMA, "target": target, "scale": scale})[:-1]
    lines = [json.dumps(one.as_plain(), ensure_ascii=False, allow_nan=False, separators=(",", ":")) for one in records]
    return f'{head}, "records": [\n' + ",\n".join(lines) + "\n]}\n"
