"""A person's actions on a finished answer: tapping its marks, copying it, editing its question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.conftest import (
    WIDE,
    OpenPage,
    Server,
    Watched,
    serving_double,
)
from tests.browser.on_screen import hidden_parts

QUESTION = "What is applemailbox2 in the Apple course?"
PHONE: ViewportSize = {"width": 360, "height": 740}
CODE = "def f(x):\n    return x ** 2\n"
WITH_CODE = {"replies": [{"text": f"So it is:\n\n```python\n{CODE}```\n"}]}


@pytest.fixture
def touched(browser: Browser, server: Server) -> Iterator[Page]:
    """A phone's screen with an answer on it; links to other hosts load nothing."""
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    context.route(
        lambda url: not url.startswith(server.url), lambda route: route.abort()
    )
    watched = Watched(context.new_page(), server.url)
    page = watched.open()
    watched.ask(QUESTION)
    expect(page.locator(".answer-foot")).to_be_visible()
    yield page
    context.close()
    assert watched.unexpected() == []


def test_the_first_tap_on_a_mark_shows_the_passage_and_the_second_opens_the_lesson(
    touched: Page,
) -> None:
    card = touched.get_by_role("tooltip")
    address = touched.url
    marks = touched.locator("a.mark[target]")
    expect(marks.first).to_be_visible()

    for mark in marks.all():
        # In the middle of the screen the card has the least room above and below the mark.
        mark.evaluate("(mark) => mark.scrollIntoView({block: 'center'})")
        mark.tap()
        # The card loads the words around the citation a moment later.
        expect(card.locator("blockquote")).to_contain_text("It is called")
        assert hidden_parts(card) == []
        assert touched.url == address
        assert len(touched.context.pages) == 1
        with touched.context.expect_page() as opened:
            mark.tap()
        opened.value.close()
        touched.locator("#composer-hint").dispatch_event("pointerdown")
        expect(card).to_have_count(0)


def test_an_answer_and_its_code_are_copied(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    with serving_double(data_dir, tmp_path, WITH_CODE) as server:
        watched = open_page(server, viewport=PHONE)
        page = watched.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        watched.open()
        watched.ask("How is it written?")
        code = page.locator(".copy-code")
        expect(code).to_have_text("Copy")

        code.click()

        expect(code).to_have_text("Copied")
        assert hidden_parts(code) == []
        assert page.evaluate("navigator.clipboard.readText()") == CODE
        expect(code).to_have_text("Copy")
        page.locator(".answer-foot").get_by_text("Copy").click()
        expect(page.locator(".answer-foot")).to_contain_text("Copied")
        assert CODE in page.evaluate("navigator.clipboard.readText()")


def test_a_copy_that_fails_says_so_and_what_to_do(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server, viewport=PHONE)
    # Browsers give pages no clipboard over plain HTTP from another machine.
    watched.page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined})"
    )
    page = watched.open()
    watched.ask(QUESTION)
    copy = page.locator(".answer-foot > .row button").first
    expect(copy).to_have_text("Copy")

    copy.click()

    expect(copy).to_have_text("Not copied")
    assert hidden_parts(copy) == []
    expect(page.locator("#status")).to_contain_text("Select the text and copy it")
    expect(copy).to_have_text("Copy")


def test_escape_while_editing_a_question_restores_the_typed_text(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    page = watched.open()
    watched.ask(QUESTION)
    edit = page.get_by_role("button", name="Edit")
    expect(edit).to_be_visible()
    box = page.get_by_label("Your question")
    box.fill("Half a thou")

    edit.click()
    expect(box).to_have_value(QUESTION)
    page.keyboard.type(" And why?")
    edit.click()
    page.keyboard.press("Escape")
    expect(box).to_have_value("Half a thou")
    # Nothing is left to bring back.
    page.keyboard.type("ght")
    page.keyboard.press("Escape")
    expect(box).to_have_value("Half a thought")

    edit.click()
    page.keyboard.press("Enter")
    asked = re.compile(re.escape(QUESTION))
    expect(page.locator(".question")).to_have_text([asked])
    expect(page.locator(".versions")).to_contain_text("2/2")
    page.keyboard.press("Escape")
    expect(box).to_have_value("")


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_an_answers_actions_and_thumbs_share_one_line(
    viewport: ViewportSize, server: Server, open_page: OpenPage
) -> None:
    asked = httpx2.post(f"{server.url}/api/query", json={"query": QUESTION})
    path = f"/conversations/{asked.json()['session_id']}"
    page = open_page(server, viewport=viewport).open(path)
    actions = page.locator(".answer-foot > .row:first-child > *")
    expect(actions).to_have_count(6)

    actions.last.scroll_into_view_if_needed()

    tops = "(all) => all.map((each) => each.getBoundingClientRect().top)"
    assert len(set(actions.evaluate_all(tops))) == 1
    expect(actions.last).to_be_in_viewport(ratio=1)
