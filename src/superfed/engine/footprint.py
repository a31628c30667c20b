"""How much memory a lane takes while it trains, found from its program without running it."""

from collections.abc import Iterable

from torch import Tensor, fx
from torch.utils._pytree import tree_leaves

from superfed.engine.aligned_rows import bases
from superfed.engine.program import StackMemory, Step, traced


def lane_bytes(step: Step, memory: StackMemory) -> int:
    """For ``memory`` of one lane: what a step needs beside it, and the lane's own states, which are held twice."""
    program = traced(step, memory)
    own = sum(_size(t) for t in tree_leaves((memory.work, memory.sent, memory.pool_x, memory.pool_y)))
    return 2 * own + peak_bytes(program.graph)


def peak_bytes(graph: fx.Graph) -> int:
    """The most that intermediate tensors hold at a time, if each goes after its last use. Views hold nothing of their own."""
    base = bases(graph)
    last: dict[fx.Node, int] = {}
    size: dict[fx.Node, int] = {}
    nodes = list(graph.nodes)
    for place, node in enumerate(nodes):
        for used in (node, *node.all_input_nodes):
            last[base[used]] = place
        size[node] = _own_bytes(node, base)
    ending: dict[int, list[fx.Node]] = {}
    for node, place in last.items():
        ending.setdefault(place, []).append(node)
    held = peak = 0
    for place, node in enumerate(nodes):
        held += size[node]
        peak = max(peak, held)
        held -= sum(size[gone] for gone in ending.get(place, ()))
    return peak


def _own_bytes(node: fx.Node, base: dict[fx.Node, fx.Node]) -> int:
    if node.op != "call_function" or base[node] is not node:
        return 0
    return sum(_size(t) for t in _tensors(node.meta.get("val")))


def _tensors(value: object) -> Iterable[Tensor]:
    return (leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor))


def _size(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()
