"""A task: some runs taken to their ends on whatever machine Ray chose."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from superfed.deploy.ray.board import Event
from superfed.deploy.ray.luggage import Luggage, unpack_luggage
from superfed.deploy.ray.need import Need, executor_for
from superfed.deploy.ray.parcels import Item, Parcel
from superfed.deploy.ray.shipping import Shipped, arrived
from superfed.deploy.ray.stores.kinds import Save, Store
from superfed.deploy.ray.telling import Recalled, Telling
from superfed.experiments.assemble import Assembler
from superfed.experiments.failures import reason_of
from superfed.experiments.member import Member
from superfed.experiments.observer import Observer, Passing
from superfed.experiments.together import Together

Ends = dict[int, str | None]
"""For each run that came to an end, why it failed; None, if it did not."""


def compute(parcel: Parcel, need: Need, store: Store, board: Any, luggage: Luggage, *shipped: Shipped) -> Ends | None:
    """How the runs ended; None if the task was recalled."""
    import ray

    def tell(events: list[Event]) -> bool:
        go_on: bool = ray.get(board.tell.remote(parcel.number, parcel.attempt, events), timeout=10)
        return go_on

    here = ray.get_runtime_context().get_node_id()
    try:
        with Telling(tell) as telling, ExitStack() as stack:
            telling.note("taken", parcel.number, here)
            telling.heed()
            unpack_luggage(luggage)
            saves = {item: stack.enter_context(store.taken(item.folder)) for item in parcel.items}
            members, ends = _opened(saves, Assembler(None, arrived(shipped)))
            for place, reason in ends.items():
                telling.note("failed", place, reason)
            telling.places = [item.place for item in members]
            kept = Storing(telling, [saves[item][1] for item in members])
            return ends | (_train(list(members.values()), need, kept, telling.places) if members else {})
    except Recalled:
        return None


def _opened(places: Mapping[Item, tuple[Path, Save]], assembler: Assembler) -> tuple[dict[Item, Member], Ends]:
    """The runs, each restored in its folder; and why, for those that cannot be."""
    members: dict[Item, Member] = {}
    ends: Ends = {}
    for item, (folder, _) in places.items():
        try:
            members[item] = Member(item.order(folder, assembler))
        except Exception as error:  # whatever a user's own network may raise
            ends[item.place] = reason_of(error)
    return members, ends


class Storing(Passing):
    """An observer that has a run stored whenever it has something to keep, before anyone is told."""

    def __init__(self, observer: Observer, saves: Sequence[Save]) -> None:
        super().__init__(observer)
        self._saves = saves

    def saved(self, run: int) -> None:
        self._saves[run]()
        super().saved(run)

    def run_done(self, run: int) -> None:
        self._saves[run]()
        super().run_done(run)

    def run_failed(self, run: int, reason: str) -> None:
        self._saves[run]()
        super().run_failed(run, reason)


def _train(members: Sequence[Member], need: Need, observer: Observer, places: Sequence[int]) -> Ends:
    observer.started([member.title for member in members], [member.run for member in members])
    tasks, engine = [member.run.task for member in members], members[0].config.engine
    with closing(executor_for(tasks, engine, need, observer.compiling)) as executor:
        together = Together(members, executor, observer)
        together.train()
    return {place: together.failed.get(member.title) for place, member in zip(places, members, strict=True)}
