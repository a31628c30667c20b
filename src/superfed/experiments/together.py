"""Runs that advance together and fail alone.

The clients of all runs share the executor, so that a sweep is one job. What goes wrong in one run ends that run: it is
marked, keeps its last checkpoint, and the others go on. Where the shared executor fails it is not known whose fault it was;
then each run's part of the round is computed once more, by itself, and the guilty one fails again. The others lose only
time: the same draws give the same numbers.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from superfed.core.errors import UserError
from superfed.engine.evaluate import lambda_grid
from superfed.engine.executors import Executor
from superfed.engine.simulation import advance, evaluate
from superfed.experiments.failures import concerns_all, reason_of
from superfed.experiments.guarded import Broken, Guarded
from superfed.experiments.member import Member, timed
from superfed.experiments.newcomers import meet_newcomers
from superfed.experiments.observer import Observer
from superfed.experiments.pace import Pace
from superfed.experiments.provenance import hardware
from superfed.experiments.results import Results

WRITERS = 8
"""Runs that are written at once: a disk takes many files in hardly more time than one, if it need not wait in between."""


class Together:
    """Takes runs to their ends. ``failed`` says why, for those that came to none; ``error`` is the first one's."""

    def __init__(self, members: Sequence[Member], executor: Executor, observer: Observer) -> None:
        self.failed: dict[str, str] = {}
        self.error: Exception | None = None
        self._members, self._executor, self._observer = members, Guarded(executor), observer
        self._places = {id(member): place for place, member in enumerate(members)}
        self._pace = Pace()

    def train(self) -> None:
        """All rounds of all runs, and the evaluation of those that have no results yet. Whoever interrupts it loses no
        more than the round under way."""
        try:
            self._train()
        except KeyboardInterrupt:
            self._save_what_is_whole()
            raise

    def _train(self) -> None:
        there = hardware(self._executor.device)
        self._each([m for m in self._members if not m.has_results], lambda member: member.take_up(there))
        self._follow([m for m in self._going if not m.has_results])  # in the beginning, and what someone interrupted
        while active := [m for m in self._going if not (m.run.finished or m.has_results)]:
            self._round(active)
            for member in active:
                member.notes = self._executor.notes()
        self.evaluate([m for m in self._going if not m.has_results])

    def evaluate(self, members: Sequence[Member], lambdas: int | None = None) -> None:
        """All clients at every λ; a run's results are on disk before the next one's begin."""
        self._observer.evaluating(sum(len(m.final_clients()) + len(m.run.task.newcomer_clients) for m in members))
        for member in members:
            with self._alone(member):
                self._evaluate(member, lambdas or member.config.evaluation.lambdas)
            if not self._has_failed(member):
                self._observer.run_done(self._places[id(member)])

    def _has_failed(self, member: Member) -> bool:
        return member.title in self.failed

    @property
    def _going(self) -> list[Member]:
        return [member for member in self._members if not self._has_failed(member)]

    def _round(self, active: Sequence[Member]) -> None:
        with timed("training", active):
            self._advance(active)
        going = [member for member in active if not self._has_failed(member)]
        self._follow(going)
        due = [m for m in going if m.checkpoint_is_due(self._pace) and not self._has_failed(m)]
        if due:
            with timed("checkpoints", due), self._pace.writing():
                self._each(due, Member.save)
        for member in due:
            if not self._has_failed(member):
                self._observer.saved(self._places[id(member)])

    def _advance(self, active: Sequence[Member]) -> None:
        left = dict(enumerate(active))

        def lane_done(index: int) -> None:
            self._observer.lane_done(self._places[id(active[index])])

        def failed(index: int, error: Exception) -> None:
            self._fail(left.pop(index), error)

        broken = None
        try:
            for index in advance([member.run for member in active], self._executor, lane_done, failed):
                del left[index]
                self._observer.round_done(self._places[id(active[index])])
        except Broken as error:
            broken = error
        if broken is not None:
            self._apart(list(left.values()), broken, lambda member: self._advance([member]))

    def _follow(self, members: Sequence[Member]) -> None:
        """Add to the accuracy curves of those that are due."""
        due = [member for member in members if member.curve_is_due]
        with timed("evaluation", due):
            for points in sorted({member.config.evaluation.lambdas for member in due}):
                self._add_to_curves([m for m in due if m.config.evaluation.lambdas == points], points)

    def _add_to_curves(self, members: Sequence[Member], points: int) -> None:
        runs = [member.run for member in members]
        clients = [member.run.followed(member.config.evaluation.clients) for member in members]
        every, broken = [], None
        try:
            every = evaluate(runs, clients, self._executor, lambda_grid(points), brief=True)
        except Exception as error:
            broken = error if isinstance(error, Broken) else Broken(error)
        if broken is not None:
            self._apart(members, broken, lambda member: self._add_to_curves([member], points))
            return
        for member, scores in zip(members, every, strict=True):
            with self._alone(member):
                member.run.add_to_curve(scores)
            if not self._has_failed(member):
                self._observer.followed(self._places[id(member)], scores)

    def _evaluate(self, member: Member, points: int) -> None:
        run, clients, grid = member.run, member.final_clients(), lambda_grid(points)
        newcomers = None

        def one_more(_: int) -> None:
            self._observer.client_evaluated()

        with timed("final evaluation", [member]):
            (scores,) = evaluate([run], [clients], self._executor, grid, one_more)
            if run.task.newcomer_clients:
                epochs = member.config.evaluation.newcomer_epochs
                newcomers = meet_newcomers(run, self._executor, grid, epochs, one_more)
        member.save_results(Results(clients, scores), newcomers)

    def _apart(self, members: Sequence[Member], broken: Broken, retry: Callable[[Member], None]) -> None:
        """Do for each by itself what could not be done for all together; the only one there is must be the guilty one."""
        if len(members) == 1:
            self._fail(members[0], broken.error)
            return
        before = len(self.failed)
        for member in members:
            retry(member)
        if len(self.failed) == before:
            warnings.warn(
                f"{len(members)} runs could not be computed together, only one by one ({reason_of(broken.error)})",
                stacklevel=2,
            )

    def _save_what_is_whole(self) -> None:
        """Several at once; one that cannot be saved has its last checkpoint."""
        pool = ThreadPoolExecutor(WRITERS)
        try:
            for written in [pool.submit(member.save_if_whole) for member in self._going]:
                with contextlib.suppress(UserError, OSError):
                    written.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _each(self, members: Sequence[Member], write: Callable[[Member], None]) -> None:
        """Write something for every run, several at once; a run that cannot be written fails."""
        if len(members) == 1:
            with self._alone(members[0]):
                write(members[0])
            return
        pool = ThreadPoolExecutor(WRITERS)
        try:
            for member, written in [(member, pool.submit(write, member)) for member in members]:
                with self._alone(member):
                    written.result()
        finally:
            pool.shutdown(cancel_futures=True)  # whoever stops us need not wait for those that have not begun

    @contextlib.contextmanager
    def _alone(self, member: Member) -> Iterator[None]:
        """What fails inside fails this run."""
        try:
            yield
        except Broken as broken:
            self._fail(member, broken.error)
        except Exception as error:
            self._fail(member, error)

    def _fail(self, member: Member, error: Exception) -> None:
        if concerns_all(error):
            raise error
        reason = reason_of(error)
        self.failed[member.title] = reason
        self.error = self.error or error
        with contextlib.suppress(UserError, OSError):  # where the folder is what failed, the run just looks unfinished
            member.save_failure(reason, error)
        self._observer.run_failed(self._places[id(member)], reason)
