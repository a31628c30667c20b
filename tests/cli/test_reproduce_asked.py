"""Which cells --only means, and which seeds --seeds does."""

import pytest

from superfed.cli.reproduce_asked import chosen, seeds_of


@pytest.mark.parametrize(
    ("target", "only", "expected"),
    [
        ("table1", "mnist/k50/apfl", ["table1/mnist/k50/apfl"]),
        ("table1", "mnist/k50/fedavg,mnist/k50/lg_fedavg", ["table1/mnist/k50/fedavg", "table1/mnist/k50/lg_fedavg"]),
        ("table2", "cifar100/alpha1/apfl/", ["table2/cifar100/alpha1/apfl"]),
        ("figureB", "superfed", ["figureB/mnist/k500/superfed_mm", "figureB/mnist/k500/superfed_lm"]),
    ],
)
def test_cells(target: str, only: str, expected: list[str]) -> None:
    assert [cell.id for cell in chosen(target, "full", only)] == expected


def test_a_whole_part_of_a_name_is_not_part_of_another() -> None:
    """50 clients are not 500, and FedAvg is not LG-FedAvg."""
    assert {cell.id.split("/")[2] for cell in chosen("table1", "full", "k50")} == {"k50"}
    assert {cell.id.split("/")[2] for cell in chosen("table2", "full", "alpha1")} == {"alpha1"}
    assert {cell.id.split("/")[3] for cell in chosen("table1", "full", "fedavg")} == {"fedavg"}
    of_nu = {cell.id.split("/")[2] for cell in chosen("questions", "full", "mnist/k500_nu")}
    assert of_nu == {"k500_nu0", "k500_nu1", "k500_nu2", "k500_nu5"}


@pytest.mark.parametrize(("text", "seeds"), [("1", [0]), ("3", [0, 1, 2]), ("1-2", [1, 2]), ("2-2", [2])])
def test_seeds(text: str, seeds: list[int]) -> None:
    assert list(seeds_of(text)) == seeds
