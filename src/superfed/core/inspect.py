"""What a module must be like to be seen as a vector, and what is said of one that is not."""

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.parameter import UninitializedParameter

from superfed.core.errors import SettingError, UserError
from superfed.core.norm import WEIGHTS, BatchNorm


def check_module(module: nn.Module, *, rebuildable: bool) -> None:
    """Refuse, with a sentence, modules whose state is more than one vector of parameters."""
    for name, part in module.named_modules():
        if any(isinstance(p, UninitializedParameter) for p in part.parameters(recurse=False)):
            raise UserError(
                f"model: {_called(name, part)} is not initialised yet; run one forward pass before giving it"
            )
        if isinstance(part, _NormBase) and part.track_running_stats:
            raise UserError(
                f"model: {_called(name, part)} keeps running statistics, which can be neither averaged nor mixed; "
                "build it with track_running_stats=False, or use nn.GroupNorm"
            )
        for buffer, _ in part.named_buffers(recurse=False):
            if isinstance(part, BatchNorm) and buffer == WEIGHTS:
                continue
            raise UserError(
                f"model: {_called(name, part)} has a buffer '{buffer}', which is no parameter and would not be trained "
                "or exchanged; make it an nn.Parameter with requires_grad=False, or a constant computed in forward()"
            )
    trainable = [p for p in module.parameters() if p.requires_grad]
    if not trainable:
        raise UserError("model: it has no parameter to train")
    dtypes = {p.dtype for p in trainable}
    if len(dtypes) > 1 or not dtypes <= {torch.float32, torch.float64}:
        found = ", ".join(sorted(str(d).removeprefix("torch.") for d in dtypes))
        raise UserError(f"model: its parameters are {found}; all must be float32, or all float64")
    if not rebuildable:
        _check_resettable(module)


def _check_resettable(module: nn.Module) -> None:
    for name, part in module.named_modules():
        owns = any(p.requires_grad for p in part.parameters(recurse=False))
        if owns and not callable(getattr(part, "reset_parameters", None)):
            raise UserError(
                f"model: {_called(name, part)} has no reset_parameters(), so it cannot be initialised afresh; "
                "give a function that builds the model, for instance model=lambda: MyModel()"
            )


def reset(module: nn.Module) -> None:
    """Initialise every layer afresh, in order, from torch's random state; frozen parameters keep their values."""
    with torch.no_grad():
        frozen = [(p, p.clone()) for p in module.parameters() if not p.requires_grad]
        for part in module.modules():
            initialise = getattr(part, "reset_parameters", None)
            if callable(initialise):
                initialise()
        for parameter, value in frozen:
            parameter.copy_(value)


def draws_randomly(module: nn.Module) -> bool:
    """Whether a training pass draws random numbers itself, as dropout does."""
    return any(
        (isinstance(part, _DropoutNd) and part.p > 0)
        or (isinstance(part, nn.RNNBase | nn.MultiheadAttention) and part.dropout > 0)
        or isinstance(part, nn.RReLU)
        for part in module.modules()
    )


def uses_batch_statistics(module: nn.Module) -> bool:
    """Whether a sample's output depends on the others in its batch, so that padding would change it."""
    return any(isinstance(part, _BatchNorm) for part in module.modules())


def goes_through_time(module: nn.Module) -> bool:
    """Whether it has cells that take one step after another; those of our own say so themselves."""
    return any(
        isinstance(part, nn.RNNBase | nn.RNNCellBase) or getattr(part, "goes_through_time", False)
        for part in module.modules()
    )


NO_HEAD, ALL_HEAD = "(none)", "(all)"


def head_start(module: nn.Module, layers: list[str], head: str | None) -> int:
    """The index of the layer at which the head begins.

    It is the layer or block named ``head``, or the one the module names in an attribute ``head_name``, or else the last
    layer. ``(none)`` leaves nothing to the head and ``(all)`` everything.
    """
    declared = head if head is not None else getattr(module, "head_name", None)
    if declared is None:
        return len(layers) - 1
    if declared in (NO_HEAD, ALL_HEAD):
        return len(layers) if declared == NO_HEAD else 0
    for index, layer in enumerate(layers):
        if layer == declared or layer.startswith(f"{declared}."):
            return index
    raise SettingError("head", f"the model has no layer '{declared}'; its layers are {', '.join(layers)}")


def _called(name: str, part: nn.Module) -> str:
    return f"{name} ({type(part).__name__})" if name else f"the model ({type(part).__name__})"
