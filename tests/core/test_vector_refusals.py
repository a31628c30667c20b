"""Modules that cannot be seen as a vector are refused with a sentence that says what to do."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from superfed.core.errors import SettingError, UserError
from superfed.core.vector import VectorModel


class Custom(nn.Module):
    """Owns a parameter and says nothing of how it is initialised."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.table


class Buffered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.register_buffer("offset", torch.zeros(2))


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        out = self.linear(x)
        return out, out


def mixed() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).double())


def frozen() -> nn.Module:
    return nn.Linear(2, 2).requires_grad_(False)


RUNNING = (
    "keeps running statistics, which can be neither averaged nor mixed; build it with track_running_stats=False, or use "
    "nn.GroupNorm"
)
BUFFER = (
    "which is no parameter and would not be trained or exchanged; make it an nn.Parameter with requires_grad=False, or a "
    "constant computed in forward()"
)

REFUSED: list[tuple[Callable[[], nn.Module], str]] = [
    (lambda: nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), f"model: 1 (BatchNorm1d) {RUNNING}"),
    (lambda: nn.BatchNorm2d(2), f"model: the model (BatchNorm2d) {RUNNING}"),
    (lambda: nn.InstanceNorm1d(2, track_running_stats=True), f"model: the model (InstanceNorm1d) {RUNNING}"),
    (Buffered, f"model: the model (Buffered) has a buffer 'offset', {BUFFER}"),
    (lambda: nn.Sequential(Buffered()), f"model: 0 (Buffered) has a buffer 'offset', {BUFFER}"),
    (nn.ReLU, "model: it has no parameter to train"),
    (frozen, "model: it has no parameter to train"),
    (mixed, "model: its parameters are float32, float64; all must be float32, or all float64"),
    (lambda: nn.Linear(2, 2).half(), "model: its parameters are float16; all must be float32, or all float64"),
    (lambda: nn.Linear(2, 2).bfloat16(), "model: its parameters are bfloat16; all must be float32, or all float64"),
]


@pytest.mark.parametrize("as_function", [True, False], ids=["function", "module"])
@pytest.mark.parametrize(("build", "sentence"), REFUSED)
def test_what_is_more_than_a_vector_is_refused(
    build: Callable[[], nn.Module], sentence: str, as_function: bool
) -> None:
    with pytest.raises(UserError) as caught:
        VectorModel(build if as_function else build())
    assert str(caught.value) == sentence


@pytest.mark.filterwarnings("ignore:Lazy modules:UserWarning")
def test_a_lazy_module_is_refused_until_it_has_run() -> None:
    module = nn.Sequential(nn.LazyLinear(2))
    with pytest.raises(UserError) as caught:
        VectorModel(module)
    assert str(caught.value) == ("model: 0 (LazyLinear) is not initialised yet; run one forward pass before giving it")
    module(torch.ones(1, 3))
    assert VectorModel(module).size == 8


def test_batch_statistics_without_running_averages_are_accepted() -> None:
    model = VectorModel(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3, track_running_stats=False)))
    w, x = model.fresh(0), torch.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 1.0]])
    output = model.apply(w, x)
    assert torch.allclose(output.mean(dim=0), torch.zeros(3), atol=1e-6)
    assert torch.equal(output, model.apply(w, x, training=True))


def test_a_module_that_cannot_be_reset_must_come_as_a_function() -> None:
    for module, named in [(Custom(), "the model (Custom)"), (nn.Sequential(nn.Linear(2, 2), Custom()), "1 (Custom)")]:
        with pytest.raises(UserError) as caught:
            VectorModel(module)
        assert str(caught.value) == (
            f"model: {named} has no reset_parameters(), so it cannot be initialised afresh; "
            "give a function that builds the model, for instance model=lambda: MyModel()"
        )
    model = VectorModel(Custom)
    assert not torch.equal(model.fresh(0), model.fresh(1))


def test_a_frozen_custom_part_needs_no_reset() -> None:
    module = nn.Sequential(Custom().requires_grad_(False), nn.Linear(3, 2))
    assert VectorModel(module).size == 8


@pytest.mark.parametrize(("returned", "named"), [(None, "NoneType"), (torch.zeros(2), "Tensor"), (nn.Linear, "type")])
def test_a_function_must_return_a_module(returned: object, named: str) -> None:
    with pytest.raises(UserError) as caught:
        VectorModel(lambda: returned)  # type: ignore[arg-type, return-value]
    assert str(caught.value) == f"model: the function given returned {named}, not a torch.nn.Module"


def test_inputs_that_do_not_fit_are_a_sentence() -> None:
    model = VectorModel(lambda: nn.Sequential(nn.Flatten(), nn.Linear(4, 3)))
    model.check_forward(torch.zeros(2, 1, 2, 2), 3)
    with pytest.raises(UserError) as caught:
        model.check_forward(torch.zeros(2, 1, 3, 3), 3)
    assert str(caught.value) == (
        "model: it cannot take inputs of shape (1, 3, 3): mat1 and mat2 shapes cannot be multiplied (2x9 and 4x3)"
    )


def test_symbols_for_a_network_of_numbers_are_a_sentence() -> None:
    model = VectorModel(lambda: nn.Linear(4, 3))
    with pytest.raises(UserError, match=r"^model: it cannot take inputs of shape \(4,\): \S"):
        model.check_forward(torch.zeros(2, 4, dtype=torch.int64), 3)


@pytest.mark.parametrize(
    ("build", "got"),
    [
        (lambda: nn.Linear(4, 3), "(3,)"),
        (lambda: nn.Unflatten(1, (2, 2)), "(2, 2)"),
        (lambda: nn.Flatten(0), "()"),
    ],
)
def test_the_wrong_number_of_class_scores_is_a_sentence(build: Callable[[], nn.Module], got: str) -> None:
    model = VectorModel(lambda: nn.Sequential(nn.Linear(4, 4), build()))
    with pytest.raises(SettingError) as caught:
        model.check_forward(torch.zeros(2, 4), 5)
    assert str(caught.value) == f"model: its output for one sample is {got}, and 5 class scores are needed"


def test_several_outputs_are_a_sentence() -> None:
    with pytest.raises(SettingError) as caught:
        VectorModel(Two).check_forward(torch.zeros(2, 2), 2)
    assert str(caught.value) == "model: its output for one sample is tuple, and 2 class scores are needed"
