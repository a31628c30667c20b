"""The zoo. Defaults are the cited originals; parameters give the variants that the published runs used."""

from superfed.models.recipe import ModelRecipe
from superfed.models.two_cnn import TwoCNN
from superfed.models.two_nn import TwoNN

MODELS: dict[str, type[ModelRecipe]] = {
    "two_nn": TwoNN,
    "two_cnn": TwoCNN,
}

__all__ = ["MODELS", "ModelRecipe", "TwoCNN", "TwoNN"]
