"""Training from Python: your own clients' arrays and your own network in, personal models out."""

import contextlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

import torch

from superfed.algorithms import ALGORITHMS
from superfed.core.algorithm import Algorithm
from superfed.core.batch import LastBatch
from superfed.core.errors import SettingError, UserError
from superfed.core.samples import FederatedData
from superfed.core.vector import ModelSource, VectorModel
from superfed.data.dataset import Dataset
from superfed.data.dealt import DealtDataset
from superfed.data.own import ClientArrays, OwnData, Pair
from superfed.data.pool import Pool
from superfed.data.split import Split
from superfed.engine.checkpoint import Checkpoints
from superfed.engine.evaluate import lambda_grid
from superfed.engine.executors import make_executor
from superfed.engine.precision import Precision
from superfed.engine.simulation import Run, advance, evaluate
from superfed.engine.task import Schedule, Task, as_inputs
from superfed.experiments.fitted import FittedRun
from superfed.experiments.results import Results


def fit(
    clients: Sequence[Pair | ClientArrays] | Pool | FederatedData,
    model: ModelSource,
    algorithm: Algorithm | str = "superfed",
    *,
    rounds: int = 50,
    clients_per_round: int | float | None = None,
    local_epochs: int = 10,
    batch_size: int = 10,
    last_batch: LastBatch = "keep",
    lr: float = 0.01,
    lr_decay: float = 0.99,
    momentum: float = 0.9,
    weight_decay: float = 1e-4,
    tuning_epochs: int = 0,
    num_classes: int | None = None,
    class_names: Sequence[str] | None = None,
    test_fraction: float = 0.2,
    validation_fraction: float = 0.1,
    head: str | None = None,
    lambdas: int = 11,
    seed: int = 0,
    device: str = "auto",
    workers: int | str = "auto",
    precision: Precision = "float32",
    checkpoints: str | Path | None = None,
    checkpoint_every: int = 10,
    progress: bool = False,
) -> FittedRun:
    """Train personal models for ``clients`` and evaluate every one of them.

    Args:
        clients: one ``(x, y)`` pair of arrays or tensors per client, ``ClientArrays`` for clients that bring their own
            test or validation samples, a ``Pool`` whose samples have owners, such as ``from_hf`` makes, or any
            ``FederatedData``.
        model: a network, or a function that builds one. Its output is a score per class. A network's own weights are the
            first global model; a function is called for fresh ones.
        algorithm: a method, such as ``SuPerFed(nu=2.0)``, or its name.
        clients_per_round: a number, or a fraction such as 0.1; 5 or all if there are fewer, without it.
        last_batch: what becomes of the samples left over when an epoch is cut into batches: "keep" makes a small last batch
            of them, "drop" leaves them out, "even" makes all batches about the same size.
        tuning_epochs: passes that each client makes for itself alone after the last round, by the method's own rule, before
            its models are evaluated and used.
        num_classes: without it, as many as the network tells apart, or as the labels show.
        class_names: where labels are names, the order of the classes; without it they are sorted.
        test_fraction, validation_fraction: what is cut from a client's samples, unless it brings its own.
        head: the layer at which the head begins, for methods that treat it apart.
        lambdas: how many points of the line between federated and local model are evaluated.
        precision: of products on a GPU: "float32", or quicker and less exact "tf32" or "bf16".
        checkpoints: a folder; the same call goes on from what an interrupted one left there.
        progress: print a line every tenth of the rounds.
    """
    method = _algorithm(algorithm)
    view = VectorModel(model, head=head)
    split = Split(test_fraction, validation_fraction)
    if class_names is not None and (isinstance(clients, Pool) or hasattr(clients, "train_size")):
        raise SettingError("class_names", "these clients come with their classes; leave it out")
    data = _federated(clients, num_classes, class_names, split, seed)
    if num_classes is None and (outputs := _num_outputs(view, data)) > data.num_classes:  # classes that nobody here has
        names = getattr(data, "class_names", None)
        data = _federated(clients, outputs, names, split, seed)
    schedule = Schedule(
        rounds=rounds,
        clients_per_round=min(5, data.num_clients) if clients_per_round is None else clients_per_round,
        local_epochs=local_epochs,
        batch_size=batch_size,
        last_batch=last_batch,
        lr=lr,
        lr_decay=lr_decay,
        momentum=momentum,
        weight_decay=weight_decay,
        tuning_epochs=tuning_epochs,
    )
    task = Task(method, view, data, schedule, seed, precision=precision)
    task.check()
    run = Run(task)
    saved = None if checkpoints is None else Checkpoints(Path(checkpoints))
    if saved is not None:
        saved.folder.mkdir(parents=True, exist_ok=True)  # or that it cannot be is found out after many rounds
        run.restore(saved)
    with closing(make_executor([task], device, workers)) as executor:
        while not run.finished:
            try:
                for _ in advance([run], executor):
                    if progress and (run.round % max(1, rounds // 10) == 0 or run.finished):
                        print(f"round {run.round} of {rounds}", flush=True)
            except KeyboardInterrupt:
                if saved is not None and run.whole and run.round > 0:
                    run.save(saved)
                raise
            if saved is not None and (run.finished or run.round % checkpoint_every == 0):
                run.save(saved)
        if run.stopped is not None:
            raise UserError(run.stopped)
        everyone = range(data.num_clients)
        (scores,) = evaluate([run], [everyone], executor, lambda_grid(lambdas))
    return FittedRun(run, Results(everyone, scores))


def _algorithm(given: Algorithm | str) -> Algorithm:
    if isinstance(given, Algorithm):
        return given
    if given not in ALGORITHMS:
        raise SettingError("algorithm", f"{given!r} is unknown; there are {', '.join(ALGORITHMS)}")
    return ALGORITHMS[given]()


def _federated(
    clients: object, num_classes: int | None, class_names: Sequence[str] | None, split: Split, seed: int
) -> FederatedData:
    if hasattr(clients, "train_size"):
        return cast(FederatedData, clients)
    if isinstance(clients, Pool):
        return _dealt(clients, num_classes, split, seed)
    return OwnData.from_clients(
        cast(Sequence[Pair | ClientArrays], clients),
        num_classes=num_classes,
        class_names=class_names,
        test_fraction=split.test_fraction,
        validation_fraction=split.validation_fraction,
        seed=seed,
    )


def _dealt(pool: Pool, num_classes: int | None, split: Split, seed: int) -> FederatedData:
    """Everybody keeps what is theirs."""
    if pool.owners is None:
        raise UserError(f"{pool.name}: does not say whose its samples are; give clients, or deal it first")
    if isinstance(pool, Dataset) and num_classes not in (None, pool.num_classes):
        pool = replace(pool, num_classes=num_classes, known_digest=None)
    return DealtDataset.deal(pool, split=split, seed=seed)


def _num_outputs(model: VectorModel, data: FederatedData) -> int:
    """How many classes the network tells apart; 0 if it cannot be asked, which is complained of later."""
    with torch.no_grad(), contextlib.suppress(Exception):
        return model.apply(model.fresh(0), as_inputs(data.train(0).x[:2], model)).shape[1]
    return 0
