"""A site's answers. The local model is read, trained and written here, and no reply has a place for it."""

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from superfed.core.errors import UserError
from superfed.core.log import LOG
from superfed.core.state import State, is_finite, moved
from superfed.deploy.flower.agreement import Agreement
from superfed.deploy.flower.assemble import task_around
from superfed.deploy.flower.site.data import site_data
from superfed.deploy.flower.site.spending import Spending
from superfed.deploy.flower.site.state import NEVER, SiteState
from superfed.deploy.flower.wire.arrays import pack, unpack
from superfed.deploy.flower.wire.expected import sent_template, server_template
from superfed.deploy.flower.wire.letters import Letter, Order, Reply, read, written
from superfed.deploy.flower.wire.npy import Arrays
from superfed.deploy.flower.wire.refusal import Refusal
from superfed.engine.evaluate import evaluate_client, lambda_grid
from superfed.engine.local import CPU, local_update
from superfed.engine.task import Task
from superfed.experiments.results import Results
from superfed.metrics.privacy_spent import check_accountant

UNTOLD = "its data or its setting cannot be used (its own log says why)"
Outgoing = Callable[[State, State, int], State]
"""What is done to an upload before it leaves; it is also given what the server sent, and the round."""


def as_it_is(upload: State, sent: State, round: int) -> State:
    return upload


@dataclass
class Site:
    """One site, by the name that the federation knows it by; ``folder`` is where its states are kept."""

    name: str
    folder: Path
    data: Path | None = None
    """Its own samples; without it, its share of the run's dataset."""
    data_root: Path | None = None
    device: torch.device = CPU
    begin_again: bool = False
    """Whether a lost personal state is replaced by a first one, and not reported."""
    outgoing: Outgoing = as_it_is
    _task: tuple[str, Task] | None = field(default=None, repr=False)

    def answer(self, letter: Letter, remembered: int | None = None) -> Letter:
        """The reply to an order; ``remembered`` is the round after which this site last kept a state, as others recall.

        Whatever goes wrong is one sentence in the reply, without weights and samples: what is wrong with the order or with
        the state is said, and anything else, which may name files and what is in them, stays in the site's own log.
        """
        try:
            order = read(Order, letter.facts)
        except Refusal as problem:
            return written(Reply("0" * 32, NEVER, "", self.name, problem=f"its order cannot be used: {problem}"))
        try:
            return self._answer(order, letter.arrays, remembered)
        except Refusal as problem:
            return self._problem(order, str(problem))
        except UserError as problem:
            LOG.error(f"round {order.round + 1}: {problem}")
            return self._problem(order, UNTOLD)
        except Exception as error:  # the server is told what kind it was; the message might hold anything
            where = "".join(traceback.format_tb(error.__traceback__))
            LOG.error(f"round {order.round + 1}: {type(error).__name__} at\n{where}")
            return self._problem(order, f"its program failed ({type(error).__name__}; its own log says where)")

    def _answer(self, order: Order, arrays: Arrays, remembered: int | None) -> Letter:
        agreement = Agreement.from_json(order.agreement)
        if agreement.run != order.run:
            raise Refusal("its order and the agreement in it are of different runs")
        if order.kind == "serve":
            raise Refusal("it takes part, and is no newcomer")
        client = agreement.number(self.name)
        if order.kind == "meet":
            return self._met(order, agreement, client)
        task, states = self._task_of(agreement, client), SiteState(self.folder, order.run)
        with states.held(order.patience):
            kept = self._kept(states, order, remembered)
            if kept is None:
                kept = task.init_client(client)
            if order.kind == "train":
                return self._trained(order, task, client, kept, arrays, states)
            if order.kind == "evaluate":
                if task.privacy is not None:
                    Spending(states.folder, task.privacy).add_up()
                points = agreement.config.evaluation.lambdas
                return self._evaluated(order, task, client, kept, arrays, points)
        raise Refusal(f"it is asked to '{order.kind[:20]}', which it cannot")

    def _met(self, order: Order, agreement: Agreement, client: int) -> Letter:
        data = site_data(agreement, client, self.data, self.data_root)
        facts = {"classes": data.num_classes, "shape": list(data.input_shape)}
        return self._reply(order, data.train_size(client), facts)

    def _trained(self, order: Order, task: Task, client: int, kept: State, arrays: Arrays, states: SiteState) -> Letter:
        if not 0 <= order.round < task.schedule.rounds:
            raise Refusal(f"it is asked for round {order.round + 1} of {task.schedule.rounds}")
        sent = unpack(arrays, sent_template(task))
        update = local_update(
            task, client, order.round, moved(kept, self.device), moved(sent, self.device), self.device
        )
        if not is_finite(update.kept, update.upload):
            return written(Reply(order.run, order.round, order.ticket, self.name, diverged=1))
        states.save(order.round, update.kept)
        states.forget(order.taken, order.round)
        upload = self.outgoing(update.upload, sent, order.round)
        if task.privacy is not None:
            Spending(states.folder, task.privacy).one_more()
            drawn = np.random.default_rng()  # by the system's entropy: nobody can draw it again
            upload = task.privacy.leaving(upload, moved(sent, self.device), task.algorithm.sends_changes, drawn)
        return self._reply(order, task.data.train_size(client), {}, pack(upload))

    def _evaluated(self, order: Order, task: Task, client: int, kept: State, arrays: Arrays, points: int) -> Letter:
        server = unpack(arrays, server_template(task))
        lambdas, epochs = lambda_grid(points), task.final_epochs
        scores = evaluate_client(
            task, client, moved(kept, self.device), moved(server, self.device), lambdas, epochs, self.device
        )
        results = Results([client], [scores])
        facts = {
            "lam": _known(results.chosen_lambda(client)),
            "accuracy": _known(results.accuracy(client)),
            "validation": scores.num_validation,
            "test": scores.num_test,
            "by_lambda": [
                (_known(lam), _known(float(top1)))
                for lam, top1 in zip(scores.lambdas, scores.test["top1"], strict=True)
            ],
        }
        return self._reply(order, task.data.train_size(client), facts)

    def _kept(self, states: SiteState, order: Order, remembered: int | None) -> State | None:
        try:
            if remembered is not None and not states.rounds():
                raise Refusal("its personal state is lost (there is none on its disk, and there was one)")
            return states.after(order.taken)
        except Refusal as problem:
            if not self.begin_again:
                raise Refusal(f"{problem}; put it back, or start the site with --begin-again") from None
            LOG.warning(f"{problem}; begins again with a first one, as told")
            return None

    def _task_of(self, agreement: Agreement, client: int) -> Task:
        """Made once: a site's process may live for many rounds."""
        key = agreement.to_json()
        if self._task is None or self._task[0] != key:
            data = site_data(agreement, client, self.data, self.data_root)
            task = replace(task_around(data, agreement.config), privacy=agreement.config.privacy)
            if task.privacy is not None:
                check_accountant()
            if (task.data.num_classes, tuple(data.input_shape)) != (agreement.num_classes, agreement.input_shape):
                raise Refusal("its samples are not of the shape and classes that the sites agreed on")
            self._task = key, task
        return self._task[1]

    def _reply(self, order: Order, samples: int, numbers: Mapping[str, Any], arrays: Arrays | None = None) -> Letter:
        told = json.dumps(dict(numbers), allow_nan=False)
        return written(Reply(order.run, order.round, order.ticket, self.name, samples, numbers=told), arrays)

    def _problem(self, order: Order, problem: str) -> Letter:
        return written(Reply(order.run, order.round, order.ticket, self.name, problem=problem))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
