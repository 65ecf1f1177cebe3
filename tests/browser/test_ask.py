"""The ask page: questions, answers with citations, stopping, reloading, and failures."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from playwright.sync_api import ViewportSize, expect

from tests.browser.conftest import (
    OpenPage,
    Server,
    doubling,
    serving,
    serving_double,
    violations,
    without_traces,
)
from tests.browser.on_screen import hidden_parts

QUESTION = "What is applemailbox2 in the Apple course?"
FAILED_REQUEST = "Failed to load resource"
PHONE: ViewportSize = {"width": 360, "height": 740}

SEARCH = {"name": "search_course_content", "input": {"query": "applemailbox2"}}
SECOND = {
    "name": "search_course_content",
    "input": {"query": "pearmailbox1", "course_name": "pear"},
}
SLOW_TEXT = "A mailbox is a queue of messages. " * 12
TWO_ROUNDS = {
    "replies": [
        {"calls": [SEARCH], "end_s": 0.6},
        {"calls": [SECOND], "end_s": 0.6},
        {"text": SLOW_TEXT, "between_s": 0.15, "delta_chars": 8},
    ],
    "then": "last",
}  # fmt: skip


def test_an_answer_comes_with_marks_that_show_the_cited_passage(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    page = watched.open()

    watched.ask(QUESTION)
    # The second mark belongs to the sentence in bold, the likeliest answer.
    mark = page.locator(".mark").nth(1)
    mark.focus()

    card = page.get_by_role("tooltip")
    expect(card).to_contain_text("Apple")
    expect(card.locator("mark")).to_have_text("It is called applemailbox2. ")
    expect(card.locator("blockquote")).to_contain_text("mailbox in case 3.")
    expect(mark).to_have_attribute("rel", "noopener noreferrer")
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    expect(page.get_by_label("Sources").get_by_role("link").first).to_be_visible()
    expect(page.locator(".badge")).to_have_text(re.compile("Found|Check for yourself"))
    expect(page.locator(".facts")).to_contain_text("built-in reasoner")
    assert re.search(r"/conversations/[0-9a-f]+$", page.url)


def test_the_cited_words_of_every_mark_are_wholly_on_the_screen(
    server: Server, open_page: OpenPage
) -> None:
    page = open_page(server).open()
    watched_marks = 0
    for number, question in enumerate(
        (QUESTION, "What is pearmailbox15?", "What is applemailbox12?"), start=1
    ):
        page.get_by_label("Your question").fill(question)
        page.keyboard.press("Enter")
        expect(page.locator(".answer-foot")).to_have_count(number)

    for mark in page.locator(".mark").all():
        mark.scroll_into_view_if_needed()
        mark.hover()
        card = page.get_by_role("tooltip")
        # The card loads the words around the citation a moment later.
        expect(card.locator("blockquote")).to_contain_text("It is called")
        expect(card.locator("blockquote")).to_contain_text("in case")
        assert hidden_parts(card.locator("mark")) == []
        assert hidden_parts(card) == []
        page.keyboard.press("Escape")
        watched_marks += 1

    assert watched_marks >= 3


def test_a_mark_that_is_scrolled_to_by_its_focus_shows_its_passage(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server, viewport={"width": 800, "height": 400})
    page = watched.open()
    for number in range(3):
        watched.ask(QUESTION)
        expect(page.locator(".answer-foot")).to_have_count(number + 1)

    page.locator(".mark").first.focus()
    # Browsers fire a scroll event only with the next frame.
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )

    expect(page.get_by_role("tooltip")).to_be_visible()
    expect(page.get_by_role("tooltip")).to_be_in_viewport()


def test_the_rounds_show_as_they_happen_and_the_text_as_it_is_written(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    with serving_double(data_dir, tmp_path, TWO_ROUNDS) as server:
        watched = open_page(server)
        page = watched.open()

        watched.ask("Compare the two mailboxes.")

        expect(page.locator(".round-title", has_text="Round 1")).to_be_visible()
        expect(
            page.locator(".step-title", has_text="Searching “applemailbox2”")
        ).to_be_visible()
        expect(page.locator(".round-title", has_text="Round 2")).to_be_visible()
        expect(
            page.locator(".step-title", has_text="Searching “pearmailbox1” in pear")
        ).to_be_visible()
        expect(page.locator(".draft")).to_contain_text("A mailbox is")
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
        expect(page.locator(".answer-foot")).to_be_visible()
        expect(page.locator(".how summary")).to_contain_text("2 rounds, 2 tool calls")
        expect(page.get_by_role("button", name="Send")).to_be_visible()


def test_a_tool_call_written_as_text_is_gone_once_another_call_follows(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    script = {
        "replies": [
            {"text": "Let me look. <invoke name=x>" + " " * 40, "between_s": 0.15, "delta_chars": 8},
            {"text": SLOW_TEXT, "between_s": 0.15, "delta_chars": 8},
        ],
        "then": "last",
    }  # fmt: skip
    with serving_double(data_dir, tmp_path, script) as server:
        watched = open_page(server)
        page = watched.open()

        watched.ask("Compare the two mailboxes.")

        expect(page.locator(".draft")).to_contain_text("Let me look.")
        expect(page.locator(".draft")).to_contain_text("A mailbox is")
        expect(page.locator(".draft")).not_to_contain_text("Let me look.")
        expect(page.locator(".answer-foot")).to_be_visible()
        expect(page.locator(".answer-text")).to_contain_text(SLOW_TEXT.strip())


def test_stop_ends_the_query_itself(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    with serving_double(data_dir, tmp_path, TWO_ROUNDS) as server:
        watched = open_page(server)
        page = watched.open()
        watched.ask("Compare the two mailboxes.")
        expect(page.locator(".draft")).to_contain_text("A mailbox is")

        page.get_by_role("button", name="Stop").click()

        expect(page.get_by_text("You stopped this answer")).to_be_visible()
        expect(page.locator(".draft")).to_contain_text("A mailbox is")
        expect(page.locator(".answer-text").last).to_contain_text(
            "This is what was found"
        )
        expect(page.locator(".facts")).to_contain_text("2 calls")
        page.get_by_text("What had been found by then").click()
        expect(page.get_by_label("Sources").get_by_role("link").first).to_be_visible()
        traces = httpx2.get(f"{server.url}/api/traces").json()["traces"]
        assert [trace["status"] for trace in traces] == ["cancelled"]


def test_a_reload_in_mid_answer_comes_back_to_it(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    with serving_double(data_dir, tmp_path, TWO_ROUNDS) as server:
        watched = open_page(server)
        page = watched.open()
        watched.ask("Compare the two mailboxes.")
        expect(page.locator(".draft")).to_contain_text("A mailbox is")

        page.reload()

        # The details stay open until the draft is back.
        page.locator(".how:not([open]) summary").click()
        expect(
            page.locator(".step-title", has_text="Searching “applemailbox2”")
        ).to_be_visible()
        expect(page.locator(".answer-foot")).to_be_visible()
        expect(page.locator(".answer-text")).to_contain_text(SLOW_TEXT.strip())
        traces = httpx2.get(f"{server.url}/api/traces").json()["traces"]
        assert [trace["status"] for trace in traces] == ["answered"]


def test_a_conversation_survives_a_reload_and_is_found_in_the_sidebar(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    page = watched.open()
    watched.ask(QUESTION)
    expect(page.locator(".answer-foot")).to_have_count(1)
    watched.ask("And pearmailbox1 in the Pear course?")
    expect(page.locator(".answer-foot")).to_have_count(2)

    page.reload()

    expect(page.locator(".question")).to_have_count(2)
    expect(page.locator(".answer-foot")).to_have_count(2)
    expect(page.locator(".mark").first).to_be_visible()
    page.get_by_text("How it was worked out").first.click()
    expect(page.locator(".step").first).to_contain_text("Searching")
    page.get_by_role("link", name="New chat").first.click()
    expect(page.locator(".question")).to_have_count(0)
    # The chat with the latest question comes first.
    page.get_by_role("link", name=QUESTION).first.click()
    expect(page.locator(".question")).to_have_count(2)


def test_suggested_questions_come_from_the_index_and_ask(
    server: Server, open_page: OpenPage
) -> None:
    page = open_page(server).open()
    suggestion = page.locator(".suggestions button").first

    question = suggestion.locator(".suggestion-question").inner_text()
    suggestion.click()

    expect(page.locator(".question")).to_have_text(re.compile(re.escape(question)))
    expect(page.locator(".answer-foot")).to_be_visible()


def test_doubt_is_a_sentence_whose_why_leads_to_its_event(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    page = watched.open()
    watched.ask("Who won the football World Cup in 1998?")
    expect(page.locator(".badge")).to_have_text("The closest match")

    page.get_by_role("link", name=re.compile("why")).first.click()

    expect(page).to_have_url(re.compile(r"/traces/[0-9a-f]+/events/\d+$"))
    seq = page.url.rpartition("/")[2]
    expect(page.locator(".around [aria-current] .event-seq")).to_have_text(seq)
    # The event's card names the doubt that rests on it.
    expect(page.locator(".event-card .doubt-note").first).to_be_visible()
    page.go_back()
    expect(page.locator(".badge")).to_have_text("The closest match")


def test_without_an_index_the_page_says_what_that_means_and_what_to_do(
    tmp_path: Path, open_page: OpenPage
) -> None:
    with serving(tmp_path / "empty", tmp_path) as server:
        watched = open_page(server)
        watched.expected.append(FAILED_REQUEST)  # 503 of /readyz, and of the question
        page = watched.open()
        expect(page.get_by_text("Nothing is indexed yet").first).to_be_visible()
        expect(page.get_by_text("No API key is set")).to_be_visible()

        watched.ask("Anything?")

        expect(page.get_by_text("This question has no answer")).to_be_visible()
        expect(page.get_by_text("Add documents on the courses page")).to_be_visible()
        expect(page.get_by_role("button", name="Ask again")).to_be_visible()


def test_one_click_adds_the_sample_courses_to_a_service_without_an_index(
    tmp_path: Path, open_page: OpenPage
) -> None:
    with serving(tmp_path / "empty", tmp_path) as server:
        watched = open_page(server, viewport=PHONE)
        watched.expected.append(FAILED_REQUEST)  # 503 of /readyz
        page = watched.open()
        button = page.get_by_role("button", name="Try it with the sample courses")
        expect(button).to_be_in_viewport(ratio=1)
        assert violations(page) == []

        button.click()

        expect(page.locator(".suggestions button").first).to_be_visible(timeout=90_000)
        expect(page.locator(".upload")).to_contain_text(
            "Ready for questions: 4 documents."
        )
        courses = httpx2.get(f"{server.url}/api/courses").json()["courses"]
        assert len(courses) == 4


def test_the_page_reports_that_the_service_is_away_and_asks_again_by_itself(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    watched.expected.append(FAILED_REQUEST)
    page = watched.open()
    expect(page.locator(".suggestions")).to_be_visible()
    page.context.set_offline(True)

    watched.ask(QUESTION)
    expect(
        page.get_by_text("The connection to the service is lost").first
    ).to_be_visible()
    page.context.set_offline(False)

    expect(page.locator(".answer-foot")).to_be_visible()
    expect(page.locator(".connection")).to_have_count(0)


def test_a_question_that_does_not_reach_the_service_can_be_given_up(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    watched.expected.append(FAILED_REQUEST)
    page = watched.open()
    expect(page.locator(".suggestions")).to_be_visible()
    page.context.set_offline(True)
    watched.ask(QUESTION)
    expect(
        page.get_by_text("The connection to the service is lost").first
    ).to_be_visible()

    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("You stopped this question before")).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("button", name="Ask again").click()

    expect(page.locator(".answer-foot")).to_have_count(1)


def test_an_answer_survives_that_the_service_is_killed_and_started_again(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    folder = without_traces(data_dir, tmp_path)
    with doubling(tmp_path, TWO_ROUNDS) as address:
        model = {"ANTHROPIC_BASE_URL": address, "ANTIPHON_CITATIONS": "native"}
        with serving(folder, tmp_path, **model) as first:
            watched = open_page(first)
            watched.expected += [FAILED_REQUEST, "ERR_INCOMPLETE_CHUNKED_ENCODING"]
            page = watched.open()
            watched.ask("Compare the two mailboxes.")
            expect(page.locator(".draft")).to_contain_text("A mailbox is")
            first.stop(signal.SIGKILL)
            expect(
                page.get_by_text("The connection to the service is lost").first
            ).to_be_visible()
            port = str(urlsplit(first.url).port)
        with serving(folder, tmp_path, "--port", port, **model):
            expect(page.locator(".answer-foot")).to_be_visible()

            expect(page.locator(".answer-text")).to_contain_text("A mailbox is")
            expect(page.locator(".question")).to_have_count(1)


def test_the_page_says_that_a_deleted_conversation_is_gone(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    watched.expected.append(FAILED_REQUEST)

    page = watched.open("/conversations/nothing")

    expect(page.get_by_text("This conversation was deleted")).to_be_visible()


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "[click](https://evil.example)",
    "<a href='https://evil.example'>x</a>",
    "'\"><svg/onload=alert(1)>",
    "{{7+7}} ${7+7} %0d%0aSet-Cookie:x=1",
]


def test_the_page_shows_hostile_questions_and_replies_as_text(
    data_dir: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    replies = [{"text": f"So: {hostile} is it."} for hostile in HOSTILE]
    with serving_double(
        data_dir, tmp_path, {"replies": replies, "then": "last"}
    ) as server:
        watched = open_page(server)
        page = watched.open()

        for number, hostile in enumerate(HOSTILE):
            watched.ask(f"What is {hostile}?")
            expect(page.locator(".answer-foot")).to_have_count(number + 1)
            assert hostile in page.locator(".question").nth(number).inner_text()
            assert hostile in page.locator(".answer-text").nth(number).inner_text()

        assert page.locator(".answer-text :is(a, img, script, svg)").count() == 0
        page.goto(f"{server.url}/traces")
        expect(page.locator(".trace-question")).to_have_count(len(HOSTILE))
        listed = page.get_by_role("region", name="Traces").locator("table").inner_text()
        assert [hostile for hostile in HOSTILE if hostile not in listed] == []
