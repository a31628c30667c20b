"""StackedLSTM, and its layer: torch's kernel and the layer's own steps compute the same."""

from collections.abc import Callable
from itertools import pairwise
from math import sqrt

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx

from superfed.core.batch import Batch, mean_cross_entropy
from superfed.core.errors import SettingError, UserError
from superfed.core.vector import VectorModel
from superfed.models import StackedLSTM
from superfed.models.lstm import LSTM

TIME, BATCH, INPUTS, UNITS = 7, 4, 3, 5

with_and_without_bias = pytest.mark.parametrize("bias", [True, False])


def layer(bias: bool, in_lanes: bool, seed: int = 0) -> LSTM:
    torch.manual_seed(seed)
    made = LSTM(INPUTS, UNITS, bias=bias).double()
    made.in_lanes = in_lanes
    return made


def some_inputs(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, TIME, BATCH, INPUTS, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@with_and_without_bias
@pytest.mark.parametrize("in_lanes", [False, True])
def test_it_is_torchs_lstm(bias: bool, in_lanes: bool) -> None:
    ours, theirs = layer(bias, in_lanes), nn.LSTM(INPUTS, UNITS, bias=bias).double()
    theirs.load_state_dict({f"{name}_l0": value for name, value in ours.state_dict().items()})
    assert [f"{name}_l0" for name, _ in ours.named_parameters()] == [name for name, _ in theirs.named_parameters()]
    x = some_inputs()
    assert torch.allclose(ours(x), theirs(x)[0], rtol=0, atol=1e-12)


@with_and_without_bias
def test_both_ways_agree_with_their_gradients(bias: bool) -> None:
    found = []
    for in_lanes in (False, True):
        part, x = layer(bias, in_lanes), some_inputs().requires_grad_()
        outputs = part(x)
        weighting = torch.linspace(-1, 1, outputs.numel(), dtype=torch.float64).view_as(outputs)
        found.append([outputs, *torch.autograd.grad((weighting * outputs).sum(), [x, *part.parameters()])])
    for stock, own in zip(*found, strict=True):
        assert torch.allclose(stock, own, rtol=0, atol=1e-12)


@with_and_without_bias
def test_mapped_over_lanes_it_is_torchs_kernel_lane_by_lane(bias: bool) -> None:
    lanes = 3
    stock, own = layer(bias, False), layer(bias, True)
    parameters = [dict(layer(bias, False, seed).named_parameters()) for seed in range(lanes)]
    stacked = {name: torch.stack([p[name].detach() for p in parameters]) for name in parameters[0]}
    x = some_inputs(lanes)

    def loss_of(part: LSTM) -> Callable[[dict[str, Tensor], Tensor], Tensor]:
        def loss(values: dict[str, Tensor], x: Tensor) -> Tensor:
            outputs: Tensor = functional_call(part, values, (x,))
            return (outputs**2).sum()

        return loss

    together = vmap(grad(loss_of(own), argnums=(0, 1)))(stacked, x)
    for lane in range(lanes):
        one = {name: value[lane] for name, value in stacked.items()}
        values, inputs = grad(loss_of(stock), argnums=(0, 1))(one, x[lane])
        assert torch.allclose(together[1][lane], inputs, rtol=0, atol=1e-12)
        for name, value in values.items():
            assert torch.allclose(together[0][name][lane], value, rtol=0, atol=1e-12), name


def test_in_single_precision_too() -> None:
    """On a CPU that is another kernel."""
    stock, own = layer(True, False).float(), layer(True, True).float()
    x = some_inputs().float()
    assert torch.allclose(stock(x), own(x), rtol=0, atol=1e-5)


def test_however_long_the_rows_there_is_one_operation_each_way() -> None:
    """Unrolled cells would add to the weights' gradient at each step, and keep a compiler busy for minutes."""
    part, counts = layer(True, True), []
    for time in (2, TIME):
        values = {name: value.detach().expand(3, *value.shape) for name, value in part.named_parameters()}

        def loss(values: dict[str, Tensor], x: Tensor) -> Tensor:
            outputs: Tensor = functional_call(part, values, (x,))
            return (outputs[-1] ** 2).sum()

        graph = make_fx(vmap(grad(loss)))(values, some_inputs(3)[:, :time]).graph
        counts.append(len(graph.nodes))
        names = [str(node.target) for node in graph.nodes]
        assert [name for name in names if name.startswith("superfed.lstm")] == [
            "superfed.lstm_lanes.default",
            "superfed.lstm_lanes_backward.default",
        ]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("in_lanes", [False, True])
def test_only_torchs_kernel_can_be_differentiated_twice(in_lanes: bool) -> None:
    part, x = layer(True, in_lanes), some_inputs().requires_grad_()
    (slopes,) = torch.autograd.grad((part(x) ** 2).sum(), x, create_graph=True)
    if not in_lanes:
        assert torch.autograd.grad(slopes.sum(), x)[0].shape == x.shape
        return
    with pytest.raises(UserError) as caught:
        torch.autograd.grad(slopes.sum(), x)
    assert str(caught.value).startswith("model: LSTM cells mapped over lanes or on a GPU can be differentiated once")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
@with_and_without_bias
@pytest.mark.parametrize("in_lanes", [False, True])
def test_on_cuda_it_is_the_same(bias: bool, in_lanes: bool) -> None:
    part, x = layer(bias, in_lanes), some_inputs()
    assert torch.allclose(part(x), part.cuda()(x.cuda()).cpu(), rtol=0, atol=1e-12)


@with_and_without_bias
def test_it_starts_as_torchs_lstm_does(bias: bool) -> None:
    torch.manual_seed(0)
    ours = LSTM(INPUTS, 64, bias=bias)
    assert len(list(ours.parameters())) == (4 if bias else 2)
    for parameter in ours.parameters():
        assert parameter.abs().max().item() == pytest.approx(1 / sqrt(64), rel=0.05)
        assert parameter.abs().max().item() <= 1 / sqrt(64)
    before = ours.weight_hh.clone()
    ours.reset_parameters()
    assert not torch.equal(before, ours.weight_hh)


def by_hand(letters: int, embedding: int, units: list[int], *, bias: bool) -> int:
    cells = sum(4 * (i * u + u * u) + bias * 8 * u for i, u in pairwise([embedding, *units]))
    return letters * embedding + cells + units[-1] * letters + bias * letters


def test_parameter_counts() -> None:
    """Torch's cells have two biases a gate, which add up."""
    assert VectorModel(StackedLSTM().builder((80,), 80)).size == 819_920 == by_hand(80, 8, [256, 256], bias=True)
    small = StackedLSTM(embedding=3, hidden_layers=3, width=5, bias=False)
    assert VectorModel(small.builder((9,), 11)).size == by_hand(11, 3, [5, 5, 5], bias=False)


def test_each_layer_of_cells_is_a_layer_and_the_head_is_the_last() -> None:
    model = VectorModel(StackedLSTM().builder((80,), 80))
    cells = ["features.layers.0", "features.layers.1"]
    assert [part.name for part in model.layers] == ["features.embedding", *cells, "classifier"]
    assert model.head.stop - model.head.start == 256 * 80 + 80


def test_it_scores_the_letter_after_the_last() -> None:
    """Against torch's own two layers; and the last letter is the one read last."""
    recipe = StackedLSTM(embedding=INPUTS, width=UNITS)
    model = VectorModel(recipe.builder((TIME,), 6), dtype=torch.float64)
    w = model.fresh(1)
    ours, theirs = model.module(w), nn.LSTM(INPUTS, UNITS, num_layers=2, batch_first=True).double()
    values = dict(ours.named_parameters())
    for number in (0, 1):
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            theirs.get_parameter(f"{name}_l{number}").data.copy_(values[f"features.layers.{number}.{name}"])
    letters = torch.randint(0, 6, (BATCH, TIME), generator=torch.Generator().manual_seed(2))
    hidden = theirs(values["features.embedding.weight"][letters])[0][:, -1]
    expected = nn.functional.linear(hidden, values["classifier.weight"], values["classifier.bias"])
    assert torch.allclose(model.apply(w, letters), expected, rtol=0, atol=1e-12)


@with_and_without_bias
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_lanes_of_the_whole_network(bias: bool, dtype: torch.dtype, tolerance: float) -> None:
    """With rows that are only padding, as the engine gives them. Torch warns if it maps lanes one after another."""
    recipe = StackedLSTM(embedding=INPUTS, width=UNITS, bias=bias)
    model = VectorModel(recipe.builder((TIME,), 6), dtype=dtype)
    assert model.batchable
    w = torch.stack([model.fresh(key) for key in range(3)])
    rng = torch.Generator().manual_seed(3)
    x, y = torch.randint(0, 6, (3, BATCH, TIME), generator=rng), torch.randint(0, 6, (3, BATCH), generator=rng)
    weight = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]], dtype=dtype)

    def loss(model: VectorModel, w: Tensor, batch: Batch) -> Tensor:
        return mean_cross_entropy(model.apply(w, batch.x, training=True, weight=batch.weight), batch)

    lanes = model.for_lanes()
    together = vmap(lambda w, x, y, weight: grad(lambda w: loss(lanes, w, Batch(x, y, weight)))(w))(w, x, y, weight)
    for lane, real in enumerate((4, 2, 1)):
        one = w[lane].clone().requires_grad_()
        (alone,) = torch.autograd.grad(loss(model, one, Batch(x[lane, :real], y[lane, :real])), one)
        assert torch.allclose(together[lane], alone, rtol=0, atol=tolerance)


def test_only_the_view_for_lanes_takes_the_steps_itself() -> None:
    model = VectorModel(StackedLSTM(embedding=2, width=2).builder((4,), 3))
    lanes = model.for_lanes()
    for view, expected in ((model, False), (lanes, True)):
        for module in (view._training, view._evaluating):
            assert {part.in_lanes for part in module.modules() if isinstance(part, LSTM)} == {expected}


@pytest.mark.parametrize("input_shape", [(), (1, 28, 28), (80, 2)])
def test_it_takes_rows_of_letters_only(input_shape: tuple[int, ...]) -> None:
    with pytest.raises(SettingError) as caught:
        StackedLSTM().build(input_shape, 10)
    assert str(caught.value) == f"name: stacked_lstm takes rows of letters (length,), and the inputs are {input_shape}"


@pytest.mark.parametrize("name", ["embedding", "hidden_layers", "width"])
def test_a_bad_field_is_a_sentence(name: str) -> None:
    with pytest.raises(SettingError) as caught:
        StackedLSTM(**{name: 0})  # type: ignore[arg-type]
    assert str(caught.value) == f"{name}: must be 1 or more, not 0"
