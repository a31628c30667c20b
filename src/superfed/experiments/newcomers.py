"""Clients that never took part: what a method can do for them when they come, and after some training of their own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from superfed.core.state import moved
from superfed.engine.evaluate import evaluate_arrival
from superfed.engine.executors import Executor
from superfed.engine.local import CPU
from superfed.engine.simulation import Run, evaluate
from superfed.experiments.results import Results


@dataclass(frozen=True)
class NewcomerResults:
    """``arriving`` is with the global model as it is, and None where the method has none; ``adapted`` after ``epochs``."""

    clients: Sequence[int]
    epochs: int
    arriving: Results | None
    adapted: Results

    def summary(self) -> dict[str, Any]:
        return {
            "num_clients": len(self.clients),
            "epochs": self.epochs,
            "arriving": None if self.arriving is None else self.arriving.overall(),
            "adapted": self.adapted.readings(),
        }

    def table(self) -> dict[str, list[Any]]:
        """A row per client, way, λ and split."""
        ways = {"adapted": self.adapted} | ({} if self.arriving is None else {"arriving": self.arriving})
        columns: dict[str, list[Any]] = {}
        for way, results in ways.items():
            for name, values in results.clients_table().items():
                columns.setdefault(name, []).extend(values)
            columns.setdefault("way", []).extend([way] * (len(columns["client"]) - len(columns.get("way", []))))
        return columns


def meet_newcomers(
    run: Run, executor: Executor, lambdas: Sequence[float], epochs: int, on_client: Callable[[int], None] | None = None
) -> NewcomerResults:
    """Evaluate the run's newcomers both ways."""
    clients = run.task.newcomer_clients
    server = moved(run.server, CPU)
    arriving = [evaluate_arrival(run.task, client, server) for client in clients]
    scores = [one for one in arriving if one is not None]
    (adapted,) = evaluate([run], [clients], executor, lambdas, on_client, epochs)
    return NewcomerResults(clients, epochs, Results(clients, scores) if scores else None, Results(clients, adapted))
