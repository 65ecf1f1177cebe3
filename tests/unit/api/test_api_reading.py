"""Courses, conversations, traces, health and the API's own documentation."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from structlog.testing import capture_logs

from antiphon.api import brief_traces
from antiphon.api.brief_traces import LEFT_OUT
from tests.story import placed, query_received, tool_succeeded
from tests.unit.api.calling import Browser, app_of, events_in, new_app_of
from tests.unit.api.fakes import FakeService

TELLING = (query_received(), tool_succeeded("BM25 ranks."))


async def test_the_courses_come_in_the_shape_that_chat_pages_know() -> None:
    reply = await Browser(app_of(FakeService())).get("/api/courses")

    assert reply.json() == {
        "total_courses": 1,
        "course_titles": ["Practical Search"],
        "courses": [
            {
                "title": "Practical Search",
                "link": "https://x.example",
                "instructor": "A",
                "lessons": [{"number": 2, "title": "BM25", "link": None}],
                "language": None,
                "losses": [],
                "has_layout": False,
            }
        ],
    }


async def test_a_conversation_can_be_forgotten() -> None:
    service = FakeService()
    await service.store.open_conversation("s1")

    reply = await Browser(app_of(service)).post(
        "/api/clear-session", {"session_id": "s1"}
    )

    assert reply.json() == {"status": "ok", "session_id": "s1"}


async def test_a_conversation_that_is_not_there_is_not_found() -> None:
    reply = await Browser(app_of(FakeService())).post(
        "/api/clear-session", {"session_id": "nobody"}
    )

    assert (reply.status, reply.error["code"]) == (404, "not_found")


async def test_traces_are_listed_page_by_page() -> None:
    service = FakeService()
    for _ in range(2):
        await Browser(app_of(service)).post("/api/query", {"query": "x"})

    page = (await Browser(app_of(service)).get("/api/traces?limit=2")).json()
    rest = (
        await Browser(app_of(service)).get(
            f"/api/traces?limit=2&before={page['next_before']}"
        )
    ).json()

    assert sorted(line["query_id"] for line in page["traces"]) == ["q-1", "q-2"]
    assert page["traces"][0]["status"] == "answered"
    assert rest == {"traces": [], "next_before": None, "next_after_id": None}


async def test_two_traces_of_the_same_moment_are_both_met_page_by_page() -> None:
    service = FakeService()
    for _ in range(2):
        await Browser(app_of(service)).post("/api/query", {"query": "x"})

    first = (await Browser(app_of(service)).get("/api/traces?limit=1")).json()
    second = (
        await Browser(app_of(service)).get(
            f"/api/traces?limit=1&after_id={first['next_after_id']}"
        )
    ).json()

    assert {
        line["query_id"] for page in (first, second) for line in page["traces"]
    } == {"q-1", "q-2"}


async def test_a_trace_is_replayed_on_request() -> None:
    service = FakeService()
    await Browser(app_of(service)).post("/api/query", {"query": "x"})

    reply = await Browser(app_of(service)).post("/api/traces/q-1/replay", {})

    assert (reply.status, reply.json()["divergence"]) == (200, None)


async def test_a_stream_is_taken_up_after_the_last_event_that_was_seen() -> None:
    service = FakeService()
    await Browser(app_of(service)).post("/api/query", {"query": "x"})

    reply = await Browser(app_of(service)).get(
        "/api/traces/q-1/events", last_event_id="1"
    )

    assert [number for _, number, _ in events_in(reply.body)] == ["2", "3"]


async def test_a_stream_of_a_trace_that_is_not_there_is_not_found() -> None:
    reply = await Browser(app_of(FakeService())).get("/api/traces/nowhere/events")

    assert (reply.status, reply.error["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "wish", ["limit=0", "limit=501", "limit=x", "before=nan", "before=x"]
)
async def test_a_wish_for_traces_that_cannot_be_met_is_refused(wish: str) -> None:
    reply = await Browser(app_of(FakeService())).get(f"/api/traces?{wish}")

    assert (reply.status, reply.error["code"]) == (422, "invalid_request")


async def test_a_trace_is_one_object_with_its_events() -> None:
    service = FakeService()
    await Browser(app_of(service)).post("/api/query", {"query": "x"})

    trace = (await Browser(app_of(service)).get("/api/traces/q-1")).json()

    assert trace["query_id"] == "q-1"
    assert [(event["seq"], event["event"]["kind"]) for event in trace["events"]] == [
        (1, "query_received"),
        (2, "response_assembled"),
        (3, "query_closed"),
    ]


@pytest.mark.parametrize("form", ["application/x-ndjson", "application/jsonl"])
async def test_a_trace_is_an_event_a_line_where_that_is_asked_for(form: str) -> None:
    service = FakeService()
    await Browser(app_of(service)).post("/api/query", {"query": "x"})

    reply = await Browser(app_of(service)).get("/api/traces/q-1", accept=form)

    assert reply.headers["content-type"] == form
    assert [json.loads(line)["seq"] for line in reply.body.splitlines()] == [1, 2, 3]


async def test_a_trace_that_is_not_there_is_not_found() -> None:
    reply = await Browser(app_of(FakeService())).get("/api/traces/q-9")

    assert (reply.status, reply.error["code"]) == (404, "not_found")


async def test_the_queries_under_way_say_whom_they_wait_for() -> None:
    service = FakeService()
    await Browser(app_of(service)).post("/api/query", {"query": "x"})

    reply = await Browser(app_of(service)).get("/api/queries")

    waiting = {
        "who": "engine",
        "event": "reasoning_completed",
        "about": "c1",
        "since_seq": 4,
        "since_at": 1.5,
    }
    assert reply.json() == {"queries": [{"query_id": "q-1", "waiting_for": [waiting]}]}


async def test_a_living_process_says_so() -> None:
    assert (await Browser(app_of(FakeService())).get("/healthz")).json() == {
        "status": "ok"
    }


async def test_readiness_is_200_when_questions_can_be_answered() -> None:
    reply = await Browser(app_of(FakeService())).get("/readyz")

    assert (reply.status, reply.json()["problems"]) == (200, [])


async def test_readiness_is_503_with_the_problems_in_words_otherwise() -> None:
    reply = await Browser(app_of(FakeService(ready=False))).get("/readyz")

    assert reply.status == 503
    assert "antiphon index" in reply.json()["problems"][0]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:8000", "localhost:9", "LOCALHOST", "[::1]:8000", "[::1]"],
)
async def test_this_machine_may_be_called_by_its_own_names(host: str) -> None:
    assert (
        await Browser(app_of(FakeService())).get("/healthz", host=host)
    ).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "localhost.",
        "[::2]",
    ],
)
async def test_a_service_of_this_machine_only_refuses_to_be_called_by_another_name(
    host: str,
) -> None:
    reply = await Browser(app_of(FakeService())).get("/healthz", host=host)

    assert (reply.status, reply.error["code"]) == (400, "foreign_host")


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.5"])
async def test_a_service_of_the_network_is_called_by_no_name_that_nobody_has_named(
    address: str,
) -> None:
    app = app_of(FakeService(), host=address)

    foreign = await Browser(app).get("/healthz", host="antiphon.example")
    own = await Browser(app).get("/healthz", host="127.0.0.1:8000")
    by_address = await Browser(app).get("/healthz", host=f"[{address}]:8000")

    assert (foreign.status, foreign.error["code"]) == (400, "foreign_host")
    assert "ANTIPHON_ALLOWED_HOSTS" in foreign.error["message"]
    assert own.status == 200
    assert by_address.status == 200


@pytest.mark.parametrize(
    ("allowed", "host", "status"),
    [
        ("testserver", "testserver", 200),
        ("testserver", "localhost", 400),
        ("*", "any.example", 200),
    ],
)
async def test_the_settings_say_by_which_names_a_service_may_be_called(
    allowed: str, host: str, status: int
) -> None:
    app = app_of(FakeService(), allowed_hosts=allowed, host="0.0.0.0")

    assert (await Browser(app).get("/healthz", host=host)).status == status


@pytest.mark.parametrize("path", ["/healthz", "/nowhere", "/docs"])
async def test_a_browser_is_told_not_to_guess_what_an_answer_is(path: str) -> None:
    reply = await Browser(app_of(FakeService())).get(path)

    assert reply.headers["x-content-type-options"] == "nosniff"


async def test_pages_of_other_sites_are_given_no_leave_to_read() -> None:
    reply = await Browser(app_of(FakeService())).get(
        "/healthz", origin="https://evil.example"
    )

    assert not any(name.startswith("access-control") for name in reply.headers)


async def test_each_request_is_logged_with_its_query_and_without_its_question() -> None:
    with capture_logs() as lines:
        await Browser(app_of(FakeService())).post(
            "/api/query", {"query": "my secret question"}
        )

    line = next(line for line in lines if line["event"] == "request")
    assert (line["method"], line["path"], line["status"], line["query_id"]) == (
        "POST",
        "/api/query",
        200,
        "q-1",
    )
    assert "secret" not in str(lines)


async def test_the_service_opens_and_closes_with_the_app() -> None:
    service = FakeService()
    app = app_of(service)

    async with app.router.lifespan_context(app):
        assert not service.closed

    assert service.closed


async def test_the_schema_that_requests_are_checked_against_is_made_before_the_first_and_beside_the_loop() -> (
    None
):
    app = new_app_of(FakeService())
    described = app.openapi
    threads: list[threading.Thread] = []

    def noted() -> dict[str, Any]:
        if app.openapi_schema is None:
            threads.append(threading.current_thread())
        return described()

    app.openapi = noted  # type: ignore[method-assign]  # to see where it is made

    async with app.router.lifespan_context(app):
        made = len(threads)
        await Browser(app).get("/healthz")

    assert (made, len(threads)) == (1, 1)
    assert threads[0] is not threading.current_thread()


async def test_a_service_that_was_opened_is_closed_when_the_app_cannot_start() -> None:
    service = FakeService()
    app = new_app_of(service)

    def broken() -> dict[str, Any]:
        raise NotImplementedError("an event has no schema")

    app.openapi = broken  # type: ignore[method-assign]  # as an event of a subscriber may

    with pytest.raises(NotImplementedError):
        async with app.router.lifespan_context(app):
            pass

    assert service.closed


def test_every_route_is_documented_with_summary_description_and_errors() -> None:
    described = app_of(FakeService()).openapi()

    assert described["paths"]
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            assert route["summary"], (method, path)
            assert len(route["description"]) > 20, (method, path)
            assert {"400", "422", "429", "500"} <= set(route["responses"]), (
                method,
                path,
            )
            assert {"200", "201", "202"} & set(route["responses"]), (method, path)
    answer = described["components"]["schemas"]["QueryAnswer"]
    assert answer["examples"]


async def test_a_trace_without_its_texts_names_what_is_left_out() -> None:
    service = FakeService()
    await service.store.append("q-1", 0, placed("q-1", TELLING))

    reply = await Browser(app_of(service)).get("/api/traces/q-1?without_texts=true")

    told = reply.json()
    found = told["events"][1]["event"]
    assert [each["seq"] for each in told["events"]] == [1, 2]
    assert (found["output"], found["passages"][0]["text"]) == ("", "")
    assert found["passages"][0]["source"] == "Course"
    assert told["left_out"]["tool_succeeded"] == ["output", "passages"]


async def test_an_event_is_read_whole_and_one_that_is_not_there_is_not_found() -> None:
    service = FakeService()
    await service.store.append("q-1", 0, placed("q-1", TELLING))

    reply = await Browser(app_of(service)).get("/api/traces/q-1/event?at=2")
    missing = await Browser(app_of(service)).get("/api/traces/q-1/event?at=3")

    assert reply.json()["seq"] == 2
    assert reply.json()["event"]["passages"][0]["text"] == "BM25 ranks."
    assert (missing.status, missing.error["code"]) == (404, "not_found")


def test_what_is_left_out_is_said_of_every_kind_that_is_made_shorter() -> None:
    shorter = {kind.kind_name(): kind for kind in brief_traces._SHORTER}

    assert list(LEFT_OUT) == list(shorter)
    for kind, fields in LEFT_OUT.items():
        assert set(fields) <= set(shorter[kind].__struct_fields__)
