"""Three clicks to the cause: from each of ten planted bad answers on the ask page to the event that explains it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage, Server, violations
from tests.browser.on_screen import hidden_parts
from tests.once import made_once
from tests.planted.answers import (
    PLANTED,
    Asked,
    ask,
    calling,
    index_planted,
    planted_service,
)

MOST_CLICKS = 3
SHOWN = ".event-card, .event.chosen"
"""The event that a trace's page shows."""


class Clicking:
    """A person's hand: whatever is clicked is counted."""

    def __init__(self) -> None:
        self.clicks = 0

    def click(self, what: Locator) -> None:
        self.clicks += 1
        what.click()


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The service over planted documents."""
    indexed = made_once(tmp_path_factory, "planted", index_planted)
    with planted_service(tmp_path_factory.mktemp("planted"), indexed) as server:
        yield server


@pytest.fixture(scope="module")
def client(planted: Server) -> Iterator[httpx2.Client]:
    with calling(planted) as client:
        yield client


@pytest.fixture(scope="module")
def answers(client: httpx2.Client) -> dict[str, Asked]:
    """Every planted answer, asked once: the double has its replies only once."""
    return {name: ask(client, each) for name, each in PLANTED.items()}


def open_answer(page: Page, asked: Asked) -> Locator:
    """The answer as it stands on the ask page, the last of its conversation."""
    answer = page.locator(".exchange").last
    expect(answer.locator(".answer-text")).to_contain_text(
        re.sub(r"[*\s]+", " ", asked.answer["answer"])[:20].strip()
    )
    return answer


@pytest.mark.parametrize("name", PLANTED)
def test_the_event_that_explains_a_bad_answer_is_three_clicks_away_at_most(
    name: str,
    planted: Server,
    answers: dict[str, Asked],
    open_page: OpenPage,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = answers[name]
    wanted = asked.explaining_seq(PLANTED[name])
    kind = asked.events[wanted - 1]["event"]["kind"]
    page = open_page(planted).open(f"/conversations/{asked.session_id}")
    answer = open_answer(page, asked)
    hand = Clicking()

    # Whoever does not know the cause goes to the trace, and tries the suspects from the first on.
    hand.click(answer.get_by_role("link", name="Trace", exact=True))
    panel = page.get_by_role("region", name="What went wrong?")
    expect(panel).not_to_have_attribute("aria-busy", "true")
    # Where nothing stands out, what the answer rests on is folded.
    if panel.locator("summary").count():
        hand.click(panel.locator("summary"))
    suspects = panel.locator("a.suspect:visible")
    reached: list[int] = []
    while hand.clicks < MOST_CLICKS and wanted not in reached:
        suspect = suspects.nth(len(reached))
        href = str(suspect.get_attribute("href"))
        hand.click(suspect)
        expect(page).to_have_url(re.compile(f"{re.escape(href)}$"))
        reached.append(int(href.rpartition("/")[2]))

    with capsys.disabled():
        print(f"\n{name}: {hand.clicks} clicks", end="")  # noqa: T201  # what is measured
    assert wanted in reached
    assert hand.clicks <= MOST_CLICKS
    expect(page.locator(SHOWN).first).to_contain_text(
        kind.replace("_", " "), ignore_case=True
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_panel_is_read_by_everyone_and_by_keyboard(
    scheme: str, planted: Server, answers: dict[str, Asked], open_page: OpenPage
) -> None:
    asked = answers["a budget cut"]
    watched = open_page(
        planted, color_scheme=scheme, viewport={"width": 360, "height": 740}
    )
    page = watched.open(f"/traces/{asked.query_id}")
    panel = page.get_by_role("region", name="What went wrong?")
    expect(panel.locator("a.suspect:visible")).to_have_count(3)

    panel.get_by_role("button", name=re.compile("weaker suspect")).press("Enter")

    expect(panel.locator("a.suspect:visible").nth(3)).to_be_focused()
    assert violations(page) == []
    widest = panel.evaluate(
        "(panel) => Math.max(...[...panel.querySelectorAll('*')].map((each) => each.getBoundingClientRect().right))"
    )
    assert widest <= 360
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/events/\d+$"))


def test_where_nothing_stands_out_the_panel_says_what_the_answer_rests_on(
    planted: Server, client: httpx2.Client, open_page: OpenPage
) -> None:
    good = client.post("/api/query", json={"query": "Who proved Little's law?"}).json()
    page = open_page(planted).open(f"/traces/{good['query_id']}")

    panel = page.get_by_role("region", name="What went wrong?")

    expect(panel).to_contain_text("Nothing stands out.")
    expect(panel).to_contain_text("John Little proved the law in 1961")


def _assert_seen(page: Page, seq: int) -> None:
    """Holds the event's card to what a person sees of it without scrolling."""
    card = page.locator(".event-card")
    expect(page).to_have_url(re.compile(f"/events/{seq}$"))
    expect(page.locator(".suspects")).not_to_have_attribute("aria-busy", "true")
    expect(card).to_be_in_viewport()
    # The scrolling comes with what is drawn.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done()))")
    assert hidden_parts(card.locator("#event-title")) == []
    assert hidden_parts(card.locator(".event-says")) == []
    assert hidden_parts(card.locator(".about dd").first) == []


@pytest.mark.parametrize("name", PLANTED)
def test_the_event_of_a_doubt_or_a_suspect_is_on_the_screen_after_the_click(
    name: str, planted: Server, answers: dict[str, Asked], open_page: OpenPage
) -> None:
    asked = answers[name]
    page = open_page(planted).open(f"/conversations/{asked.session_id}")
    answer = open_answer(page, asked)
    for index, indicator in enumerate(asked.answer["uncertainty"]["indicators"]):
        answer.get_by_role("link", name="why?").nth(index).click()
        _assert_seen(page, indicator["event_seq"])
        page.go_back()
        answer = open_answer(page, asked)

    page.goto(f"{planted.url}/traces/{asked.answer['query_id']}")
    for suspect in page.locator("a.suspect:visible").all():
        suspect.scroll_into_view_if_needed()
        seq = int((suspect.get_attribute("href") or "").rpartition("/")[2])
        suspect.click()
        _assert_seen(page, seq)
