"""A citation's view of its document: code as code and a table as a table, with the cited words marked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from antiphon.knowledge import index_paths, load_embedder
from tests.browser.conftest import OpenPage, Server, serving
from tests.integration.test_structure_of_documents import MANUAL, NIGHT


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("manual")
    (folder / "manual.md").write_text(MANUAL)
    (folder / "night.md").write_text(NIGHT)
    (folder / "anker.md").write_text(
        "# Schiffe\n## Der Anker\nDer Anker wiegt neun Tonnen und ist aus Stahl.\n"
    )
    index_paths([folder], folder / "data", load_embedder("onnx"))
    with serving(folder / "data", folder) as running:
        yield running


def card_of_last_mark(page: Page, question: str) -> str:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".answer-foot")).to_have_count(1)
    page.locator(".mark").last.focus()
    expect(page.get_by_role("tooltip").locator("mark").first).to_be_visible()
    return page.get_by_role("tooltip").inner_text()


def test_a_card_shows_a_cited_row_in_its_table(
    manual: Server, open_page: OpenPage
) -> None:
    page = open_page(manual).open()

    card_of_last_mark(page, "How much does rope type 37 cost?")

    head = page.locator(".answer-text table").first.locator("th")
    expect(head).to_have_text(["Type", "Length", "Price"])
    expect(page.locator(".answer-text table", has_text="259 euro")).to_be_visible()
    card = page.get_by_role("tooltip")
    expect(card).to_contain_text("Type | Length | Price")
    expect(card.locator("table tr").first).to_be_visible()
    expect(card.locator("td mark").first).to_contain_text("Rope type")
    expect(card.locator("blockquote p")).to_have_count(0)


def test_a_card_shows_cited_code_as_code(manual: Server, open_page: OpenPage) -> None:
    page = open_page(manual).open()

    shown = card_of_last_mark(page, "How do I start the harbour service?")

    expect(page.locator(".answer-text pre")).to_contain_text("    harbour")
    code = page.get_by_role("tooltip").locator("pre")
    expect(code).to_contain_text("$ docker run --rm \\\n    harbour")
    assert "```" not in shown


def test_a_card_shows_prose_after_cut_code_as_prose(
    manual: Server, open_page: OpenPage
) -> None:
    page = open_page(manual).open()

    card_of_last_mark(page, "How is the lantern of the crane lit?")

    passage = page.get_by_role("tooltip").locator("blockquote")
    expect(passage.locator("p")).to_contain_text("The lantern of the crane is lit")
    expect(passage.locator("pre").last).to_contain_text("for lamp in crane.lamps:")


def test_the_courses_page_names_the_language_of_a_course(
    manual: Server, open_page: OpenPage
) -> None:
    page = open_page(manual).open()

    page.get_by_role("link", name="Courses").first.click()

    expect(page.locator(".course-card", has_text="Schiffe")).to_contain_text("German")
    expect(page.locator(".drop-text").first).to_contain_text(
        "Up to 30 MB each: course script or plain text, Markdown"
    )
