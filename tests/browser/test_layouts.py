"""The courses page shows a course's layout, corrects it, and restores the former one."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
from playwright.sync_api import expect

from antiphon.knowledge import index_paths, load_embedder
from tests.browser.conftest import OpenPage, serving, violations
from tests.browser.on_screen import hidden_parts

BIRDS = {
    "README.md": "# Birds\n\nA course about birds.\n",
    "01-flight/README.md": "# Flight\n\nSwifts sleep in flight.\n",
    "02-nests/README.md": "# Nests\n\nThe weaver knots its nest.\n",
    "02-nests/<img src=x>.md": "# Marks\n\nA mark in a name is a mark.\n",
    "03-songs/README.md": "# Songs\n\nThe lark sings while it climbs.\n",
    "LICENSE.md": "# Licence\n\nFree for all birds.\n",
}


def indexed(tmp_path: Path, **others: bytes) -> Path:
    """Indexes the birds and other files of the course; returns the data folder."""
    for name, content in (
        {each: text.encode() for each, text in BIRDS.items()} | others
    ).items():
        path = tmp_path / "birds" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    index_paths([tmp_path / "birds"], tmp_path / "data", load_embedder("onnx"))
    return tmp_path / "data"


def test_the_courses_page_shows_the_files_of_a_course_corrects_its_layout_and_restores_it(
    tmp_path: Path, open_page: OpenPage
) -> None:
    with serving(indexed(tmp_path), tmp_path) as server:
        page = open_page(server).open("/courses")
        card = page.locator(".course-card")

        card.get_by_text("Lessons and files").click()
        lessons = card.locator(".course-lessons > li")
        expect(lessons).to_have_count(3)
        expect(lessons.nth(1)).to_contain_text("02-nests/<img src=x>.md")
        expect(card).to_contain_text("LICENSE.md: a licence")
        expect(card.get_by_role("button", name="Forget")).to_have_count(0)

        assert violations(page) == []
        card.get_by_role("button", name="Correct").click()
        card.get_by_label("Title of the course").fill("All the birds")
        card.get_by_label("Number of lesson 3").fill("9")
        card.get_by_label("Title of lesson 1").fill("Flying and nesting")
        card.get_by_label("Title of lesson 1").blur()
        card.get_by_label("Place of 02-nests/README.md").select_option(
            "Lesson 1 Flying and nesting"
        )
        card.get_by_label("Place of 02-nests/<img src=x>.md").select_option("Left out")
        card.get_by_label("Place of LICENSE.md").select_option("Lesson 9 Songs")
        assert violations(page) == []
        card.get_by_role("button", name="Save").click()

        expect(card.get_by_role("heading", name="All the birds")).to_be_visible(
            timeout=90_000
        )
        card.get_by_text("Lessons and files").click()
        expect(lessons).to_have_count(2)
        expect(lessons.nth(0)).to_contain_text("Flying and nesting")
        expect(lessons.nth(0)).to_contain_text("02-nests/README.md")
        expect(lessons.nth(1)).to_contain_text("9")
        expect(lessons.nth(1)).to_contain_text("LICENSE.md")
        expect(card).to_contain_text("<img src=x>.md: you left it out")

        card.get_by_role("button", name="Forget my corrections").click()

        expect(card.get_by_role("heading", name="Birds", exact=True)).to_be_visible(
            timeout=90_000
        )
        card.get_by_text("Lessons and files").click()
        expect(lessons).to_have_count(3)


def test_the_courses_page_renames_a_course_and_names_each_unread_file(
    tmp_path: Path, open_page: OpenPage
) -> None:
    broken = {"02-nests/plan.pdf": b"%PDF-1.7 nothing of the kind"}
    with serving(indexed(tmp_path, **broken), tmp_path) as server:
        page = open_page(server).open("/courses")
        card = page.locator(".course-card")

        card.get_by_text("Not read").click()
        lost = card.locator(".course-losses")
        expect(lost).to_contain_text("02-nests/plan.pdf")
        assert hidden_parts(lost.locator("li").first) == []
        assert violations(page) == []
        card.get_by_role("button", name="Rename Birds").click()
        card.get_by_label("New title of Birds").fill("All the birds")
        expect(
            card.get_by_role("button", name="Rename", exact=True)
        ).to_be_in_viewport()
        page.keyboard.press("Enter")

        expect(card.get_by_role("heading", name="All the birds")).to_be_visible(
            timeout=90_000
        )
        card.get_by_text("Lessons and files").click()
        expect(card.locator(".course-lessons > li")).to_have_count(3)
        expect(card.get_by_role("button", name="Forget")).to_be_visible()


def test_a_removal_says_what_goes_and_why_it_failed(
    tmp_path: Path, open_page: OpenPage
) -> None:
    with serving(indexed(tmp_path), tmp_path) as server:
        watched = open_page(server)
        watched.expected.append("404")
        page = watched.open("/courses")
        card = page.locator(".course-card")

        card.get_by_role("button", name="Remove Birds").click()
        asked = page.get_by_role("group", name="Remove the course?")
        expect(asked).to_contain_text("“Birds” and its 3 lessons can then no longer")
        # Another user removes it first.
        begun = httpx2.delete(f"{server.url}/api/courses/Birds")
        job = f"{server.url}{begun.headers['location']}"
        events = {"Accept": "text/event-stream"}
        assert '"done"' in httpx2.get(job, headers=events, timeout=90).text
        asked.get_by_role("button", name="Remove it").click()

        said = page.get_by_role("alert")
        expect(said).to_have_text(
            re.compile("^It was not removed. There is no course 'Birds'")
        )
        assert hidden_parts(said) == []
        assert violations(page) == []
        page.get_by_role("button", name="Close").click()
        expect(said).to_have_count(0)
