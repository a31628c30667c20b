"""Every network of the benchmark, as small as it can be."""

from superfed.bench.networks import Network
from superfed.models import VGG, MobileNet, ResNet, StackedLSTM, TwoCNN, TwoNN

TINY: dict[str, Network] = {
    "two_nn": Network(TwoNN(width=5), (2, 3), 3, 4),
    "two_cnn": Network(TwoCNN(channels=2, width=5), (1, 8, 8), 3, 4),
    "resnet": Network(ResNet(depth=6, stages=2, channels=2, shortcut="projection"), (1, 8, 8), 3, 4),
    "mobilenet": Network(MobileNet(blocks="4 6/2", multiplier=0.5), (1, 8, 8), 3, 4),
    "vgg": Network(VGG(layers="2 pool 3 pool", hidden_layers=1, width=4), (1, 8, 8), 3, 4),
    "stacked_lstm": Network(StackedLSTM(embedding=2, width=4), (5,), 6, 4, letters=True),
}
