"""Orders of methods that are known, beside what was printed."""

import pytest
from some_records import record

from superfed.reproduce.compare import Line, compare
from superfed.reproduce.ordering import kendall, ordering
from superfed.reproduce.published import published
from superfed.reproduce.record import metrics_of

COLUMN = "table1/mnist/k50"
SOUND = ("fedavg", "fedper", "ditto", "fedrep", "superfed_mm", "superfed_lm")
"""Methods whose published runs had no faults."""


def printed(method: str, metric: str = "top1", column: str = COLUMN) -> float:
    number = published().of(f"{column}/{method}", metric)
    assert number is not None
    return number.mean


def lines(column: str, means: dict[str, float]) -> list[Line]:
    runs = {f"{column}/{method}": mean for method, mean in means.items()}
    return compare(column.split("/")[0], {cell: [record(cell, 0, mean).summary] for cell, mean in runs.items()})


def row(found: list[Line], start: str) -> dict[str, str]:
    aside = ordering(found)
    (words,) = (one for one in aside.rows if one[0].startswith(start))
    return dict(zip(aside.headings, words, strict=True))


@pytest.mark.parametrize(
    ("pairs", "tau"),
    [
        ([(1, 10), (2, 20), (3, 30)], 1.0),
        ([(1, 30), (2, 20), (3, 10)], -1.0),
        ([(1, 10), (2, 30), (3, 20)], 1 / 3),
        ([(1, 10), (1, 20), (2, 30)], 2 / 6**0.5),  # a pair that ties on the left
        ([(1, 10), (1, 20), (1, 30)], None),
        ([], None),
    ],
)
def test_kendalls_tau(pairs: list[tuple[float, float]], tau: float | None) -> None:
    found = kendall(pairs)
    assert found is None if tau is None else found == pytest.approx(tau)


def test_the_order_of_print_is_told_from_its_reverse() -> None:
    same = row(lines(COLUMN, {method: printed(method) / 100 for method in SOUND}), "MNIST, K = 50")
    assert (same["τ"], same["run"]) == ("+1.00", "6/11")
    assert same["first, ours"] == same["first, in print"] == "SuPerFed-LM"
    reverse = row(lines(COLUMN, {method: 1 - printed(method) / 100 for method in SOUND}), "MNIST, K = 50")
    assert (reverse["τ"], reverse["first, ours"]) == ("-1.00", "FedAvg")


def test_methods_that_were_faulty_in_print_are_left_out_of_it() -> None:
    means = {method: printed(method) / 100 for method in SOUND}
    assert row(lines(COLUMN, means | {"pfedme": 1.0}), "MNIST, K = 50")["τ"] == "+1.00"


def test_where_the_whole_column_was_faulty_its_order_is_compared() -> None:
    column = "table4/mnist/pair0.1"
    found = lines(column, {method: printed(method, "ece", column) for method in SOUND})
    errors = row(found, "MNIST, pair noise 0.1, ECE")
    assert errors["τ"] == errors["τ standard"] == "+1.00"
    assert (
        errors["first, ours"] == errors["first, standard"] == errors["first, in print"] == "SuPerFed-LM"
    )  # the lowest
    assert row(found, "MNIST, pair noise 0.1, top-1")["τ standard"] == "–"


def test_two_methods_make_no_order() -> None:
    assert ordering(lines(COLUMN, {"fedavg": 0.9, "superfed_mm": 0.95})).rows == []
    assert ordering(lines("table5/cifar10/start0.2", {"superfed_mm": 0.9, "superfed_lm": 0.95})).rows == []


def test_both_kinds_of_errors_are_kept() -> None:
    kept = metrics_of("table4/mnist/pair0.1/fedavg")
    assert kept == ["ece_batchwise", "mce_batchwise", "top1", "ece", "mce"]
    assert metrics_of("table1/mnist/k50/fedavg") == ["top1"]
