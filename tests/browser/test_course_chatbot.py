"""A course chatbot's unchanged page works with the service: asking, sources, conversations, the course list."""

from __future__ import annotations

from pathlib import Path

import httpx2
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenPage, Server, Watched

FOLDER = Path(__file__).parent / "course_chatbot"
FORMS = {".html": "text/html", ".js": "text/javascript"}


def open_chatbot(watched: Watched) -> Page:
    """Opens the chatbot's own page at the service's address, as if a web server in front served both."""

    def serve(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        file = FOLDER / name
        route.fulfill(body=file.read_bytes(), content_type=FORMS[file.suffix])

    watched.page.route("**/chatbot/*", serve)
    return watched.open("/chatbot/index.html")


def send(page: Page, question: str) -> None:
    page.get_by_label("Question").fill(question)
    page.keyboard.press("Enter")


def test_a_course_chatbots_page_lists_the_courses(
    server: Server, open_page: OpenPage
) -> None:
    page = open_chatbot(open_page(server))

    expect(page.locator("#totalCourses")).to_have_text("2")
    expect(page.locator("#courseTitles li")).to_have_text(
        ["The Apple Course", "The Pear Course"]
    )


def test_a_course_chatbots_page_asks_and_goes_on_in_one_conversation(
    server: Server, open_page: OpenPage
) -> None:
    page = open_chatbot(open_page(server))
    answers = page.locator(".message.assistant")

    send(page, "What is applemailbox2 in the Apple course?")
    expect(answers).to_have_count(1)
    send(page, "And what is applemailbox3?")
    expect(answers).to_have_count(2)

    expect(answers.first.locator("p")).to_contain_text("applemailbox2")
    expect(answers.first.locator(".sources-content")).to_contain_text("Apple")
    expect(answers.last.locator("p")).to_contain_text("applemailbox3")
    session_id = page.evaluate("currentSessionId")
    conversation = httpx2.get(f"{server.url}/api/conversations/{session_id}").json()
    asked = [each["question"] for each in conversation["exchanges"]]
    assert asked == [
        "What is applemailbox2 in the Apple course?",
        "And what is applemailbox3?",
    ]


def test_a_course_chatbots_page_gets_a_refusal_it_can_show(
    server: Server, open_page: OpenPage
) -> None:
    watched = open_page(server)
    watched.expected.append("status of 422")
    page = open_chatbot(watched)

    send(page, " ")

    expect(page.locator(".message.assistant")).to_have_text("Error: Query failed")


def test_the_fields_that_a_course_chatbot_reads_have_the_types_it_expects(
    server: Server,
) -> None:
    with httpx2.Client(base_url=server.url, timeout=60) as client:
        body = {"query": "What is pearmailbox1?", "session_id": None}
        answer = client.post("/api/query", json=body).json()
        again = client.post(
            "/api/query",
            json={"query": "And the next?", "session_id": answer["session_id"]},
        ).json()
        courses = client.get("/api/courses").json()

    assert isinstance(answer["answer"], str)
    assert answer["sources"]
    assert all(isinstance(source, str) for source in answer["sources"])
    assert again["session_id"] == answer["session_id"]
    assert courses["total_courses"] == len(courses["course_titles"]) == 2
