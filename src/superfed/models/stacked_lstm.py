"""StackedLSTM, the next-character network of McMahan et al. 2017 and of LEAF."""

from dataclasses import dataclass
from itertools import pairwise

from torch import Tensor, nn

from superfed.core.errors import SettingError, require
from superfed.models.lstm import LSTM
from superfed.models.recipe import Classifier, Init, ModelRecipe, initialise


@dataclass(frozen=True)
class StackedLSTM(ModelRecipe):
    """Letters in 8 numbers each, then two layers of 256 LSTM cells: 819,920 parameters with 80 letters.

    It reads a row of letters and scores the next one, so there are as many letters as classes. The published SuPerFed
    runs used ``bias=False, init="xavier_normal"``: 821,024 with 100 letters.
    """

    embedding: int = 8
    """Numbers that stand for a letter."""
    hidden_layers: int = 2
    """Layers of cells."""
    width: int = 256
    """Cells in each of them."""
    bias: bool = True
    """Whether layers have one."""
    init: Init = "default"
    """torch's own, or Xavier's normal for all weights."""

    def __post_init__(self) -> None:
        for name in ("embedding", "hidden_layers", "width"):
            require(getattr(self, name) >= 1, name, f"must be 1 or more, not {getattr(self, name)}")

    def build(self, input_shape: tuple[int, ...], num_classes: int) -> nn.Module:
        if len(input_shape) != 1:
            raise SettingError(
                "name", f"stacked_lstm takes rows of letters (length,), and the inputs are {input_shape}"
            )
        sizes = [self.embedding] + [self.width] * self.hidden_layers
        layers = [LSTM(inputs, units, bias=self.bias) for inputs, units in pairwise(sizes)]
        reader = _Reader(nn.Embedding(num_classes, self.embedding), layers)
        return initialise(Classifier(reader, nn.Linear(self.width, num_classes, bias=self.bias)), self.init)


class _Reader(nn.Module):
    """What the last layer of cells puts out once the last letter is read."""

    def __init__(self, embedding: nn.Embedding, layers: list[LSTM]) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.Sequential(*layers)

    def forward(self, letters: Tensor) -> Tensor:
        outputs: Tensor = self.layers(self.embedding(letters.t()))
        return outputs[-1]
