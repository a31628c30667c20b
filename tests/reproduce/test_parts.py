"""Parts and stand-ins: everything but the data is the column's in whose place they stand, and nothing is a target."""

import pytest
from some_records import record

from superfed.reproduce.cells import Cell, cells
from superfed.reproduce.drawn import NOT_RUN
from superfed.reproduce.methods import METHODS
from superfed.reproduce.part_tables import parts
from superfed.reproduce.parts import PARTS, Part, place_of
from superfed.reproduce.published import published
from superfed.reproduce.scales import Scale
from superfed.reproduce.targets import title_of


def by_id(target: str, scale: Scale = "full") -> dict[str, Cell]:
    return {cell.id: cell for cell in cells(target, scale)}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.column)
@pytest.mark.parametrize("method", METHODS)
def test_only_the_data_is_another(part: Part, method: str) -> None:
    own = by_id("parts")[f"{part.column}/{method}"].settings
    whole = by_id(part.place.split("/")[0])[f"{part.place}/{method}"].settings
    assert {key for key in whole if own[key] != whole[key]} == {"data"}
    apart = {key for key in whole["data"] if own["data"][key] != whole["data"][key]}
    assert apart <= {"dataset", "num_clients"}
    assert apart


@pytest.mark.parametrize("scale", ["short", "smoke"])
def test_at_a_smaller_scale_they_are_no_larger(scale: Scale) -> None:
    for id, cell in by_id("parts", scale).items():
        assert (cell.config().data.num_clients or 0) <= (by_id("parts")[id].config().data.num_clients or 0)


def test_the_paper_wants_all_of_tiny_imagenet() -> None:
    for cell in cells("table2", "full"):
        if cell.dataset == "tiny_imagenet":
            assert cell.settings["data"]["dataset"]["per_class"] == 500


def test_a_column_with_a_longer_name_is_another() -> None:
    assert place_of("parts/tiny_imagenet/alpha10/apfl") == "table2/tiny_imagenet/alpha10/apfl"
    assert place_of("parts/tiny_imagenet/alpha1/apfl") == "table2/tiny_imagenet/alpha1/apfl"
    assert place_of("parts/mnist_writers/natural/apfl") == "table3/femnist/natural/apfl"


def test_ours_and_what_was_published_of_the_whole() -> None:
    cell = "parts/mnist_writers/natural/superfed_mm"
    (top1, top5) = parts({cell: [record(cell, mean=0.9)]}).sections
    assert top1.heading == "MNIST by writer, natural (top-1, %)"
    assert top5.heading == "MNIST by writer, natural (top-5, %)"
    assert "not FEMNIST" in top1.remarks[0]
    number = published().of("table3/femnist/natural/superfed_mm", "top1")
    assert number is not None
    words = {row.words[0]: row.words[1:] for row in top1.rows}
    assert words["SuPerFed-MM"] == ("90.00 ±5.00", "90.00 ±5.00", f"{number.mean:.2f} ±{number.std:.2f}")
    assert words["FedAvg"][:2] == ("–", "–")
    assert words["SCAFFOLD"][2].endswith("*") == (published().fault_of("table3/femnist/natural/scaffold") is not None)


def test_nothing_run() -> None:
    assert parts({}) == NOT_RUN
    assert title_of("parts").startswith("What stands in for missing data: ")
