"""Who holds what, as people see it: on a terminal of any width, on a page, and as a picture alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO, TextIOWrapper
from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from test_html_page import Document

from superfed.report.holdings_dots import dots
from superfed.report.holdings_draw import short
from superfed.report.holdings_page import page, picture
from superfed.report.holdings_spread import spread
from superfed.report.holdings_terminal import SHADES, holdings_screen
from superfed.report.holdings_view import View, binned, evenly, grouped, in_words, shortened
from superfed.report.svg import NARROW, WIDE, Size

IntArray = npt.NDArray[np.int64]
SIZES = pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])


@dataclass(frozen=True, eq=False)
class Some:
    clients: IntArray
    counts: IntArray
    parts: IntArray
    names: Sequence[str] | None = None


def view(
    counts: Any,
    shown: int | None = None,
    *,
    names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    num_clients: int | None = None,
    left_out: int = 0,
    title: str = "toys, some clients",
) -> View:
    """The first ``shown`` clients one by one, or all."""
    array = np.array(counts)
    sizes = array.sum(axis=1)
    parts = np.stack([sizes - sizes // 5 - left_out, sizes // 5 - sizes // 10, sizes // 10], axis=1)
    rows = np.arange(len(array) if shown is None else shown)
    held = (array > 0).sum(axis=1)
    found = {
        "samples": int(sizes.sum()),
        "train": int(parts[:, 0].sum()),
        "validation": int(parts[:, 1].sum()),
        "test": int(parts[:, 2].sum()),
        "size_min": int(sizes.min()),
        "size_median": float(np.median(sizes)),
        "size_max": int(sizes.max()),
        "classes_held": int(array.any(axis=0).sum()),
        "classes_per_client_min": int(held.min()),
        "classes_per_client_mean": float(held.mean()),
        "classes_per_client_max": int(held.max()),
        "label_skew": 0.25,
        "label_skew_by_chance": 0.125,
    }
    return View(
        title,
        "alpha=0.3; seed 0",
        num_clients or len(array),
        class_names,
        Some(np.arange(len(array)), array, parts, names),
        Some(rows, array[rows], parts[rows], None if names is None else [names[row] for row in rows.tolist()]),
        found,
    )


def random_counts(clients: int, classes: int, most: int = 40) -> IntArray:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, most, (clients, classes)) * (rng.random((clients, classes)) < 0.5)
    counts[:, 0] += 1
    return counts


TWO = [[40, 0, 10], [0, 5, 5]]


def screen(shown: View, width: int = 80, rows: int = 20) -> list[str]:
    out = StringIO()
    Console(file=out, width=width, color_system=None).print(holdings_screen(shown, rows))
    return out.getvalue().splitlines()


# --- on a terminal


def test_a_row_for_each_client_and_a_shade_for_each_class() -> None:
    lines = screen(view(TWO))
    assert lines[:4] == ["toys, some clients", "alpha=0.3; seed 0", "", "client  0   1   2     samples"]
    assert lines[4].split() == ["0", "███", "·", "░░░", "50", "█" * 24]
    assert lines[5].split() == ["1", "·", "███", "███", "10", "█████"]


@pytest.mark.parametrize(
    ("count", "shade"), [(0, "·"), (1, "░"), (25, "░"), (26, "▒"), (51, "▓"), (75, "▓"), (76, "█")]
)
def test_shades_are_quarters_of_what_a_client_has_most_of(count: int, shade: str) -> None:
    assert screen(view([[100, count]]))[4].split()[2][0] == shade


@pytest.mark.parametrize("width", [30, 40, 80, 200])
@pytest.mark.parametrize("classes", [1, 10, 62, 1000])
def test_it_fits_the_terminal(width: int, classes: int) -> None:
    names = [f"THE_TRAGEDY_OF_HAMLET_{i}" for i in range(30)]
    lines = screen(view(random_counts(30, classes), names=names), width)
    assert max(map(cell_len, lines)) <= width
    assert sum(line.split()[0].endswith(tuple("0123456789")) for line in lines[4:30] if "…" in line) == 20


def test_classes_are_taken_together_where_there_is_no_room() -> None:
    lines = screen(view([[1, 0, 0, 0, 7, 0] * 20]))
    assert "Each column is 2 classes that follow each other, taken together." in lines
    row = next(line for line in lines if line.startswith("     0  "))
    assert row.split()[1] == "░·█" * 20


def test_the_numbers_above_the_columns_are_whole() -> None:
    ruler = screen(view(random_counts(3, 62)), 77)[3]
    assert ruler.split() == ["client", "0", "10", "20", "30", "40", "50", "samples"]
    assert screen(view(random_counts(3, 62)), 90)[3].split()[1:-1] == [*map(str, range(0, 65, 5))]


def test_classes_have_their_names() -> None:
    letters = screen(view(random_counts(2, 26), class_names="abcdefghijklmnopqrstuvwxyz"))
    assert letters[3].split()[1:-1] == list("abcdefghijklmnopqrstuvwxyz")
    animals = screen(view(TWO, class_names=["cat", "horse", "armadillo"]))
    assert "classes: 0 cat, 1 horse, 2 armadillo" in animals
    assert "'\\t'" not in "\n".join(screen(view(TWO, class_names=["\t", " ", "\x1b[31m"])))
    assert "classes: 0 \\t, 1 ' ', 2 \\x1b[31m" in screen(view(TWO, class_names=["\t", " ", "\x1b[31m"]))


def test_some_clients_stand_for_many() -> None:
    lines = screen(view(random_counts(100, 10)))
    assert "20 of 100 clients, evenly spaced:" in lines
    assert [int(line[:6]) for line in lines[5:25]] == np.linspace(0, 99, 20).round().tolist()
    assert "The first 5 of 100 clients:" in screen(view(random_counts(100, 10), shown=5))


def test_sizes_as_a_histogram() -> None:
    lines = screen(view([[5]] * 3 + [[25]] * 9, shown=2))
    where = lines.index("samples  clients")
    assert [line.split() for line in lines[where + 1 : where + 6]] == [
        ["5–9", "█" * 16, "3"],
        ["10–14", "0"],
        ["15–19", "0"],
        ["20–24", "0"],
        ["25–29", "█" * 48, "9"],
    ]


def test_names_of_two_columns_a_character_are_lined_up() -> None:
    lines = screen(view(TWO, names=["李白", "杜甫和他的朋友们以及很多其他的诗人"]))
    starts = [cell_len(line[: line.index(SHADES[4])]) for line in lines[4:6]]
    assert starts == [18, 22]


def test_a_terminal_that_knows_ascii_alone() -> None:
    raw = BytesIO()
    out = TextIOWrapper(raw, encoding="ascii")
    shown = view(random_counts(60, 62), names=[f"A_VERY_LONG_NAME_INDEED_{i}" for i in range(60)])
    Console(file=out, width=80, color_system=None).print(holdings_screen(shown, 20))
    out.flush()
    assert "#" in raw.getvalue().decode("ascii")


def test_the_summary_in_words() -> None:
    words = in_words(view(TWO))
    assert words["samples"] == "2 clients hold 60 samples of 3 classes"
    assert words["sizes"] == "10 to 50 samples a client, median 30"
    assert words["classes"] == "every client has 2 classes"
    assert words["parts"] == "48 training, 6 validation and 6 test samples"
    assert words["label skew"].startswith("0.25 (0.12 by chance alone): the share of a client's samples that would")
    one = in_words(view([[0, 1, 0]]))
    assert one["samples"] == "1 client holds 1 sample of 1 class; 2 classes of 3 are held by nobody"
    assert one["sizes"] == "every client has 1 sample"
    assert in_words(view(TWO, left_out=3))["parts"].endswith("; 6 are left out between them")
    sampled = in_words(view(TWO, num_clients=100_000))
    assert sampled["samples"] == "2 of 100,000 clients, drawn at random, hold 60 samples of 3 classes"


# --- bins, groups and names


@given(st.lists(st.integers(1, 10**7), min_size=1, max_size=50), st.integers(2, 24))
def test_bins_hold_every_client_once(values: list[int], most: int) -> None:
    bins = binned(np.array(values), most)
    assert len(bins) <= most
    assert [sum(one.low <= v <= one.high for v in values) for one in bins] == [one.clients for one in bins]
    assert sum(one.clients for one in bins) == len(values)
    assert all(after.low == before.high + 1 for before, after in pairwise(bins))


def test_bins_grow_where_a_few_dwarf_the_rest() -> None:
    assert [one.label for one in binned(np.array([1, 1, 2, 3, 900]), 12)] == [
        "1", "2–4", "5–9", "10–19", "20–49", "50–99", "100–199", "200–499", "500–900",
    ]  # fmt: skip


@given(st.integers(1, 300), st.integers(1, 60))
def test_groups_lose_nothing(classes: int, most: int) -> None:
    counts = random_counts(3, classes)
    together, spans = grouped(counts, most)
    assert together.shape[1] == len(spans) <= most
    assert np.array_equal(together, np.stack([counts[:, a : b + 1].sum(axis=1) for a, b in spans], axis=1))
    assert [n for a, b in spans for n in range(a, b + 1)] == list(range(classes))


def test_small_things() -> None:
    assert shortened("KING_HENRY_FALSTAFF", 12) == "KING_…LSTAFF"
    assert [len(shortened("x" * 30, most)) for most in (1, 2, 3, 12)] == [1, 2, 3, 12]
    assert evenly(3, 10).tolist() == [0, 1, 2]
    assert evenly(100, 4).tolist() == [0, 33, 66, 99]
    assert [short(n) for n in (0, 999, 1500, 20_000, 1_500_000)] == ["0", "999", "1,500", "20k", "1.5M"]


# --- the picture

Circle = tuple[float, float, float]


def circles(markup: str) -> dict[str, Circle]:
    """Where dots stand, and how large, by their notes."""
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)" class="dot"><title>([^<]*)</title>', markup)
    return {note: (float(x), float(y), float(r)) for x, y, r, note in found}


def labels(markup: str) -> list[tuple[float, float, str, str]]:
    pattern = r'<text x="([-\d.]+)" y="([-\d.]+)" text-anchor="(\w+)"(?: class="\w+")?>([^<]*)</text>'
    return [(float(x), float(y), anchor, words) for x, y, anchor, words in re.findall(pattern, markup)]


@SIZES
def test_a_dot_for_what_is_held_and_none_for_what_is_not(size: Size) -> None:
    found = circles(dots(view(TWO), size).markup)
    assert set(found) == {
        "client 0, class 0: 40 of 50 samples",
        "client 0, class 2: 10 of 50 samples",
        "client 1, class 1: 5 of 10 samples",
        "client 1, class 2: 5 of 10 samples",
    }
    radius = {note: r for note, (_, _, r) in found.items()}
    large, small = radius["client 0, class 0: 40 of 50 samples"], radius["client 0, class 2: 10 of 50 samples"]
    assert large == pytest.approx(2 * small, abs=0.02)  # four times the area


def test_clients_go_across_and_classes_down() -> None:
    found = circles(dots(view([[3, 3], [3, 3]]), WIDE).markup)
    at = {(c, k): found[f"client {c}, class {k}: 3 of 6 samples"] for c in (0, 1) for k in (0, 1)}
    assert at[0, 0][0] == at[0, 1][0] < at[1, 0][0] == at[1, 1][0]
    assert at[0, 0][1] == at[1, 0][1] < at[0, 1][1] == at[1, 1][1]


@SIZES
@pytest.mark.parametrize(("clients", "classes"), [(1, 1), (10, 10), (60, 10), (130, 10), (40, 62), (20, 250)])
def test_dots_keep_apart_and_inside(clients: int, classes: int, size: Size) -> None:
    piece = dots(view(np.full((clients, classes), 9)), size)
    found = list(circles(piece.markup).values())
    assert len(found) == clients * len(grouped(np.ones((1, classes), dtype=np.int64), 100)[1])
    assert all(r <= x <= size.width - r and r <= y <= piece.height - r for x, y, r in found)
    places = sorted(found)
    near = [(a, b) for i, a in enumerate(places) for b in places[i + 1 : i + 3]]
    near += [(a, b) for a, b in pairwise(sorted(found, key=lambda c: (c[1], c[0])))]
    assert all(np.hypot(a[0] - b[0], a[1] - b[1]) >= a[2] + b[2] for a, b in near)


@SIZES
@pytest.mark.parametrize("shown", [1, 7, 40, 130])
def test_words_do_not_touch(shown: int, size: Size) -> None:
    """By the width that characters have where the font is a broad one."""
    counts = random_counts(1000, 10, most=4000)
    for piece in (dots(view(counts, shown), size), spread(view(counts, shown), size)):
        start = {"start": 0.0, "middle": 0.5, "end": 1.0}
        boxes = []
        for x, y, anchor, words in labels(re.sub(r"<g transform=.*?</g>", "", piece.markup)):
            left = x - start[anchor] * 8.2 * len(words)
            boxes.append((left, y, left + 8.2 * len(words), words))
        for one, other in combinations(boxes, 2):
            beside = one[2] <= other[0] or other[2] <= one[0]
            assert beside or abs(one[1] - other[1]) >= 11, (one, other)
        assert all(right <= size.width + 12 for _, _, right, _ in boxes)


def test_bars_are_stacked_to_what_a_client_holds() -> None:
    markup = dots(view(TWO, left_out=2), WIDE).markup
    columns = re.findall(r'<g class="column"><title>([^<]*)</title>(.*?)</g>', markup)
    assert [note for note, _ in columns] == [
        "client 0: 50 samples (38 training, 5 validation, 5 test, 2 left out between them) of 2 classes",
        "client 1: 10 samples (6 training, 1 validation, 1 test, 2 left out between them) of 2 classes",
    ]
    heights = [sum(map(float, re.findall(r'height="([\d.]+)"', inside))) for _, inside in columns]
    assert heights[0] == pytest.approx(5 * heights[1], rel=0.01)


def test_long_names_stand_upright_and_are_told_whole() -> None:
    name = "THE_TRAGEDY_OF_HAMLET_HORATIO"
    markup = dots(view(TWO, names=[name, "x"], class_names=["cat", "a very long name of a class", "dog"]), WIDE).markup
    assert "rotate(-90" in markup
    assert "THE_TRA…_HORATIO" in markup
    assert f"client {name}, class cat: 40 of 50 samples" in circles(markup)
    assert "client x, class a very long name of a class: 5 of 10 samples" in circles(markup)


@SIZES
def test_very_many_at_a_glance(size: Size) -> None:
    counts = random_counts(500, 10)
    markup = spread(view(counts, 3), size).markup
    notes = [element for element in re.findall(r"<title>([^<]*)</title>", markup) if " clients" in element]
    by_classes = {note.split()[0]: note.split()[2] for note in notes if " classes: " in note}
    held = (counts > 0).sum(axis=1)
    assert by_classes == {str(n): str((held == n).sum()) for n in range(1, 11)}
    assert sum(int(note.split()[2]) for note in notes if " samples: " in note) == 500
    assert f"number 1 of 500: {counts.sum(axis=1).max()} samples" in markup


# --- the page and the picture alone


def test_the_page_is_whole_and_asks_for_nothing_from_outside() -> None:
    text = page("toys", [view(random_counts(100, 10), 40)])
    document = Document(text)
    assert document.all("html") == [{"lang": "en"}]
    assert not re.search(r"""https?://|url\(|@import|\bsrc=|\bhref=""", text)
    assert [svg["class"] for svg in document.all("svg")] == ["chart wide", "chart narrow"] * 2
    assert all(svg["role"] == "img" and "toys" in (svg["aria-label"] or "") for svg in document.all("svg"))
    assert len(document.all("figure")) == len(document.all("figcaption")) == 2
    assert "The first 40 of 100 clients: the area of a dot is" in document.text
    assert "100 clients: how many samples they hold" in document.text
    assert len(document.all("th")) == 6 + 40


def test_where_all_are_drawn_no_overview_is_needed() -> None:
    assert len(Document(page("toys", [view(TWO)])).all("figure")) == 1


def test_a_sample_is_said_to_be_one_in_page_and_picture() -> None:
    sampled = view(random_counts(100, 10), 40, num_clients=100_000)
    assert "100 of 100,000 clients, drawn at random" in Document(page("toys", [sampled])).text
    assert "100 of 100,000 clients, drawn at random" in picture([sampled])
    assert "The first 40 of 100,000 clients" in picture([sampled])


def test_names_are_only_text() -> None:
    evil = "<script>alert(1)</script>"
    shown = view(TWO, names=[evil, '"><img>'], class_names=[evil, "b", "c"], title=evil)
    document = Document(page(evil, [shown]))
    assert not document.all("script")
    assert not document.all("img")
    assert any(evil in note for note in document.notes)
    ElementTree.fromstring(picture([shown]))


def test_the_picture_alone_needs_no_page() -> None:
    text = picture([view(TWO), view(random_counts(100, 10), 40, title="other toys")])
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert float(root.attrib["width"]) == 952
    assert "var(" not in text  # which drawing programs do not know
    assert text.count("http") == 1
    light, dark = text.split("@media (prefers-color-scheme: dark)")
    assert "#0050d3" in light
    assert "#3f7df5" in dark
    assert re.findall(r'class="heading">([^<]*)<', text) == ["toys, some clients", "other toys"]
    assert "heading" not in picture([view(TWO)]).split("</style>")[1]
