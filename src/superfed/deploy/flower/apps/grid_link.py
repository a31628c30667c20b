"""Flower's Grid as what carries letters."""

from collections.abc import Collection, Mapping

from flwr.app import Message, MessageType
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid

from superfed.deploy.flower.server.link import Arrival, Node
from superfed.deploy.flower.wire.letters import Letter
from superfed.deploy.flower.wire.records import from_records, to_records
from superfed.deploy.flower.wire.refusal import Refusal

TYPES = {"train": MessageType.TRAIN, "evaluate": MessageType.EVALUATE}
"""Flower's name for a kind of order; all others are queries."""


class GridLink:
    """Its own small loop looks for replies far more often than Flower's, which rests for three seconds."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def nodes(self) -> Mapping[int, Node]:
        return {
            info.node_id: Node(info.public_key.decode(errors="replace").strip(), info.last_activated_at)
            for info in self._grid.get_nodes()
        }

    def send(self, letters: Mapping[int, Letter], patience: float) -> dict[int, str]:
        """An order that is not fetched within twice its patience is no longer worth fetching."""
        messages = [
            Message(
                to_records(letter),
                node,
                TYPES.get(str(letter.facts["kind"]), MessageType.QUERY),
                ttl=2 * patience,
                group_id=str(letter.facts["round"]),
            )
            for node, letter in letters.items()
        ]
        ids = list(self._grid.push_messages(messages))
        return {node: id for node, id in zip(letters, ids, strict=False) if id}

    def pull(self, ids: Collection[str]) -> list[Arrival]:
        return [_arrival(message) for message in self._grid.pull_messages(list(ids))]


def _arrival(message: Message) -> Arrival:
    id = message.metadata.reply_to_message_id
    if message.has_error():
        gone = message.error.code == ErrorCode.NODE_UNAVAILABLE
        reason = "its node is away" if gone else f"its node gave no answer (Flower's error {message.error.code})"
        return Arrival(id, None, reason, gone)
    try:
        return Arrival(id, from_records(message.content))
    except Refusal as reason:
        return Arrival(id, None, str(reason))
