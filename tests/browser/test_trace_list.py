"""The list of traces over time: its plots and their table describe the traces that the filters select."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.feedback import Feedback
from antiphon.vocabulary.values import Usage
from tests.browser.conftest import OpenPage, Server, violations
from tests.browser.test_views import NARROW, overflowing
from tests.e2e.conftest import serving, without_traces
from tests.story import answered, placed

HOUR = 3_600
HOURS = 40
FIRST = time.time() // HOUR * HOUR - (HOURS + 5) * HOUR
"""Recent, because the service deletes traces that are a month old."""
CONFIDENCES = ("high", "medium", "low")


async def _fill(folder: Path) -> None:
    """Stores three queries in each hour, with fewer and fewer confident ones; the last one has a rating."""
    store = SqliteTraceStore.open(folder)
    for number in range(3 * HOURS):
        query_id, at = f"q{number}", FIRST + number // 3 * HOUR + number % 3
        first, *others, answer, end = answered(f"Question {number}?", "An answer.")
        usage = Usage(input_tokens=900, output_tokens=100, cost_usd=number / 1000)
        confidence = CONFIDENCES[min(number % 3, number // 40)]
        judged = replace(answer, confidence=confidence, usage=usage)
        events = placed(query_id, [first, *others, judged, end], at=at)
        await store.append(query_id, 0, events)
    await store.annotations.set_feedback(query_id, Feedback(rating="down", at=at))
    await store.close()


@pytest.fixture(scope="module")
def listed(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A service with queries over forty hours."""
    folder = tmp_path_factory.mktemp("listed")
    data = without_traces(data_dir, folder)
    # In another thread, because the browser's event loop runs in this one.
    with ThreadPoolExecutor() as threads:
        threads.submit(asyncio.run, _fill(data)).result()
    with serving(data, folder) as running:
        yield running


def test_the_plots_show_what_the_filters_select_and_a_bar_selects_its_time(
    listed: Server, open_page: OpenPage
) -> None:
    watched = open_page(listed)
    asked_for: list[str] = []
    watched.page.on("request", lambda request: asked_for.append(request.url))
    page = watched.open("/traces")
    plots = page.locator(".plot")
    lines = page.locator(".trace-question")

    expect(plots).to_have_count(6)
    assert plots.nth(0).locator("g").count() == HOURS
    expect(page.get_by_role("img", name=re.compile("^Questions: 120,"))).to_be_visible()
    expect(
        page.get_by_role("img", name=re.compile("^Confidence: 55% high"))
    ).to_be_visible()
    page.get_by_label("Any confidence").select_option("low")
    expect(page.get_by_role("img", name=re.compile("^Questions: 14,"))).to_be_visible()
    page.get_by_label("Any confidence").select_option("")
    expect(page.get_by_role("img", name=re.compile("^Questions: 120,"))).to_be_visible()
    plots.nth(0).locator("g").nth(3).click()
    expect(lines).to_have_count(3)
    expect(lines).to_contain_text(["Question 11?", "Question 10?", "Question 9?"])
    expect(page.get_by_label("Any time")).to_contain_text(
        re.compile(r"\d\d:00 to .*\d\d:00")
    )
    assert f"since={int(FIRST) + 3 * HOUR}" in page.url
    page.reload()
    expect(lines).to_have_count(3)
    page.get_by_label("Any time").select_option("")
    expect(page.get_by_role("img", name=re.compile("^Questions: 120,"))).to_be_visible()
    assert not any("openapi" in url for url in asked_for)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_by_keyboard_the_same_values_are_read_in_a_table_and_select_their_time(
    scheme: str, listed: Server, open_page: OpenPage
) -> None:
    page = open_page(listed, color_scheme=scheme).open("/traces")
    expect(page.locator(".plot")).to_have_count(6)

    page.get_by_text("The values as a table").focus()
    page.keyboard.press("Enter")
    values = page.get_by_role("region", name="Values over time")
    last = values.locator("tbody tr").first
    expect(values.locator("tbody tr")).to_have_count(HOURS)
    cells = last.locator("td").all_inner_texts()
    assert cells == ["3", "1", "1", "1", "0", "1", "$0.35", "3K", "2.0 s", "2.0 s"]
    assert violations(page) == []
    last.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".trace-question")).to_have_count(3)


def test_closed_plots_stay_closed_and_the_plots_fit_a_narrow_screen(
    listed: Server, open_page: OpenPage
) -> None:
    page = open_page(listed, **NARROW).open("/traces")
    heading = page.get_by_text("Quality and cost over time")

    # On a phone the list comes first.
    expect(page.locator(".trace-question").first).to_be_visible()
    expect(page.locator(".plot")).to_have_count(0)
    heading.click()
    expect(page.locator(".plot").first).to_be_visible()
    assert overflowing(page) == []
    page.reload()
    expect(page.locator(".plot").first).to_be_visible()
    heading.click()
    page.reload()
    expect(heading).to_be_visible()
    expect(page.locator(".plot")).to_have_count(0)
