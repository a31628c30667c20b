"""The zoo's networks as an ordinary program has them: with torch's own layers in the place of ours."""

from torch import Tensor, nn

from superfed.core.norm import BatchNorm
from superfed.models.lstm import LSTM


class Outputs(nn.Module):
    """``nn.LSTM``, of which only the outputs are wanted."""

    def __init__(self, inputs: int, units: int, bias: bool) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, units, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        outputs: Tensor = self.lstm(x)[0]
        return outputs


def ordinary(module: nn.Module) -> nn.Module:
    """``module`` with torch's own layers. The weights are new ones; their order and shapes stay."""
    if isinstance(module, BatchNorm):
        affine = module.weight is not None
        return nn.BatchNorm2d(module.channels, module.eps, affine=affine, track_running_stats=False)
    if isinstance(module, LSTM):
        return Outputs(module.inputs, module.units, bias=module.bias_ih is not None)
    for name, part in module.named_children():
        setattr(module, name, ordinary(part))
    return module
