"""A key that the model's server refuses, as the person who set it sees that on the screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import (
    WIDE,
    OpenPage,
    Server,
    serving,
    violations,
    without_traces,
)
from tests.guarded import API_KEY
from tests.key_server import ANSWER, KeyServer, key_server

QUESTION = "What is applemailbox2 in the Apple course?"
REFUSED = "Key refused; the built-in reasoner answers"
AFTER_THE_END = "Failed to load resource"
"""The page keeps checking a refused key, even for a moment after a test has stopped its service."""
NARROW: ViewportSize = {"width": 390, "height": 844}


@contextmanager
def served_by(model: KeyServer, data_dir: Path, folder: Path) -> Iterator[Server]:
    """Runs the service with its model at this server."""
    with (
        key_server(model),
        serving(
            without_traces(data_dir, folder),
            folder,
            ANTHROPIC_BASE_URL=model.url,
            ANTIPHON_CITATIONS="native",
            ANTIPHON_MODEL="claude-x",
        ) as server,
    ):
        yield server


def said_in_the_viewport(page: Page) -> str:
    """The sentence about the key that a person can read without scrolling."""
    notice = page.locator(".intro .notice")
    expect(notice).to_be_visible()
    expect(notice).to_be_in_viewport(ratio=1)
    return notice.inner_text()


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_screen_shows_a_refused_key_and_the_remedy(
    viewport: ViewportSize, data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    # The service may still be checking the key when the page opens: the page must notice the result by itself.
    with served_by(KeyServer(), data_dir, tmp_path) as server:
        watched = open_page(server, viewport=viewport)
        watched.expected.append(AFTER_THE_END)
        page = watched.open()

        said = said_in_the_viewport(page)

        assert "The model's server refuses the key" in said
        assert "the built-in reasoner answers" in said
        assert "Check ANTHROPIC_API_KEY" in said
        expect(page.locator(".intro .notice code")).to_have_text("antiphon doctor")
        assert API_KEY not in page.content()
        expect(page.locator(".suggestions button").first).to_be_visible()
        assert violations(page) == []
        if viewport is WIDE:
            expect(page.locator("#reasoner")).to_have_text(REFUSED)
            expect(page.locator("#reasoner")).to_be_in_viewport(ratio=1)
            expect(page.locator("#reasoner .dot.refused")).to_be_visible()


def colour(page: Page) -> str:
    """The colour of the dot next to the model's name."""
    drawn = "(dot) => getComputedStyle(dot).backgroundColor"
    return str(page.locator("#reasoner .dot").evaluate(drawn))


def test_the_dot_is_green_for_a_key_that_is_accepted_and_for_no_other(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    # This server does not reveal that the key is bad until a question comes.
    model = KeyServer(lists_models=False)
    with served_by(model, data_dir, tmp_path) as server:
        watched = open_page(server)
        watched.expected.append(AFTER_THE_END)
        page = watched.open()
        said = page.locator("#reasoner")
        expect(said).to_have_text("claude-x, key not used yet")
        untried = colour(page)

        watched.ask(QUESTION)
        expect(said).to_have_text(REFUSED)
        refused = colour(page)
        page.reload()
        expect(page.locator(".answer-foot")).to_be_visible()
        expect(said).to_have_text(REFUSED)
        assert colour(page) == refused

        model.accepts = True
        watched.ask(QUESTION)
        expect(said).to_have_text("claude-x")
        accepted = colour(page)
        assert len({untried, refused, accepted}) == 3


def test_a_key_that_is_mended_and_refused_again_shows_without_a_reload(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    model = KeyServer()
    with served_by(model, data_dir, tmp_path) as server:
        watched = open_page(server)
        watched.expected.append(AFTER_THE_END)
        page = watched.open()
        expect(page.locator("#reasoner")).to_have_text(REFUSED)

        model.accepts = True
        watched.ask(QUESTION)

        expect(page.locator(".answer-text")).to_contain_text(ANSWER)
        expect(page.locator("#reasoner")).to_have_text("claude-x")
        page.locator("#new-chat").click()
        expect(page.locator(".suggestions button").first).to_be_visible()
        expect(page.locator(".intro .notice")).to_have_count(0)
        model.accepts = False
        watched.ask(QUESTION)
        expect(page.locator(".facts")).to_contain_text("built-in reasoner")
        expect(page.locator("#reasoner")).to_have_text(REFUSED)
        page.locator("#new-chat").click()
        assert "Check ANTHROPIC_API_KEY" in said_in_the_viewport(page)


def test_a_service_that_is_started_again_with_a_good_key_is_noticed(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    model = KeyServer()
    with key_server(model):
        settings = {"ANTHROPIC_BASE_URL": model.url, "ANTIPHON_MODEL": "claude-x"}
        own = without_traces(data_dir, tmp_path)
        with serving(own, tmp_path, **settings) as first:
            watched = open_page(first)
            watched.expected.append(AFTER_THE_END)
            page = watched.open()
            assert "refuses the key" in said_in_the_viewport(page)
            port = first.url.rpartition(":")[2]
        model.accepts = True
        with serving(own, tmp_path, "--port", port, **settings):
            expect(page.locator("#reasoner")).to_have_text("claude-x")
            expect(page.locator(".intro .notice")).to_have_count(0)
            expect(page.locator(".suggestions button")).not_to_have_count(0)
            assert re.search(r":\d+/$", page.url)
