"""A newcomer: it is handed a finished run's model, and what it makes of it on its own samples stays with it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from superfed.core.errors import UserError
from superfed.deploy.flower.agreement import Agreement
from superfed.deploy.flower.assemble import task_around
from superfed.deploy.flower.server.announced import Announced
from superfed.deploy.flower.wire.arrays import unpack
from superfed.deploy.flower.wire.expected import server_template
from superfed.deploy.flower.wire.letters import Letter, Order, Reply, read, written
from superfed.deploy.flower.wire.refusal import Refusal
from superfed.experiments.onboard import Onboarded, onboard_with


@dataclass
class Newcomer:
    """Answers one order, that to be served; nothing but a word of thanks goes back."""

    name: str
    data: Path
    epochs: int
    done: Callable[[Onboarded | UserError], None]

    def answer(self, letter: Letter, remembered: int | None = None) -> Letter:
        order = read(Order, letter.facts)
        if order.kind != "serve":
            return self._reply(order, "it is a newcomer, and takes part in no round")
        try:
            self.done(self._onboarded(order, letter))
        except Exception as error:  # whoever waits must hear of it, whatever it is
            known = isinstance(error, UserError)
            self.done(
                error if isinstance(error, UserError) else UserError(f"the program failed ({type(error).__name__})")
            )
            return self._reply(order, "it could not use the model" if known else "its program failed")
        return self._reply(order)

    def _onboarded(self, order: Order, letter: Letter) -> Onboarded:
        agreement = Agreement.from_json(order.agreement)
        if agreement.num_classes is None or agreement.input_shape is None:
            raise Refusal("the server does not say what its model is for")
        nobody = Announced((1,) * len(agreement.sites), agreement.num_classes, agreement.input_shape)
        task = task_around(nobody, agreement.config)
        server = unpack(letter.arrays, server_template(task))
        return onboard_with(task, server, self.data, self.epochs, agreement.config.evaluation.lambdas)

    def _reply(self, order: Order, problem: str = "") -> Letter:
        return written(Reply(order.run, order.round, order.ticket, self.name, problem=problem))
