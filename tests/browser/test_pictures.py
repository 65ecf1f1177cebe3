"""Compares pictures of the pages, as a person sees them, with those in pictures/.

`RENEW_PICTURES=1 python -m pytest -n0 tests/browser/test_pictures.py` renews them. Look at each before you keep it.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import httpx2
import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Page, ViewportSize, expect

from antiphon.service import file_of_lines
from tests.browser.conftest import OpenPage, Server
from tests.e2e.processes import run
from tests.once import made_once
from tests.planted.answers import (
    PLANTED,
    Planted,
    ask,
    calling,
    cite,
    index_planted,
    planted_service,
    search,
)

FOLDER = Path(__file__).parent / "pictures"
LETTERS = FOLDER / "letters.json"
RENEWING = bool(os.environ.get("RENEW_PICTURES"))

SMALLER = 2
"""Pictures are stored at half their size: that evens out the edges of letters, which differ between machines."""
COLOURS = 220
FAR = 40
"""The distance, out of 255, from which a colour counts as different. A stored picture's palette alone causes 8."""
MOST_CHANGED = 0.001
"""The share of pixels that may change. Runs do not differ from each other; a citation card cut to two lines changes
0.03, a badge with a wrong class 0.01. If letters have other widths, the test skips (`check_letters`)."""

MEDIUM: ViewportSize = {"width": 1280, "height": 800}
LARGE: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 360, "height": 740}

CITED = (
    "A **consumer group** is a set of consumers that share the work of reading a topic."
)
REST = """

## What follows

- Each partition is read by *one* consumer of the group.
- Two groups read `orders` independently of each other.

| Consumers | Partitions | Idle |
|---|---|---|
| 2 | 6 | 0 |
| 8 | 6 | 2 |

```python
consumer.subscribe(["orders"])
```
"""
COMPARISON = "set-0123456789abcdef"
QUESTION = "What is a consumer group, and when is a consumer idle?"
SUSPECTED = "a citation to the wrong fact"
ASKED = {
    SUSPECTED: PLANTED[SUSPECTED],
    "pictured": Planted(
        QUESTION,
        (search("consumer group of a topic"), cite(CITED, 0, then=REST)),
        lambda _: False,
    ),
}

# Durations, times and ids differ from run to run: the pictures show fixed ones.
_AS_ALWAYS = r"""() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { currentNode: node } = walker;
        node.data = node.data
            .replace(/\b\d+(\.\d+)? (ms|s)\b/g, "1.0 s")
            .replace(/\b(\d+ \w{3} \d{4}, )?\d\d:\d\d\b/g, "12:00")
            .replace(/\b[0-9a-f]{8,}\b/g, "0123abcd");
    }
}"""
# Measures words in each font of the pages: other widths than in the pictures mean other fonts.
_WIDTHS = """() => ["400 16px", "650 24px", "400 14px"].flatMap((font) =>
    [getComputedStyle(document.body).fontFamily, "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"].map(
        (family) => {
            const context = document.createElement("canvas").getContext("2d");
            context.font = `${font} ${family}`;
            return Math.round(context.measureText("Hamburgefonstiv, 0123456789").width);
        }))"""


class Opened(NamedTuple):
    """The service and ids that the pictures need."""

    server: Server
    trace: str
    conversation: str


class Picture(NamedTuple):
    """A view in a state.

    Attributes:
        path: The page's path; a name in braces is a field of `Opened`.
        shown: A selector that appears once the view is complete.
        act: A person's actions before the picture.
    """

    size: ViewportSize
    scheme: str
    path: str
    shown: str
    act: Callable[[Page], object] = lambda _: None


def card(page: Page) -> None:
    page.locator(".mark").first.focus()
    expect(page.get_by_role("tooltip")).to_contain_text("consumer group")


def how(page: Page) -> None:
    page.get_by_text("How it was worked out").click()
    page.locator(".step").first.wait_for()
    page.locator(".scroller").evaluate("(each) => each.scrollTo(0, 0)")


def menu(page: Page) -> None:
    page.get_by_role("button", name="Menu", exact=True).click()
    expect(page.locator("#recent-list li").first).to_be_visible()


def what_changed(page: Page) -> None:
    page.get_by_text("What changed, sentence by sentence").click()
    page.locator("main").evaluate("(main) => main.scrollTo(0, main.scrollHeight)")


def without_plots(page: Page) -> None:
    # The plots reach from the imported trace to today, so they look different every day.
    page.get_by_text("Quality and cost over time").click()


def suspect(page: Page) -> None:
    page.locator("a.suspect").first.click()
    page.locator(".suspect[aria-current]").wait_for()


READ = "/read?" + urlencode(
    {
        "course": "Event-Driven Systems from First Principles",
        "lesson": 2,
        "words": CITED.replace("*", ""),
    }
)
VIEWS = {
    "ask": Picture(MEDIUM, "light", "/", ".suggestions"),
    "card": Picture(LARGE, "light", "/conversations/{conversation}", ".answer-foot", card),
    "answer": Picture(MEDIUM, "dark", "/conversations/{conversation}", ".answer-foot", how),
    "answer-phone": Picture(PHONE, "light", "/conversations/{conversation}", ".answer-foot"),
    "chats-phone": Picture(PHONE, "dark", "/", ".suggestions", menu),
    "suspect": Picture(MEDIUM, "light", "/traces/{trace}", "a.suspect", suspect),
    "suspect-phone": Picture(PHONE, "light", "/traces/{trace}", "a.suspect"),
    "timeline": Picture(LARGE, "dark", "/traces/{trace}/events/4", ".event-card"),
    "request": Picture(MEDIUM, "dark", "/traces/{trace}/requests/call-2", ".request"),
    "traces": Picture(MEDIUM, "light", "/traces", ".trace-question", without_plots),
    "reader": Picture(MEDIUM, "dark", READ, ".passage-text"),
    "search": Picture(LARGE, "light", "/search?q=consumer+group", ".result"),
    "quality": Picture(LARGE, "light", f"/quality/{COMPARISON}", "main .answer-text"),
    "quality-phone": Picture(PHONE, "dark", f"/quality/{COMPARISON}", "main .answer-text", what_changed),
    "courses": Picture(MEDIUM, "light", "/courses", ".course-card"),
    "faults": Picture(LARGE, "dark", "/faults", ".fault-cell"),
}  # fmt: skip


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """The service, with a conversation and a trace that have the same times on every machine."""
    indexed = made_once(tmp_path_factory, "planted", index_planted)
    folder = tmp_path_factory.mktemp("pictured")
    with planted_service(folder, indexed, ASKED) as server, calling(server) as client:
        faults = ("faults", "run", "--points", "tool.*", "--keep")
        run(*faults, data_dir=folder / "data", folder=folder)
        asked = ask(client, ASKED["pictured"])
        trace = imported(client, in_usual_order(client))
        compare(client, asked.query_id)
        yield Opened(server, trace, asked.session_id)


def in_usual_order(client: httpx2.Client) -> list[dict[str, Any]]:
    """Returns a trace in which no tool happens to start while the model still writes its call."""
    for _ in range(50):
        asked = ask(client, ASKED[SUSPECTED])
        kinds = [each["event"]["kind"] for each in asked.events]
        if ("tool_call_streamed", "tool_requested") not in pairwise(kinds):
            return asked.events
        assert client.delete(f"/api/conversations/{asked.session_id}").is_success
    pytest.skip("PICTURES ARE NOT COMPARED: tools start early each time")


def imported(client: httpx2.Client, events: list[dict[str, Any]]) -> str:
    """Imports a trace with fixed times and a fixed id; returns the id."""
    query_id = "0123456789abcdef0123456789abcdef"
    lines = [
        json.dumps(
            each | {"query_id": query_id, "at": 1.7e9 + each["seq"] / 20}
        ).encode()
        for each in events
    ]
    file = file_of_lines(query_id, lines)
    reply = client.post(
        "/api/traces/import",
        content=file,
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert reply.is_success, reply.text
    return query_id


def compare(client: httpx2.Client, query_id: str) -> None:
    """Runs a query again without a tool, and stores both answers as a comparison."""
    right = {"max_rounds": "0"}
    change = [{"kind": "setting", "name": name, "value": right[name]} for name in right]
    body = {"at": 1, "change": change, "mode": "live"}
    fork = client.post(f"/api/traces/{query_id}/fork", json=body)
    question = {
        "question": QUESTION,
        "left": query_id,
        "right": fork.json()["query_id"],
        "verdict": "left",
    }
    kept = client.put(
        f"/api/question-sets/{COMPARISON}",
        json={
            "name": "Consumers",
            "questions": [question],
            "comparison": {"of": "set-00", "left": {}, "right": right},
        },
    )
    assert kept.is_success, kept.text


def taken(page: Page) -> Image.Image:
    """The page at half its size, once nothing moves any more."""
    page.wait_for_load_state("networkidle")
    page.evaluate(_AS_ALWAYS)
    before = b""
    for _ in range(20):
        shot = page.screenshot(animations="disabled", caret="hide")
        if shot == before:
            break
        before = shot
        page.wait_for_timeout(100)
    return Image.open(io.BytesIO(shot)).convert("RGB").reduce(SMALLER)


def changed(one: Image.Image, other: Image.Image) -> float:
    """The share of pixels with a different colour."""
    if one.size != other.size:
        return 1.0
    bands = ImageChops.difference(one, other).split()
    furthest = ImageChops.lighter(ImageChops.lighter(bands[0], bands[1]), bands[2])
    far = sum(furthest.histogram()[FAR:])
    return far / (one.width * one.height)


def check_letters(page: Page) -> None:
    """Skips if the fonts are not those of the pictures: every line would break elsewhere."""
    widths = page.evaluate(_WIDTHS)
    if RENEWING:
        LETTERS.write_text(json.dumps(widths) + "\n")
    if widths != json.loads(LETTERS.read_text()):
        pytest.skip("PICTURES ARE NOT COMPARED: install fonts-dejavu and no other font")


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_looks_as_in_its_picture(
    name: str, opened: Opened, open_page: OpenPage, tmp_path: Path
) -> None:
    view = VIEWS[name]
    watched = open_page(opened.server, view.size, color_scheme=view.scheme)
    page = watched.open(view.path.format_map(opened._asdict()))
    check_letters(page)
    page.locator(view.shown).first.wait_for()
    view.act(page)

    seen = taken(page)
    file = FOLDER / f"{name}.png"
    if RENEWING:
        seen.quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(file, optimize=True)
    share = changed(seen, Image.open(file).convert("RGB"))

    seen.save(tmp_path / file.name)
    print(f"{name}: {share:.5f} changed", file=sys.stderr)  # noqa: T201
    assert share <= MOST_CHANGED, f"it looks like {tmp_path / file.name} now"


def test_a_quotation_of_an_answer_shows_no_markdown_characters(
    opened: Opened, open_page: OpenPage
) -> None:
    page = open_page(opened.server).open(f"/conversations/{opened.conversation}")
    doubts = page.locator(".doubts li")
    expect(doubts).to_contain_text(
        ["“A consumer group is", "“Consumers · Partitions · Idle"]
    )
    page.get_by_role("link", name="Trace", exact=True).click()
    page.get_by_role("link", name="Lineage").click()
    sentences = page.locator(".answer-sentence")

    expect(sentences).to_contain_text(
        [
            "A consumer group is a set",
            "What follows",
            "Each partition is read by one consumer",
            "Two groups read orders independently",
            "Consumers · Partitions · Idle\n2 · 6 · 0\n8 · 6 · 2",
            'consumer.subscribe(["orders"])',
        ]
    )
    words = "".join(sentences.all_inner_texts() + doubts.all_inner_texts())
    assert not set(words) & set("*#|`")
