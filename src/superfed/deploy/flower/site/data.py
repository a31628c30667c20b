"""What one site trains on: its own file, or its share of a dataset that every site can make or has."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from superfed.core.errors import UserError
from superfed.core.samples import FederatedData
from superfed.data.dealt import DealtDataset
from superfed.data.files import Found
from superfed.data.own_folder import ClientFolder
from superfed.data.partitions.partition import IntArray, Partition
from superfed.deploy.flower.agreement import Agreement
from superfed.experiments.assemble import Assembler, data_seed
from superfed.experiments.schema import RunConfig

ENDINGS = ("npz", "parquet")


@dataclass(frozen=True, eq=False)
class HeldByOne(Partition):
    """Every sample is one client's; what the others hold is not known here."""

    who: int
    among: int

    @property
    def num_clients(self) -> int:
        return self.among

    def size(self, client: int) -> int:
        return len(self.client(client))

    def client(self, client: int) -> IntArray:
        if client != self.who:
            raise UserError(f"the samples of client {client} are not at this site")
        return self.indices


def site_data(agreement: Agreement, client: int, own: Path | None, data_root: Path | None) -> FederatedData:
    """The site's data under its client number, so that split and draws are those of a simulation."""
    if own is None:
        return _share(agreement, data_root)
    settings = agreement.config.data
    folder = settings.dataset if isinstance(settings.dataset, ClientFolder) else ClientFolder(path=str(own.parent))
    ending = own.suffix.removeprefix(".")
    if ending not in ENDINGS:
        raise UserError(f"{own}: must be an .npz or a .parquet file")
    if not own.is_file():
        raise UserError(f"{own}: there is no such file")
    pool = folder.read(Found(ending, (own,)))
    if pool.class_names is not None:
        raise UserError(f"{own}: its labels are names; number the classes from 0, alike at all sites")
    rows = np.arange(len(pool), dtype=np.int64)
    held = HeldByOne(np.array([0, len(pool)], dtype=np.int64), rows, client, len(agreement.sites))
    data = DealtDataset(
        pool,
        held,
        split=settings.split,
        noise=settings.label_noise,
        seed=data_seed(agreement.config),
    )
    if agreement.num_classes is not None:
        if pool.num_classes > agreement.num_classes:
            raise UserError(f"{own}: holds {pool.num_classes} classes, and this run has {agreement.num_classes}")
        data.num_classes = agreement.num_classes
    return data


def _share(agreement: Agreement, data_root: Path | None) -> FederatedData:
    data, sites = _dealt(json.dumps(agreement.settings, sort_keys=True), data_root), len(agreement.sites)
    if data.num_clients != sites:
        raise UserError(f"data: is dealt to {data.num_clients} clients, and the federation has {sites} sites")
    return data


@lru_cache(maxsize=1)
def _dealt(settings: str, data_root: Path | None) -> FederatedData:
    """Dealt once for all the sites that a simulation has in one process."""
    return Assembler(data_root).data(RunConfig.from_plain(json.loads(settings)))
