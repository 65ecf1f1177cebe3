"""The chats that the service keeps: finding, searching, renaming and deleting them in the sidebar; rating answers."""

from __future__ import annotations

import re

import httpx2
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, Server, violations
from tests.browser.on_screen import hidden_parts

APPLE = "What is applemailbox2 in the Apple course?"
PEAR = "What is pearmailbox15 in the Pear course?"
PEARS = "Where does the Pear course tell of pearmailbox3?"
NARROW = {"width": 360, "height": 740}


def asked(server: Server, question: str, session_id: str | None = None) -> str:
    """Asks over REST; returns the conversation."""
    body = {"query": question, "session_id": session_id}
    answer = httpx2.post(f"{server.url}/api/query", json=body, timeout=60).json()
    return str(answer["session_id"])


def titles(page: Page) -> list[str]:
    """The titles of the chats in the sidebar."""
    return page.locator("#recent-list .chat > a").all_inner_texts()


def test_chats_are_found_in_any_browser_and_searched(
    server: Server, open_page: OpenPage
) -> None:
    session = asked(server, APPLE)
    asked(server, PEAR)
    page = open_page(server).open()
    expect(page.locator(".chat").first).to_be_visible()

    page.get_by_label("Search chats").fill("applemail")

    expect(page.locator(".chat > a").filter(has_text="pear")).to_have_count(0)
    assert APPLE in titles(page)
    page.locator(f'.chat > a[href$="{session}"]').click()
    expect(page.locator(".question")).to_have_text(re.compile(re.escape(APPLE)))
    expect(page).to_have_title(f"{APPLE} · Antiphon")


def test_a_chat_is_renamed_and_deleted_and_other_tabs_follow(
    server: Server, open_page: OpenPage
) -> None:
    session = asked(server, PEARS)
    page = open_page(server).open(f"/conversations/{session}")
    other = page.context.new_page()
    other.goto(server.url)
    path = f'.chat:has(a[href$="{session}"])'
    expect(other.locator(path)).to_be_visible()

    page.locator(path).hover()
    page.get_by_role("button", name=f"Rename {PEARS}").click()
    page.get_by_label("Title of the chat").fill("All about pears")
    page.keyboard.press("Enter")

    for each in (page, other):
        expect(each.locator(f'.chat > a[href$="{session}"]')).to_have_text(
            "All about pears"
        )
    page.locator(path).hover()
    page.get_by_role("button", name="Delete All about pears").click()
    expect(
        page.get_by_text("Delete “All about pears” with its traces?")
    ).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Delete", exact=True).click()
    for each in (page, other):
        expect(each.locator(f'.chat > a[href$="{session}"]')).to_have_count(0)
    expect(page).to_have_url(f"{server.url}/")
    assert httpx2.get(f"{server.url}/api/conversations/{session}").status_code == 404


def test_a_long_conversation_shows_all_of_its_questions_step_by_step(
    server: Server, open_page: OpenPage
) -> None:
    session = asked(server, "What is applemailbox0?")
    for number in range(1, 34):
        asked(server, f"What is applemailbox{number}?", session)
    page = open_page(server).open(f"/conversations/{session}")
    expect(page.locator(".answer-foot")).to_have_count(30)

    earlier = page.get_by_role("button", name="Show earlier questions")
    earlier.scroll_into_view_if_needed()
    assert hidden_parts(earlier) == []
    first = page.locator(".question").first
    before = first.bounding_box()
    earlier.click()

    expect(page.locator(".question")).to_have_count(34)
    expect(page.locator(".answer-foot")).to_have_count(34)
    expect(page.locator(".question").first).to_contain_text("applemailbox0")
    expect(earlier).to_have_count(0)
    after = page.locator(".question").nth(4).bounding_box()
    assert before is not None
    assert after is not None
    # Loading earlier questions replaces the button with a question, and must not move the text that a person reads.
    assert abs(before["y"] - after["y"]) < 80


def test_an_answer_is_rated_with_a_note_that_a_reload_shows(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server, viewport=NARROW)
    page = watched.open()
    watched.ask(APPLE)
    down = page.get_by_role("button", name="Bad answer")
    down.click()
    expect(down).to_have_attribute("aria-pressed", "true")
    note = page.get_by_label("Note on the answer")
    expect(note).to_be_focused()
    page.keyboard.type("It names the wrong lesson.")
    page.keyboard.press("Enter")
    expect(page.locator(".note-said")).to_have_text("Saved.")
    assert hidden_parts(page.locator(".note-said")) == []
    assert violations(page) == []

    page.reload()

    expect(down).to_have_attribute("aria-pressed", "true")
    expect(note).to_have_value("It names the wrong lesson.")
    listed = httpx2.get(f"{server.url}/api/traces?feedback=down").json()["traces"]
    assert [trace["feedback"]["note"] for trace in listed] == [
        "It names the wrong lesson."
    ]
    down.click()
    expect(down).to_have_attribute("aria-pressed", "false")
    listed = httpx2.get(f"{server.url}/api/traces?feedback=any").json()["traces"]
    assert listed == []
