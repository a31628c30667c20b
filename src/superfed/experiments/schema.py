"""What a config may say. Every leaf has a type; what has no default must be given."""

from dataclasses import dataclass, field
from typing import Any, Literal

from superfed.algorithms import ALGORITHMS
from superfed.core.aggregation import AGGREGATIONS, Aggregation, Mean
from superfed.core.algorithm import Algorithm
from superfed.core.errors import require
from superfed.core.privacy import Privacy
from superfed.data.noise import LabelNoise
from superfed.data.partitions import PARTITIONS, Natural, PartitionKind
from superfed.data.registry import DATASETS, DatasetSettings
from superfed.data.split import Split
from superfed.engine.precision import Precision
from superfed.engine.task import Schedule
from superfed.experiments.strict import build, choice, plain, several
from superfed.models import MODELS, ModelRecipe
from superfed.tracking.settings import TRACKERS, TrackerSettings

DATASET_SETTINGS: dict[str, type] = {name: entry.settings for name, entry in DATASETS.items()}


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Which data, and how it falls on clients."""

    dataset: DatasetSettings = choice(DATASET_SETTINGS)
    """What clients are dealt from."""
    num_clients: int | None = None
    """Needed, unless the samples have owners: then it is how many of them take part, and without it all do."""
    partition: PartitionKind | Natural | None = choice(PARTITIONS, None)
    """How samples are dealt; without it, samples stay with their owners, where they have some."""
    test_fraction: float = 0.2
    """Of each client's samples, unless it brings its own test samples."""
    validation_fraction: float = 0.1
    """Of what remains for training; λ is chosen on it."""
    overlapping: Literal["apart", "mixed"] = "apart"
    """Samples that overlap, as windows of a text do: the earliest train and the latest test, apart from each other; or all are
    drawn at random, mixed, so that nearly all of a test sample's text was trained on."""
    label_noise: LabelNoise | None = None
    """Wrong labels, put in on purpose; in training and validation samples alone."""
    newcomers: float = 0.0
    """The share of clients that are kept from training, to see how a method serves them afterwards."""
    seed: int | None = None
    """Decides the partition, splits and noise; without it, the run's own seed does."""

    def __post_init__(self) -> None:
        require(0 <= self.newcomers < 1, "newcomers", f"must be at least 0 and less than 1, not {self.newcomers}")

    @property
    def split(self) -> Split:
        return Split(self.test_fraction, self.validation_fraction, mixed=self.overlapping == "mixed")


@dataclass(frozen=True)
class EvaluationConfig:
    """After the last round every client is evaluated; during training, every so often, some of them."""

    every: int = 10
    """Rounds between points of the accuracy curve."""
    clients: int = 20
    """How many clients the curve follows."""
    final_clients: int | Literal["all"] = "all"
    """After the last round too, a sample will do where there are very many clients."""
    newcomer_epochs: int = 5
    """How long newcomers train, by the method's own rule, before they are evaluated a second time."""
    lambdas: int = 11
    """Points of the line from λ = 0 to 1, both ends included."""

    def __post_init__(self) -> None:
        require(self.every >= 1, "every", f"must be 1 or more, not {self.every}")
        require(self.clients >= 1, "clients", f"must be 1 or more, not {self.clients}")
        final = self.final_clients
        require(final == "all" or final >= 1, "final_clients", f"must be 1 or more, or all, not {final}")
        epochs = self.newcomer_epochs
        require(epochs >= 1, "newcomer_epochs", f"must be 1 or more, not {epochs}")
        require(self.lambdas >= 2, "lambdas", f"must be 2 or more, to hold both ends, not {self.lambdas}")


@dataclass(frozen=True)
class EngineConfig:
    """How it is computed. Only ``dtype`` and ``precision`` change the numbers, beyond rounding."""

    device: str = "auto"
    """``cpu``, ``cuda``, ``cuda:1``; by itself a GPU, where torch sees one."""
    workers: int | Literal["auto"] = "auto"
    """Processes on a CPU; by itself one per core."""
    dtype: Literal["float32", "float64"] = "float32"
    """Of weights and inputs."""
    precision: Precision = "float32"
    """Of products on a GPU."""
    compile: Literal["auto", "on", "off"] = "auto"
    """Whether programs for a GPU are compiled; by itself, where a run is long enough to make up for it."""
    memory: float | None = None
    """How many GiB of a GPU's memory may be used; without it, most of what is free."""
    state: Literal["memory", "disk"] = "memory"
    """Where clients' states lie: in memory, or in memory-mapped files."""
    checkpoint_every: int | Literal["auto"] = "auto"
    """Rounds; by itself every ten, or more rarely where checkpoints would take more than a twentieth of the time."""
    keep_models: bool = True
    """Whether a finished run's models stay in its folder; without them there are its results, and nothing to load, to export
    or to evaluate anew."""

    def __post_init__(self) -> None:
        require(
            self.workers == "auto" or self.workers >= 1, "workers", f"must be 1 or more, or auto, not {self.workers}"
        )
        require(
            self.precision == "float32" or self.dtype == "float32",
            "precision",
            f"{self.precision} goes with dtype float32, not {self.dtype}",
        )
        require(self.memory is None or self.memory > 0, "memory", f"must be more than 0 GiB, not {self.memory}")
        every = self.checkpoint_every
        require(every == "auto" or every >= 1, "checkpoint_every", f"must be 1 or more, or auto, not {every}")


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """One run, resolved."""

    algorithm: Algorithm = choice(ALGORITHMS)
    """The method."""
    data: DataConfig
    """Which data, and how it falls on clients."""
    model: ModelRecipe = choice(MODELS)
    """The network."""
    training: Schedule
    """Rounds, and the clients' optimiser."""
    aggregation: Aggregation = choice(AGGREGATIONS, default=Mean())
    """How the server brings uploads together."""
    privacy: Privacy | None = None
    """What is done to what leaves a client."""
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    """When clients are evaluated, how many, and at which λ."""
    engine: EngineConfig = field(default_factory=EngineConfig)
    """How it is computed."""
    tracking: tuple[TrackerSettings, ...] = several(TRACKERS)
    """Where the runs are followed; it changes none of them."""
    name: str = "experiment"
    """Of the experiment; the file's name, where it is left out of a file."""
    description: str = ""
    """What the experiment is, in your words."""
    seed: int = 0
    """Everything random in the run follows from it."""

    def __post_init__(self) -> None:
        require(0 <= self.seed < 2**63, "seed", f"must be at least 0 and less than 2^63, not {self.seed}")

    @classmethod
    def from_plain(cls, settings: object) -> "RunConfig":
        return build(cls, settings)

    def as_plain(self) -> dict[str, Any]:
        settings: dict[str, Any] = plain(self)
        return {key: settings[key] for key in ("name", "description", "seed", *settings)}

    def of_the_run(self) -> dict[str, Any]:
        """What makes the run itself: the same wherever it is followed."""
        return {key: value for key, value in self.as_plain().items() if key != "tracking"}
