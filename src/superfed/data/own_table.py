"""Anyone's own data as one table, in which a column says whose each row is."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from superfed.core.errors import UserError
from superfed.data.dataset import Dataset
from superfed.data.files import FileDataset, Found, Tick, silent
from superfed.data.gathered import gathered, scale_in_range
from superfed.data.own_column import Column
from superfed.data.own_columns import Columns, NobodyError, all_different, owners_in
from superfed.data.own_files import files_in, given_path, read_table

ENDINGS = (".parquet", ".csv")


@dataclass(frozen=True)
class ClientTable(FileDataset[Dataset]):
    """A ``.parquet`` or ``.csv`` file, or a folder with the parts of one; the column ``client`` says whose a row is.

    ``inputs`` is a column of lists or compressed images; without it the only such column is taken or, where there is
    none, all the other columns of numbers, in their order. ``split`` is a column that says which rows are for train,
    validation and test. Without ``scale``, compressed images are divided by 255 and all else stays as it is.
    """

    path: str
    """The file, or the folder of its parts: absolute, or from the working directory, or else from the data root."""
    client: str
    """The column that says whose a row is."""
    label: str = "label"
    """The column of labels."""
    inputs: str | None = None
    """The column of lists or images; without it, the only such column, or all other numbers."""
    split: str | None = None
    """The column that says train, validation or test; without it, splits are drawn."""
    scale: float | None = None
    """What inputs are multiplied by; without it 1/255 for images and 1 for all else."""

    key: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        scale_in_range(self.scale)
        all_different(client=self.client, label=self.label, inputs=self.inputs, split=self.split)

    def find(self, root: Path | None) -> Found:
        path = given_path(self.key, self.path, root)
        if path.is_dir():
            ending, files = files_in(path, ENDINGS)
            return Found(ending[1:], tuple(files))
        ending = path.suffix.lower()
        if ending not in ENDINGS:
            raise UserError(f"{path}: is no {' or '.join(ENDINGS)} file")
        return Found(ending[1:], (path,))

    def read(self, found: Found, tick: Tick = silent) -> Dataset:
        columns = Columns(self.label, self.inputs, self.split, (self.client,))
        pieces, clients = [], []
        for done, path in enumerate(found.files, start=1):
            with suppress(NobodyError):  # of several files, some may be empty
                table, chosen = read_table(path, columns.choose)
                pieces.append(chosen.piece(table, str(path)))
                clients.append(Column.of(table, self.client, str(path)))
            tick(done, len(found.files))
        if not pieces:
            raise UserError(f"{self.path}: holds no samples")
        return gathered(self.key, pieces, owners_in(clients), self.scale)
