"""What is done to raw inputs is what the run did."""

import numpy as np
import pytest
import torch

from superfed.core.errors import UserError
from superfed.data.dealt import DealtDataset, SyntheticFederation
from superfed.data.from_python import from_arrays
from superfed.data.own import OwnData
from superfed.data.preprocessing import Preprocessing
from superfed.data.stand_in import StandIn
from superfed.data.synthetic import Synthetic

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("x", "scale"),
    [
        (RNG.integers(0, 256, (20, 3), dtype=np.uint8), 1 / 255),
        (RNG.normal(size=(20, 3)).astype("float32"), 0.1),
        (RNG.normal(size=(20, 3)).astype("float16"), 3.0),
        (RNG.integers(0, 9, (20, 3)), 1.0),
    ],
)
def test_raw_inputs_come_out_as_the_pool_hands_them_out(x: np.ndarray, scale: float) -> None:
    pool = from_arrays(x, np.arange(20) % 2, np.zeros(20, int), scale=scale)
    preprocessing = Preprocessing.of(DealtDataset.deal(pool), torch.float32)
    expected = pool.inputs(np.arange(20)).numpy()
    found = preprocessing.inputs(x, "here")
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected)
    assert Preprocessing.from_plain(preprocessing.as_plain()) == preprocessing


def test_every_source_tells_what_it_was() -> None:
    own = OwnData.from_clients([(np.zeros((4, 2), np.uint8), [0, 1, 0, 1])])
    assert Preprocessing.of(own, torch.float32) == Preprocessing((2,), "float32", "uint8")
    made = SyntheticFederation(Synthetic(dim=3), 2)
    assert Preprocessing.of(made, torch.float64) == Preprocessing((3,), "float64", "float32")
    text = Preprocessing.of(DealtDataset.deal(StandIn("shakespeare").load(None)), torch.float32)
    assert (text.input_shape, text.dtype) == ((10,), "int64")
    assert text.alphabet is not None
    assert len(text.alphabet) == 80


def test_where_pixels_are_expected_numbers_are_scaled_already() -> None:
    preprocessing = Preprocessing((2,), "float32", "uint8", 1 / 255)
    raw = np.array([[0, 255]], np.uint8)
    assert preprocessing.inputs(raw, "here").tolist() == [[0.0, 1.0]]
    assert preprocessing.inputs(raw.astype(np.int64), "here").tolist() == [[0.0, 1.0]]
    assert preprocessing.inputs(np.array([[0.0, 1.0]]), "here").tolist() == [[0.0, 1.0]]
    with pytest.raises(UserError, match=r"here: its inputs have shape .3,., and the model was trained on .2,."):
        preprocessing.inputs(np.zeros((1, 3)), "here")
