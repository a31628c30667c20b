"""The weights alone, under the network's own names, and the card in the header."""

import copy
import json
import struct
from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from superfed.core.errors import SettingError, UserError
from superfed.core.norm import with_exact_norms
from superfed.core.random import torch_seeded
from superfed.core.vector import ModelSource
from superfed.experiments.strict import build
from superfed.export.card import Card
from superfed.export.network import Network, no_code, of_module
from superfed.models import MODELS

LONGEST_HEADER = 100_000_000
"""The format's own limit, in bytes."""


def write(module: nn.Module, card: Card, inputs: Tensor) -> bytes:
    """Tied weights are written under each of their names, so that a plain ``load_state_dict`` finds all it wants."""
    state = {name: value.detach().cpu().clone().contiguous() for name, value in module.state_dict().items()}
    return safetensors.torch.save(state, metadata=card.texts())


def texts(content: bytes, path: Path) -> dict[str, str]:
    """The header's metadata."""
    try:
        (length,) = struct.unpack("<Q", content[:8])
        if length > LONGEST_HEADER:
            raise damaged(path)
        header = json.loads(content[8 : 8 + length])
        found = header.get("__metadata__", {})
        return {str(name): str(value) for name, value in found.items()}
    except (struct.error, ValueError, AttributeError) as error:
        raise damaged(path) from error


def read(content: bytes, card: Card, path: Path, *, trust: bool, model: ModelSource | None) -> Network:
    """The network, built from what the card says or by ``model``, with the file's weights."""
    try:
        state = safetensors.torch.load(content)
    except (SafetensorError, ValueError) as error:
        raise damaged(path) from error
    module = _built(card, path, trust) if model is None else _given(model)
    if any(value.dtype == torch.float64 for value in state.values()):
        module = module.double()
    try:
        module.load_state_dict(state)
    except RuntimeError as error:
        raise UserError(f"{path}: its weights do not fit the network it is said to be ({_first(error)})") from error
    return of_module(with_exact_norms(module).eval())  # as it was evaluated in the run


def damaged(path: Path) -> UserError:
    return UserError(f"{path}: is no safetensors file or a damaged one; export it again")


def _built(card: Card, path: Path, trust: bool) -> nn.Module:
    if card.model is None:
        raise UserError(
            f"{path}: does not say how its network is built, which came from Python; give it by "
            "superfed.load_model(file, model=…), or export as onnx"
        )
    name = card.model.get("name")
    settings = {key: value for key, value in card.model.items() if key != "name"}
    if isinstance(name, str) and ":" in name and not trust:
        raise no_code(path, f"its network is built by {name}, which would be imported and run")
    try:
        if not isinstance(name, str) or name not in MODELS:
            raise UserError(f"its network, {name!r}, is none of {', '.join(MODELS)}; register it first, in Python")
        with torch_seeded(0):
            return build(MODELS[name], settings).build(card.preprocessing.input_shape, card.num_classes)
    except SettingError as error:
        raise UserError(f"{path}: its network, {name}, cannot be built here ({error.problem})") from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    except (RuntimeError, ValueError, TypeError, ArithmeticError, MemoryError) as error:  # sizes beyond all measure
        raise UserError(f"{path}: its network, {name}, cannot be built here ({_first(error)})") from error


def _given(model: ModelSource) -> nn.Module:
    return copy.deepcopy(model) if isinstance(model, nn.Module) else model()


def _first(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
