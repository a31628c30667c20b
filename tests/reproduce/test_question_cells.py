"""The questions' cells: the tables' runs are not made again, and each sweep varies one thing."""

from dataclasses import replace

import pytest

from superfed.algorithms import FedAvgFT, SuPerFed
from superfed.reproduce.cells import Cell, cells, runs
from superfed.reproduce.known import dealt
from superfed.reproduce.methods import METHODS, MIXINGS
from superfed.reproduce.running import folder_name
from superfed.reproduce.scales import Scale


def asked(scale: Scale = "full") -> dict[str, Cell]:
    return {cell.id: cell for cell in cells("questions", scale)}


@pytest.mark.parametrize("seed", [0, 2])
def test_runs_of_tables_are_found_where_they_lie(seed: int) -> None:
    lying = {folder_name(run) for run in runs([*cells("table1", "full"), *cells("table3", "full")], [seed])}
    own = runs(cells("questions", "full"), [seed])
    found = [run.cells[0].id for run in own if folder_name(run) in lying]
    columns = [(column, method) for column in ("mnist/k500", "cifar10/k500") for method in METHODS]
    columns += [("shakespeare/natural", method) for method in (*MIXINGS, "fedavg", "apfl")]
    assert found == [f"questions/{column}/{method}" for column, method in columns]
    assert len(own) - len(found) == 2 * (6 + 5 + 5 + 5 + 5 + 5 + 5) + 2 + 2


@pytest.mark.parametrize(
    ("varied", "section", "key", "value"),
    [
        ("mnist/k500_nu0/superfed_mm", "algorithm", "nu", 0.0),
        ("cifar10/k500_nu5/superfed_lm", "algorithm", "nu", 5.0),
        ("mnist/k500_random/apfl", "data", "partition.assignment", "random"),
        ("mnist/k500_newcomers/fedavg", "data", "newcomers", 0.2),
        ("mnist/k500_steep/superfed_lm", "training", "lr_decay", 0.99),
        ("mnist/k500_whole/superfed_mm", "data", "validation_fraction", 0.0),
        ("mnist/k500_even/apfl", "training", "last_batch", "even"),
        ("cifar10/k500_small/apfl", "training", "last_batch", "keep"),
        ("shakespeare/natural_mu0/superfed_lm", "algorithm", "mu", 0.0),
        ("shakespeare/natural_mixed/apfl", "data", "overlapping", "mixed"),
    ],
)
def test_a_sweep_varies_one_thing(varied: str, section: str, key: str, value: object) -> None:
    found, dataset, column, method = asked(), *varied.split("/")
    plain = found[f"questions/{varied}"].config().as_plain()
    beside = found[f"questions/{dataset}/{column.split('_')[0]}/{method}"].config().as_plain()
    apart = {
        f"{name}.{key}"
        for name in plain
        if isinstance(plain[name], dict)
        for key in plain[name]
        if plain[name][key] != beside[name][key]
    }
    assert apart - {"evaluation.newcomer_epochs"} == {f"{section}.{key.split('.')[0]}"}
    for part in (section, *key.split(".")):
        plain = plain[part]
    assert plain == value


@pytest.mark.parametrize(("scale", "epochs"), [("full", 10), ("short", 2), ("smoke", 1)])
def test_models_are_tuned_for_as_long_as_in_a_round(scale: Scale, epochs: int) -> None:
    tuned = [cell for id, cell in asked(scale).items() if "cifar10" in id and "_tuned/" in id]
    assert [cell.method for cell in tuned] == ["fedavg", "fedper", "apfl", "superfed_mm", "superfed_lm"]
    for cell in tuned:
        config, plain = cell.config(), asked(scale)[cell.id.replace("_tuned", "")].config()
        assert config.training.local_epochs == epochs
        if cell.method == "fedavg":
            assert config == replace(plain, algorithm=FedAvgFT(epochs=epochs))
        else:
            assert config == replace(plain, training=replace(plain.training, tuning_epochs=epochs))


def test_all_samples_of_cifar10_are_whole_batches_however_they_are_cut() -> None:
    found = asked()
    for setting, left_over in (("k500", 2), ("k500_whole", 0)):
        config = found[f"questions/cifar10/{setting}/superfed_mm"].config()
        data = dealt(config.data, 0)
        assert {data.train_size(client) % config.training.batch_size for client in range(500)} == {left_over}
        assert config.training.last_batch == ("even" if left_over else "keep")


def test_every_nu_is_there_once() -> None:
    for column in ("mnist/k500", "cifar10/k500"):
        for method in ("superfed_mm", "superfed_lm"):
            algorithms = [
                cell.config().algorithm
                for id, cell in asked().items()
                if id.endswith(f"/{method}") and (f"{column}/" in id or f"{column}_nu" in id)
            ]
            assert sorted(a.nu for a in algorithms if isinstance(a, SuPerFed)) == [0, 1, 2, 5]


@pytest.mark.parametrize(("scale", "epochs"), [("full", 10), ("short", 2), ("smoke", 1)])
def test_newcomers_train_as_long_as_a_member_in_a_round(scale: Scale, epochs: int) -> None:
    met = [cell.config() for cell in cells("questions", scale) if "newcomers" in cell.setting]
    assert len(met) == 10
    assert all(config.evaluation.newcomer_epochs == config.training.local_epochs == epochs for config in met)


def test_a_short_run_has_fewer_clients() -> None:
    dealt_anew = [cell for cell in cells("questions", "short") if cell.setting.startswith("k")]
    assert {cell.config().data.num_clients for cell in dealt_anew} == {100}
    assert "questions/mnist/k100_nu0/superfed_mm" in asked("short")
