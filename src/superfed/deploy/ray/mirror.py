"""Runs as the program that gave them out knows them: how far each is, from what its task tells."""

from collections.abc import Sequence

import torch

from superfed.engine.checkpoint import newest
from superfed.engine.simulation import CurvePoint, RoundRecord, Run
from superfed.experiments.member import final_clients_of
from superfed.experiments.orders import Order


class Mirror:
    """A run without its models. What is told twice, since a task had to go back to a checkpoint, is taken in once."""

    def __init__(self, order: Order) -> None:
        self.title, self.folder, self.config = order.title, order.folder, order.config
        self.has_results = order.folder.has_results()
        self.run = Run(order.task, server={"elsewhere": torch.empty(0)})
        last = newest(order.folder.checkpoints)
        if last is not None:
            records = [RoundRecord(**record) for record in last.record["records"]]
            curve = [CurvePoint(**point) for point in last.record["curve"]]
            self.begun(records, curve, last.record["stopped"])

    @property
    def to_evaluate(self) -> int:
        """How many clients are evaluated after the last round."""
        task = self.run.task
        return len(final_clients_of(self.config, task)) + len(task.newcomer_clients)

    def begun(self, records: Sequence[RoundRecord], curve: Sequence[CurvePoint], stopped: str | None) -> None:
        """A task took the run up where it is known to be, or further."""
        for record in records:
            self.add_round(record, stopped if record is records[-1] else None)
        self.add_to_curve(curve)

    def add_round(self, record: RoundRecord, stopped: str | None) -> bool:
        """Whether it is new."""
        run = self.run
        if record.round < len(run.records):
            return False
        run.records.append(record)
        run.stopped = stopped
        run.round = record.round if stopped is not None else record.round + 1
        return True

    def add_to_curve(self, points: Sequence[CurvePoint]) -> bool:
        """Whether any is new."""
        known = {point.round for point in self.run.curve}
        new = [point for point in points if point.round not in known]
        self.run.curve += new
        return bool(new)
