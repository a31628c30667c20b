"""Worker processes, one single-threaded one per core, that compute lanes one at a time.

Workers are forked once the tasks are known, so models, data and methods are theirs without a copy, also those from a
notebook. States travel through memory that all share; pipes carry only names, shapes and small results.
"""

import ctypes
import mmap
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any, NoReturn, TypeVar

import torch

from superfed.core.errors import UserError
from superfed.core.state import State
from superfed.engine.evaluate import ClientScores, evaluate_client
from superfed.engine.fusing import prepare
from superfed.engine.lanes import Lane
from superfed.engine.local import Update, local_update
from superfed.engine.plan import num_steps
from superfed.engine.task import Task

SLOTS_PER_WORKER = 2  # one lane computed, one waiting
VECTORS_PER_SLOT = 24  # room for a lane's states; memory is taken when touched, not when reserved
ALIGNMENT = 64

Result = TypeVar("Result")
Layout = list[tuple[str, torch.dtype, tuple[int, ...], int]]
_Answer = tuple[int, tuple[str, str] | None, Any]
"""A slot, what went wrong and where, what came out."""


class WorkerDied(RuntimeError):
    """A worker process ended by itself."""


class WorkerFailed(RuntimeError):
    """A lane's computation raised; ``reason`` is what it said, without where."""

    def __init__(self, reason: str, where: str) -> None:
        super().__init__(f"a worker failed:\n{where}")
        self.reason = reason


class ForkImpossible(RuntimeError):
    """Forked processes cannot use autograd, because this one has used it together with CUDA."""


class Slot:
    """A stretch of shared memory into which states are laid one behind another."""

    def __init__(self, size: int) -> None:
        self._memory = mmap.mmap(-1, size)  # anonymous and shared: no file, no limit on /dev/shm
        self._size = size
        self._used = 0

    def clear(self) -> None:
        self._used = 0

    def lay(self, state: State) -> Layout:
        """Copy ``state`` behind what is there already; where it lies."""
        layout: Layout = []
        for name, tensor in state.items():
            place = -(-self._used // ALIGNMENT) * ALIGNMENT
            self._used = place + tensor.numel() * tensor.element_size()
            if self._used > self._size:
                raise MemoryError(f"a lane's state is larger than the {self._size} bytes reserved for it")
            layout.append((name, tensor.dtype, tuple(tensor.shape), place))
            self._view(layout[-1]).copy_(tensor)
        return layout

    def views(self, layout: Layout) -> State:
        return {entry[0]: self._view(entry) for entry in layout}

    def copies(self, layout: Layout) -> State:
        return {entry[0]: self._view(entry).clone() for entry in layout}

    def resume_after(self, *layouts: Layout) -> None:
        """Lay what comes next behind these."""
        ends = [place + dtype.itemsize * _count(shape) for layout in layouts for _, dtype, shape, place in layout]
        self._used = max(ends, default=0)

    def _view(self, entry: tuple[str, torch.dtype, tuple[int, ...], int]) -> torch.Tensor:
        _, dtype, shape, place = entry
        count = _count(shape)
        if count == 0:
            return torch.empty(shape, dtype=dtype)
        return torch.frombuffer(self._memory, dtype=dtype, count=count, offset=place).view(shape)


@dataclass(frozen=True)
class _Evaluation:
    lambdas: tuple[float, ...]
    epochs: int
    brief: bool


@dataclass(frozen=True)
class _Job:
    """What a worker is asked; it knows the tasks already."""

    task: int
    client: int
    round: int
    slot: int
    sent: Layout
    kept: Layout | None
    evaluation: _Evaluation | None
    """None: a local update."""


class Workers:
    """A pool of worker processes for some tasks. Ends with ``close``, and its processes never outlive this one.

    Where a lane fails, or whoever asked goes away before the last answer, the processes end; the next lanes get new ones.
    """

    def __init__(self, tasks: Sequence[Task], count: int) -> None:
        self.device = torch.device("cpu")
        self._tasks = list(tasks)
        self._places = {id(task): place for place, task in enumerate(tasks)}
        self._threads = torch.get_num_threads()
        torch.set_num_threads(1)  # all cores are the workers'; threads here would only stand in their way
        largest = max(task.model.size * task.model.dtype.itemsize for task in tasks)
        size = VECTORS_PER_SLOT * largest + 2**20
        self._slots = [[Slot(size) for _ in range(SLOTS_PER_WORKER)] for _ in range(count)]
        prepare(tasks)
        self._pipes: list[Connection] = []
        self._processes: list[ForkProcess] = []
        self._fork()

    def _fork(self) -> None:
        context = multiprocessing.get_context("fork")
        for number in range(len(self._slots)):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_serve,
                args=(theirs, [*self._pipes, ours], self._slots[number], self._tasks, os.getpid()),
                name=f"superfed-worker-{number}",
                daemon=True,
            )
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        ready = [self._receive(worker) for worker in range(len(self._pipes))]
        if not all(ready):
            self.close()
            raise ForkImpossible

    def update(self, lanes: Sequence[Lane]) -> Iterator[tuple[int, Update]]:
        def read(slot: Slot, answer: Any) -> Update:
            kept, upload = answer
            return Update(slot.copies(kept), slot.copies(upload))

        longest_first = sorted(range(len(lanes)), key=lambda i: -num_steps(lanes[i].task, lanes[i].client))
        return self._map(lanes, longest_first, None, read)

    def evaluate(
        self, lanes: Sequence[Lane], lambdas: Sequence[float], epochs: int, brief: bool = False
    ) -> Iterator[tuple[int, ClientScores]]:
        def read(slot: Slot, answer: Any) -> ClientScores:
            scores: ClientScores = answer
            return scores

        return self._map(lanes, list(range(len(lanes))), _Evaluation(tuple(lambdas), epochs, brief), read)

    def _map(
        self,
        lanes: Sequence[Lane],
        order: list[int],
        evaluation: _Evaluation | None,
        read: Callable[[Slot, Any], Result],
    ) -> Iterator[tuple[int, Result]]:
        if not self._processes:
            self._fork()
        waiting = iter(order)
        free = [(worker, slot) for slot in range(SLOTS_PER_WORKER) for worker in range(len(self._pipes))]
        under_way: dict[tuple[int, int], int] = {}
        try:
            while True:
                while free and (index := next(waiting, None)) is not None:
                    worker, slot = free.pop(0)
                    self._send(worker, self._job(lanes[index], self._slots[worker][slot], slot, evaluation))
                    under_way[worker, slot] = index
                if not under_way:
                    return
                for pipe in wait(self._pipes):
                    worker = self._pipes.index(pipe)  # type: ignore[arg-type]
                    slot, problem, answer = self._receive(worker)
                    if problem is not None:
                        raise WorkerFailed(*problem)
                    index = under_way.pop((worker, slot))
                    result = read(self._slots[worker][slot], answer)
                    free.append((worker, slot))
                    yield index, result
        finally:
            if under_way:  # whoever asked has gone; answers on their way would reach the wrong one
                self._end()

    def _job(self, lane: Lane, slot: Slot, number: int, evaluation: _Evaluation | None) -> _Job:
        slot.clear()
        stored = lane.stored()
        sent, kept = slot.lay(lane.sent), None if stored is None else slot.lay(stored)
        return _Job(self._places[id(lane.task)], lane.client, lane.round, number, sent, kept, evaluation)

    def _send(self, worker: int, job: _Job) -> None:
        try:
            self._pipes[worker].send(job)
        except OSError:
            self._report_death(worker)

    def _receive(self, worker: int) -> Any:
        try:
            return self._pipes[worker].recv()
        except (EOFError, OSError):
            self._report_death(worker)

    def _report_death(self, worker: int) -> NoReturn:
        process = self._processes[worker]
        process.join(timeout=5)
        code = process.exitcode
        how = f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit code {code}"
        self._end()
        hint = " (often because memory ran out; use fewer workers)" if code == -signal.SIGKILL else ""
        raise WorkerDied(f"a worker process ended unexpectedly with {how}{hint}")

    def notes(self) -> dict[str, float]:
        return {}

    def close(self) -> None:
        torch.set_num_threads(self._threads)
        self._end()

    def _end(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.kill()  # nothing of a worker's outlasts a lane, so there is nothing to wait for
            process.join()
        self._pipes, self._processes = [], []


def _serve(pipe: Connection, others: list[Connection], slots: list[Slot], tasks: list[Task], parent: int) -> None:
    """A worker's life: take a lane, compute it, answer; end when the pipe does."""
    _end_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in others:
        other.close()
    torch.set_num_threads(1)
    pipe.send(_can_differentiate())
    while True:
        try:
            job: _Job = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: _Answer = (job.slot, None, _compute(job, slots[job.slot], tasks[job.task]))
        except Exception as error:
            answer = (job.slot, (said(error), traceback.format_exc()), None)
        try:
            pipe.send(answer)
        except (BrokenPipeError, ConnectionResetError):
            return


def said(error: BaseException) -> str:
    """What an error says, with its kind unless that is one of the program's own sentences."""
    text = " ".join(str(error).split())
    if isinstance(error, UserError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _compute(job: _Job, slot: Slot, task: Task) -> Any:
    sent = slot.views(job.sent)
    kept = task.init_client(job.client) if job.kept is None else slot.views(job.kept)
    if job.evaluation is not None:
        look = job.evaluation
        return evaluate_client(task, job.client, kept, sent, look.lambdas, look.epochs, brief=look.brief)
    update = local_update(task, job.client, job.round, kept, sent)
    slot.resume_after(job.sent, job.kept or [])
    return slot.lay(update.kept), slot.lay(update.upload)


def _can_differentiate() -> bool:
    try:
        x = torch.ones(1, requires_grad=True)
        torch.autograd.grad((x * x).sum(), x)
    except RuntimeError:
        return False
    return True


def _end_with_parent(parent: int) -> None:
    """Ask the kernel to end this process when its parent ends, however that happens."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count
