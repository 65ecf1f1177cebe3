"""Hostile text everywhere: the pages show it as text, nothing in it acts, and the page stays whole."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import Page, expect

from antiphon.vocabulary.outside import without_controls
from tests.browser.conftest import OpenPage, doubling, serving
from tests.browser.hostile import strings
from tests.e2e.processes import run

STRINGS = strings()
TITLES = [each for each in STRINGS if each.isprintable() and not each.startswith("#")]
"""The strings that the reader of course scripts leaves unchanged."""
A_QUESTION = 50
"""Strings in one question, whose length is limited."""

_FOREIGN = (
    "script, img, iframe, object, embed, link, meta, base, style, form:not([class]), video, audio, math, marquee, "
    "svg:not(.icon:has(> use[href*='/icons.svg#']:only-child))"
)
# Pages have forms, and a trace draws bars; each of these has a class, and elements from the strings have none.
_FOREIGN_IN_TRACES = _FOREIGN.replace("svg:not(.icon", "svg:not([class], .icon")
_LINKS = "(found) => found.map((each) => each.getAttribute('href'))"


def hostile_course(folder: Path) -> Path:
    """A course whose title, lessons and text are hostile."""
    lines = ["Course Title: <img src=x onerror=alert(1)> Hostile Studies"]
    for number, title in enumerate(TITLES, start=1):
        lines += [
            f"Lesson {number}: {title}",
            f"Lesson Link: {title}",
            f"The zebrafish{number} is a string. It is written {title} in full.",
            "",
        ]
    folder.mkdir()
    path = folder / "hostile.txt"
    path.write_text("\n".join(lines))
    return path


def acting(page: Page, within: str, foreign: str = _FOREIGN) -> list[str]:
    """Returns the elements and links in a part of the page that only hostile text could have put there."""
    found: list[str] = page.locator(f"{within} :is({foreign})").evaluate_all(
        "(found) => found.map((each) => each.outerHTML.slice(0, 200))"
    )
    for href in page.locator(f"{within} a").evaluate_all(_LINKS):
        # A lesson's web address is a legitimate link; all addresses in the strings lead to this host.
        if not href.startswith(("/", "https://evil.example")):
            found.append(href)
    return found


def missing(wanted: Iterable[str], text: str) -> list[str]:
    """Returns the strings that a text does not hold, ignoring invisible characters that deceive a reader."""
    flat = " ".join(text.split())
    return [
        each for each in wanted if " ".join(without_controls(each).split()) not in flat
    ]


def test_there_are_two_hundred_strings() -> None:
    assert len(set(STRINGS)) == 200


def test_hostile_questions_replies_and_tool_results_are_text(
    tmp_path: Path, open_page: OpenPage
) -> None:
    data_dir = tmp_path / "data"
    course = hostile_course(tmp_path / "courses")
    assert run("index", str(course), data_dir=data_dir, folder=tmp_path).returncode == 0
    groups = [
        STRINGS[start : start + A_QUESTION]
        for start in range(0, len(STRINGS), A_QUESTION)
    ]
    replies: list[object] = []
    for group in groups:
        search = {"name": "search_course_content", "input": {"query": "".join(group)}}
        replies += [{"calls": [search]}, {"text": "\n\n".join(group)}]
    replies.append({"text": "x" * 300_000})
    with (
        doubling(tmp_path, {"replies": replies, "then": "last"}) as address,
        serving(
            data_dir,
            tmp_path,
            ANTHROPIC_BASE_URL=address,
            ANTIPHON_CITATIONS="native",
            ANTIPHON_QUERY_CHARS="100000",
        ) as server,
    ):
        watched = open_page(server)
        page = watched.open()

        for number, group in enumerate(groups):
            watched.ask("\n".join(group))
            expect(page.locator(".answer-foot")).to_have_count(number + 1)
            page.get_by_text("How it was worked out").nth(number).click()
            question = page.locator(".question").nth(number)
            assert missing(group, question.inner_text()) == []

        assert acting(page, ".thread") == []
        watched.ask("One long line, please.")
        expect(page.locator(".answer-foot")).to_have_count(len(groups) + 1)
        assert acting(page, ".thread") == []
        assert page.evaluate("document.querySelectorAll('main').length") == 1
        page.goto(f"{server.url}/traces")
        expect(page.locator(".trace-question")).to_have_count(len(groups) + 1)
        assert acting(page, '[aria-label="Traces"] table') == []
        page.locator(".trace-question a").last.click()
        expect(page.locator(".event-card")).to_be_visible()
        take_apart(page)
        # The hostile search finds passages of the course, but the reply cites none of them.
        page.get_by_role("link", name="Lineage").click()
        expect(page.locator(".answer-sentence").first).to_be_visible()
        shown = page.locator(".answer-sentences").inner_text()
        assert (
            missing([each for each in groups[0] if "*" not in each][:10], shown) == []
        )


def take_apart(page: Page) -> None:
    """Goes through the views of a trace; nothing may act in any of them."""
    for view in ("Requests", "Retrieval", "Compare with…", "Fork from here", "Lineage"):
        page.get_by_role("link", name=view).click()
        expect(page.locator(".trace-view .card").first).to_be_visible()
        page.wait_for_timeout(300)
        assert acting(page, ".trace-page", _FOREIGN_IN_TRACES) == []
        assert page.evaluate("document.querySelectorAll('main').length") == 1
    page.get_by_role("link", name="Event", exact=True).click()
    for _ in range(25):
        page.keyboard.press("ArrowRight")
        assert acting(page, ".trace-page", _FOREIGN_IN_TRACES) == []


def test_hostile_titles_passages_and_links_are_text(
    tmp_path: Path, open_page: OpenPage
) -> None:
    data_dir = tmp_path / "data"
    course = hostile_course(tmp_path / "courses")
    assert run("index", str(course), data_dir=data_dir, folder=tmp_path).returncode == 0
    with serving(data_dir, tmp_path) as server:
        watched = open_page(server)
        page = watched.open("/courses")
        page.locator(".course-card summary").click()
        page.locator("#outline-list summary").click()

        listed = page.locator(".course-lessons").inner_text()
        assert missing(TITLES, listed) == []
        assert acting(page, ".course-card") == []
        assert acting(page, "#outline-list") == []

        watched.open("/")
        for number in range(1, len(TITLES), 40):
            watched.ask(f"What is the zebrafish{number}?")
            expect(page.locator(".answer-foot")).to_have_count(number // 40 + 1)
        page.locator(".mark").last.focus()
        expect(page.get_by_role("tooltip")).to_contain_text("zebrafish")
        assert acting(page, ".thread") == []
        assert acting(page, ".passage-card") == []
