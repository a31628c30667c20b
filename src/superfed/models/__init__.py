"""The zoo. Defaults are the cited originals; parameters give the variants that the published runs used."""

from superfed.models.mobilenet import MobileNet
from superfed.models.recipe import ModelRecipe
from superfed.models.registry import Models
from superfed.models.resnet import ResNet
from superfed.models.stacked_lstm import StackedLSTM
from superfed.models.two_cnn import TwoCNN
from superfed.models.two_nn import TwoNN
from superfed.models.vgg import VGG

MODELS = Models(
    {
        "two_nn": TwoNN,
        "two_cnn": TwoCNN,
        "resnet": ResNet,
        "mobilenet": MobileNet,
        "vgg": VGG,
        "stacked_lstm": StackedLSTM,
    }
)
register_model = MODELS.register

__all__ = ["MODELS", "VGG", "MobileNet", "ModelRecipe", "ResNet", "StackedLSTM", "TwoCNN", "TwoNN", "register_model"]
