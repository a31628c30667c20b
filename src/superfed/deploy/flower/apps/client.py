"""The ClientApp: a message in, the site's answer out. Flower may start a new process for each."""

import traceback

from flwr.app import ConfigRecord, Context, Message, MessageType
from flwr.clientapp import ClientApp

from superfed.core.errors import UserError
from superfed.core.log import LOG
from superfed.deploy.flower.apps.answering import answer
from superfed.deploy.flower.apps.logs import say_what_happens
from superfed.deploy.flower.wire.letters import Letter, refusing
from superfed.deploy.flower.wire.records import from_records, to_records

app = ClientApp()
MEMORY = "superfed"


@app.train()
@app.evaluate()
@app.query()
def reply(message: Message, context: Context) -> Message:
    say_what_happens()
    letter = _letter(message, context)
    if message.metadata.message_type == MessageType.TRAIN and not (letter.facts["problem"] or letter.facts["diverged"]):
        context.state[MEMORY] = ConfigRecord({"run": letter.facts["run"], "round": letter.facts["round"]})
    return Message(to_records(letter), reply_to=message)


def _letter(message: Message, context: Context) -> Letter:
    """Flower would send an error's own words to the server, and they might hold anything; so none gets that far."""
    order = Letter({})
    try:
        order = from_records(message.content)
        return answer(order, dict(context.node_config), dict(context.run_config), _remembered(order, context))
    except UserError as problem:
        LOG.error(str(problem))
        return refusing(order, "its node cannot answer (its own log says why)")
    except Exception as error:
        LOG.error(f"{type(error).__name__} at\n{''.join(traceback.format_tb(error.__traceback__))}")
        return refusing(order, f"its node failed ({type(error).__name__}; its own log says where)")


def _remembered(order: Letter, context: Context) -> int | None:
    """After which round this node last kept a state in this run, as long as the node itself has lived."""
    memory = context.state.get(MEMORY)
    if not isinstance(memory, ConfigRecord) or memory.get("run") != order.facts.get("run"):
        return None
    kept = memory.get("round")
    return kept if isinstance(kept, int) else None
