"""Every cell of the paper is a config that can be run, with the settings of the published runs."""

from typing import get_args

import pytest

from superfed.algorithms import APFL, Ditto, FedProx, FedRep, PFedMe, Scaffold, SuPerFed
from superfed.core.errors import UserError
from superfed.data.split import Split
from superfed.engine.executors import OneAtATime
from superfed.engine.local import CPU
from superfed.engine.simulation import Run, advance
from superfed.experiments.assemble import Assembler
from superfed.experiments.load import apply_overrides, resolve
from superfed.experiments.schema import RunConfig
from superfed.reproduce.asked import STEEP
from superfed.reproduce.cells import TARGETS, Cell, cells, runs
from superfed.reproduce.methods import METHODS
from superfed.reproduce.paper import CHOICES, LEAF_LR_DECAY, LR_DECAY
from superfed.reproduce.published import published
from superfed.reproduce.scales import Scale

SCALES: tuple[Scale, ...] = get_args(Scale)
COUNTS = {
    "table1": 66,
    "table2": 66,
    "table3": 22,
    "table4": 88,
    "table5": 10,
    "figure3": 32,
    "figureA": 3,
    "figureB": 3,
    "questions": 102,
    "parts": 55,
}


def full(id: str) -> RunConfig:
    return _by_id(id.split("/")[0])[id].config()


def _by_id(target: str, scale: Scale = "full") -> dict[str, Cell]:
    return {cell.id: cell for cell in cells(target, scale)}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("target", TARGETS)
def test_every_cell_is_a_config_and_has_a_name_of_its_own(target: str, scale: Scale) -> None:
    found = cells(target, scale)
    omitted = 22 if (target, scale) == ("table1", "short") else 0
    assert len(found) == COUNTS[target] - omitted
    assert len({cell.id for cell in found}) == len(found)
    for cell in found:
        assert cell.id == f"{cell.table}/{cell.dataset}/{cell.setting}/{cell.method}"
        assert (cell.table, cell.method in METHODS) == (target, True)
        config = cell.config(seed=3)
        assert config.seed == 3
        config.algorithm.check(config.training.rounds)
        (resolved,) = resolve({"seed": 3, **cell.settings})  # no list stands for a grid
        assert resolved == config


@pytest.mark.parametrize("scale", SCALES)
def test_all_is_everything(scale: Scale) -> None:
    assert cells("all", scale) == [cell for target in TARGETS for cell in cells(target, scale)]


@pytest.mark.parametrize("table", [target for target in TARGETS if target.startswith("table")])
def test_cells_are_those_that_were_published(table: str) -> None:
    assert [cell.id for cell in cells(table, "full")] == published().cells(table)


def test_an_unknown_target_is_a_sentence() -> None:
    with pytest.raises(
        UserError,
        match=r"table9: is no table or figure of the paper; choose from table1, .*figureB, questions, parts, all",
    ):
        cells("table9", "full")


def test_cells_do_not_share_what_could_be_changed() -> None:
    first, second = cells("table1", "full")[:2]
    first.settings["data"]["partition"]["assignment"] = "random"
    first.settings["training"]["rounds"] = 1
    assert second.settings["data"]["partition"]["assignment"] == "cyclic"
    assert cells("table1", "full")[0].settings["training"]["rounds"] == 500


@pytest.mark.parametrize(
    ("id", "rounds", "epochs", "batch_size", "clients", "lr"),
    [
        ("table1/mnist/k50/fedavg", 500, 10, 10, 50, 0.01),
        ("table1/cifar10/k500/fedavg", 500, 10, 10, 500, 0.01),
        ("table2/cifar100/alpha1/fedavg", 500, 5, 20, 100, 0.01),
        ("table2/tiny_imagenet/alpha10/fedavg", 500, 5, 20, 200, 0.02),
        ("table3/femnist/natural/fedavg", 500, 10, 10, 730, 0.01),
        ("table3/shakespeare/natural/fedavg", 500, 5, 50, 660, 0.8),
        ("table4/mnist/pair0.1/fedavg", 500, 10, 10, 100, 0.01),
        ("table4/cifar10/symmetric0.6/fedavg", 500, 10, 10, 100, 0.01),
        ("table5/cifar10/start0.2/superfed_lm", 200, 10, 10, 100, 0.01),
        ("figure3/cifar10/nu5_mu0.1/superfed_mm", 100, 10, 10, 100, 0.01),
    ],
)
def test_training_is_table_a(id: str, rounds: int, epochs: int, batch_size: int, clients: int, lr: float) -> None:
    config = full(id)
    training = config.training
    assert (training.rounds, training.local_epochs, training.batch_size) == (rounds, epochs, batch_size)
    assert (training.clients_per_round, training.lr) == (5, lr)
    assert training.lr_decay == (0.995 if "/natural/" in id else 0.999)  # of the published runs; the text says 0.99
    assert (training.momentum, training.weight_decay) == (0.9, 1e-4)
    assert config.data.num_clients == clients
    assert config.evaluation.lambdas == 11


@pytest.mark.parametrize(
    ("column", "mm", "lm"),
    [
        ("table1/mnist/k50", (1, 0.6), (2, 0.8)),
        ("table1/cifar10/k100", (1, 0.4), (2, 0.6)),
        ("table1/mnist/k500", (1, 0.2), (2, 0.4)),
        ("table2/cifar100/alpha10", (1, 0.4), (2, 0.6)),
        ("table2/tiny_imagenet/alpha1", (1, 0.35), (2, 0.45)),
        ("table2/tiny_imagenet/alpha10", (1, 0.45), (2, 0.5)),
        ("table2/tiny_imagenet/alpha100", (1, 0.55), (2, 0.55)),
        ("table3/femnist/natural", (2, 0.25), (3, 0.45)),
        ("table3/shakespeare/natural", (1.5, 0.45), (2, 0.35)),
        ("table4/cifar10/symmetric0.2", (1, 0.4), (2, 0.6)),
        ("table5/cifar10/start0.8", (2, 0.8), (2, 0.8)),
        ("figureB/mnist/k500", (1, 0.2), (2, 0.4)),
    ],
)
def test_superfed_has_the_published_constants(column: str, mm: tuple[float, float], lm: tuple[float, float]) -> None:
    assert full(f"{column}/superfed_mm").algorithm == SuPerFed(mu=0.01, nu=mm[0], mixing="model", start=mm[1])
    assert full(f"{column}/superfed_lm").algorithm == SuPerFed(mu=0.01, nu=lm[0], mixing="layer", start=lm[1])


def test_figure_3_goes_over_both_constants() -> None:
    found = [cell.config().algorithm for cell in cells("figure3", "full")]
    assert all(isinstance(algorithm, SuPerFed) and algorithm.start_round(100) == 40 for algorithm in found)
    assert {(a.nu, a.mu) for a in found if isinstance(a, SuPerFed)} == {
        (nu, mu) for nu in (0, 1, 2, 5) for mu in (0, 0.01, 0.1, 1)
    }


def test_the_other_methods_have_the_settings_of_the_comparison() -> None:
    column = "table1/cifar10/k100"
    assert full(f"{column}/fedprox").algorithm == FedProx(mu=0.01)
    assert full(f"{column}/scaffold").algorithm == Scaffold()
    assert full(f"{column}/apfl").algorithm == APFL(alpha=0.25, adaptive=False)
    assert full(f"{column}/ditto").algorithm == Ditto(lam=1.0, personal_epochs=5)
    assert full(f"{column}/fedrep").algorithm == FedRep(head_epochs=None, body_epochs=5)
    assert full(f"{column}/pfedme").algorithm == PFedMe(lam=15.0, inner_steps=5, inner_lr=0.01)
    assert full("table2/tiny_imagenet/alpha1/pfedme").algorithm == PFedMe(lam=15.0, inner_steps=5, inner_lr=0.02)
    assert full("table3/femnist/natural/pfedme").algorithm == PFedMe(lam=5.0, inner_steps=5, inner_lr=0.01)
    assert full("table3/shakespeare/natural/pfedme").algorithm == PFedMe(lam=0.1, inner_steps=5, inner_lr=0.8)


def test_data_is_dealt_as_it_was() -> None:
    def data(id: str) -> dict[str, object]:
        plain: dict[str, object] = full(id).as_plain()["data"]
        return plain

    table1 = data("table1/cifar10/k50/fedavg")
    assert table1["partition"] == {
        "name": "pathological",
        "shards_per_client": 2,
        "assignment": "cyclic",
        "cut": "sorted",
    }
    assert (table1["test_fraction"], table1["validation_fraction"], table1["label_noise"]) == (0.2, 0.1, None)
    table2 = data("table2/cifar100/alpha10/fedavg")
    assert table2["partition"] == {"name": "dirichlet", "alpha": 10.0, "min_samples": 2}
    table4 = data("table4/mnist/symmetric0.6/fedavg")
    assert table4["partition"] == {"name": "dirichlet", "alpha": 100.0, "min_samples": 2}
    assert table4["label_noise"] == {"kind": "symmetric", "rate": 0.6}
    shakespeare = data("table3/shakespeare/natural/fedavg")
    assert shakespeare["dataset"] == {"name": "shakespeare", "alphabet": "printable", "length": 80}
    assert shakespeare["partition"] == {"name": "natural", "fraction": 1.0, "min_samples": 800}


@pytest.mark.parametrize(("held", "samples"), [(1200, 960), (600, 480), (120, 96), (1000, 800), (500, 400), (100, 80)])
def test_what_is_left_of_a_test_set_is_the_samples_of_table_1(held: int, samples: int) -> None:
    config = full("table1/mnist/k50/fedavg").data
    train, validation, _ = Split(config.test_fraction, config.validation_fraction).sizes(held)
    assert train + validation == samples


def test_figures_share_the_runs_of_table_1() -> None:
    planned = runs([*cells("table1", "full"), *cells("figureA", "full"), *cells("figureB", "full")], seeds=[0, 1])
    assert len(planned) == 2 * 66
    shared = {tuple(cell.id for cell in run.cells) for run in planned if len(run.cells) > 1}
    assert ("table1/cifar10/k100/fedavg", "figureA/cifar10/k100/fedavg") in shared
    assert ("table1/mnist/k500/apfl", "figureB/mnist/k500/apfl") in shared
    assert len(shared) == 6
    assert len(runs(cells("all", "full"), seeds=[0])) == 290 - 6 + 102 - 26 + 55


def test_table_5_would_share_a_run_with_table_1_if_it_were_as_long() -> None:
    """It has 200 rounds and ν = 2, so with the published settings it shares none."""
    ours, other = _by_id("table5")["table5/cifar10/start0.6/superfed_lm"], "table1/cifar10/k100/superfed_lm"
    assert len(runs([ours, _by_id("table1")[other]], seeds=[0])) == 2
    longer = Cell(ours.id, apply_overrides(ours.settings, ["training.rounds=500"]))
    (run,) = runs([longer, _by_id("table1")[other]], seeds=[0])
    assert [cell.id for cell in run.cells] == [ours.id, other]


def test_a_planned_run_says_what_a_config_file_would() -> None:
    run = runs(cells("table3", "full"), seeds=[7])[0]
    assert run.name == "table3-femnist-natural-fedavg-seed7"
    config = RunConfig.from_plain(run.settings)
    assert (config.name, config.seed) == (run.name, 7)
    assert {**config.as_plain(), "name": "experiment"} == run.config.as_plain()


@pytest.mark.parametrize("scale", ["short", "smoke"])
def test_with_fewer_rounds_the_rate_goes_through_the_same_values(scale: Scale) -> None:
    whole = _by_id("all")
    for cell in cells("all", scale):
        if cell.id not in whole:
            assert scale == "short"
            assert cell.table in ("figureB", "questions")
            continue
        training, paper = cell.config().training, whole[cell.id].config().training
        decay = LEAF_LR_DECAY if cell.setting.startswith("natural") else LR_DECAY
        decay = STEEP if cell.setting.endswith("_steep") else decay
        assert training.lr == paper.lr
        assert training.rate(training.rounds) == pytest.approx(paper.lr * decay**paper.rounds, rel=1e-3)
        ours, theirs = cell.config().algorithm, whole[cell.id].config().algorithm
        if isinstance(ours, SuPerFed):
            assert ours == theirs  # L is a fraction


def test_a_short_run_keeps_networks_and_batches_and_everybody_may_take_part() -> None:
    whole = _by_id("all")
    for cell in cells("all", "short"):
        config = cell.config()
        assert config.training.rounds * 5 >= 2 * (config.data.num_clients or 0)
        if cell.id in whole:
            paper = whole[cell.id].config()
            assert (config.model, config.training.batch_size) == (paper.model, paper.training.batch_size)


@pytest.mark.parametrize(
    "id",
    [
        "table1/mnist/k50/fedrep",
        "table1/cifar10/k500/superfed_mm",
        "table2/cifar100/alpha1/ditto",
        "table2/tiny_imagenet/alpha100/superfed_lm",
        "table3/femnist/natural/apfl",
        "table3/shakespeare/natural/superfed_lm",
        "table4/cifar10/pair0.4/scaffold",
        "table5/cifar10/start0.4/superfed_mm",
        "figure3/cifar10/nu5_mu1/superfed_lm",
        "figureA/cifar10/k100/fedavg",
        "figureB/mnist/k500/apfl",
    ],
)
def test_smoke_cells_train_without_a_file(id: str) -> None:
    config = _by_id(id.split("/")[0], "smoke")[id].config()
    whole = full(id).as_plain()
    assert config.as_plain()["data"]["partition"]["name"] == whole["data"]["partition"]["name"]
    assert config.as_plain()["model"]["name"] == whole["model"]["name"]
    run = Run(Assembler(None).task(config))
    assert run.task.model.size < 10_000
    assert list(advance([run], OneAtATime(CPU))) == [0]
    assert (run.round, run.stopped) == (1, None)


def test_choices_are_sentences() -> None:
    assert all(choice.endswith(".") for choice in CHOICES)
    assert len(set(CHOICES)) == len(CHOICES)
