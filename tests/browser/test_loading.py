"""Each view loads when it first appears, with style sheets of its own, and sets the window's title."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import OpenPage, Server, violations

NARROW = {"viewport": {"width": 360, "height": 740}}
APPLYING = """() => [...document.querySelectorAll("link[rel=stylesheet][data-style]")]
    .filter((link) => link.sheet && !link.sheet.disabled).map((link) => link.dataset.style)"""


def test_a_view_loads_when_it_first_appears(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    asked: list[str] = []
    watched.page.on("request", lambda request: asked.append(request.url))
    page = watched.open()
    expect(page.locator(".suggestions")).to_be_visible()
    files = {re.sub(r".*/web/[0-9a-f]+/", "", url) for url in asked}
    assert "ask/page.js" in files
    assert not {"traces/list.js", "courses/page.js", "style/trace.css"} & files
    at_first = len(asked)

    page.get_by_role("link", name="Courses", exact=True).click()

    expect(page.get_by_role("heading", name="Courses", level=1)).to_be_visible()
    assert any(url.endswith("courses/page.js") for url in asked[at_first:])
    again = len(asked)
    page.go_back()
    expect(page.locator(".suggestions")).to_be_visible()
    page.go_forward()
    expect(page.get_by_role("heading", name="Courses", level=1)).to_be_visible()
    assert not [url for url in asked[again:] if "/web/" in url and ".svg" not in url]


def test_the_style_sheets_of_one_view_do_not_apply_to_another(
    server: Server, open_page: OpenPage
) -> None:
    page = open_page(server).open("/traces")
    expect(page).to_have_title("Traces · Antiphon")
    on_traces = page.evaluate(APPLYING)

    page.get_by_role("link", name="New chat").first.click()

    expect(page.locator(".suggestions")).to_be_visible()
    expect(page).to_have_title("Ask · Antiphon")
    assert page.evaluate(APPLYING) == ["ask.css"]
    page.go_back()
    expect(page).to_have_title("Traces · Antiphon")
    assert page.evaluate(APPLYING) == on_traces == ["trace.css"]


def test_a_person_who_moves_on_while_a_view_loads_sees_the_later_view(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    page = watched.open()
    expect(page.locator(".suggestions")).to_be_visible()
    held: list[Route] = []
    page.route("**/traces/list.js", lambda route: held.append(route))
    page.get_by_role("link", name="Traces", exact=True).click()
    expect(page).to_have_url(re.compile("/traces$"))

    page.get_by_role("link", name="Courses", exact=True).click()
    expect(page.get_by_role("heading", name="Courses", level=1)).to_be_visible()
    for route in held:
        route.continue_()

    page.wait_for_load_state("networkidle")
    expect(page).to_have_title("Courses · Antiphon")
    expect(page.get_by_role("heading", level=1)).to_have_text("Courses")


def test_a_page_whose_files_a_new_version_lacks_moves_to_the_new_version(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    watched.expected.append("404")
    page = watched.open()
    expect(page.locator(".suggestions")).to_be_visible()
    refused: list[Route] = []

    def refuse_once(route: Route) -> None:
        if refused:
            route.continue_()
            return
        refused.append(route)
        route.fulfill(status=404, body="{}")

    page.route("**/courses/page.js", refuse_once)

    page.get_by_role("link", name="Courses", exact=True).click()

    expect(page.get_by_role("heading", name="Courses", level=1)).to_be_visible()
    assert len(refused) == 1


@pytest.mark.parametrize("form", [{}, NARROW], ids=["wide", "narrow"])
def test_the_page_of_an_unknown_address_leads_on(
    form: dict[str, object], server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server, **form)
    watched.expected.append("404")
    page = watched.open("/nowhere/at/all")

    heading = page.get_by_role("heading", name="There is no such page")
    expect(heading).to_be_in_viewport()
    expect(page).to_have_title("There is no such page · Antiphon")
    assert violations(page) == []
    page.get_by_role("link", name="Ask a question").click()
    expect(page.locator(".suggestions")).to_be_visible()
    expect(page).to_have_title("Ask · Antiphon")
