"""Questions over HTTP, on real parts: index, bus, traces and the offline reasoner."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import Server
from tests.unit.api.calling import events_in

QUESTION = {"query": "What is applemailbox7 in the Apple course?"}


def _trace(client: httpx2.Client, query_id: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = client.get(f"/api/traces/{query_id}").json()[
        "events"
    ]
    return events


def test_a_question_gets_an_answer_whose_citations_are_in_the_passages_they_name(
    client: httpx2.Client,
) -> None:
    answer = client.post("/api/query", json=QUESTION).json()

    trace = _trace(client, answer["query_id"])
    facts = [
        fact
        for event in trace
        for fact in event["event"].get("facts", ())
        if isinstance(fact, dict)
    ]
    passages = {fact["id"]: fact["passage"] for fact in facts}
    assert "applemailbox7" in answer["answer"]
    assert "The Apple Course - Lesson 1" in answer["sources"]
    assert len(answer["sources"]) == len(answer["source_links"])
    assert answer["citations"]
    assert all(
        cited["cited_text"] in passages[cited["fact"]]["text"]
        for cited in answer["citations"]
    )
    assert answer["reasoner"] == "offline"
    assert answer["rounds"] <= 2
    assert answer["usage"]["calls"] <= 3


def test_the_trace_has_every_event_in_one_order_with_its_cause(
    client: httpx2.Client,
) -> None:
    answer = client.post("/api/query", json=QUESTION).json()

    trace = _trace(client, answer["query_id"])

    assert [event["seq"] for event in trace] == list(range(1, len(trace) + 1))
    assert all(event["cause"] < event["seq"] for event in trace)
    assert (trace[0]["event"]["kind"], trace[-1]["event"]["kind"]) == (
        "query_received",
        "query_closed",
    )
    lines = client.get(
        f"/api/traces/{answer['query_id']}", headers={"accept": "application/x-ndjson"}
    ).text
    assert [json.loads(line) for line in lines.splitlines()] == trace


def test_live_events_are_the_recorded_ones_and_the_answer_comes_last(
    client: httpx2.Client,
) -> None:
    reply = client.post(
        "/api/query", json=QUESTION, headers={"accept": "text/event-stream"}
    )

    told = events_in(reply.content)
    answer = told[-1][2]
    recorded = [
        (kind, number, data) for kind, number, data in told if number is not None
    ]
    trace = _trace(client, answer["query_id"])
    assert told[-1][0] == "answer"
    assert [data for _, _, data in recorded] == trace
    assert [int(number) for _, number, _ in recorded if number] == [
        event["seq"] for event in trace
    ]
    assert "text_delta" in {kind for kind, _, _ in told}


def test_a_conversation_goes_on_until_it_is_forgotten(client: httpx2.Client) -> None:
    first = client.post("/api/query", json=QUESTION | {"session_id": None}).json()
    session_id = first["session_id"]

    second = client.post(
        "/api/query", json={"query": "And pearranking3?", "session_id": session_id}
    ).json()
    forgotten = client.post(
        "/api/clear-session", json={"session_id": session_id}
    ).json()
    third = client.post(
        "/api/query", json={"query": "And pearranking4?", "session_id": session_id}
    ).json()

    histories = [
        [
            exchange["question"]
            for exchange in _trace(client, reply["query_id"])[0]["event"]["history"]
        ]
        for reply in (first, second, third)
    ]
    assert forgotten == {"status": "ok", "session_id": session_id}
    assert histories == [[], [QUESTION["query"]], []]


def test_the_api_lists_courses_and_traces_and_reports_its_health(
    client: httpx2.Client,
) -> None:
    courses = client.get("/api/courses").json()

    assert courses["total_courses"] == 2
    assert sorted(courses["course_titles"]) == ["The Apple Course", "The Pear Course"]
    assert len(courses["courses"][0]["lessons"]) in (3, 4)
    assert client.get("/api/traces?limit=1").json()["traces"]
    assert client.get("/api/queries").json() == {"queries": []}
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").status_code == 200


def test_a_search_brings_the_passages_of_the_course_and_lesson_that_are_named(
    client: httpx2.Client,
) -> None:
    asked = {"q": "What is applemailbox7?", "course": "aple", "lesson": "one"}

    found = client.get("/api/search", params=asked | {"limit": 2}).json()

    assert (found["course"], found["lesson"]) == ("The Apple Course", 1)
    first = found["passages"][0]
    assert "applemailbox7" in first["text"]
    assert (first["source"], first["link"]) == (
        "The Apple Course - Lesson 1",
        "https://example.org/apple/1",
    )
    assert len(found["passages"]) == 2
    assert found["passages"][0]["score"] >= found["passages"][1]["score"]


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ({"q": " "}, 422, "The query is empty"),
        ({"q": "x", "course": "Cooking"}, 404, "The nearest are: The "),
        ({"q": "x", "course": "apple", "lesson": "12"}, 404, "it has lessons 0 to"),
        ({"q": "x", "lesson": "12"}, 404, "No course has a lesson 12."),
        ({"q": "x", "lesson": "last"}, 404, "Name its course, too."),
        ({"q": "x\x00'\"", "course": "\x00"}, 404, "No course named"),
    ],
)
def test_a_search_for_what_is_not_there_names_what_there_is(
    client: httpx2.Client, asked: dict[str, str], status: int, words: str
) -> None:
    reply = client.get("/api/search", params=asked)

    assert reply.status_code == status
    assert words in reply.json()["error"]["message"]


@pytest.mark.parametrize("q", ["\x00", "* OR NEAR(", '"', "ё漢字🙂", "a" * 2_000])
def test_any_words_can_be_searched_for(client: httpx2.Client, q: str) -> None:
    reply = client.get("/api/search", params={"q": q, "why": "true"})

    assert reply.status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"query": ""}, 422, "empty"),
        ({"query": " \x00 "}, 422, "empty"),
        ({"query": "x" * 100_000}, 422, "8,000"),
        ({"query": 7}, 422, "text"),
        ({"query": "x", "session_id": "nobody"}, 404, "nobody"),
        ({"query": "x", "max_rounds": 9}, 422, "max_rounds"),
        ({"query": "x", "deadline_s": 0}, 422, "deadline_s"),
    ],
)
def test_bad_input_is_refused_with_what_to_do(
    client: httpx2.Client, body: dict[str, object], status: int, words: str
) -> None:
    reply = client.post("/api/query", json=body)

    error = reply.json()["error"]
    assert (reply.status_code, words in error["message"]) == (status, True), error
    assert "Traceback" not in reply.text


def test_half_a_surrogate_pair_is_refused_and_a_nul_does_no_harm(
    client: httpx2.Client,
) -> None:
    headers = {"content-type": "application/json"}

    half = client.post("/api/query", content=b'{"query": "\\ud800"}', headers=headers)
    nul = client.post(
        "/api/query",
        content=b'{"query": "What is \\u0000applemailbox7?"}',
        headers=headers,
    )

    assert half.status_code == 422
    assert "applemailbox7" in nul.json()["answer"]


def test_a_body_of_unknown_length_is_cut_off_at_the_limit(server: Server) -> None:
    def endless() -> Iterator[bytes]:
        yield b'{"query": "'
        for _ in range(30):
            yield b"x" * 100_000

    with httpx2.Client(base_url=server.url) as client:
        reply = client.post(
            "/api/query",
            # An iterator has no length, so the client sends it in chunks.
            content=endless(),
            headers={"content-type": "application/json"},
        )

    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "body_too_large")


def test_fifty_questions_at_once_are_all_answered_each_from_its_own_sources(
    client: httpx2.Client,
) -> None:
    def ask(number: int) -> tuple[str, dict[str, Any]]:
        fruit = ("apple", "pear")[number % 2]
        question = f"What is {fruit}ranking{number % 25} in the {fruit.title()} course?"
        return fruit, client.post("/api/query", json={"query": question}).json()

    with ThreadPoolExecutor(50) as threads:
        answers = list(threads.map(ask, range(50)))

    for fruit, answer in answers:
        courses = {cited["course"] for cited in answer["citations"]}
        assert courses == {f"The {fruit.title()} Course"}, answer


def test_another_machines_name_is_refused(client: httpx2.Client) -> None:
    reply = client.get("/healthz", headers={"host": "evil.example"})

    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "foreign_host")


def test_the_log_has_a_line_for_each_request_and_no_question(
    client: httpx2.Client, server: Server
) -> None:
    answer = client.post(
        "/api/query", json={"query": "a question for nobody else"}
    ).json()
    client.get("/healthz")

    lines = [
        line
        for line in server.said
        if answer["query_id"] in line and "/api/query" in line
    ]
    assert len(lines) == 1
    assert json.loads(lines[0])["status"] == 200
    assert not any("a question for nobody else" in line for line in server.said)
