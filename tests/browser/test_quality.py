"""The quality page saves questions, asks them with two settings, and shows what changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, expect

from antiphon.service import AccessFile, Keys
from tests.browser.conftest import (
    OpenPage,
    Server,
    serving,
    serving_double,
    violations,
    without_traces,
)
from tests.browser.on_screen import hidden_parts
from tests.browser.test_views import overflowing

QUESTIONS = (
    "What is applemailbox2 in the Apple course?",
    "What is pearmailbox15 in the Pear course?",
    "Hello <img src=x onerror=alert(1)>!",
)
SIZES = [(1280, 800), (360, 740)]


def written(page: Page, name: str, *questions: str) -> None:
    """Types a set of questions, and saves it."""
    page.get_by_label("Name").fill(name)
    page.get_by_label("Questions, one per line").fill("\n".join(questions))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Compare two settings")).to_be_visible()


def changed(page: Page, side: str, setting: str, value: str) -> None:
    """Changes a setting on one side."""
    place = page.get_by_role("group", name=f"{side}: as now, unless changed")
    place.get_by_role("button", name="Change a setting").click()
    place.get_by_label("Setting").select_option(setting)
    field = place.get_by_label("Value")
    if field.evaluate("(field) => field.tagName") == "SELECT":
        field.select_option(value)
    else:
        field.fill(value)


def saved(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = httpx2.get(f"{server.url}/api/question-sets").json()[
        "sets"
    ]
    return found


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_compares_three_typed_questions_and_shows_every_row(
    scheme: str, width: int, height: int, server: Server, open_page: OpenPage
) -> None:
    name = f"Set {scheme} {width}"
    size = {"width": width, "height": height}
    page = open_page(server, size, color_scheme=scheme).open("/quality")
    written(page, name, *QUESTIONS)
    changed(page, "Right", "max_rounds", "0")
    plan = page.get_by_text("3 questions, 6 answers.")
    expect(plan).to_contain_text("at no cost")
    found = violations(page)

    page.get_by_role("button", name="Compare", exact=True).click()

    expect(page.get_by_text("3 of 3 questions compared.")).to_be_visible()
    rows = page.locator("main ol > li")
    expect(rows).to_have_count(3)
    for row, question in zip(rows.all(), QUESTIONS, strict=True):
        for side in ("As now", "max rounds 0"):
            part = row.locator("section").filter(
                has=page.get_by_role("heading", name=side)
            )
            expect(part.get_by_role("link", name="Trace")).to_be_visible()
            # An answer may be taller than the window.
            for seen in (part.get_by_role("heading"), part.locator(".answer-text p")):
                seen.first.scroll_into_view_if_needed()
                assert hidden_parts(seen.first) == []
        assert row.get_by_role("heading").first.inner_text() == question
    first = rows.first
    first.get_by_text("What changed, sentence by sentence").click()
    left = first.locator(".answer-line.left").filter(has_text="applemailbox2").first
    expect(left).to_be_visible()
    expect(page.get_by_role("region", name="Totals")).to_contain_text("changed")
    assert overflowing(page) == []
    assert found + violations(page) == []
    # The comparison adds nothing to the chats, and survives a reload.
    titles = page.locator("#recent-list .chat > a").all_inner_texts()
    assert not set(titles) & set(QUESTIONS)
    page.reload()
    expect(page.get_by_text("3 of 3 questions compared.")).to_be_visible()
    expect(page.locator("main ol .answer-text")).to_have_count(6)


def test_a_comparison_is_made_judged_and_sorted_by_keyboard(
    server: Server, open_page: OpenPage
) -> None:
    page = open_page(server).open("/quality")
    page.get_by_label("Name").focus()
    page.keyboard.type("By keyboard")
    page.keyboard.press("Tab")
    page.keyboard.type("Hello!\nWhat is applemailbox2 in the Apple course?")
    page.get_by_role("button", name="Save").press("Enter")
    change = page.get_by_role("group", name="Right").get_by_role("button")
    expect(change).to_be_enabled()
    change.press("Enter")
    # The focus moves from the setting's name to its value.
    page.keyboard.type("max rounds")
    page.keyboard.press("Tab")
    page.keyboard.type("0")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 of 2 questions compared.")).to_be_visible()

    rows = page.locator("main ol > li")
    page.get_by_label("Order").select_option("changed")
    expect(rows.first).to_contain_text("applemailbox2")
    better = rows.first.get_by_role("button", name="Left is better")
    better.press("Enter")
    expect(better).to_have_attribute("aria-pressed", "true")
    expect(better).to_be_focused()
    expect(page.get_by_role("row", name="Better")).to_contain_text("1")
    expect(page.locator("#status")).to_have_text("Left is better: saved.")

    kept = next(
        each for each in saved(server) if each["comparison"] and "keyboard" in str(each)
    )
    [judged] = [each for each in kept["questions"] if each["verdict"]]
    for side, rating in (("left", "up"), ("right", "down")):
        trace = httpx2.get(f"{server.url}/api/traces/{judged[side]}").json()
        assert trace["feedback"]["rating"] == rating


def test_rated_questions_are_added_exported_and_read_again(
    server: Server, open_page: OpenPage, tmp_path: Path
) -> None:
    answer = httpx2.post(
        f"{server.url}/api/query", json={"query": QUESTIONS[1]}, timeout=60
    ).json()
    path = f"{server.url}/api/traces/{answer['query_id']}/feedback"
    httpx2.put(path, json={"rating": "down", "note": "Too short."})
    page = open_page(server).open("/quality")
    page.get_by_role("button", name="Add those rated bad").click()
    expect(page.get_by_label("Questions, one per line")).to_have_value(
        QUESTIONS[1], timeout=5_000
    )
    page.get_by_label("Name").fill("Bad ones")
    page.get_by_role("button", name="Save").click()

    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    lines = Path(download.value.path()).read_text()

    assert [json.loads(line) for line in lines.splitlines()] == [
        {
            "id": answer["query_id"][:8],
            "question": QUESTIONS[1],
            "rating": "down",
            "note": "Too short.",
        }
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text(lines + '{"question": "And\\nthis?"}\n')
    page.locator('input[type="file"]').set_input_files(file)
    expect(page.get_by_text("1 question added, 1 there already.")).to_be_visible()
    expect(page.get_by_label("Questions, one per line")).to_have_value(
        f"{QUESTIONS[1]}\nAnd this?"
    )
    page.get_by_label("Questions, one per line").fill('{"question": 5}')
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Line 1 is not a question")).to_be_visible()


def test_a_stopped_comparison_stays_and_goes_on(
    server: Server, open_page: OpenPage
) -> None:
    page = open_page(server).open("/quality")
    written(page, "Stopped", *[f"{QUESTIONS[0]} ({number})" for number in range(12)])
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator(".answer-text").first).to_be_visible()

    page.get_by_role("button", name="Stop").click()

    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    there = page.locator("main ol .answer-text").count()
    assert 2 <= there < 24
    page.reload()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("12 of 12 questions compared.")).to_be_visible()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete it? The traces stay.").click()
    expect(page.get_by_role("heading", name="Saved sets")).to_be_visible()


def test_the_page_reports_a_refusal_and_keeps_the_one_answer(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    watched.expected = ["422 (Unprocessable"]
    page = watched.open("/quality")
    written(page, "Refused", QUESTIONS[0])
    changed(page, "Right", "max_rounds", "5")

    page.get_by_role("button", name="Compare", exact=True).click()

    said = page.get_by_text("settings of a fork over the network go only downwards")
    expect(said).to_contain_text("0 of 1 question compared.")
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    [asked] = [each for each in saved(server) if each["name"] == "Refused"][:1]
    assert asked["questions"][0]["left"] is not None
    assert asked["questions"][0]["right"] is None


def test_the_page_compares_two_models_and_states_the_highest_cost_beforehand(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    script = {"replies": [{"text": "It is good."}], "then": "last"}
    models = {"ANTIPHON_OTHER_MODEL": "claude-haiku-5-5"}
    with serving_double(
        data_dir, tmp_path, script, ANTIPHON_MAX_COST_USD="0.5", **models
    ) as server:
        page = open_page(server).open("/quality")
        written(page, "Models", "What is BM25?", "And recall?")
        changed(page, "Left", "max_cost_usd", "0.25")
        changed(page, "Right", "model", "claude-haiku-5-5")
        plan = page.get_by_text("2 questions, 4 answers.")
        expect(plan).to_contain_text("They cost at most $1.50: $0.25 an answer on the")

        page.get_by_role("button", name="Compare", exact=True).click()

        expect(page.get_by_text("2 of 2 questions compared.")).to_be_visible()
        [asked] = [each for each in saved(server) if each["comparison"]]
        for question in asked["questions"]:
            for side, model, most in (
                ("left", "claude-sonnet-5-5", 0.25),
                ("right", "claude-haiku-5-5", 0.5),
            ):
                path = f"/api/traces/{question[side]}"
                trace = httpx2.get(f"{server.url}{path}").json()
                first = trace["events"][0]["event"]
                assert first["settings"]["model"] == model
                assert first["settings"]["max_cost_usd"] == most
                assert first["history"] == []
        page.close()


def test_the_page_stays_hidden_from_a_key_that_may_not_compare(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    folder = without_traces(data_dir, tmp_path)
    file = AccessFile(folder)
    keys = {
        scopes: Keys(file).add("pages", "acme", scopes)[0]
        for scopes in (("ask", "debug"), ("ask", "debug", "live"))
    }
    file.close()
    with serving(folder, tmp_path) as server:
        for scopes, key in keys.items():
            watched = open_page(server)
            watched.expected = ["401 (Unauthorized)"]
            page = watched.open()
            page.get_by_label("Your key").fill(key)
            page.get_by_role("button", name="Continue").click()
            expect(page.locator("#outline-list")).to_contain_text("Apple")
            link = page.locator(".places").get_by_text("Quality")
            expect(link).to_have_count(1)
            assert link.is_visible() == ("live" in scopes)
            page.close()
