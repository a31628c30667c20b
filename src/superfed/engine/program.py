"""One step of a stack of lanes as a program: traced once, compiled, and on a GPU replayed as a graph.

Everything a step needs lies in memory that stays where it is, and which step it is, is a number on the device too. So a
whole local update is a queue of replays that the host need not watch.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import torch
from torch import Tensor, fx
from torch.func import vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_leaves

from superfed.core.state import State
from superfed.engine.aligned_rows import with_aligned_rows
from superfed.engine.lane_step import Scalars

Step = Callable[[State, State, Scalars, Tensor, Tensor, Tensor, State], State]
Program = Callable[..., None]
Tell = Callable[[str, float | None], None]
"""Hears what is being compiled, and once more, with the seconds it took, when that is done."""
WARM_UP = 2


@dataclass
class StackMemory:
    """What the steps of a stack of lanes read and write. The first dimension is over lanes, but where another is named."""

    work: State
    sent: State
    scalars: Scalars
    pool_x: Tensor  # [samples, ...], those of all lanes
    pool_y: Tensor
    places: Tensor  # [steps, lanes, batch_size]: where in the pool
    counts: Tensor  # [steps, lanes, batch_size]: which of them count
    noise: State  # [steps, lanes, ...]
    step: Tensor  # [1]

    def first(self, lanes: int) -> "StackMemory":
        """The same memory, as far as the first so many lanes go."""

        def rows(state: State) -> State:
            return {name: t[:lanes] for name, t in state.items()}

        return StackMemory(
            work=rows(self.work),
            sent=rows(self.sent),
            scalars={group: rows(values) for group, values in self.scalars.items()},
            pool_x=self.pool_x,
            pool_y=self.pool_y,
            places=self.places[:, :lanes],
            counts=self.counts[:, :lanes],
            noise={name: t[:, :lanes] for name, t in self.noise.items()},
            step=self.step,
        )

    @property
    def capacity(self) -> tuple[int, int, int]:
        """Lanes, steps and samples."""
        steps, lanes, _ = self.places.shape
        return lanes, steps, len(self.pool_y)

    def parts(self) -> tuple[Any, ...]:
        return tuple(getattr(self, f.name) for f in fields(self))


def stack_step(step: Step, memory: StackMemory) -> None:
    """One step of every lane, in place."""

    def now(table: Tensor) -> Tensor:
        return table.index_select(0, memory.step)[0]

    places = now(memory.places)
    x, y = memory.pool_x[places], memory.pool_y[places]
    noise = {name: now(rows) for name, rows in memory.noise.items()}
    new = vmap(step)(memory.work, memory.sent, memory.scalars, x, y, now(memory.counts), noise)
    for name, old in memory.work.items():
        if new[name] is not old:
            old.copy_(new[name])
    memory.step.add_(1)


class Programs:
    """Makes the programs of stacks on one device: plain operations on a CPU, graphs of them on a GPU."""

    def __init__(self, device: torch.device, tell: Tell | None = None) -> None:
        self.device = device
        self.seconds = 0.0
        """Spent on compiling, until now."""
        self._tell = tell
        self._keeper: torch.cuda.CUDAGraph | None = None
        """Graphs are never replayed at the same time, so all share the memory of the first, which therefore stays."""

    def function(self, step: Step, memory: StackMemory, compiled: bool, what: str) -> Program:
        """``stack_step`` for this step function, and for memory like this one with any number of steps and samples."""
        if not compiled:
            return lambda *parts: stack_step(step, StackMemory(*parts))
        tell = self._tell or (lambda what, seconds: None)
        tell(what, None)
        began = time.perf_counter()
        try:
            program = _compiled(with_aligned_rows(traced(step, memory)), memory)
        except Exception as error:  # whatever a compiler may raise; the plain operations compute the same
            first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            warnings.warn(f"{what} could not be compiled and runs as it is, more slowly: {first}", stacklevel=2)
            return self.function(step, memory, False, what)
        spent = time.perf_counter() - began
        self.seconds += spent
        tell(what, spent)
        return program

    def repeated(self, program: Program, memory: StackMemory) -> Callable[[int], None]:
        """Takes so many steps over this memory, which must not be moved afterwards. Its contents are spoilt here."""
        if self.device.type != "cuda":
            return partial(_repeat, lambda: program(*memory.parts()))
        return partial(_repeat, self._captured(program, memory).replay)

    def _captured(self, program: Program, memory: StackMemory) -> torch.cuda.CUDAGraph:
        aside = torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(aside), torch.no_grad():
            for _ in range(WARM_UP):
                memory.step.zero_()
                program(*memory.parts())
        torch.cuda.current_stream(self.device).wait_stream(aside)
        memory.step.zero_()
        if self._keeper is None:
            self._keeper = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._keeper):
                memory.step.zero_()
        graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.graph(graph, pool=self._keeper.pool()):
            program(*memory.parts())
        return graph


def traced(step: Step, memory: StackMemory) -> fx.GraphModule:
    """``stack_step`` as one flat list of operations, for so many lanes."""

    def program(*parts: Any) -> None:
        stack_step(step, StackMemory(*parts))

    with torch.no_grad():
        return make_fx(program, tracing_mode="fake", _allow_non_fake_inputs=True)(*memory.parts())


def _compiled(program: Program, memory: StackMemory) -> Program:
    """Compiled for any number of steps and samples; what else has a size keeps it."""
    for tensor in tree_leaves((memory.pool_x, memory.pool_y, memory.places, memory.counts, memory.noise)):
        torch._dynamo.mark_dynamic(tensor, 0)
    compiled: Program = torch.compile(program, fullgraph=True)
    memory.step.zero_()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # the compiler's remarks about itself, which where warnings are errors would end it
        compiled(*memory.parts())
    return compiled


def _repeat(once: Callable[[], object], times: int) -> None:
    for _ in range(times):
        once()
