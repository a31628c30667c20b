"""From a config to a task: data read and dealt, model built, everything checked before anything trains."""

import time
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch

from superfed.core.errors import SettingError
from superfed.core.log import event
from superfed.core.samples import FederatedData
from superfed.core.vector import VectorModel
from superfed.data.cache import cache_place, load
from superfed.data.dealt import deal
from superfed.data.pool import Pool
from superfed.data.registry import DatasetSettings
from superfed.data.synthetic import Synthetic
from superfed.engine.task import Task
from superfed.experiments.schema import DataConfig, RunConfig


class Assembler:
    """Makes tasks, and makes each dataset, partition and model once for all the runs that share it."""

    def __init__(self, data_root: Path | None, datasets: Mapping[DatasetSettings, Pool] | None = None) -> None:
        """``datasets`` are at hand already; all others are looked for in ``data_root``."""
        self._root, self._cache = data_root, cache_place()
        self._datasets: dict[DatasetSettings, Pool | Synthetic] = dict(datasets or {})
        self._dealt: dict[tuple[DataConfig, int], FederatedData] = {}
        self._models: dict[Hashable, VectorModel] = {}

    def task(self, config: RunConfig) -> Task:
        data = self.data(config)
        with named("model"):
            model = self._model(config, data)
        with named("training"):
            task = Task(
                config.algorithm,
                model,
                data,
                config.training,
                config.seed,
                config.data.newcomers,
                config.engine.precision,
                config.aggregation,
                config.privacy,
            )
        with named("algorithm"):
            config.algorithm.check(config.training.rounds)
        task.check()
        return task

    def data(self, config: RunConfig) -> FederatedData:
        """The run's data, dealt; no model needs to fit it."""
        key = (config.data, data_seed(config))
        if key not in self._dealt:
            with named("data"):
                self._dealt[key] = self._deal(*key)
        return self._dealt[key]

    def _deal(self, config: DataConfig, seed: int) -> FederatedData:
        if config.dataset not in self._datasets:
            began = time.monotonic()
            self._datasets[config.dataset] = load(config.dataset, self._root, self._cache)
            seconds, name = time.monotonic() - began, type(config.dataset).__name__
            event("data", f"{name} loaded in {seconds:.1f} s", dataset=name, seconds=round(seconds, 3))
        source = self._datasets[config.dataset]
        noise = config.label_noise
        try:
            return deal(source, config.partition, config.num_clients, split=config.split, noise=noise, seed=seed)
        except SettingError as error:
            if config.partition is not None and error.key in vars(config.partition):
                raise error.under("partition") from error
            raise

    def _model(self, config: RunConfig, data: FederatedData) -> VectorModel:
        recipe = config.model
        key = (recipe, data.input_shape, data.num_classes, config.engine.dtype)
        if key not in self._models:
            builder = recipe.builder(data.input_shape, data.num_classes)
            dtype = torch.float64 if config.engine.dtype == "float64" else torch.float32
            self._models[key] = VectorModel(builder, head=recipe.head, dtype=dtype)
        return self._models[key]


def data_seed(config: RunConfig) -> int:
    """What decides the deal: the data's own seed or, without one, the run's."""
    return config.seed if config.data.seed is None else config.data.seed


@contextmanager
def named(section: str) -> Iterator[None]:
    """Settings that turn out wrong inside are named as parts of this section."""
    try:
        yield
    except SettingError as error:
        raise error.under(section) from error
