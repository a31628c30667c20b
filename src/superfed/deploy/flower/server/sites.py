"""Which node is which site. A node is known by its key, or where there are none by the name it gives."""

from collections.abc import Sequence
from secrets import token_hex

from superfed.core.log import event
from superfed.deploy.flower.agreement import Agreement
from superfed.deploy.flower.server.link import Node
from superfed.deploy.flower.server.rules import Rules
from superfed.deploy.flower.wire.letters import Letter, Order, Reply, read, written
from superfed.deploy.flower.wire.numbers import read_holdings
from superfed.deploy.flower.wire.refusal import Refusal


class Sites:
    """Who has been met, what each holds, and through which node it is reached now."""

    def __init__(self, agreement: Agreement, rules: Rules, keys: Sequence[str]) -> None:
        self._agreement, self._rules = agreement, rules
        self._by_key = {key: client for client, key in enumerate(keys)}
        self.sizes: dict[int, int] = {}
        self.classes: dict[int, int] = {}
        self.shapes: dict[int, tuple[int, ...]] = {}
        self.problems: dict[str, str] = {}
        """Why those who could not be met could not, by name."""
        self._known: dict[int, int] = {}
        self._asked: dict[int, str] = {}
        self._present: dict[int, int] = {}
        self._refused: dict[int, str] = {}
        self._gone: dict[int, str] = {}

    @property
    def present(self) -> dict[int, int]:
        """The node of each site that is there and was met."""
        return dict(self._present)

    def missing(self) -> list[str]:
        return [name for client, name in enumerate(self._agreement.sites) if client not in self.sizes]

    def look(self, nodes: dict[int, Node]) -> dict[int, Letter]:
        """See who is there; the letters to those who are yet to be met."""
        letters = {}
        for id, node in nodes.items():
            if id in self._known or self._refused.get(id) == node.since:
                continue
            if self._by_key and node.key not in self._by_key:
                self._refuse(id, node, "its key is of no site of this run")
                continue
            if self._asked.get(id) != node.since:
                self._asked[id] = node.since
                letters[id] = written(self._order())
        self._present = {
            client: id for id, client in self._known.items() if id in nodes and self._gone.get(id) != nodes[id].since
        }
        return letters

    def gone(self, id: int, node: Node) -> None:
        """A node that cannot be reached is away until it comes anew, though it be listed still."""
        self._gone[id] = node.since
        self._present = {client: one for client, one in self._present.items() if one != id}

    def met(self, id: int, node: Node, letter: Letter) -> None:
        """Take in what a node says of itself."""
        try:
            client, reply = self._checked(node, letter)
            holdings = read_holdings(reply.numbers)
        except Refusal as problem:
            self._refuse(id, node, str(problem))
            return
        self.sizes[client], self._known[id] = reply.samples, client
        self.classes[client], self.shapes[client] = holdings.classes, holdings.shape
        self._present[client] = id
        self.problems.pop(self._agreement.sites[client], None)
        event("met", f"{self._agreement.sites[client]} is there, with {reply.samples} samples to train on")

    def _order(self) -> Order:
        agreement = self._agreement
        return Order("meet", agreement.run, 0, token_hex(16), -1, self._rules.deadline, agreement.to_json())

    def _checked(self, node: Node, letter: Letter) -> tuple[int, Reply]:
        reply = read(Reply, letter.facts)
        if reply.problem:
            self.problems[reply.site[:40]] = reply.problem[:500]
            raise Refusal(reply.problem[:500])
        if reply.run != self._agreement.run:
            raise Refusal("it answers for another run")
        if reply.site not in self._agreement.sites:
            raise Refusal(f"it says it is '{reply.site[:40]}', who has no part in this run")
        client = self._agreement.number(reply.site)
        if self._by_key and self._by_key[node.key] != client:
            raise Refusal(f"it says it is '{reply.site}', and its key is another site's")
        self._rules.limits.check_samples(reply.samples)
        known = self.sizes.get(client)
        if known is not None and known != reply.samples:
            self.problems[reply.site] = f"has {reply.samples} samples to train on now, and began this run with {known}"
            raise Refusal(self.problems[reply.site])
        return client, reply

    def _refuse(self, id: int, node: Node, reason: str) -> None:
        self._refused[id] = node.since
        event("refused", f"node {id} is refused: {reason}", node=id, reason=reason)
