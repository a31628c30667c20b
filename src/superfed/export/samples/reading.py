"""Whatever file samples lie in, by its name."""

from pathlib import Path

from superfed.core.errors import UserError
from superfed.export.card import Card
from superfed.export.samples import images
from superfed.export.samples.arrays import read_npy, read_npz
from superfed.export.samples.given import Given, Wanted
from superfed.export.samples.tables import read_rows
from superfed.export.samples.text import read_text

TABLES = (".parquet", ".csv")


def read_samples(path: Path, card: Card, wanted: Wanted | None = None) -> Given:
    """The samples in ``path`` for the model of ``card``."""
    wanted = wanted or Wanted()
    if not path.exists():
        raise UserError(f"{path}: there is no such file")
    ending = path.suffix.lower()
    if path.is_file() and ending == ".npz":
        return read_npz(path, card, wanted)
    if path.is_file() and ending == ".npy":
        return read_npy(path, card, wanted)
    if path.is_file() and ending in TABLES:
        return read_rows(path, card, wanted)
    if wanted != Wanted():
        raise UserError(f"{path}: has no columns or arrays with names; leave --label and --inputs out")
    if path.is_dir():
        return images.read_folder(path, card)
    if ending in images.ENDINGS:
        return images.read_image(path, card)
    if ending == ".txt":
        return read_text(path, card)
    known = ", ".join((".npz", ".npy", *TABLES, *images.ENDINGS, ".txt"))
    raise UserError(f"{path}: is of no kind that is known; give {known} or a folder of images")
