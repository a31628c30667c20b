"""A real browser without a window. Where the machine has none, tests that need it are skipped, visibly."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason=f"no browser here ({', '.join(NAMES)})")
PATIENCE = 60_000
"""Milliseconds; a test fails for what it sees, not for how long it takes."""


@dataclass
class Watched:
    """A page, what it said on its console, and everything it asked for."""

    page: Page
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, address: str) -> None:
        """Until everything is drawn."""
        self.page.goto(address)
        self.page.wait_for_selector("html[data-drawn]", state="attached")


@contextmanager
def a_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def watched(browser: Browser, width: int = 1280, scheme: str = "light", *, script: bool = True) -> Iterator[Watched]:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        java_script_enabled=script,
    )
    try:
        seen = Watched(context.new_page())
        seen.page.set_default_timeout(PATIENCE)
        seen.page.on("console", lambda message: seen.console.append(f"{message.type}: {message.text}"))
        seen.page.on("pageerror", lambda error: seen.console.append(str(error)))
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        yield seen
    finally:
        context.close()
