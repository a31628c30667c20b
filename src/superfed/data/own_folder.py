"""Anyone's own data as a folder with a file for each client."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from superfed.core.errors import UserError
from superfed.data.dataset import Dataset
from superfed.data.files import FileDataset, Found, Tick, silent
from superfed.data.gathered import PARTS, Piece, as_kept, gathered, in_order, scale_in_range
from superfed.data.npz import load_npz
from superfed.data.own_columns import Chosen, Columns, all_different
from superfed.data.own_files import files_in, given_path, read_table
from superfed.data.pairs import read_pair
from superfed.data.pool import Owners

INPUTS, SPLIT = "x", "split"
ENDS = {part: "" if part == "train" else f"_{part}" for part in PARTS}
"""How the names of a part's arrays end."""


@dataclass(frozen=True)
class ClientFolder(FileDataset[Dataset]):
    """A folder of ``.npz`` or ``.parquet`` files, one per client and called as the client is.

    An ``.npz`` file holds arrays x and y, and may hold x_test, y_test, x_validation and y_validation. A Parquet file
    holds columns x and y, or where there is no x the columns of numbers, and may say in a column split which rows are for
    train, validation and test. Without ``scale``, compressed images are divided by 255 and all else stays as it is.
    """

    path: str
    """The folder: absolute, or from the working directory, or else from the data root."""
    inputs: str = INPUTS
    """The array, or the column of lists or images, that holds the inputs."""
    label: str = "y"
    """The array, or the column, that holds the labels."""
    scale: float | None = None
    """What inputs are multiplied by; without it 1/255 for images and 1 for all else."""

    key: ClassVar[str] = "folder"

    def __post_init__(self) -> None:
        scale_in_range(self.scale)
        all_different(inputs=self.inputs, label=self.label)

    def find(self, root: Path | None) -> Found:
        folder = given_path(self.key, self.path, root)
        if not folder.is_dir():
            raise UserError(
                f"{folder}: is no folder with a file per client; for one table of all clients use the dataset 'table'"
            )
        ending, files = files_in(folder, (".npz", ".parquet"))
        files.sort(key=lambda path: (in_order(path.stem), path.name))
        for one, other in pairwise(files):
            if one.stem == other.stem:
                raise UserError(
                    f"{folder}: has two files for the client '{one.stem}', {one.name} and {other.name}; rename one"
                )
        return Found(ending[1:], tuple(files))

    def read(self, found: Found, tick: Tick = silent) -> Dataset:
        clients = []
        for path in found.files:
            clients.append(self._arrays(path) if found.layout == "npz" else [self._table(path)])
            tick(len(clients), len(found.files))
        of = np.repeat(np.arange(len(clients)), [sum(len(piece.labels) for piece in pieces) for pieces in clients])
        owners = Owners([path.stem for path in found.files], of)
        return gathered(self.key, [piece for pieces in clients for piece in pieces], owners, self.scale)

    def _arrays(self, path: Path) -> list[Piece]:
        """The client's samples, and each part that it brings besides."""
        arrays = load_npz(path, lambda names: self._chosen(names, path))
        pieces = []
        for part, end in ENDS.items():
            if f"{self.inputs}{end}" in arrays:
                where = f"{path}, {part}" if end else f"{path}"
                x, labels = read_pair(arrays[f"{self.inputs}{end}"], arrays[f"{self.label}{end}"], where)
                given = np.full(len(labels), PARTS[part], dtype=np.int8)
                pieces.append(Piece(where, as_kept(x, where), labels, given))
        return pieces

    def _chosen(self, names: list[str], path: Path) -> list[str]:
        """The arrays to load; one that looks like a part's and is none would be missed without a word."""
        known = {f"{name}{end}": f"{other}{end}" for name, other in self._both() for end in ENDS.values()}
        for name in (self.inputs, self.label):
            if name not in names:
                raise UserError(f"{path}: has no array '{name}', only {', '.join(names) or 'none'}")
        for name in names:
            if name in known and known[name] not in names:
                raise UserError(f"{path}: has an array '{name}' but no '{known[name]}'; give both or neither")
            if name not in known and name.startswith((f"{self.inputs}_", f"{self.label}_")):
                raise UserError(
                    f"{path}: has an array '{name}', but those that are read are {', '.join(known)}; rename it"
                )
        return [name for name in names if name in known]

    def _both(self) -> tuple[tuple[str, str], tuple[str, str]]:
        return (self.inputs, self.label), (self.label, self.inputs)

    def _table(self, path: Path) -> Piece:
        table, chosen = read_table(path, self._columns)
        return chosen.piece(table, str(path))

    def _columns(self, schema: Any, where: str) -> Chosen:
        # Who gave no other name may have no x, but columns of numbers.
        unnamed = self.inputs == INPUTS and INPUTS not in schema.names
        split = SPLIT if SPLIT in schema.names and SPLIT not in (self.inputs, self.label) else None
        return Columns(self.label, None if unnamed else self.inputs, split).choose(schema, where)
