"""The same strings in every other place: tool results, passages, titles, suspects; and lines of a megabyte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from antiphon.vocabulary.outside import without_controls
from tests.browser.conftest import OpenPage, Server, Watched, doubling, serving
from tests.browser.hostile import strings
from tests.browser.test_hostile import acting, missing
from tests.e2e.processes import run
from tests.planted.hostile_tools import HOSTILE, MEGABYTE, long_line

STRINGS = strings()
A_TOOL = 50
"""Strings in one result of a tool."""
A_SEARCH = 4
"""Sentences that the reply cites from each of the first sources."""
LONG_QUESTION = "Why " + HOSTILE * 30_000
BINARY = 1
"""Documents with so many control characters that they do not count as text."""
TOOLS = "tests.planted.hostile_tools:hostile_lines,tests.planted.hostile_tools:hostile_megabyte"


def cited(text: str, source: int, block: int) -> dict[str, Any]:
    """A part of a reply that cites one block of one source."""
    citation = {
        "type": "search_result_location",
        "search_result_index": source,
        "start_block_index": block,
        "end_block_index": block + 1,
        "cited_text": "",
        "source": "",
        "title": None,
    }
    return {"type": "text", "text": f"{text} ", "citations": [citation]}


def script() -> dict[str, Any]:
    """The model's replies to the questions below."""
    replies: list[dict[str, Any]] = []

    def to(question: str, *said: dict[str, Any]) -> None:
        when = {"contains": f"{question}\\n</question>"}
        replies.extend({"when": when} | each for each in said)

    for first in range(0, len(STRINGS), A_TOOL):
        # The first block of a tool's JSON is the opening bracket.
        pieces = [cited(f"String {n}.", 0, n + 1) for n in range(A_TOOL)]
        call = {"name": "hostile_lines", "input": {"first": first}}
        to(f"Lines from {first}?", {"calls": [call]}, {"content": pieces})
        search = {
            "name": "search_course_content",
            "input": {"query": f"zebrafish{first}"},
        }
        pieces = [
            cited(f"Source {n}.", n, m) for n in range(5) for m in range(A_SEARCH)
        ]
        to(f"Zebrafish {first}?", {"calls": [search]}, {"content": pieces})
    to(
        "A long result?",
        {"calls": [{"name": "hostile_megabyte", "input": {}}]},
        {"text": "Long."},
    )
    to("A long reply?", {"text": long_line()})
    return {"replies": replies, "then": "offline"}


def documents(folder: Path) -> Path:
    """A course for each string, with the string as its title and in its text; and one with lines of a megabyte."""
    folder.mkdir()
    for number, string in enumerate(STRINGS):
        text = f"Course Title: {string}\nLesson 1: {string}\nThe zebrafish{number} is {string} in full.\n"
        (folder / f"{number:03}.txt").write_text(text)
    text = f"Course Title: {long_line()}\nLesson 1: {long_line()}\nThe quagga is long. {long_line()}\n"
    (folder / "long.txt").write_text(text)
    return folder


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The service over hostile documents, with hostile tools and a model that repeats their words."""
    folder = tmp_path_factory.mktemp("hostile")
    data_dir = folder / "data"
    indexed = run(
        "index", str(documents(folder / "courses")), data_dir=data_dir, folder=folder
    )
    # One consists only of control characters; a terminal recording (with escapes) counts as text.
    assert indexed.stderr.count("not indexed") == BINARY, indexed.stderr
    with (
        doubling(folder, script()) as address,
        serving(
            data_dir,
            folder,
            ANTHROPIC_BASE_URL=address,
            ANTIPHON_CITATIONS="native",
            ANTIPHON_TOOLS=TOOLS,
            ANTIPHON_QUERY_CHARS=str(2 * MEGABYTE),
        ) as server,
    ):
        yield server


def answered(watched: Watched, question: str) -> Page:
    """Asks, and waits for the answer."""
    page = watched.page
    before = page.locator(".answer-foot").count()
    watched.ask(question)
    expect(page.locator(".answer-foot")).to_have_count(before + 1)
    return page


def cards(page: Page) -> str:
    """Returns the text of all cards behind the marks of the last answer; none may hold anything but text."""
    marks = page.locator(".exchange").last.locator(".mark")
    shown: list[str] = []
    for mark in marks.all():
        mark.focus()
        card = page.get_by_role("tooltip")
        expect(card.locator("blockquote")).to_be_visible()
        assert acting(page, "[role=tooltip]") == []
        shown.append(card.inner_text())
        page.keyboard.press("Escape")
    return " ".join(" ".join(shown).split())


FOREIGN = "script, img, iframe, object, embed, link, meta, base, style, video, audio, math, marquee"
"""Elements that no view of ours contains."""
_FOUND = """(main, foreign) => [...main.querySelectorAll("*")].filter((each) =>
    each.matches(foreign) || [...each.attributes].some(({ name }) => name.startsWith("on"))
    || (each.matches("a[href]") && !/^(\\/|https:\\/\\/evil\\.example)/.test(each.getAttribute("href")))
).map((each) => each.outerHTML.slice(0, 200))"""


def intact(page: Page) -> None:
    """Asserts that the page is whole and nothing in it acts."""
    assert page.evaluate("document.querySelectorAll('main').length") == 1
    assert page.evaluate("document.querySelectorAll('h1').length") <= 1
    # A lesson's web address is a legitimate link; all addresses in the strings lead to this host.
    assert page.locator("main").evaluate(_FOUND, FOREIGN) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("first", range(0, len(STRINGS), A_TOOL))
def test_every_view_shows_a_tools_result_as_text(
    first: int, hostile: Server, open_page: OpenPage
) -> None:
    watched = open_page(hostile)
    watched.open("/")

    page = answered(watched, f"Lines from {first}?")
    shown = cards(page)
    page.get_by_text("How it was worked out").click()
    intact(page)
    page.get_by_role("link", name="Trace", exact=True).click()
    expect(page.get_by_role("region", name="What went wrong?")).to_contain_text(".")
    intact(page)

    # JSON escapes a few characters, so only the rest of each string can be searched for.
    plain = [
        each for each in STRINGS[first : first + A_TOOL]
        if each.isprintable() and not set(each) & {'"', "\\"}
    ]  # fmt: skip
    assert len(plain) > A_TOOL // 4
    assert missing(plain, shown) == []


@pytest.mark.parametrize("first", range(0, len(STRINGS), A_TOOL))
def test_a_passage_and_its_titles_are_text_in_marks_sources_and_suspects(
    first: int, hostile: Server, open_page: OpenPage
) -> None:
    watched = open_page(hostile)
    watched.open("/")

    page = answered(watched, f"Zebrafish {first}?")

    assert f"zebrafish{first}" in cards(page)
    expect(page.get_by_label("Sources").locator("li").first).to_be_visible()
    intact(page)
    page.get_by_role("link", name="Trace", exact=True).click()
    suspects = page.get_by_role("region", name="What went wrong?")
    expect(suspects.locator("a.suspect").first).to_be_visible()
    intact(page)


def test_two_hundred_titles_are_text_in_the_list_and_in_the_sidebar(
    hostile: Server, open_page: OpenPage
) -> None:
    page = open_page(hostile).open("/courses")
    expect(page.locator(".course-card").nth(100)).to_be_visible()

    listed = page.locator("main").inner_text()
    beside = page.locator("#outline-list").inner_text()

    whole = [each for each in STRINGS if each.isprintable()]
    # Readers trim titles, and equal titles become one: the count leaves both out.
    for shown in (listed, beside):
        assert len(missing(whole, shown)) <= 10, missing(whole, shown)
    intact(page)
    assert acting(page, "#outline-list") == []


def test_the_page_shows_a_question_of_almost_a_megabyte_and_a_longer_one_is_refused_in_words(
    hostile: Server, open_page: OpenPage
) -> None:
    watched = open_page(hostile)
    page = watched.open("/")

    page.get_by_label("Your question").fill(LONG_QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".answer-foot, .failure")).to_have_count(1)
    assert len(page.locator(".question").first.inner_text()) > len(LONG_QUESTION) - 10
    intact(page)

    watched.expected.append("status of 413")
    page.get_by_label("Your question").fill("Why " + "x" * MEGABYTE)
    page.keyboard.press("Enter")
    expect(page.locator(".failure")).to_contain_text("1,000,000")
    intact(page)


@pytest.mark.parametrize(
    "question", ["A long result?", "A long reply?", "What is the quagga?"]
)
def test_a_line_of_a_megabyte_leaves_the_page_as_it_is(
    question: str, hostile: Server, open_page: OpenPage
) -> None:
    watched = open_page(hostile)
    watched.open("/")

    page = answered(watched, question)
    intact(page)
    page.get_by_text("How it was worked out").click()
    intact(page)
    page.get_by_role("link", name="Trace", exact=True).click()
    expect(page.get_by_role("region", name="What went wrong?")).to_contain_text(".")
    intact(page)


def test_the_check_finds_missing_strings_and_ignores_control_characters() -> None:
    assert missing(["<b>"], "a < b") == ["<b>"]
    assert without_controls("\u202ex") == "x"
