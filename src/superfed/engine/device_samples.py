"""Clients' training samples on a device, brought there once and kept while there is room."""

from collections import OrderedDict
from collections.abc import Sequence

import torch
from torch import Tensor

from superfed.engine.lanes import Lane
from superfed.engine.task import Task, as_inputs


class DeviceSamples:
    """``room`` is in bytes. What was not used for longest makes way."""

    def __init__(self, device: torch.device, room: int) -> None:
        self.device, self._room = device, room
        self._held: OrderedDict[tuple[int, torch.dtype, int], tuple[Tensor, Tensor]] = OrderedDict()
        self._data: dict[int, object] = {}  # holds the data, so that no other gets its id
        self._bytes = 0

    def of(self, task: Task, client: int) -> tuple[Tensor, Tensor]:
        """The client's inputs and labels."""
        key = (id(task.data), task.model.dtype, client)
        if key not in self._held:
            self._add(key, task, client)
        self._held.move_to_end(key)
        return self._held[key]

    def pool(self, lanes: Sequence[Lane]) -> tuple[list[Tensor], list[Tensor], list[int]]:
        """The samples of all lanes' clients, each client's once, and where each lane's begin if they are put in a row."""
        starts: list[int] = []
        begin: dict[tuple[int, int], int] = {}
        parts: list[tuple[Tensor, Tensor]] = []
        total = 0
        for lane in lanes:
            who = (id(lane.task.data), lane.client)
            if who not in begin:
                parts.append(self.of(lane.task, lane.client))
                begin[who] = total
                total += len(parts[-1][1])
            starts.append(begin[who])
        return [x for x, _ in parts], [y for _, y in parts], starts

    def _add(self, key: tuple[int, torch.dtype, int], task: Task, client: int) -> None:
        samples = task.data.train(client)
        pair = as_inputs(samples.x, task.model).to(self.device), samples.y.to(self.device)
        self._data[id(task.data)] = task.data
        self._held[key] = pair
        self._bytes += _num_bytes(pair)
        while self._bytes > self._room and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            self._bytes -= _num_bytes(dropped)


def _num_bytes(pair: tuple[Tensor, Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in pair)
