"""The courses page shows how a course is laid out, corrects it, and lays it out as before."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from antiphon.knowledge import index_paths, load_embedder
from tests.browser.conftest import OpenPage, serving, violations

BIRDS = {
    "README.md": "# Birds\n\nA course about birds.\n",
    "01-flight/README.md": "# Flight\n\nSwifts sleep in flight.\n",
    "02-nests/README.md": "# Nests\n\nThe weaver knots its nest.\n",
    "02-nests/<img src=x>.md": "# Marks\n\nA mark in a name is a mark.\n",
    "03-songs/README.md": "# Songs\n\nThe lark sings while it climbs.\n",
    "LICENSE.md": "# Licence\n\nFree for all birds.\n",
}


def test_a_course_is_shown_with_its_files_corrected_and_laid_out_as_before(
    tmp_path: Path, open_page: OpenPage
) -> None:
    for name, text in BIRDS.items():
        path = tmp_path / "birds" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    index_paths([tmp_path / "birds"], tmp_path / "data", load_embedder("onnx"))
    with serving(tmp_path / "data", tmp_path) as server:
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
