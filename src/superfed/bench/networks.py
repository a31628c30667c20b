"""The networks that are measured, with the inputs and batch sizes of the published runs."""

from dataclasses import dataclass

from superfed.models import VGG, MobileNet, ModelRecipe, ResNet, StackedLSTM, TwoCNN, TwoNN


@dataclass(frozen=True)
class Network:
    recipe: ModelRecipe
    input_shape: tuple[int, ...]
    num_classes: int
    batch_size: int
    letters: bool = False
    """Whether inputs are symbols, of which there are as many as classes."""


NETWORKS: dict[str, Network] = {
    "two_nn": Network(TwoNN(), (1, 28, 28), 10, 10),
    "two_cnn": Network(TwoCNN(), (3, 32, 32), 10, 10),
    "resnet": Network(
        ResNet(
            depth=10,
            stages=4,
            channels=64,
            stem_stride=2,
            stem_pool=True,
            shortcut="projection",
            hidden_layers=1,
            bias=False,
            init="xavier_normal",
        ),
        (3, 32, 32),
        100,
        20,
    ),
    "mobilenet": Network(
        MobileNet(blocks="64 128/2 256/2 512/2", stem_stride=2, hidden_layers=1, bias=False, init="xavier_normal"),
        (3, 64, 64),
        200,
        20,
    ),
    "vgg": Network(
        VGG(
            layers="16 pool 32 pool 64 128 pool 256 512 pool",
            hidden_layers=1,
            width=256,
            bias=False,
            init="xavier_normal",
        ),
        (1, 28, 28),
        62,
        10,
    ),
    "stacked_lstm": Network(StackedLSTM(bias=False, init="xavier_normal"), (80,), 100, 50, letters=True),
}
"""TwoNN and TwoCNN as cited, 199,210 and 2,156,490 parameters; the others as the published SuPerFed runs had them."""
