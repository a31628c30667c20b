"""Lanes' vectors at distances that suit a GPU.

A network's parameters are views of rows of a matrix. Where the length of a row is no multiple of 16 bytes, every product
and convolution reads its weights one number at a time instead of four. So rows lie a little further apart: those of the
states by how they are allocated, and those that a program makes itself, such as mixtures, by a change to the program.
"""

import torch
from torch import Tensor, fx

ALIGNED = 32
"""Numbers, of four or two bytes each."""

aten = torch.ops.aten


def new_rows(like: Tensor, count: int) -> Tensor:
    """So many rows of zeros like those of ``like``, each of which begins at a multiple of ``ALIGNED``."""
    if like.dim() != 2:
        return like.new_zeros(count, *like.shape[1:])
    length = like.shape[1]
    return like.new_zeros(count, length + -length % ALIGNED)[:, :length]


def with_aligned_rows(program: fx.GraphModule) -> fx.GraphModule:
    """The same program, whose own matrices are padded before they are cut into parameters; it is changed in place."""
    graph = program.graph
    base = bases(graph)
    for node in list(graph.nodes):
        if node.target is not aten.split_with_sizes.default or base[node].op == "placeholder":
            continue
        source, sizes, *dim = node.args
        rows = source.meta["val"]
        over = -sum(sizes) % ALIGNED
        if rows.dim() != 2 or (dim or [0])[0] % 2 != 1 or over == 0:
            continue
        with graph.inserting_before(node):
            padded = graph.call_function(aten.constant_pad_nd.default, (source, [0, over]))
        node.args = (padded, [*sizes, over], *dim)
    program.recompile()
    return program


def bases(graph: fx.Graph) -> dict[fx.Node, fx.Node]:
    """For each node whose memory its value is: its own, or that of what it is a view, a part or a changed state of."""
    found: dict[fx.Node, fx.Node] = {}
    for node in graph.nodes:
        found[node] = found[node.all_input_nodes[0]] if _shares(node) else node
    return found


def _shares(node: fx.Node) -> bool:
    if node.op != "call_function" or not node.all_input_nodes:
        return False
    if not isinstance(node.target, torch._ops.OpOverload):
        return True  # a part of a tuple
    arguments = node.target._schema.arguments
    return bool(arguments) and arguments[0].alias_info is not None
