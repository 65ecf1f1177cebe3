"""A recording of another program, imported on the page of traces and opened there."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage, Server
from tests.browser.on_screen import shows
from tests.e2e.conftest import ROOT

FOREIGN = ROOT / "tests" / "data" / "foreign"


def test_the_button_imports_a_recording_and_its_page_names_the_origin(
    server: Server, open_page: OpenPage
) -> None:
    page = open_page(server).page
    page.goto(f"{server.url}/traces")

    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import").click()
    chooser.value.set_files(FOREIGN / "pydantic-ai.json")
    said = page.get_by_role("status").filter(has_text="Imported 1:")
    link = said.get_by_role("link")
    expect(link).to_be_visible()
    assert shows(said, "Imported 1:")
    link.click()

    expect(page.locator(".outcome")).to_have_text("answered")
    page.goto(f"{page.url.rstrip('/')}/events/1")
    expect(page.get_by_text("spans with GenAI names, weather_agent")).to_be_visible()
    expect(page.get_by_text("what it cost", exact=True)).to_be_visible()


def test_a_file_of_an_unknown_format_is_refused_in_words(
    server: Server, open_page: OpenPage, tmp_path: Path
) -> None:
    watched = open_page(server)
    watched.expected.append("Failed to load resource")  # 422
    page = watched.open("/traces")

    (tmp_path / "other.json").write_text("{}")
    page.get_by_label("A file of traces").set_input_files(tmp_path / "other.json")

    said = page.get_by_role("status").filter(has_text="none of what is read")
    expect(said).to_be_visible()
