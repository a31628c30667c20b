"""Who holds which sample: the ways to deal a pooled dataset to clients."""

from superfed.data.partitions.dirichlet import Dirichlet
from superfed.data.partitions.iid import IID
from superfed.data.partitions.partition import Partition, PartitionKind
from superfed.data.partitions.pathological import Pathological

PARTITIONS: dict[str, type[PartitionKind]] = {
    "pathological": Pathological,
    "dirichlet": Dirichlet,
    "iid": IID,
}

__all__ = ["IID", "PARTITIONS", "Dirichlet", "Partition", "PartitionKind", "Pathological"]
