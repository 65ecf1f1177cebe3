"""All views: by keyboard, on a narrow screen, in both colour schemes, judged by axe-core; and managing documents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import (
    Contexts,
    OpenPage,
    Server,
    serving,
    violations,
    without_traces,
)

QUESTION = "What is applemailbox2 in the Apple course?"
NARROW = {"viewport": {"width": 360, "height": 740}}
VIEWS = ("/", "/courses", "/traces")

TIDES = """Course Title: Tides and the Moon
Lesson 1: Spring tides
A spring tide is a tide of the greatest range. It comes with the new moon and the full moon.
"""


def overflowing(page: Page) -> list[str]:
    """Returns the elements that are wider than the window."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("main *, .topbar *")]
            .filter((each) => !each.closest(".table-scroller, pre, .hidden"))
            .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
            .map((each) => each.outerHTML.slice(0, 120))"""
    )
    return found


def answered(page: Page) -> None:
    """Waits for an answer with a mark."""
    expect(page.locator(".answer-foot")).to_be_visible()
    expect(page.locator(".mark").first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_any_view(
    scheme: str, server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server, color_scheme=scheme)
    page = watched.open()
    expect(page.locator(".suggestions")).to_be_visible()
    found = violations(page)
    watched.ask(QUESTION)
    answered(page)
    page.get_by_text("How it was worked out").click()
    page.locator(".mark").first.focus()
    expect(page.get_by_role("tooltip")).to_be_visible()
    found += violations(page)
    page.get_by_role("link", name="Trace", exact=True).click()
    expect(page.locator(".event-card")).to_be_visible()
    found += violations(page)
    for path in ("/courses", "/traces"):
        watched.open(path)
        expect(
            page.locator(
                '.course-card, [aria-label="Traces"] tbody tr, .fault-table tbody tr'
            ).first
        ).to_be_visible()
        found += violations(page)

    assert found == []
    background = page.evaluate(
        "getComputedStyle(document.documentElement).backgroundColor"
    )
    assert (background == "rgb(251, 250, 248)") == (scheme == "light")


def test_everything_is_reached_and_seen_by_keyboard(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    page = watched.open()
    expect(page.locator(".suggestions")).to_be_visible()
    expect(page.get_by_label("Your question")).to_be_focused()

    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    answered(page)
    # Tabs backwards from the input box through the answer's controls to the first mark.
    seen = []
    for _ in range(40):
        page.keyboard.press("Shift+Tab")
        focused = page.evaluate(
            """() => {
                const style = getComputedStyle(document.activeElement);
                return [document.activeElement.className, document.activeElement.textContent.trim(),
                        style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0];
            }"""
        )
        seen.append(focused)
        if focused[0] == "mark":
            break

    assert seen[-1][0] == "mark"
    expect(page.get_by_role("tooltip")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_have_count(0)
    assert {"Retry", "Copy", "Trace"} <= {text for _, text, _ in seen}
    assert [text for _, text, is_seen in seen if not is_seen] == []


def test_the_first_tab_skips_to_the_content_and_a_view_takes_the_focus(
    server: Server, open_page: OpenPage
) -> None:
    page = open_page(server).open("/courses")
    expect(page.locator(".course-card").first).to_be_visible()

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Choose files")).to_be_focused()
    page.get_by_role("link", name="Traces").focus()
    page.keyboard.press("Enter")

    expect(page.locator("main")).to_be_focused()
    expect(page).to_have_title("Traces · Antiphon")
    page.go_back()
    expect(page.get_by_role("heading", name="Courses", level=1)).to_be_visible()


def test_nothing_is_wider_than_a_narrow_screen(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server, **NARROW)
    page = watched.open()
    watched.ask(QUESTION)
    answered(page)
    page.get_by_text("How it was worked out").click()
    expect(page.locator(".step").first).to_be_visible()
    found = overflowing(page)
    page.get_by_role("link", name="Trace", exact=True).click()
    expect(page.locator("a.suspect").first).to_be_visible()
    found += overflowing(page)
    for path in VIEWS:
        watched.open(path)
        expect(
            page.locator(
                '.suggestions, .course-card, [aria-label="Traces"] tbody tr, .fault-table tbody tr'
            ).first
        ).to_be_visible()
        found += overflowing(page)

    assert found == []
    assert violations(page) == []


def test_the_menu_of_a_narrow_screen_opens_and_closes_by_keyboard(
    server: Server, open_page: OpenPage
) -> None:
    page = open_page(server, **NARROW).open()
    menu = page.get_by_role("button", name="Menu", exact=True)

    menu.press("Enter")
    expect(page.get_by_role("button", name="Close the menu")).to_be_focused()
    expect(page.get_by_role("link", name="Courses")).to_be_visible()
    page.keyboard.press("Escape")

    expect(menu).to_be_focused()
    expect(page.get_by_role("link", name="Courses")).to_be_hidden()


def test_the_chosen_colours_stay(server: Server, open_page: OpenPage) -> None:
    page = open_page(server, color_scheme="light").open()
    colours = page.get_by_role("button", name=re.compile("Colours"))

    colours.click()
    colours.click()
    page.reload()

    expect(colours).to_have_text("Colours: dark")
    assert (
        page.evaluate("getComputedStyle(document.documentElement).colorScheme")
        == "dark"
    )


def test_a_person_who_wants_less_motion_sees_none(
    server: Server, open_page: OpenPage
) -> None:
    page = open_page(server, reduced_motion="reduce").open()
    expect(page.locator(".suggestions")).to_be_visible()

    assert page.evaluate(
        "[...document.querySelectorAll('*')].every((each) => getComputedStyle(each).animationName === 'none')"
    )


def test_a_click_on_a_lesson_in_the_sidebar_makes_a_question(
    server: Server, open_page: OpenPage
) -> None:
    page = open_page(server).open("/courses")

    page.locator("#outline-list summary").first.click()
    page.locator(".lessons button").nth(1).click()

    expect(page.get_by_label("Your question")).to_have_value(
        "What does lesson 1 of The Apple Course teach?"
    )


def test_documents_are_added_asked_about_and_removed(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    folder = without_traces(data_dir, tmp_path)
    good, broken = tmp_path / "tides.txt", tmp_path / "broken.pdf"
    good.write_text(TIDES)
    broken.write_bytes(b"%PDF-1.7 nothing of the kind")
    with serving(folder, tmp_path) as server:
        watched = open_page(server)
        page = watched.open()

        page.locator(".composer input[type=file]").set_input_files([good, broken])
        files = page.get_by_label("Documents", exact=True)
        expect(files).to_contain_text(
            "Ready for questions: 1 document. Refused: 1.", timeout=90_000
        )
        expect(files.locator(".refused")).to_contain_text("broken.pdf")
        expect(page.locator("#outline-list")).to_contain_text("Tides and the Moon")

        watched.ask("What is a spring tide?")
        expect(page.locator(".answer-text")).to_contain_text("greatest range")
        expect(page.get_by_label("Sources")).to_contain_text("Tides and the Moon")

        page.get_by_role("link", name="Courses").click()
        page.get_by_role("button", name="Remove Tides and the Moon").click()
        page.get_by_role("button", name="Remove it").click()
        expect(page.locator(".course-card")).to_have_count(2, timeout=90_000)
        expect(page.locator("#outline-list")).not_to_contain_text("Tides")
        assert list((folder / "documents").iterdir()) == []


def test_the_page_uploads_files_dropped_anywhere(
    server: Server, open_page: OpenPage
) -> None:
    page = open_page(server).open("/traces")
    expect(page.get_by_role("heading", name="Traces")).to_be_visible()
    dropped = page.evaluate_handle(
        """() => {
            const transfer = new DataTransfer();
            transfer.items.add(new File(["nothing"], "picture.png", { type: "image/png" }));
            return transfer;
        }"""
    )

    page.dispatch_event("main", "dragenter", {"dataTransfer": dropped})
    expect(page.get_by_text("Drop files to add them")).to_be_visible()
    page.dispatch_event("main", "drop", {"dataTransfer": dropped})

    expect(page.get_by_label("Documents", exact=True)).to_contain_text("picture.png")
    expect(page.locator(".upload .refused")).to_contain_text("it is in no format")
    expect(page.get_by_text("Drop files to add them")).to_be_hidden()


@pytest.mark.parametrize("path", ["/docs", "/redoc"])
def test_the_documentation_works_under_its_policy_and_without_internet(
    path: str, server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    # ReDoc requests its maker's logo, and the policy blocks it.
    watched.expected.append("cdn.redoc.ly")
    page = watched.open(path)

    expect(
        page.get_by_text("Ask a question").locator("visible=true").first
    ).to_be_visible()


def test_under_a_path_of_its_own_every_view_is_whole(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    folder = without_traces(data_dir, tmp_path)
    with serving(folder, tmp_path, ANTIPHON_ROOT_PATH="/antiphon") as server:
        watched = open_page(server)
        page = watched.open("/antiphon/")
        watched.ask(QUESTION)
        answered(page)
        expect(page).to_have_url(re.compile("/antiphon/conversations/"))

        page.reload()
        answered(page)
        page.get_by_role("link", name="Courses").click()
        expect(page.locator(".course-card")).to_have_count(2)
        page.get_by_role("link", name="Traces").click()
        expect(page.locator(".trace-question")).to_have_count(1)

        assert re.search("/antiphon/traces$", page.url)


_LEAVE = """async () => {
    localStorage.left = sessionStorage.left = document.cookie = "left=1";
    await (await caches.open("left")).put("/left", new Response("left"));
    await new Promise((done) => { indexedDB.open("left").onsuccess = done; });
}"""
_LEFT = """async () => [
    localStorage.left, sessionStorage.left, document.cookie,
    ...await caches.keys(), ...(await indexedDB.databases()).map(({ name }) => name),
].filter(Boolean)"""


def test_a_test_finds_nothing_in_the_browser_of_the_one_before(
    server: Server, contexts: Contexts
) -> None:
    before = contexts.take()
    page = before.new_page()
    page.goto(server.url)
    page.evaluate(_LEAVE)
    assert len(page.evaluate(_LEFT)) == 5
    before.set_offline(True)

    contexts.give_back(before, server.url)
    after = contexts.take()

    assert after is before
    page = after.new_page()
    page.goto(server.url)
    assert page.evaluate(_LEFT) == []
    contexts.give_back(after, server.url)
