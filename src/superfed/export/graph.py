"""A network as a graph that takes any number of samples; what ONNX and torch.export have in common."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram

from superfed.core.errors import UserError
from superfed.export.graph_norm import with_graph_norms


def graph_of(module: nn.Module, inputs: Tensor) -> ExportedProgram:
    """The graph of ``module``, found by following it once on ``inputs``; nothing of these is kept in it."""
    any_number = ({0: Dim("batch", min=1)},)
    with quiet(), cannot_be_a_graph():
        ready = with_graph_norms(module.eval(), inputs[:1]).eval()
        program = torch.export.export(ready, (inputs,), dynamic_shapes=any_number, strict=False)
        program.example_inputs = None  # they would be pickled into the file, and they are somebody's
        return program


@contextmanager
def cannot_be_a_graph() -> Iterator[None]:
    """Whatever goes wrong inside is the network's doing, and is said in a sentence."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # a network may do anything at all
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = lines[0] if lines else type(error).__name__
        raise UserError(
            f"model: it cannot be turned into a graph for any number of samples ({reason}); safetensors can hold it"
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Without what torch has to say to its own developers."""
    logger = logging.getLogger("torch")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
