"""Asking over HTTP: the answer's shape, and what is refused."""

from __future__ import annotations

import pytest

from antiphon.service import BusyError, Question
from antiphon.vocabulary.errors import (
    AmbiguousIdError,
    BadInputError,
    ConfigurationError,
    ForbiddenError,
    KnowledgeError,
    NotFoundError,
    ServiceError,
    TraceError,
    TraceStateError,
)
from tests.unit.api.calling import Browser, app_of
from tests.unit.api.fakes import FakeService, refusing

QUERY = "/api/query"


async def test_a_question_is_answered_with_everything_that_is_known_of_the_answer() -> (
    None
):
    service = FakeService()

    reply = await Browser(app_of(service)).post(
        QUERY, {"query": "What is BM25?", "max_rounds": 1, "deadline_s": 5}
    )

    assert reply.status == 200
    assert service.questions == [
        Question(query="What is BM25?", max_rounds=1, deadline_s=5.0)
    ]
    citation = {
        "start": 0,
        "end": 13,
        "cited_text": "BM25 is good.",
        "source": "Practical Search - Lesson 2",
    }
    assert reply.json() == {
        "answer": "BM25 is good.",
        "sources": ["Practical Search - Lesson 2"],
        "source_links": [None],
        "session_id": "s-new",
        "query_id": "q-1",
        "citations": [
            citation
            | {
                "course": "Practical Search",
                "lesson": None,
                "place": None,
                "link": None,
                "fact": "f1",
            }
        ],
        "uncertainty": {
            "confidence": "medium",
            "indicators": [
                {"kind": "round_limit", "detail": "More was wanted.", "event_seq": 3}
            ],
        },
        "rounds": 1,
        "reasoner": "offline",
        "usage": {
            "calls": 2,
            "input_tokens": 10,
            "output_tokens": 3,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
            "cost_usd": None,
        },
        "duration_ms": 12.5,
        "status": "answered",
    }


async def test_a_chat_page_sends_null_first_and_then_the_conversation_it_was_given() -> (
    None
):
    service = FakeService()
    first = await Browser(app_of(service)).post(
        QUERY, {"query": "One?", "session_id": None}
    )
    given = first.json()["session_id"]

    await Browser(app_of(service)).post(QUERY, {"query": "Two?", "session_id": given})

    assert [question.session_id for question in service.questions] == [None, given]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (BadInputError("no"), 422, "bad_input"),
        (ForbiddenError("no"), 403, "forbidden"),
        (AmbiguousIdError("no"), 409, "ambiguous_id"),
        (TraceStateError("no"), 409, "trace_state"),
        (NotFoundError("no"), 404, "not_found"),
        (BusyError("no"), 503, "busy"),
        (KnowledgeError("no"), 503, "knowledge"),
        (ConfigurationError("no"), 503, "configuration"),
        (TraceError("no"), 503, "trace"),
        (ServiceError("no"), 500, "service_error"),
    ],
)
async def test_each_of_our_errors_has_its_status_and_comes_in_the_one_shape(
    error: ServiceError, status: int, code: str
) -> None:
    reply = await Browser(app_of(refusing(error))).post(QUERY, {"query": "x"})

    assert (reply.status, reply.error) == (status, {"code": code, "message": "no"})


async def test_a_bug_is_raised_for_the_log_and_tells_the_caller_nothing_of_the_inside() -> (
    None
):
    browser = Browser(app_of(refusing(ZeroDivisionError("secret detail"))))

    with pytest.raises(ZeroDivisionError):
        await browser.post(QUERY, {"query": "x"})

    assert (browser.reply.status, browser.reply.error["code"]) == (500, "internal")
    assert b"secret" not in browser.reply.body


async def test_a_failure_after_the_beginning_names_its_query() -> None:
    service = FakeService(fails=TraceError("the trace cannot be written"))

    reply = await Browser(app_of(service)).post(QUERY, {"query": "x"})

    assert reply.error == {
        "code": "trace",
        "message": "the trace cannot be written",
        "query_id": "q-1",
    }


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"query": ', 400, "malformed_json"),
        (b'{"query": "\xff"}', 400, "malformed_json"),
        (b"[" * 100_000, 400, "malformed_json"),
        (b"", 422, "invalid_request"),
        (b"[]", 422, "invalid_request"),
        (b"{}", 422, "invalid_request"),
        (b'{"query": 7}', 422, "invalid_request"),
        (b'{"query": null}', 422, "invalid_request"),
        (b'{"query": "\\ud800"}', 422, "invalid_request"),
        (b'{"query": "x", "session_id": "\\ud800"}', 422, "invalid_request"),
        (b'{"query": "x", "session_id": "%s"}' % (b"s" * 201), 422, "invalid_request"),
        (b'{"query": "x", "session_id": 7}', 422, "invalid_request"),
        (b'{"query": "x", "max_rounds": "2"}', 422, "invalid_request"),
        (b'{"query": "x", "max_rounds": true}', 422, "invalid_request"),
        (b'{"query": "x", "max_rounds": 1.5}', 422, "invalid_request"),
        (b'{"query": "x", "deadline_s": "5"}', 422, "invalid_request"),
        (b'{"query": "x", "deadline_s": true}', 422, "invalid_request"),
        (b'{"query": "x", "deadline_s": NaN}', 422, "invalid_request"),
        (b'{"query": "x", "deadline_s": 1e999}', 422, "invalid_request"),
        (b'{"query": " "}', 422, "bad_input"),
    ],
)
async def test_a_body_that_cannot_be_used_is_refused_with_a_sentence(
    body: bytes, status: int, code: str
) -> None:
    service = FakeService()

    reply = await Browser(app_of(service)).post(QUERY, body)

    assert (reply.status, reply.error["code"]) == (status, code)
    assert len(reply.error["message"]) > 20
    assert not service.questions


async def test_a_refusal_names_the_field_and_not_what_was_sent() -> None:
    reply = await Browser(app_of(FakeService())).post(
        QUERY, {"query": ["hunter2"], "deadline_s": "soon"}
    )

    assert "`query`" in reply.error["message"]
    assert "`deadline_s`" in reply.error["message"]
    assert b"hunter2" not in reply.body


async def test_half_a_surrogate_pair_in_an_error_is_made_harmless() -> None:
    reply = await Browser(app_of(refusing(BadInputError("found \ud800")))).post(
        QUERY, {"query": "x"}
    )

    assert reply.error["message"] == "found ?"


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"],
)
async def test_a_body_that_is_not_declared_as_json_is_refused(
    content_type: str,
) -> None:
    service = FakeService()

    reply = await Browser(app_of(service)).post(
        QUERY, {"query": "x"}, content_type=content_type
    )

    assert (reply.status, reply.error["code"]) == (415, "not_json")
    assert not service.questions


async def test_a_charset_beside_json_does_no_harm() -> None:
    reply = await Browser(app_of(FakeService())).post(
        QUERY, {"query": "x"}, content_type="application/json; charset=utf-8"
    )

    assert reply.status == 200


async def test_a_body_that_is_declared_too_large_is_not_read() -> None:
    reply = await Browser(app_of(FakeService())).post(
        QUERY, b"", content_length="1000001"
    )

    assert (reply.status, reply.error["code"]) == (413, "body_too_large")
    assert reply.headers["connection"] == "close"


async def test_a_body_of_unknown_length_is_refused_as_soon_as_it_is_too_large() -> None:
    pieces = [b'{"query": "', *([b"x" * 100_000] * 50)]

    reply = await Browser(app_of(FakeService())).call(
        "POST", QUERY, pieces, {"content_type": "application/json"}
    )

    assert (reply.status, reply.error["code"]) == (413, "body_too_large")


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/nowhere", 404), ("GET", QUERY, 405)]
)
async def test_what_is_not_there_is_refused_in_the_one_shape(
    method: str, path: str, status: int
) -> None:
    reply = await Browser(app_of(FakeService())).call(method, path, (), {})

    assert reply.status == status
    assert reply.error["message"]


async def test_a_client_that_goes_away_cancels_its_query() -> None:
    service = FakeService(held=True)
    browser = Browser(app_of(service))
    browser.leave()

    reply = await browser.post(QUERY, {"query": "x"})

    assert service.asked[0].cancelled == ["the client went away"]
    assert reply.status == 499


async def test_a_client_that_stays_until_the_end_cancels_nothing() -> None:
    service = FakeService()

    await Browser(app_of(service)).post(QUERY, {"query": "x"})

    assert service.asked[0].cancelled == []
