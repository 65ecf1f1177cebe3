"""The pages of a service that requires keys: they ask for the key once, and everything works with it."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import expect

from antiphon.service import AccessFile, Keys
from tests.browser.conftest import OpenPage, serving, violations, without_traces

QUESTION = "What is applemailbox2 in the Apple course?"
REFUSED = "401 (Unauthorized)"


def test_the_page_asks_for_the_key_once_and_everything_works_with_it(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    folder = without_traces(data_dir, tmp_path)
    file = AccessFile(folder)
    key, _ = Keys(file).add("pages", "acme", ["ask", "debug", "live"])
    file.close()
    with serving(folder, tmp_path) as server:
        watched = open_page(server)
        watched.expected = [REFUSED]
        page = watched.open()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("antiphon keys add")
        assert violations(page) == []

        # After a wrong key the page asks again, and shows the service's reason.
        page.get_by_label("Your key").fill("ant_wrong")
        page.get_by_role("button", name="Continue").click()
        expect(dialog).to_contain_text("does not know this key")
        page.get_by_label("Your key").fill(key)
        page.get_by_role("button", name="Continue").click()
        expect(dialog).to_have_count(0)
        expect(page.locator("#outline-list")).to_contain_text("Apple")

        # First the live events, then the trace with all its views.
        watched.ask(QUESTION)
        expect(page.locator(".mark").first).to_be_visible()
        page.reload()
        expect(page.locator(".mark").first).to_be_visible()
        page.goto(f"{server.url}/traces")
        page.locator("main a[href*='/traces/']").first.click()
        page.get_by_role("button", name="Replay").click()
        expect(page.locator(".verdict.same")).to_contain_text("replay gives the same")
        with page.expect_download() as exporting:
            page.get_by_role("link", name="Export").click()
        exporting.value.save_as(tmp_path / "exported.jsonl")

        assert key not in page.content()
        assert key not in page.evaluate("document.cookie + location.href")
        assert page.evaluate("JSON.stringify(localStorage)").count(key) == 0
        page.get_by_role("button", name="Forget the key").click()
        expect(page.get_by_role("dialog")).to_be_visible()

    assert '"kind":"query_received"' in (tmp_path / "exported.jsonl").read_text()
    shutil.rmtree(folder)


def test_a_key_that_may_only_ask_gets_no_link_that_the_service_would_refuse(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    folder = without_traces(data_dir, tmp_path)
    file = AccessFile(folder)
    key, _ = Keys(file).add("asker", "acme", ["ask"])
    file.close()
    with serving(folder, tmp_path) as server:
        watched = open_page(server)
        watched.expected = [REFUSED]
        page = watched.open()
        page.get_by_label("Your key").fill(key)
        page.get_by_role("button", name="Continue").click()
        expect(page.locator("#outline-list")).to_contain_text("Apple")
        watched.ask("What is the weather on Mars?")
        answer = page.locator(".answer-foot")
        expect(answer).to_be_visible()

        expect(answer.get_by_text("Copy")).to_be_visible()
        for name in ("Trace", "Traces", "Faults"):
            expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
        expect(page.get_by_role("link", name="why?")).to_have_count(0)
