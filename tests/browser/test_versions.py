"""Versions of a question: edited or asked again in place, switched by keyboard, kept, and in step across tabs."""

from __future__ import annotations

import httpx2
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, Server, violations
from tests.browser.on_screen import hidden_parts

APPLE = "What is applemailbox2 in the Apple course?"
PEAR = "What is pearmailbox15 in the Pear course?"
AFTER = "What did I ask first?"
PHONE = {"width": 360, "height": 740}


def shown(page: Page, *questions: str) -> None:
    """Waits until the page shows exactly these questions, each with its answer."""
    expect(page.locator(".question p")).to_have_text(list(questions))
    expect(page.locator(".answer-foot")).to_have_count(len(questions))


def edited(page: Page, at: int, question: str) -> None:
    page.get_by_role("button", name="Edit").nth(at).click()
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")


def told(server: Server, question: str) -> list[str]:
    """The earlier questions that the newest query with this question received."""
    listed = httpx2.get(f"{server.url}/api/traces", params={"text": question})
    newest = listed.json()["traces"][0]["query_id"]
    trace = httpx2.get(f"{server.url}/api/traces/{newest}").json()
    return [each["question"] for each in trace["events"][0]["event"]["history"]]


def test_an_edited_question_is_a_version_beside_the_first_and_each_goes_on_by_itself(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server, viewport=PHONE)
    page = watched.open()
    watched.ask(APPLE)
    shown(page, APPLE)
    switch = page.get_by_role("group", name="Versions of this question")
    expect(switch).to_have_count(0)
    page.get_by_role("button", name="Edit").click()
    hint = page.locator("#composer-hint")
    expect(hint).to_contain_text("in place of the question above")
    assert hidden_parts(hint) == []

    edited(page, 0, PEAR)

    shown(page, PEAR)
    expect(switch).to_contain_text("2/2")
    assert hidden_parts(switch.locator("span").first) == []
    expect(page.get_by_role("button", name="Next version")).to_be_disabled()
    assert violations(page) == []
    watched.ask(AFTER)
    shown(page, PEAR, AFTER)
    assert told(server, AFTER) == [PEAR]

    page.get_by_role("button", name="Previous version").focus()
    page.keyboard.press("Enter")

    shown(page, APPLE)
    expect(switch).to_contain_text("1/2")
    expect(page.get_by_role("button", name="Next version")).to_be_focused()
    expect(page.locator("#status")).to_have_text("Version 1 of 2.")
    page.reload()
    shown(page, APPLE)
    watched.ask(AFTER)
    shown(page, APPLE, AFTER)
    assert told(server, AFTER) == [APPLE]
    page.reload()
    shown(page, APPLE, AFTER)
    page.get_by_role("button", name="Next version").click()
    shown(page, PEAR, AFTER)
    expect(switch).to_have_count(1)


def test_another_answer_is_a_version_and_other_tabs_show_it(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    page = watched.open()
    watched.ask(APPLE)
    shown(page, APPLE)
    watched.ask(PEAR)
    shown(page, APPLE, PEAR)
    other = page.context.new_page()
    other.goto(page.url)
    shown(other, APPLE, PEAR)

    page.get_by_role("button", name="Retry").nth(1).click()

    for each in (page, other):
        switch = each.get_by_role("group", name="Versions of this question")
        expect(switch).to_contain_text("2/2")
        shown(each, APPLE, PEAR)
        expect(switch).to_have_count(1)
    # A tab that went back to an earlier version stays there, and announces the new one.
    other.get_by_role("button", name="Previous version").click()
    expect(other.locator(".versions")).to_contain_text("1/2")
    edited(page, 1, AFTER)
    shown(page, APPLE, AFTER)
    expect(page.locator(".versions")).to_contain_text("3/3")
    expect(other.locator(".versions")).to_contain_text("1/3")
    shown(other, APPLE, PEAR)


def test_a_version_is_left_while_it_is_written_and_found_again(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    page = watched.open()
    watched.ask(APPLE)
    shown(page, APPLE)
    watched.ask(PEAR)
    shown(page, APPLE, PEAR)

    edited(page, 0, AFTER)
    page.get_by_role("button", name="Previous version").click()

    shown(page, APPLE, PEAR)
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    page.get_by_role("button", name="Next version").click()
    shown(page, AFTER)
    conversation = page.url.rpartition("/")[2].partition("?")[0]
    answer = httpx2.delete(f"{server.url}/api/conversations/{conversation}")
    assert answer.json() == {"deleted": 3}
