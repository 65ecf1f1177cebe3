"""Takes the pictures of the pages in docs/screenshots: `python -m tests.browser.screenshots`."""

from __future__ import annotations

import io
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright
from rich.console import Console
from rich.text import Text

from tests.browser.conftest import (
    CHROMIUM,
    OPTIONS,
    WAIT_MS,
    Server,
    doubling,
    serving,
)
from tests.browser.test_trace import asked, seq_of
from tests.e2e.conftest import ROOT
from tests.e2e.processes import run
from tests.e2e.test_fault_proxy import SCRIPT as WEATHER
from tests.planted.answers import (
    PLANTED,
    calling,
    index_planted,
    planted_service,
)
from tests.planted.answers import ask as ask_planted

FOLDER = ROOT / "docs" / "screenshots"
WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 360, "height": 740}
COLOURS = 220
"""Colours in a picture: enough for the pages, at a third of the size."""

_FONT = re.compile(r"@font-face \{[^}]*\}")
"""A font from another host in rich's pictures: no page of ours loads one."""

QUESTION = (
    "Compare BM25 with embeddings and cosine similarity: what is each of them good at?"
)
WORKING: dict[str, Any] = {
    "replies": [
        {
            "calls": [
                {
                    "name": "search_course_content",
                    "input": {"query": "BM25 strengths and blind spots"},
                },
                {
                    "name": "search_course_content",
                    "input": {"query": "what cosine similarity compares"},
                },
            ],
            "end_s": 0.5,
        },
        {
            "calls": [
                {
                    "name": "search_course_content",
                    "input": {
                        "query": "when to combine both rankings",
                        "course_name": "Practical Information Retrieval",
                    },
                }
            ],
            "end_s": 0.5,
        },
        {
            "text": "BM25 compares exact terms, so it is strong where the very word matters: error codes, names, "
            "version numbers. It is blind to vocabulary: whoever asks for a car finds nothing about automobiles.\n\n"
            "Embeddings compare meanings. Cosine similarity looks at the angle between two vectors and ignores their "
            "lengths, so that paraphrases are found although no word is shared.",
            "between_s": 0.25,
            "delta_chars": 12,
        },
    ],
    "then": "last",
}


@contextmanager
def page_of(browser: Browser, url: str, **options: Any) -> Iterator[Page]:
    """Opens a page of the service."""
    context = browser.new_context(**{"viewport": WIDE, **options})
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(url)
    yield page
    context.close()


def ask(page: Page) -> None:
    """Asks the question and waits for its answer."""
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    page.locator(".answer-foot").wait_for()


def picture(page: Page, name: str, part: Locator | None = None) -> None:
    """Takes a picture of a page or a part of it, small enough for a repository."""
    page.wait_for_timeout(400)
    file = FOLDER / f"{name}.png"
    (part or page).screenshot(path=file)
    with Image.open(file) as taken:
        # The other methods drop colours of small areas: a bar of the timeline, a dot.
        method = Image.Quantize.MAXCOVERAGE
        small = taken.convert("RGB").quantize(COLOURS, method, kmeans=1)
    small.save(file, optimize=True)
    print(file.relative_to(ROOT), f"{file.stat().st_size / 1000:.0f} kB")  # noqa: T201


RECOVERED = {
    "replies": [
        WORKING["replies"][0],
        {"status": 529, "error": "overloaded_error"},
        WORKING["replies"][1],
        {"text": WORKING["replies"][2]["text"], "end_s": 0.4},
    ],
    "then": "offline",
}


def imported(server: Server) -> str:
    """Imports another program's recording; returns its id."""
    file = ROOT / "tests" / "data" / "foreign" / "pydantic-ai.json"
    headers = {"Content-Type": "application/json"}
    url = f"{server.url}/api/traces/import"
    reply = httpx2.post(url, content=file.read_bytes(), headers=headers, timeout=60)
    return str(reply.json()["query_id"])


def take_traces(browser: Browser, data_dir: Path, folder: Path) -> None:
    """Takes pictures of traces: a query that recovered in two rounds, and one that the built-in reasoner answered."""
    with (
        doubling(folder, RECOVERED) as address,
        serving(
            data_dir,
            folder,
            ANTHROPIC_BASE_URL=address,
            ANTIPHON_CITATIONS="native",
            ANTIPHON_MODEL="claude-sonnet-5-5",
        ) as server,
    ):
        recovered, cited = asked(server, QUESTION), asked(server, QUESTION)
        body = {"change": {"kind": "drop", "name": "f2"}, "mode": "remodel"}
        fork = httpx2.post(
            f"{server.url}/api/traces/{cited}/fork", json=body, timeout=60
        ).json()
        views = {
            "trace-recovered": (recovered, f"events/{seq_of(server, recovered, 'reasoning_retried')}"),
            "trace-two-rounds": (recovered, f"events/{seq_of(server, recovered, 'context_synthesized')}"),
            "trace-requests": (recovered, "requests/call-2"),
            "trace-retrieval": (cited, "retrieval"),
            "trace-lineage": (cited, "lineage/2"),
            "trace-diff": (cited, f"diff/{fork['query_id']}"),
            "imported-trace": (imported(server), "events/1"),
        }  # fmt: skip
        for name, (query_id, view) in views.items():
            with page_of(browser, f"{server.url}/traces/{query_id}/{view}") as page:
                page.locator(".trace-view .card").first.wait_for()
                picture(page, name)


def take_mcp(browser: Browser, data_dir: Path, folder: Path) -> None:
    """Takes a picture of a trace with a call to another server's tool."""
    zones = {"source_timezone": "Asia/Tokyo", "target_timezone": "Europe/Berlin"}
    call = {"name": "time__convert_time", "input": {**zones, "time": "16:00"}}
    script = {
        "replies": [
            {"calls": [call], "end_s": 0.4},
            {"text": "At 16:00 in Tokyo it is eight in the morning in Berlin.", "end_s": 0.6},
        ]
    }  # fmt: skip
    time_server = {"command": sys.executable, "args": ["-m", "mcp_server_time"]}
    file = folder / "server.json"
    file.write_text(json.dumps({"mcpServers": {"time": time_server}}))
    with (
        doubling(folder, script) as address,
        serving(
            data_dir,
            folder,
            ANTHROPIC_BASE_URL=address,
            ANTIPHON_CITATIONS="native",
            ANTIPHON_MODEL="claude-sonnet-5-5",
            ANTIPHON_MCP=str(file),
        ) as server,
    ):
        while httpx2.get(f"{server.url}/readyz").json()["warnings"]:
            time.sleep(0.2)
        query_id = asked(
            server,
            "The review of lesson 3 is at 16:00 in Tokyo: when is that in Berlin?",
        )
        view = f"events/{seq_of(server, query_id, 'tool_succeeded')}"
        with page_of(browser, f"{server.url}/traces/{query_id}/{view}") as page:
            page.locator(".trace-view .card").first.wait_for()
            picture(page, "trace-mcp-tool")


def take(browser: Browser, data_dir: Path, folder: Path) -> None:
    """Takes all pictures of the pages."""
    with serving(data_dir, folder) as server:
        with page_of(browser, server.url) as page:
            page.locator(".suggestions").wait_for()
            picture(page, "start")
            ask(page)
            page.locator(".mark").first.focus()
            page.get_by_role("tooltip").wait_for()
            picture(page, "answer")
        with page_of(browser, server.url, color_scheme="dark") as page:
            ask(page)
            page.locator(".scroller").evaluate(
                "(each) => each.scrollTo(0, each.scrollHeight)"
            )
            picture(page, "answer-dark")
        with page_of(browser, server.url, viewport=NARROW) as page:
            ask(page)
            page.locator(".scroller").evaluate(
                "(each) => each.scrollTo(0, each.scrollHeight)"
            )
            picture(page, "answer-narrow")
        with page_of(browser, f"{server.url}/courses") as page:
            page.locator(".course-card").first.wait_for()
            picture(page, "courses")
    with (
        doubling(folder, WORKING) as address,
        serving(
            data_dir,
            folder,
            ANTHROPIC_BASE_URL=address,
            ANTIPHON_CITATIONS="native",
            ANTIPHON_MODEL="claude-sonnet-5-5",
        ) as server,
        page_of(browser, server.url) as page,
    ):
        page.get_by_label("Your question").fill(QUESTION)
        page.keyboard.press("Enter")
        page.locator(".draft", has_text="Embeddings compare").wait_for()
        picture(page, "answering")
    with (
        serving(folder / "empty", folder) as server,
        page_of(browser, server.url) as page,
    ):
        page.locator(".first-steps").wait_for()
        picture(page, "first-start")


def take_what_went_wrong(browser: Browser, folder: Path) -> None:
    """Takes pictures of the suspects of a planted bad answer, and of the fault matrix."""
    indexed = folder / "indexed"
    indexed.mkdir(parents=True)
    index_planted(indexed)
    with planted_service(folder, indexed) as server, calling(server) as client:
        asked = ask_planted(client, PLANTED["a follow-up taken to the wrong topic"])
        with page_of(browser, f"{server.url}/traces/{asked.query_id}") as page:
            page.locator("a.suspect").first.wait_for()
            picture(page, "what-went-wrong")
        matrix = ("faults", "run", "--points", "tool.*,publish.*", "--keep")
        run(*matrix, data_dir=folder / "data", folder=folder)
        with page_of(browser, f"{server.url}/faults") as page:
            page.locator(".fault-cell").first.wait_for()
            picture(page, "faults")


def take_fault_proxy(browser: Browser, folder: Path) -> None:
    """Takes the fault proxy's verdict on a plain SDK loop, in terminal colours."""
    agent = [sys.executable, str(ROOT / "tests/e2e/agents/sdk_loop.py")]
    with doubling(folder, WEATHER) as url:
        tried = run(
            *("faults", "serve", "--upstream", url, "--limit", "20"),
            *("--expect", "30 degrees", "--", *agent),
            data_dir=folder,
            folder=folder,
            FORCE_COLOR="1",
        )
    screen = Console(record=True, width=130, file=io.StringIO())
    screen.print(
        "$ antiphon faults serve … --expect '30 degrees' -- python sdk_loop.py"
    )
    screen.print(Text.from_ansi(tried.stdout))
    page = browser.new_page()
    page.set_content(_FONT.sub("", screen.export_svg(title="antiphon faults serve")))
    picture(page, "fault-proxy", page.locator("svg"))


def main() -> None:
    """Indexes the sample courses in a temporary folder, and takes the pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        data_dir = folder / "data"
        run(
            "index", str(ROOT / "samples" / "courses"), data_dir=data_dir, folder=folder
        )
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        # First, because the next service to start would resume a query that was left unfinished.
        take_traces(browser, data_dir, folder)
        take_mcp(browser, data_dir, folder)
        take(browser, data_dir, folder)
        take_what_went_wrong(browser, folder / "planted")
        take_fault_proxy(browser, folder)
        browser.close()


if __name__ == "__main__":
    main()
