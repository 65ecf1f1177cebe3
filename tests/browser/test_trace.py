"""The view of a trace: stepping through it, by keyboard too, long traces, and one still being written."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import (
    OpenPage,
    Server,
    Watched,
    serving_double,
    violations,
)
from tests.browser.long_trace import long_trace
from tests.browser.test_views import NARROW, overflowing

QUESTION = "What is applemailbox2 in the Apple course?"
SEARCH = {"name": "search_course_content", "input": {"query": "applemailbox2"}}
OTHER = {"name": "search_course_content", "input": {"query": "what apples queue"}}
SECOND = {
    "name": "search_course_content",
    "input": {"query": "pearmailbox1", "course_name": "pear"},
}
TWO_ROUNDS = {
    "replies": [
        {"calls": [SEARCH, OTHER], "end_s": 0.3},
        {"status": 529, "error": "overloaded_error"},
        {"calls": [SECOND], "end_s": 0.1},
        {"text": "A mailbox is a queue of messages."},
    ],
    "then": "last",
}
MOST_GROWTH = 8
"""A trace with a hundred times the events may have this many times the elements on the page: events out of view are not
drawn one by one. The test prints the time but does not judge it, as it differs from machine to machine."""

# Times a step from the key press to the drawn frame and the task after it.
_STEPS = """async (count) => {
    const painted = () => new Promise((done) => requestAnimationFrame(() => {
        const after = new MessageChannel();
        after.port1.onmessage = done;
        after.port2.postMessage(null);
    }));
    const took = [];
    for (let step = 0; step < count; step += 1) {
        const from = performance.now();
        document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
        await painted();
        took.push(performance.now() - from);
    }
    return took;
}"""


def asked(server: Server, question: str = QUESTION) -> str:
    """Asks, and returns the trace's id."""
    body = {"query": question}
    reply = httpx2.post(f"{server.url}/api/query", json=body, timeout=60)
    query_id: str = reply.json()["query_id"]
    return query_id


def events_of(server: Server, query_id: str) -> list[dict[str, Any]]:
    """The trace's events."""
    trace = httpx2.get(f"{server.url}/api/traces/{query_id}", timeout=60).json()
    events: list[dict[str, Any]] = trace["events"]
    return events


def seq_of(server: Server, query_id: str, kind: str) -> int:
    """The number of the first event of a kind."""
    for recorded in events_of(server, query_id):
        if recorded["event"]["kind"] == kind:
            return int(recorded["seq"])
    raise LookupError(kind)


def at_event(page: Page, seq: int) -> None:
    """Waits until the page shows this event."""
    expect(page.locator(".around [aria-current] .event-seq")).to_have_text(str(seq))


@pytest.fixture(scope="module")
def two_rounds(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, str]]:
    """A service whose model called two tools at once, failed once, and called one more; with that query's trace."""
    folder = tmp_path_factory.mktemp("two-rounds")
    # A small token budget makes facts decay sooner.
    with serving_double(
        data_dir,
        folder,
        TWO_ROUNDS,
        "--allow-faults",
        ANTIPHON_BRIEFING_TOKENS="2600",
    ) as server:
        yield server, asked(server)


def test_the_timeline_shows_rounds_calls_at_once_early_tools_and_failures(
    two_rounds: tuple[Server, str], open_page: OpenPage
) -> None:
    server, query_id = two_rounds
    page = open_page(server).open(f"/traces/{query_id}")

    timeline = page.get_by_role("region", name="Timeline", exact=True)
    expect(timeline.locator(".bar.round")).to_have_count(3)
    expect(timeline.locator(".bar.call")).to_have_count(4)
    expect(timeline.locator(".bar.call.failed")).to_have_count(1)
    tools = timeline.locator(".bar.tool.early")
    expect(tools).to_have_count(3)
    boxes = tools.evaluate_all(
        "(all) => all.map((each) => ({x: each.x.baseVal.value, y: each.y.baseVal.value,"
        " width: each.width.baseVal.value}))"
    )
    first, second, third = boxes
    # The two parallel calls lie one below the other; the third begins after them.
    assert first["y"] < second["y"]
    assert second["x"] < first["x"] + first["width"]
    assert third["x"] > second["x"] + second["width"]
    expect(timeline.locator(".doubt").first).to_be_visible()
    expect(timeline.locator(".lane-names")).to_contain_text("dispatcher")
    expect(page.locator(".budget rect.took")).to_have_count(3)


def test_the_marks_of_a_reached_limit_and_of_a_recovery_cross_all_lanes(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    # The model asks for tools once more than it may, and fails on the next question.
    script = {
        "replies": [{"calls": [SEARCH]}, {"calls": [SECOND]}],
        "then": "fail",
    }
    with serving_double(data_dir, tmp_path, script) as server:
        body = {"query": QUESTION, "max_rounds": 1}
        limited = httpx2.post(f"{server.url}/api/query", json=body, timeout=60).json()
        found = {
            "breaker_tripped": limited["query_id"],
            "recovery_started": asked(server),
        }
        watched = open_page(server)
        # The page fetches the memory a moment after a step, when the service may have stopped already.
        watched.expected.append("ERR_")
        for kind, query_id in found.items():
            seq = seq_of(server, query_id, kind)
            page = watched.open(f"/traces/{query_id}/events/{seq}")

            # A line has no width, so Playwright never considers it visible.
            expect(page.locator(f".timeline .stop.{kind}")).not_to_have_count(0)
            expect(page.locator(".around .trouble[aria-current]")).to_be_visible()


def test_an_event_shows_its_causes_its_receivers_and_the_memory_at_that_time(
    two_rounds: tuple[Server, str], open_page: OpenPage
) -> None:
    server, query_id = two_rounds
    seq = seq_of(server, query_id, "context_synthesized")
    page = open_page(server).open(f"/traces/{query_id}/events/{seq}")

    card = page.locator(".event-card")
    expect(card.locator("h2")).to_have_text("context synthesized")
    expect(card.locator(".facts-list")).to_contain_text("applemailbox2")
    card.get_by_text("Details: causes").click()
    expect(card).to_contain_text("QueryCoordinator.on_context_synthesized")
    chain = card.get_by_role("list", name="What led to it, nearest first")
    expect(chain.get_by_role("link").first).to_contain_text("tools settled")
    expect(chain.get_by_role("link").last).to_have_text("1 query received")
    memory = page.get_by_role("region", name="Memory")
    expect(memory.locator(".fresh").first).to_contain_text("f1")
    memory.get_by_text("Tool usage").click()
    expect(memory).to_contain_text("Search: applemailbox2")
    # At that event only the first call had been prepared.
    briefing = page.get_by_role("region", name="Briefing")
    expect(briefing).to_contain_text("call-1")

    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    at_event(page, seq + 2)
    expect(briefing).to_contain_text("call-2")
    expect(briefing.locator(".change.came").first).to_contain_text("found in round 1")
    # An opened section stays open from step to step.
    expect(memory).to_contain_text("Search: applemailbox2")
    chain.get_by_role("link").last.click()
    at_event(page, 1)
    expect(page).to_have_url(re.compile("/events/1$"))
    page.go_back()
    at_event(page, seq + 2)


def test_a_trace_is_walked_through_by_keyboard_and_slider(
    two_rounds: tuple[Server, str], open_page: OpenPage
) -> None:
    server, query_id = two_rounds
    count = len(events_of(server, query_id))
    page = open_page(server).open(f"/traces/{query_id}/events/1")
    at_event(page, 1)

    for seq in range(2, count + 1):
        page.keyboard.press("ArrowRight")
        at_event(page, seq)
    page.keyboard.press("ArrowRight")
    at_event(page, count)
    page.keyboard.press("Home")
    at_event(page, 1)
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    at_event(page, count - 1)
    slider = page.get_by_role("slider", name="Event")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    at_event(page, count - 2)
    expect(slider).to_have_attribute(
        "aria-valuetext", re.compile(rf"{count - 2} of {count}, [a-z ]+")
    )
    page.get_by_role("button", name="Next event").press("Enter")
    at_event(page, count - 1)
    expect(page).to_have_url(re.compile(rf"/events/{count - 1}$"))
    page.reload()
    at_event(page, count - 1)


def test_a_click_on_the_timeline_selects_the_event_under_it(
    two_rounds: tuple[Server, str], open_page: OpenPage
) -> None:
    server, query_id = two_rounds
    page = open_page(server).open(f"/traces/{query_id}")

    # The click aims at the bar's beginning and is forced, because events and a doubt cover the rest of a short bar.
    failed = page.locator(".bar.call.failed")
    failed.hover(position={"x": 1, "y": 8}, force=True)
    expect(page.locator(".timeline-tip")).to_contain_text("reasoning started")
    failed.click(position={"x": 1, "y": 8}, force=True)
    expect(page.locator(".event-card h2")).to_have_text("reasoning started")
    page.get_by_role("button", name="Equal steps").click()
    page.get_by_role("button", name="Zoom in").click()
    page.locator(".bar.round").last.click()

    expect(page.locator(".event-card h2")).to_have_text("round opened")
    expect(page.locator(".about")).to_contain_text("coordinator")


def test_the_page_shows_the_exact_request(
    two_rounds: tuple[Server, str], open_page: OpenPage
) -> None:
    server, query_id = two_rounds
    seq = seq_of(server, query_id, "reasoning_started")
    page = open_page(server).open(f"/traces/{query_id}/events/{seq}")

    page.get_by_text("Details: causes").click()
    fields = page.locator(".fields")
    fields.locator("details").first.click()

    expect(fields.locator("pre").first).to_contain_text("applemailbox2")
    expect(page.get_by_role("link", name="exact reply")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_the_steps(
    scheme: str, two_rounds: tuple[Server, str], open_page: OpenPage
) -> None:
    server, query_id = two_rounds
    watched = open_page(server, color_scheme=scheme)
    found = []
    for seq in (1, seq_of(server, query_id, "briefing_prepared"), 20):
        page = watched.open(f"/traces/{query_id}/events/{seq}")
        expect(page.locator(".memory .layer").first).to_be_visible()
        found += violations(page)

    assert found == []


def test_the_steps_fit_a_narrow_screen(
    two_rounds: tuple[Server, str], open_page: OpenPage
) -> None:
    server, query_id = two_rounds
    watched = open_page(server, **NARROW)
    found = []
    for seq in (1, 19, 20):
        page = watched.open(f"/traces/{query_id}/events/{seq}")
        expect(page.locator(".memory .layer").first).to_be_visible()
        found += overflowing(page)

    assert found == []


def test_a_query_is_followed_while_it_runs(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    slow = {
        "replies": [
            {"calls": [SEARCH], "end_s": 1.5},
            # Long enough for a slow machine to open the page meanwhile.
            {"text": "A mailbox is a queue.", "end_s": 10.0},
        ]
    }
    with serving_double(data_dir, tmp_path, slow) as server:
        with httpx2.stream(
            "POST",
            f"{server.url}/api/query",
            json={"query": QUESTION},
            headers={"Accept": "text/event-stream"},
            timeout=60,
        ) as stream:
            lines = stream.iter_lines()
            started = next(line for line in lines if '"query_received"' in line)
            query_id = re.findall(r'"query_id":"([0-9a-f]+)"', started)[0]
            watched = open_page(server)
            # The page fetches the answer's details at the end, when the service may have stopped already.
            watched.expected.append("ERR_")
            page = watched.open(f"/traces/{query_id}")
            expect(page.locator(".outcome")).to_have_text("open, live")
            expect(page.locator(".bar.running").first).to_be_visible()
            assert list(lines)
        expect(page.locator(".outcome")).to_have_text("answered")
        expect(page.locator(".bar.running")).to_have_count(0)
        expect(page.locator(".step-place")).to_contain_text("of 2")


def test_the_page_draws_only_the_visible_part_of_a_trace_of_five_thousand_events(
    server: Server, open_page: OpenPage
) -> None:
    query_id = "long-trace"
    data = long_trace(events_of(server, asked(server)), 5_000, query_id)
    headers = {"Content-Type": "application/x-ndjson"}
    httpx2.post(
        f"{server.url}/api/traces/import", content=data, headers=headers, timeout=60
    ).raise_for_status()
    watched = open_page(server)

    short = _measured(watched, asked(server), 15)
    long = _measured(watched, query_id, 60)

    expect(watched.page.locator(".step-place")).to_contain_text("61 of 4,9")
    sys.stdout.write(f"short trace: {short}\nlong trace: {long}\n")
    assert long.elements <= MOST_GROWTH * short.elements


class Measured(NamedTuple):
    """The cost of a trace: elements on the page, and the best times, in milliseconds, of its first paint and a step."""

    elements: int
    paint_ms: float
    step_ms: float


def _measured(watched: Watched, query_id: str, steps: int) -> Measured:
    """Shows a trace three times, and walks through some of it."""
    paints: list[float] = []
    for _ in range(3):
        page = watched.open(f"/traces/{query_id}")
        expect(page.locator(".bar.call").first).to_be_visible()
        page.wait_for_timeout(300)
        paints.append(
            page.evaluate("performance.getEntriesByName('trace-painted')[0].startTime")
        )
    took: list[float] = page.evaluate(_STEPS, steps)
    elements = page.evaluate("document.querySelectorAll('*').length")
    return Measured(elements, round(min(paints)), round(min(took), 1))
