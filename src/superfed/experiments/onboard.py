"""A real newcomer: one client's data comes to a finished run, and goes away with a model."""

import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from torch import nn

from superfed.core.errors import UserError
from superfed.core.random import key
from superfed.core.state import State
from superfed.data.own import OwnData
from superfed.data.preprocessing import Preprocessing
from superfed.engine.adapt import adapt
from superfed.engine.evaluate import evaluate_arrival, evaluate_client, lambda_grid
from superfed.engine.task import Task
from superfed.experiments.results import Results
from superfed.experiments.runner import load_run
from superfed.store.files import write_bytes

NEWCOMER = 0


@dataclass(frozen=True)
class Onboarded:
    """``arriving`` is the accuracy of the global model as it is, None where the method has none."""

    title: str
    samples: tuple[int, int, int]
    """To train on, to choose λ on, to test on."""
    epochs: int
    arriving: float | None
    accuracy: float
    """Of ``model``, on the test samples."""
    lam: float | None
    """Where on the line ``model`` lies; None where there is no line."""
    model: nn.Module

    def save(self, path: Path) -> None:
        """The model as safetensors, with what it is in the metadata."""
        about = {
            "method": self.title,
            "epochs": str(self.epochs),
            "lam": "" if self.lam is None else str(self.lam),
            "test_accuracy": str(self.accuracy),
        }
        parameters = {name: p.detach().contiguous() for name, p in self.model.named_parameters()}
        write_bytes(path, safetensors.torch.save(parameters, metadata=about))


def onboard(run_path: Path, data_file: Path, epochs: int, data_root: Path | None = None) -> Onboarded:
    """Serve the client whose samples ``data_file`` holds: as it arrives, or after ``epochs`` of the method's own rule."""
    run, settings = load_run(run_path, data_root)
    return onboard_with(run.task, run.server, data_file, epochs, settings.evaluation.lambdas)


def onboard_with(trained: Task, server: State, data_file: Path, epochs: int, points: int) -> Onboarded:
    """The same from what a finished run has learnt: its task, the server's last state, and how many λ to look at."""
    task = _task_of(trained, read_client(data_file, trained))
    title, lambdas = task.algorithm.title, lambda_grid(points)
    arriving = evaluate_arrival(task, NEWCOMER, server)
    at_once = None if arriving is None else float(arriving.test["top1"][0])
    sizes = (task.data.train_size(NEWCOMER), len(task.data.validation(NEWCOMER)), len(task.data.test(NEWCOMER)))
    if epochs == 0:
        w = task.algorithm.global_model(server)
        if w is None or at_once is None:
            raise UserError(f"{title} has no global model to start from, so a newcomer must train: give --epochs")
        return Onboarded(title, sizes, epochs, at_once, at_once, None, task.model.module(w))
    kept, server = adapt(task, NEWCOMER, task.init_client(NEWCOMER), server, epochs)
    results = Results([NEWCOMER], [evaluate_client(task, NEWCOMER, kept, server, lambdas)])
    lam = results.chosen_lambda(NEWCOMER)
    sent = task.algorithm.broadcast(server, task.model)
    w = task.algorithm.personal_model(kept, sent, torch.tensor(lam, dtype=task.model.dtype), task.model)
    chosen = None if np.isnan(lam) else lam
    return Onboarded(title, sizes, epochs, at_once, results.accuracy(NEWCOMER), chosen, task.model.module(w))


def read_client(path: Path, task: Task) -> OwnData:
    """The client in an ``.npz`` file with arrays ``x`` and ``y``, checked against what the run was trained on."""
    if path.exists() and not zipfile.is_zipfile(path):
        raise UserError(f"{path}: is no .npz file")
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [name for name in ("x", "y") if name not in file]
            if missing:
                raise UserError(f"{path}: holds no array '{missing[0]}'; it needs x, the inputs, and y, the labels")
            x, y = file["x"], file["y"]
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except (OSError, ValueError, TypeError, EOFError) as error:
        raise UserError(f"{path}: cannot be read as an .npz file of plain arrays ({error})") from error
    x = Preprocessing.of(task.data, task.model.dtype).inputs(x, str(path))
    try:
        names = getattr(task.data, "class_names", None) if y.dtype.kind in "US" else None
        return OwnData.from_clients([(x, y)], num_classes=task.data.num_classes, class_names=names)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def _task_of(trained: Task, data: OwnData) -> Task:
    """The run's task for the newcomer's data alone, with draws of its own."""
    return replace(
        trained,
        data=data,
        seed=key(trained.seed, "onboard") % 2**63,
        newcomers=0.0,
        schedule=replace(trained.schedule, clients_per_round=1),
    )
