"""The page in a browser: it answers as it should, its numbers are the store's, and it asks nobody for anything."""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_folders import whole_experiment, whole_run
from playwright.sync_api import Browser
from report_folders import SUPERFED, demo, mixing_run

from superfed.report.comparison import compare
from superfed.report.numbers import percent
from superfed.report.page.build import write_page
from superfed.store.files import read_json
from superfed.store.layout import RunFolder, find_runs
from superfed.store.tables import read_table
from support.browser import Watched, a_browser, needs_browser, watched

pytestmark = needs_browser
CLASSES = ["<script>alert(1)</script>", "</script>", *(f"class {i}" for i in range(2, 10))]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with a_browser() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seen") / "trial"
    whole_experiment(folder, 12, CLASSES)
    write_page(find_runs(folder), folder / "report.html")
    return folder


@pytest.fixture
def seen(browser: Browser, folder: Path) -> Iterator[Watched]:
    """The page, opened; whatever a test does with it, its console stays clean and nothing is asked for."""
    with watched(browser) as found:
        found.open((folder / "report.html").as_uri())
        yield found
        assert found.console == []
        assert found.requests == [(folder / "report.html").as_uri()]


def stored(run: RunFolder) -> dict[tuple[int, float | None], float | None]:
    """Test accuracy by client and λ."""
    table = read_table(run.clients)
    rows = zip(table["client"], table["lam"], table["split"], table["top1"], strict=True)
    return {(client, lam): top1 for client, lam, split, top1 in rows if split == "test"}


def over_seeds(folder: Path, lam: float, statistic: str) -> float:
    found = []
    for seed in (0, 1):
        points = read_json(folder / f"superfed-mm-seed{seed}" / "summary.json")["by_lambda"]
        found += [point["top1"][statistic] for point in points if point["lam"] == lam]
    return float(sum(found) / len(found))


def reading(seen: Watched) -> str:
    return seen.page.inner_text(".panel .reading")


def test_the_slider_moves_the_numbers_and_every_client(seen: Watched, folder: Path) -> None:
    page = seen.page
    slider = page.locator("#lambda")
    clouds = set()
    slider.focus()
    page.keyboard.press("Home")
    for step in range(11):
        lam = step / 10
        assert page.inner_text("output[for=lambda]") == f"{lam:g}"
        text = reading(seen)
        assert text.startswith(f"{percent(over_seeds(folder, lam, 'mean'))} %")
        assert f"±{percent(over_seeds(folder, lam, 'std'))} over clients" in text
        assert f"worst 10 % {percent(over_seeds(folder, lam, 'worst10'))}" in text
        clouds.add(page.get_attribute(".panel .dots", "d"))
        page.keyboard.press("ArrowRight")
    assert len(clouds) > 5
    assert all((cloud or "").count("M") == 22 for cloud in clouds)  # twelve clients less one without samples, two seeds
    assert "local model" in (slider.get_attribute("aria-valuetext") or "")


def test_dots_stand_at_the_clients_accuracies(seen: Watched, folder: Path) -> None:
    """Against the marks of the axis beside them, to the size of a dot."""
    page = seen.page
    page.select_option(".lambda-bar select", "0")
    marks = page.eval_on_selector_all(
        ".panel svg.chart > text",
        "all => all.filter(t => t.getAttribute('text-anchor') === 'end' && /^[0-9]+$/.test(t.textContent))"
        ".map(t => [Number(t.textContent), Number(t.getAttribute('y')) - 4])",
    )
    (low, bottom), (high, top) = min(marks), max(marks)
    cloud = page.get_attribute(".panel .dots", "d") or ""
    heights = [float(y) for y in re.findall(r"M[\d.]+ ([\d.]+)h0", cloud)]
    drawn = sorted(low + (bottom - y) / (bottom - top) * (high - low) for y in heights)
    found = stored(RunFolder(folder / "superfed-mm-seed0"))
    real = sorted(100 * top1 for (_, lam), top1 in found.items() if lam == 0.5 and top1 is not None)
    dot = 8 / (bottom - top) * (high - low)
    assert drawn == pytest.approx(real, abs=0.51 * dot)


def box_of(seen: Watched, selector: str) -> Any:
    """Where something is, once it is to be seen."""
    seen.page.eval_on_selector(selector, "one => one.scrollIntoView({block: 'center'})")
    return seen.page.locator(selector).bounding_box()


def test_dragging_over_the_curve_moves_lambda(seen: Watched) -> None:
    box = box_of(seen, ".panel .slide")
    middle = box["y"] + box["height"] / 2
    seen.page.mouse.move(box["x"] + 8, middle)
    seen.page.mouse.down()
    assert seen.page.inner_text("output[for=lambda]") == "0"
    seen.page.mouse.move(box["x"] + box["width"] - 8, middle, steps=4)
    seen.page.mouse.up()
    assert seen.page.inner_text("output[for=lambda]") == "1"


def client_rows(seen: Watched) -> dict[str, list[str]]:
    rows = seen.page.locator(".client table tbody tr").all()
    return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}


@pytest.mark.parametrize(("client", "seed"), [(3, 0), (7, 1)])
def test_a_client_shows_its_own_numbers_and_classes(seen: Watched, folder: Path, client: int, seed: int) -> None:
    page = seen.page
    page.select_option(".client select", str(seed))
    page.fill("#client", str(client))
    page.keyboard.press("Enter")
    assert page.inner_text(".client-name") == f"client {client}, seed {seed}"
    rows = client_rows(seen)
    for title, name in (("SuPerFed-MM", "superfed-mm"), ("FedAvg", "fedavg")):
        run = RunFolder(folder / f"{name}-seed{seed}")
        table = read_table(run.readings)
        (at,) = (
            i
            for i, (who, which) in enumerate(zip(table["client"], table["reading"], strict=True))
            if (who, which) == (client, "validated")
        )
        lam, top1 = table["lam"][at], table["top1"][at]
        assert rows[title][:2] == ["–" if lam is None else f"{lam:g}", percent(top1)]
        bins = read_table(run.bins)
        own = [i for i, who in enumerate(bins["client"]) if who == client]
        gaps = [bins["samples"][i] * abs(bins["confidence"][i] - bins["top1"][i]) for i in own]
        assert float(rows[title][2]) == pytest.approx(100 * sum(gaps) / sum(bins["samples"][i] for i in own), abs=0.006)
    held = read_table(RunFolder(folder / f"fedavg-seed{seed}").holdings)
    shown = page.locator(".client-body h4 + svg title").all_text_contents()
    for label, samples in zip(held["classes"][client], held["samples"][client], strict=True):
        words = f"{CLASSES[label]}: {samples} of its {sum(held['samples'][client])} samples"
        assert any(words in title for title in shown)


def test_a_dot_can_be_picked(seen: Watched, folder: Path) -> None:
    page = seen.page
    page.select_option(".lambda-bar select", "0")
    page.fill("#client", "5")
    page.keyboard.press("Enter")
    ring = page.locator(".panel .ring")
    place = [float(ring.get_attribute(name) or 0) for name in ("cx", "cy")]
    page.fill("#client", "2")
    page.keyboard.press("Enter")
    box = box_of(seen, ".panel svg.chart")
    page.mouse.click(box["x"] + place[0], box["y"] + place[1])
    assert page.input_value("#client") == "5"


def test_worst_median_and_best_are_found(seen: Watched, folder: Path) -> None:
    page = seen.page
    found = {who: top1 for (who, lam), top1 in stored(RunFolder(folder / "superfed-mm-seed0")).items() if lam == 0.5}
    known = sorted(top1 for top1 in found.values() if top1 is not None)
    for words, expected in (("worst", known[0]), ("best", known[-1]), ("median", known[5])):
        page.get_by_role("group", name="Pick a client").get_by_role("button", name=words, exact=True).click()
        assert found[int(page.input_value("#client"))] == expected


def names(seen: Watched, table: int) -> list[str]:
    return seen.page.locator(".sortable").nth(table).locator("tbody:not([hidden]) th").all_inner_texts()


def test_tables_are_sorted_by_the_column_that_is_pressed(seen: Watched, folder: Path) -> None:
    rows = {row.title: row for row in compare(find_runs(folder)).rows}
    for column, value in (("loss", "loss"), ("MCE", "mce"), ("accuracy, %", None)):
        heading = seen.page.locator(".sortable").nth(1).get_by_role("button", name=column, exact=True)
        heading.click()
        order = sorted(rows, key=lambda title: getattr(rows[title], value) if value else rows[title].headline.mean)
        assert names(seen, 1) == order[::-1]
        assert heading.locator("..").get_attribute("aria-sort") == "descending"
        heading.press("Enter")
        assert names(seen, 1) == order
        assert heading.locator("..").get_attribute("aria-sort") == "ascending"
    assert seen.page.locator("[aria-sort]").count() == 1


def test_the_readings_of_lambda_are_the_stores(seen: Watched, folder: Path) -> None:
    rows = {row.title: row for row in compare(find_runs(folder)).rows}
    for name in ("validated", "best_shared", "oracle", "fixed"):
        seen.page.select_option("#reading", name)
        body = seen.page.locator("tbody[data-reading]:visible")
        assert body.count() == 1
        for row in body.locator("tr").all():
            shown = rows[row.locator("th").inner_text()].readings[name]
            assert row.locator("td").first.inner_text().split("\n")[0] == percent(shown.mean)


def test_curves_by_round_tell_their_values_under_the_pointer(seen: Watched) -> None:
    page = seen.page
    values = page.locator("#training text.value")
    assert values.all_text_contents() == ["90.00", "90.00"]  # at λ = 0.5, after the last round
    page.select_option("#rounds-lambda", "0")
    assert sorted(values.all_text_contents()) == ["0.00", "90.00"]
    box = box_of(seen, "#training .catch")
    page.mouse.move(box["x"] + 2, box["y"] + 20)
    assert values.all_text_contents() == ["9.00", "9.00"]


def test_calibration_is_that_of_all_samples(seen: Watched, folder: Path) -> None:
    captions = seen.page.locator("#calibration .caption").all_inner_texts()
    for name, title in (("superfed-mm", "SuPerFed-MM"), ("fedavg", "FedAvg")):
        sums: dict[int, list[float]] = {}
        for seed in (0, 1):
            table = read_table(RunFolder(folder / f"{name}-seed{seed}").bins)
            for i, client in enumerate(table["client"]):
                if client is not None:
                    n = table["samples"][i]
                    held = sums.setdefault(table["bin"][i], [0, 0, 0])
                    for place, value in enumerate((n, n * table["confidence"][i], n * table["top1"][i])):
                        held[place] += value
        ece = sum(abs(sure - right) for _, sure, right in sums.values()) / sum(n for n, _, _ in sums.values())
        (caption,) = (words for words in captions if words.startswith(title))
        shown = re.search(r"ECE ([\d.]+) %", caption)
        assert shown is not None
        assert float(shown[1]) == pytest.approx(100 * ece, abs=0.006)


def test_names_that_look_like_programs_are_text(seen: Watched) -> None:
    assert seen.page.locator("script").count() == 2
    text = seen.page.locator("#explorer").text_content() or ""
    assert "<script>alert(1)</script>" in text


def test_everything_can_be_reached_by_keyboard(seen: Watched) -> None:
    """In the order of the page, and whatever has the focus can be told."""
    page = seen.page
    reached: list[dict[str, Any]] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "() => { const e = document.activeElement, label = e.labels && e.labels[0];"
                " return {id: e.id, tag: e.tagName, text: e.textContent.slice(0, 20),"
                " name: e.getAttribute('aria-label') || (label || e).textContent,"
                " outline: getComputedStyle(e).outlineStyle} }"
            )
        )
    controls = [one for one in reached if one["tag"] in ("BUTTON", "INPUT", "SELECT", "A", "SUMMARY")]
    assert {"lambda", "client", "reading"} <= {one["id"] for one in controls}
    assert {"worst", "next"} <= {one["text"] for one in controls}
    assert all(one["name"].strip() for one in controls)
    assert all(one["outline"] != "none" for one in controls)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 800, 1600])
def test_it_fits_every_screen(browser: Browser, folder: Path, width: int, scheme: str) -> None:
    """Nothing sticks out sideways, and text stands out from its ground."""
    with watched(browser, width, scheme) as seen:
        seen.open((folder / "report.html").as_uri())
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground)[:3])) > 384) == (scheme == "light")
        assert seen.console == []


def test_without_a_program_the_tables_are_there(browser: Browser, folder: Path) -> None:
    with watched(browser, script=False) as seen:
        seen.page.goto((folder / "report.html").as_uri())
        assert seen.page.locator("#summary table:visible").count() == 2
        assert seen.page.locator(".plot:visible").count() == 0
        assert seen.console == []


def test_ten_thousand_clients(browser: Browser, tmp_path: Path) -> None:
    """Told, and not judged: how soon something is seen, and how soon everything."""
    run = whole_run(tmp_path / "many", 10_000)
    page = tmp_path / "report.html"
    write_page([run], page)
    size = page.stat().st_size
    assert size < 15e6
    with watched(browser) as seen:
        seen.open(page.as_uri())
        paint = seen.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        drawn = seen.page.evaluate("performance.now()")
        print(f"10,000 clients: {size / 1e6:.1f} MB, first paint after {paint:.0f} ms, all drawn by {drawn:.0f} ms")
        assert (seen.page.get_attribute(".panel .dots", "d") or "").count("M") == 9_999
        seen.page.locator("#lambda").press("End")
        mean = read_json(run.summary_file)["by_lambda"][-1]["top1"]["mean"]
        assert reading(seen).startswith(f"{percent(mean)} %")
        assert seen.console == []


def test_an_experiment_that_was_trained(browser: Browser, experiment: Path, tmp_path: Path) -> None:
    """What `superfed run` wrote, with all that the runs stored."""
    with watched(browser) as seen:
        seen.open((experiment / "report.html").as_uri())
        assert seen.page.locator(".note", has_text="stored for").count() == 0
        rows = {row.title: row for row in compare(find_runs(experiment)).rows}
        for row in seen.page.locator("#summary table").first.locator("tbody tr").all():
            found = rows[row.locator("th").inner_text()].headline
            assert row.locator("td").first.inner_text().startswith(percent(found.mean))
        assert seen.console == []
    assert json.loads((experiment / "experiment.json").read_text())["runs"]


@pytest.mark.parametrize("what", ["without tables", "one run", "many methods", "nothing finite"])
def test_unusual_runs_are_drawn_too(browser: Browser, tmp_path: Path, what: str) -> None:
    if what == "without tables":
        runs = demo(tmp_path)
    elif what == "one run":
        runs = [whole_run(tmp_path / "a", 2)]
    elif what == "many methods":
        runs = [
            whole_run(
                tmp_path / f"{nu}", 3, SUPERFED | {"nu": nu}, f"a method with a long name, number {nu}", seed=nu % 2
            )
            for nu in range(20)
        ]
    else:
        runs = [mixing_run(tmp_path / "a", [(math.nan, math.nan)] * 5, [(math.nan, math.nan)] * 3)]
    write_page(runs, tmp_path / "page.html")
    for width in (390, 1280):
        with watched(browser, width) as seen:
            seen.open((tmp_path / "page.html").as_uri())
            seen.page.locator("#lambda").press("End")
            for button in seen.page.get_by_role("group", name="Pick a client").get_by_role("button").all():
                button.click()
            assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert seen.console == []
