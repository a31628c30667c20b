"""What a benchmark found, as JSON and back."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from superfed.bench.cores import Several
from superfed.bench.measure import Measured
from superfed.bench.whole_run import WholeRun
from superfed.core.errors import UserError
from superfed.store.files import read_json, write_json

FORMAT = 1

Found = TypeVar("Found")


@dataclass(frozen=True)
class Of:
    """What was measured, by the names that the command takes; ``title`` is the method's in tables."""

    method: str
    title: str
    network: str


@dataclass(frozen=True)
class Row:
    of: Of
    parameters: int
    batch_size: int
    found: Measured


@dataclass(frozen=True)
class LeftOut:
    of: Of
    lanes: int
    why: str


@dataclass(frozen=True)
class Report:
    date: str
    versions: dict[str, str]
    hardware: dict[str, Any]
    seconds_per_case: float
    turns: int
    matmul_flops_per_s: float
    rows: list[Row]
    left_out: list[LeftOut]
    aside: Of
    """What the following were measured on."""
    workers: Several | None
    threads: Several | None
    whole_run: WholeRun
    precision: str = "float32"

    def write(self, path: Path) -> None:
        write_json(path, {"format": FORMAT, **asdict(self)})

    @classmethod
    def read(cls, path: Path) -> "Report":
        try:
            return cls._from_plain(read_json(path))
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise UserError(f"{path}: is no result of this version's superfed bench ({error!r})") from error

    @classmethod
    def _from_plain(cls, plain: dict[str, Any]) -> "Report":
        if plain.pop("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        rows = [Row(**row | {"of": Of(**row["of"]), "found": Measured(**row["found"])}) for row in plain.pop("rows")]
        left_out = [LeftOut(**one | {"of": Of(**one["of"])}) for one in plain.pop("left_out")]
        workers, threads = (_maybe(Several, plain.pop(name)) for name in ("workers", "threads"))
        whole = WholeRun(**plain.pop("whole_run"))
        aside = Of(**plain.pop("aside"))
        return cls(
            **plain, rows=rows, left_out=left_out, aside=aside, workers=workers, threads=threads, whole_run=whole
        )


def _maybe(kind: type[Found], plain: dict[str, Any] | None) -> Found | None:
    return None if plain is None else kind(**plain)
