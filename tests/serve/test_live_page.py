"""The live page in a browser: it takes over what is new, and its reader keeps the place."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from superfed.report.numbers import percent
from superfed.serve.server import Server
from superfed.store.files import read_json, write_json
from support.browser import a_browser, needs_browser, watched

pytestmark = needs_browser


@pytest.fixture
def served(tmp_path: Path, experiment: Path) -> Iterator[tuple[Path, Server]]:
    """Seed 1 of SuPerFed has no results yet."""
    for path in experiment.rglob("*"):
        if path.is_file() and "checkpoints" not in path.parts:
            copy = tmp_path / "runs" / "trial" / path.relative_to(experiment)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    summary = tmp_path / "runs" / "trial" / "superfed-mm-seed1" / "summary.json"
    summary.rename(summary.with_suffix(".later"))
    with Server(tmp_path / "runs", "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield tmp_path / "runs" / "trial", server
        server.shutdown()
        thread.join()


def test_news_come_in_without_losing_the_readers_place(served: tuple[Path, Server]) -> None:
    folder, server = served
    with a_browser() as browser, watched(browser) as seen:
        page = seen.page
        page.goto(server.address)
        page.get_by_role("link", name="trial").click()
        page.wait_for_selector("html[data-drawn]", state="attached")
        assert page.locator("#under-way tbody tr").count() == 1
        page.locator("#lambda").press("End")
        page.fill("#client", "4")
        page.keyboard.press("Enter")
        page.select_option("#reading", "oracle")
        page.locator("#explorer summary").click()
        page.locator("#lambda").focus()
        place = page.evaluate("scrollY")
        before = page.get_attribute("html", "data-drawn")

        late = folder / "superfed-mm-seed1" / "summary.later"
        late.rename(late.with_suffix(".json"))
        page.locator(f"html:not([data-drawn='{before}'])").wait_for(state="attached")

        assert page.locator("#under-way").count() == 0
        assert page.inner_text("output[for=lambda]") == "1"
        assert page.input_value("#client") == "4"
        assert page.input_value("#reading") == "oracle"
        assert page.locator("#explorer details[open]").count() == 1
        assert page.evaluate("document.activeElement.id") == "lambda"
        assert abs(page.evaluate("scrollY") - place) < 400  # the list of runs above is gone
        means = [
            point["top1"]["mean"]
            for seed in (0, 1)
            for point in read_json(folder / f"superfed-mm-seed{seed}" / "summary.json")["by_lambda"]
            if point["lam"] == 1
        ]
        assert page.inner_text(".panel .reading").startswith(f"{percent(sum(means) / 2)} %")
        page.locator("#live", has_text="Every run").wait_for()

        info = read_json(folder / "fedavg-seed0" / "run.json")
        write_json(folder / "fedavg-seed0" / "run.json", info | {"title": "<img src=x onerror=alert(1)>"})
        os.utime(folder / "fedavg-seed0" / "run.json")
        page.locator("#summary", has_text="onerror").wait_for()
        assert page.locator("main img").count() == 0
        assert seen.console == []
        assert all(address.startswith(server.address) for address in seen.requests)
