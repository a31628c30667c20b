"""Stacks of lanes: programs that are traced, memory that grows and is shared, lanes that finish before others."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from superfed.core.algorithm import Algorithm
from superfed.core.errors import SettingError
from superfed.core.state import State
from superfed.engine import batched
from superfed.engine import program as programs
from superfed.engine import segments as segments_module
from superfed.engine.aligned_rows import new_rows
from superfed.engine.batched import Stacks, even_parts, group_key
from superfed.engine.device_samples import DeviceSamples
from superfed.engine.executors import Batched, check_engine
from superfed.engine.footprint import peak_bytes
from superfed.engine.lanes import Lane
from superfed.engine.segments import Segment, Shrinking, fewest_lanes, segments, sizes_of
from superfed.engine.stack import Planned, Stack
from support.toys import CPU, METHODS, RAGGED, assert_same, toy_data, toy_task, train

ROUNDING = 1e-10
every_method = pytest.mark.parametrize("algorithm", METHODS.values(), ids=METHODS)


@pytest.fixture
def small_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stacks shrink although these networks are tiny."""
    monkeypatch.setattr(segments_module, "FULL", 1)


@every_method
def test_a_traced_program_computes_the_same(
    algorithm: Algorithm, monkeypatch: pytest.MonkeyPatch, small_is_full: None
) -> None:
    """What a compiler is given; the compiler itself is tested where there is a GPU."""
    traced: list[object] = []

    def as_it_is(program: programs.Program, memory: programs.StackMemory) -> programs.Program:
        assert isinstance(program, torch.fx.GraphModule)
        traced.append(program)
        return program

    monkeypatch.setattr(programs, "_compiled", as_it_is)
    tasks = [toy_task(algorithm, seed=seed) for seed in (0, 1)]
    for one, other in zip(train(tasks), train(tasks, Batched(CPU, compile="on")), strict=True):
        assert_same(one, other, ROUNDING)
    assert traced


@every_method
def test_a_stack_that_shrinks_computes_the_same(algorithm: Algorithm, small_is_full: None) -> None:
    tasks = [toy_task(algorithm, seed=seed, clients_per_round=6) for seed in (0, 1)]
    executor = Batched(CPU)
    for one, other in zip(train(tasks), train(tasks, executor), strict=True):
        assert_same(one, other, ROUNDING)
    whole = Batched(CPU)
    segments_module.FULL = 10**9
    train(tasks, whole)
    assert executor.stacks.use.needed == whole.stacks.use.needed
    assert whole.stacks.use.share < executor.stacks.use.share <= 1


def test_what_cannot_be_compiled_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(program: programs.Program, memory: programs.StackMemory) -> programs.Program:
        raise RuntimeError("no compiler here\nand more lines")

    monkeypatch.setattr(programs, "_compiled", broken)
    task = toy_task(METHODS["superfed"])
    with pytest.warns(UserWarning, match=r"SuPerFed-MM, 74 parameters.*runs as it is, more slowly: no compiler here$"):
        (other,) = train([task], Batched(CPU, compile="on"))
    assert_same(train([task])[0], other, ROUNDING)


def test_compiling_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[str, float | None]] = []
    monkeypatch.setattr(programs, "_compiled", lambda program, memory: program)
    executor = Batched(CPU, compile="on", tell=lambda what, seconds: heard.append((what, seconds)))
    train([toy_task(METHODS["fedrep"])], executor)
    programs_made = [f"FedRep, 74 parameters, 3 lanes, phase {name}" for name in ("head", "body")]
    assert [what for what, seconds in heard if seconds is None] == programs_made
    assert [what for what, seconds in heard if seconds is not None] == programs_made
    assert executor.notes()["compile_seconds"] == pytest.approx(sum(seconds or 0.0 for _, seconds in heard))


def test_compiling_is_for_long_runs_on_a_gpu() -> None:
    """Or for many short ones together; how far they have come does not matter."""
    gpu = torch.device("cuda")
    short, long = toy_task(METHODS["fedavg"]), toy_task(METHODS["fedavg"], rounds=40_000)
    assert [Stacks(gpu, 10**9)._compiles(task) for task in (short, long)] == [False, True]
    assert [Stacks(gpu, 10**9, "on")._compiles(task) for task in (short, long)] == [True, True]
    assert [Stacks(gpu, 10**9, "off")._compiles(task) for task in (short, long)] == [False, False]
    assert not Stacks(CPU, 10**9)._compiles(long)
    many = [replace(short, seed=seed) for seed in range(20_000)]
    assert Stacks(gpu, 10**9, tasks=many)._compiles(short)
    assert not Stacks(gpu, 10**9, tasks=many)._compiles(toy_task(METHODS["ditto"]))


def test_runs_of_other_lengths_rates_and_epochs_share_a_program() -> None:
    tasks = [toy_task(METHODS["superfed"], local_epochs=e, lr=lr, rounds=2) for e, lr in ((1, 0.1), (3, 0.2))]
    assert len({group_key(task) for task in tasks}) == 1
    executor = Batched(CPU)
    for one, other in zip(train(tasks), train(tasks, executor), strict=True):
        assert_same(one, other, ROUNDING)
    assert len(executor.stacks._stacks) == 1


@pytest.mark.parametrize("name", ["mapper", "ditto", "fedrep"])
def test_a_lane_that_is_long_in_one_phase_and_short_in_the_other(name: str) -> None:
    """Of lanes in the order of all their steps, such a one has more of them in one phase than others above it."""
    tasks = [toy_task(METHODS[name], data=toy_data([n] * 3), local_epochs=e) for n, e in ((23, 1), (13, 3))]
    executor = Batched(CPU)
    for one, other in zip(train(tasks), train(tasks, executor), strict=True):
        assert_same(one, other, ROUNDING)
    assert len(executor.stacks._stacks) == 1


def test_a_small_budget_makes_more_stacks_and_changes_nothing() -> None:
    tasks = [toy_task(METHODS["superfed"], seed=seed) for seed in range(4)]
    sizes: list[int] = []

    class Counting(Batched):
        def count(self) -> "Counting":
            original = self.stacks._together

            def counted(key: Any, planned: Planned) -> Any:
                sizes.append(len(planned.lanes))
                return original(key, planned)

            self.stacks._together = counted  # type: ignore[method-assign]
            return self

    tight = Counting(CPU, memory=30_000 / 2**30).count()
    for one, other in zip(train(tasks), train(tasks, tight), strict=True):
        assert_same(one, other, ROUNDING)
    assert 1 <= max(sizes) < 12
    assert sum(sizes) == 4 * 3 * 4
    assert max(sizes) - min(sizes) <= 1


def test_too_little_memory_after_all_halves_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Stack.update
    refused: list[int] = []

    def update(self: Stack, planned: Planned) -> list[Any]:
        if len(planned.lanes) > 2:
            refused.append(len(planned.lanes))
            raise torch.OutOfMemoryError("CUDA out of memory")
        return original(self, planned)

    monkeypatch.setattr(Stack, "update", update)
    tasks = [toy_task(METHODS["superfed"], seed=seed) for seed in range(3)]
    for one, other in zip(train(tasks), train(tasks, Batched(CPU)), strict=True):
        assert_same(one, other, ROUNDING)
    assert refused == [9, 3, 3, 3]  # and from then on two at a time are never exceeded


def test_one_lane_that_does_not_fit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def update(self: Stack, planned: Planned) -> list[Any]:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(Stack, "update", update)
    with pytest.raises(torch.OutOfMemoryError):
        train([toy_task(METHODS["fedavg"])], Batched(CPU))


def test_results_do_not_change_when_a_stack_is_used_again() -> None:
    """Memory is reused; what was handed out before is not."""
    task = toy_task(METHODS["superfed"])
    stacks = Stacks(CPU, 10**9)
    lanes = [Lane(0, task, client, 2, task.init_server(), lambda: None) for client in range(6)]
    first = dict(stacks.update(lanes[:3]))

    def copied(state: State) -> State:
        return {name: t.clone() for name, t in state.items()}

    before = {place: (copied(update.kept), copied(update.upload)) for place, update in first.items()}
    list(stacks.update(lanes))  # more lanes, steps and samples than there was room for
    again = dict(stacks.update(lanes[:3]))
    for place, states in before.items():
        now = ((update.kept, update.upload) for update in (first[place], again[place]))
        for state, mine, theirs in zip(states, *now, strict=True):
            for name, value in state.items():
                assert torch.equal(mine[name], value)
                torch.testing.assert_close(theirs[name], value, rtol=0, atol=ROUNDING)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60), st.integers(1, 10), st.booleans())
def test_segments_cover_every_step(steps: list[int], least: int, in_order: bool) -> None:
    if in_order:
        steps = sorted(steps, reverse=True)
    sizes = sizes_of(len(steps), least)
    found = segments(steps, sizes)
    for lane, needed in enumerate(steps):
        assert sum(part.steps for part in found if part.lanes > lane) >= needed
    assert sum(part.steps for part in found) == max(steps)
    assert [part.lanes for part in found] == sorted({part.lanes for part in found}, reverse=True)
    assert all(part.lanes in sizes for part in found)


def test_segments_shrink_as_lanes_finish() -> None:
    assert segments([9, 9, 4, 2, 0], [1, 2, 3, 5]) == [Segment(5, 2), Segment(3, 2), Segment(2, 5)]
    assert segments([3, 3], [2]) == [Segment(2, 3)]
    assert segments([0, 0], [2]) == []
    assert segments([2, 5, 1], [3]) == [Segment(3, 5)]


def test_sizes_are_halves_as_long_as_that_saves_time() -> None:
    assert sizes_of(200, 1) == [1, 2, 4, 7, 13, 25, 50, 100, 200]
    assert sizes_of(200, 20) == [20, 25, 50, 100, 200]
    assert sizes_of(5, 20) == [5]


def test_small_networks_need_many_lanes_unless_they_go_through_time() -> None:
    assert [fewest_lanes(parameters, False) for parameters in (199_210, 821_024, 5_054_784)] == [20, 4, 1]
    assert fewest_lanes(199_210, True) == 1


ALIKE, UNLIKE = (20, 20, 21, 20, 20, 20), (21, 5, 10, 20, 15, 20)


def test_sizes_are_worth_a_program_where_lanes_would_wait() -> None:
    least, clients = 1, [20] * 40 + [10] * 25 + [5] * 35
    assert Shrinking(clients, 0.0).sizes(10, least) == [5, 10]  # four of ten go on to the end, so there are never fewer
    assert Shrinking(clients, 0.4).sizes(10, least) == [5, 10]
    assert Shrinking(clients, 0.5).sizes(10, least) == [10]
    assert Shrinking([20] * 30, 0.0).sizes(10, least) == [10]
    assert Shrinking([0, 0], 0.5).sizes(2, least) == [2]
    assert Shrinking([7], 0.0).sizes(1, least) == [1]


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=30),
    st.integers(1, 40),
    st.floats(0, 1),
)
def test_sizes_that_are_worth_it_save_what_they_should(steps: list[int], lanes: int, least: float) -> None:
    """With clients drawn as they are on average, each of them saves so much of all steps."""
    shrinking = Shrinking(steps, least)
    sizes = shrinking.sizes(lanes, 1)
    assert set(sizes) <= set(sizes_of(lanes, 1))
    assert sizes[-1] == lanes
    ordered = sorted(steps, reverse=True)
    usual = [ordered[(2 * place + 1) * len(steps) // (2 * lanes)] for place in range(lanes)]

    def computed(some: list[int]) -> int:
        return sum(part.lanes * part.steps for part in segments(usual, some))

    for count in range(1, len(sizes)):
        assert computed(sizes[count:]) - computed(sizes[count - 1 :]) >= least * sum(usual)


def test_programs_for_fewer_lanes_are_for_clients_that_differ_and_for_long_runs() -> None:
    def sizes(clients: tuple[int, ...], rounds: int, times: int = 1) -> list[int]:
        task = toy_task(METHODS["fedavg"], data=toy_data(clients), batch_size=1, rounds=rounds)
        shrinking = Stacks(torch.device("cuda"), 10**9, "on", tasks=[task] * times)._shrinking(task)
        return shrinking.sizes(6, 1)

    assert sizes(ALIKE, 20_000) == [6]  # 3 lanes, 2 epochs of 20 steps: 2.4 million
    assert sizes(UNLIKE, 20_000) == [3, 6]
    assert sizes(UNLIKE, 300_000) == [1, 2, 3, 6]
    assert sizes(UNLIKE, 1000) == [6]
    assert sizes(UNLIKE, 1000, times=20) == [3, 6]


def test_what_a_run_takes_goes_by_all_its_clients() -> None:
    few_first, most_first = (
        toy_task(METHODS["fedavg"], data=toy_data(sizes), rounds=2000) for sizes in ((1, 90, 90), (90, 90, 1))
    )
    gradients = [Stacks(CPU, 10**9, tasks=[task])._gradients_with(task) for task in (few_first, most_first)]
    assert gradients[0] == gradients[1] > 0


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lanes of each program that would be compiled."""
    lanes: list[int] = []

    def as_it_is(program: programs.Program, memory: programs.StackMemory) -> programs.Program:
        lanes.append(memory.capacity[0])
        return program

    monkeypatch.setattr(programs, "_compiled", as_it_is)
    return lanes


@pytest.mark.parametrize(("worth", "programs_made"), [(10**9, 1), (1, 3)])
def test_lanes_that_wait_come_out_as_those_of_a_stack_that_shrinks(
    worth: int, programs_made: int, made: list[int], monkeypatch: pytest.MonkeyPatch, small_is_full: None
) -> None:
    monkeypatch.setattr(batched, "WORTH_COMPILING", worth)
    task = toy_task(METHODS["fedavg"], data=toy_data(UNLIKE), clients_per_round=6, batch_size=1)
    (alone,), (together,) = train([task]), train([task], Batched(CPU, compile="on"))
    assert_same(alone, together, ROUNDING)
    assert len(made) == programs_made, made


def test_what_does_not_shrink_for_clients_does_for_runs_that_have_ended(
    made: list[int], monkeypatch: pytest.MonkeyPatch, small_is_full: None
) -> None:
    monkeypatch.setattr(batched, "WORTH_COMPILING", 10**9)
    tasks = [toy_task(METHODS["fedavg"], rounds=rounds, clients_per_round=4) for rounds in (2, 3)]
    executor = Batched(CPU, compile="on")
    for one, other in zip(train(tasks), train(tasks, executor), strict=True):
        assert_same(one, other, ROUNDING)
    assert made == [8, 4]


def test_parts_are_even() -> None:
    assert [list(part) for part in even_parts(range(10), 4)] == [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9]]
    assert [list(part) for part in even_parts(range(3), 8)] == [[0, 1, 2]]


def test_samples_are_brought_once_and_make_way() -> None:
    task = toy_task(METHODS["fedavg"])
    lanes = [Lane(run, task, client, 0, {}, lambda: None) for run in (0, 1) for client in (3, 2)]
    held = DeviceSamples(CPU, room=10**6)
    xs, ys, starts = held.pool(lanes)
    assert [len(y) for y in ys] == [RAGGED[3], RAGGED[2]]
    assert starts == [0, RAGGED[3], 0, RAGGED[3]]
    assert held.pool(lanes)[0][0] is xs[0]
    tight = DeviceSamples(CPU, room=1)
    for client in range(6):
        assert len(tight.of(task, client)[1]) == RAGGED[client]
        assert len(tight._held) == 1


def test_samples_of_other_data_are_other_samples() -> None:
    one, other = toy_task(METHODS["fedavg"]), toy_task(METHODS["fedavg"], data=toy_data(seed=9))
    held = DeviceSamples(CPU, room=10**6)
    assert not torch.equal(held.of(one, 3)[0], held.of(other, 3)[0])


def test_the_peak_is_of_what_lives_at_the_same_time() -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    def chain(x: torch.Tensor) -> torch.Tensor:
        for _ in range(10):
            x = (x + 1).view(-1)
        return x

    def fan(x: torch.Tensor) -> torch.Tensor:
        return torch.stack([x + i for i in range(10)])

    x = torch.zeros(100)
    assert peak_bytes(make_fx(chain, tracing_mode="fake")(x).graph) == 2 * 400
    assert peak_bytes(make_fx(fan, tracing_mode="fake")(x).graph) >= 10 * 400 + 4000


def test_a_lane_takes_at_least_its_states() -> None:
    task = toy_task(METHODS["superfed"])
    lanes = [Lane(0, task, 3, 0, task.init_server(), lambda: None)]
    stacks = Stacks(CPU, 10**9)
    each = stacks._stack(("any",), task).bytes_per_lane(stacks._plan(lanes))
    assert 10 * task.model.size * 8 < each < 100 * task.model.size * 8


@pytest.mark.parametrize(
    ("precision", "sentence"),
    [
        ("tf32", "precision: tf32 needs a CUDA device, and this is cpu; use float32"),
        ("bf16", "precision: bf16 needs a CUDA device, and this is cpu; use float32"),
        ("float16", "precision: must be float32, tf32 or bf16, not 'float16'"),
    ],
)
def test_a_precision_that_cannot_be_had_is_refused(precision: str, sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        check_engine("cpu", 1, precision)
    assert str(caught.value) == sentence


def test_rows_lie_at_distances_that_suit_a_gpu() -> None:
    rows = new_rows(torch.zeros(2, 74), 5)
    assert rows.shape == (5, 74)
    assert rows.stride() == (96, 1)
    assert new_rows(torch.zeros(2), 5).stride() == (1,)
    assert new_rows(torch.zeros(2, 3, 5), 4).shape == (4, 3, 5)


@pytest.mark.parametrize(("name", "padded"), [("superfed", True), ("fedavg", False)])
def test_what_a_program_makes_itself_is_padded(name: str, padded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what it is given is not: states lie as they should already, and a copy would cost."""
    found: list[bool] = []

    def look(program: torch.fx.GraphModule, memory: programs.StackMemory) -> programs.Program:
        found.append(any("constant_pad_nd" in str(node.target) for node in program.graph.nodes))
        return program

    monkeypatch.setattr(programs, "_compiled", look)
    task = toy_task(METHODS[name])
    (run,) = train([task], Batched(CPU, compile="on"))
    assert_same(train([task])[0], run, ROUNDING)
    assert found == [padded]
