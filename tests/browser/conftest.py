"""A real browser on the real service: a console error, a CSP report or a request to another host fails the test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Dialog,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.e2e.conftest import (
    Server,
    Shell,
    data_dir,
    serving,
    shell,
    without_traces,
)
from tests.e2e.processes import doubling

__all__ = [
    "Server",
    "Shell",
    "data_dir",
    "doubling",
    "serving",
    "shell",
    "without_traces",
]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WAIT_MS = 20_000
WIDE: ViewportSize = {"width": 1280, "height": 800}
IN_CI = bool(os.environ.get("CI"))

# Browsers word CSP reports on the console differently, so the page logs each in our own words.
_TELL_OF_REPORTS = """
addEventListener("securitypolicyviolation", (event) =>
  console.error("POLICY", event.violatedDirective, event.blockedURI, event.sourceFile));
"""

# Without `resultTypes` axe-core also describes, element by element, everything that passes.
_AXE = """async () =>
  (await axe.run(document, {resultTypes: ["violations"]})).violations"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips the tests that need a browser if there is none, and says so; in CI there must be one."""
    if CHROMIUM or IN_CI:
        return
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(
                pytest.mark.skip(
                    reason="NO BROWSER: install chromium (Debian: apt-get install chromium)"
                )
            )


class Watched:
    """A page of the browser, and all its complaints.

    Attributes:
        expected: Parts of complaints that the test causes on purpose, such as a request that must fail.
    """

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        self.origin = origin
        self.complaints: list[str] = []
        self.expected: list[str] = []
        page.set_default_timeout(WAIT_MS)
        page.add_init_script(_TELL_OF_REPORTS)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", self._refuse)
        page.on("request", lambda request: self._check(request.url))

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _refuse(self, dialog: Dialog) -> None:
        # Our pages open no dialogs, so one can only come from hostile text that acts.
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _check(self, url: str) -> None:
        parts = urlsplit(url)
        if (
            parts.scheme in ("http", "https")
            and f"{parts.scheme}://{parts.netloc}" != self.origin
        ):
            self.complaints.append(f"request to {url}")

    def unexpected(self) -> list[str]:
        """The complaints that the test did not expect."""
        return [
            each
            for each in self.complaints
            if not any(part in each for part in self.expected)
        ]

    def open(self, path: str = "/") -> Page:
        """Opens a page of the service."""
        self.page.goto(f"{self.origin}{path}")
        return self.page

    def ask(self, question: str) -> None:
        """Asks through the page, as a person does."""
        self.page.get_by_label("Your question").fill(question)
        self.page.keyboard.press("Enter")


class Contexts:
    """A pool of browser contexts for one test after another: making a new one costs a second of CPU time.

    A context that a test takes holds no trace of earlier tests. In each a blank page stays open, to keep its process.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: list[BrowserContext] = []

    def take(self) -> BrowserContext:
        """Returns a context that no other test holds."""
        if self._free:
            return self._free.pop()
        context = self._browser.new_context()
        context.new_page()
        return context

    def give_back(self, context: BrowserContext, origin: str) -> None:
        """Takes back a context, whose pages were all of this origin, and empties it."""
        blank, *used = context.pages
        for page in used:
            page.close()
        context.set_offline(False)
        context.clear_permissions()
        context.clear_cookies()
        devtools = context.new_cdp_session(blank)
        everything = {"origin": origin, "storageTypes": "all"}
        devtools.send("Storage.clearDataForOrigin", everything)
        devtools.send("Network.clearBrowserCache")
        devtools.detach()
        self._free.append(context)


OpenPage = Callable[..., Watched]


@pytest.fixture(scope="module")
def contexts(browser: Browser) -> Contexts:
    """The contexts of one file's browser; they close with it."""
    return Contexts(browser)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for one file of tests: its event loop would disturb the tests of other files."""
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield started
        started.close()


@pytest.fixture
def open_page(contexts: Contexts) -> Iterator[OpenPage]:
    """Opens watched pages; afterwards none may have complained."""
    opened: list[tuple[Watched, BrowserContext]] = []

    def opening(server: Server, viewport: ViewportSize = WIDE, **media: Any) -> Watched:
        context = contexts.take()
        page = context.new_page()
        page.set_viewport_size(viewport)
        page.emulate_media(**media)
        watched = Watched(page, server.url)
        opened.append((watched, context))
        return watched

    yield opening
    for watched, context in opened:
        contexts.give_back(context, watched.origin)
        assert watched.unexpected() == []


@pytest.fixture(scope="module")
def server(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The service with two courses and no key for a model."""
    folder = tmp_path_factory.mktemp("browser")
    with serving(without_traces(data_dir, folder), folder) as running:
        yield running


@contextmanager
def serving_double(
    data_dir: Path,
    folder: Path,
    script: object,
    *options: str,
    **environment: str,
) -> Generator[Server, None, None]:
    """The service with a model that follows a script."""
    with (
        doubling(folder, script) as address,
        serving(
            without_traces(data_dir, folder),
            folder,
            *options,
            ANTHROPIC_BASE_URL=address,
            ANTIPHON_CITATIONS="native",
            **environment,
        ) as running,
    ):
        yield running


def violations(page: Page) -> list[str]:
    """The serious findings of axe-core, each with its rule and element."""
    if not AXE.exists() and not IN_CI:
        pytest.skip("NO axe-core: run `npm ci --prefix tests/browser`")
    page.evaluate(AXE.read_text())
    found = page.evaluate(_AXE)
    return [
        f"{each['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
