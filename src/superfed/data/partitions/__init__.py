"""Who holds which sample: the ways to deal a pooled dataset to clients."""

from superfed.data.partitions.dirichlet import Dirichlet
from superfed.data.partitions.iid import IID
from superfed.data.partitions.natural import Natural
from superfed.data.partitions.partition import Partition, PartitionKind
from superfed.data.partitions.pathological import Pathological

PARTITIONS: dict[str, type[PartitionKind | Natural]] = {
    "pathological": Pathological,
    "dirichlet": Dirichlet,
    "iid": IID,
    "natural": Natural,
}

__all__ = ["IID", "PARTITIONS", "Dirichlet", "Natural", "Partition", "PartitionKind", "Pathological"]
