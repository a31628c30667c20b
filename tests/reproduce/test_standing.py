"""Who is ahead of whom, from made-up runs of which it is known."""

from collections.abc import Mapping

from some_records import record

from superfed.reproduce.below import below
from superfed.reproduce.compare import Line, compare
from superfed.reproduce.published import published
from superfed.reproduce.standing import TITLE, standing


def lines(table: str, column: str, seeds: int = 1, **means: float) -> list[Line]:
    runs = {f"{table}/{column}/{method}": mean for method, mean in means.items()}
    return compare(
        table, {cell: [record(cell, seed, mean).summary for seed in range(seeds)] for cell, mean in runs.items()}
    )


def row(found: list[Line], column: str) -> Mapping[str, str]:
    aside = standing(found)
    (words,) = (one for one in aside.rows if one[0] == column)
    return dict(zip(aside.headings, words, strict=True))


def test_the_better_superfed_is_laid_beside_the_best_other() -> None:
    found = row(
        lines("table1", "cifar10/k100", fedavg=0.5, fedper=0.91, apfl=0.90, superfed_mm=0.93, superfed_lm=0.92),
        "CIFAR-10, K = 100",
    )
    assert found["run"] == "5/11"
    assert found["oracle"] == found["validated"] == found["validated shared"] == "+2.00* MM, FedPer"  # 100 clients ±5
    mm, pfedme = (published().of(f"table1/cifar10/k100/{method}", "top1") for method in ("superfed_mm", "pfedme"))
    assert mm is not None
    assert pfedme is not None
    assert found["in print"] == f"{mm.mean - pfedme.mean:+.2f} MM, pFedMe"


def test_what_is_behind_or_close_is_said_to_be() -> None:
    close = lines("table1", "mnist/k500", seeds=3, ditto=0.99, superfed_lm=0.91)
    assert row(close, "MNIST, K = 500")["oracle"] == "-8.00* LM, Ditto"
    within = lines("table1", "mnist/k500", ditto=0.915, superfed_lm=0.91)
    assert row(within, "MNIST, K = 500")["oracle"] == "-0.50 LM, Ditto"


def test_seeds_that_both_have_are_compared_one_by_one() -> None:
    """Of three differences, 13, 1 and -4, nobody can tell what the fourth will be; of 1.0, 0.9 and 1.1 one can."""

    def lead(**means: tuple[float, ...]) -> str:
        cells = {f"table1/cifar10/k500/{method}": of_seeds for method, of_seeds in means.items()}
        found = {cell: [record(cell, *one).summary for one in enumerate(of_seeds)] for cell, of_seeds in cells.items()}
        return row(compare("table1", found), "CIFAR-10, K = 500")["oracle"]

    assert lead(superfed_mm=(0.93, 0.9301, 0.9302), fedrep=(0.80, 0.92, 0.97)) == "+3.34 MM, FedRep"
    assert lead(superfed_mm=(0.80, 0.90, 0.97), fedrep=(0.79, 0.891, 0.959)) == "+1.00* MM, FedRep"


def test_of_an_error_the_smallest_is_the_best() -> None:
    found = lines("table4", "mnist/pair0.1", fedavg=0.4, fedper=0.2, superfed_mm=0.1, superfed_lm=0.3)
    assert row(found, "MNIST, pair noise 0.1, ECE")["oracle"].endswith("MM, FedPer")
    assert row(found, "MNIST, pair noise 0.1, top-1, %")["oracle"].endswith("LM, FedAvg")


def test_nothing_is_said_where_one_side_is_missing() -> None:
    assert standing(lines("table1", "mnist/k50", fedavg=0.9, fedper=0.9)).rows == []
    assert standing(lines("table1", "mnist/k50", superfed_mm=0.9)).rows == []
    assert standing(lines("table5", "cifar10/start0.2", superfed_mm=0.9, superfed_lm=0.9)).rows == []  # has no others


def test_a_column_is_whole_even_if_some_of_its_lines_are_shown() -> None:
    found = lines("table1", "mnist/k50", fedavg=0.9, superfed_mm=0.95)
    some = [line for line in found if line.cell in ("table1/mnist/k50/fedavg", "table1/mnist/k50/superfed_mm")]
    (first,) = (aside for aside in below(some) if aside.title == TITLE)
    assert first.rows[0][1] == "2/11"
    assert first.rows[0][-1] == "+0.08 LM, APFL"
    assert [row[0] for row in first.rows] == ["MNIST, K = 50"]
