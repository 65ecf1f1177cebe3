"""Forks and comparisons over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.service import Change, NoInterceptor
from tests.unit.api.calling import Browser, app_of
from tests.unit.api.fakes import FakeService
from tests.unit.api.fakes_parts import FakeAsked


async def asked() -> FakeService:
    service = FakeService()
    await Browser(app_of(service)).post("/api/query", {"query": "x"})
    return service


async def test_a_fork_is_a_trace_of_its_own_that_names_its_parent() -> None:
    service = await asked()
    body = {
        "at": 1,
        "change": {"kind": "setting", "name": "max_rounds", "value": 1},
        "mode": "remodel",
    }

    reply = await Browser(app_of(service)).post("/api/traces/q-1/fork", body)

    told = reply.json()
    assert reply.status == 201
    assert reply.headers["location"] == "/api/traces/q-1-fork"
    assert (told["query_id"], told["parent"], told["parent_seq"], told["mode"]) == (
        "q-1-fork",
        "q-1",
        1,
        "remodel",
    )
    assert told["change"] == "setting max_rounds = 1"
    assert told["answer"]["answer"] == "BM25 is good."
    assert (await Browser(app_of(service)).get(told["diff"])).json()["right"][
        "query_id"
    ] == "q-1-fork"


async def test_several_changes_and_values_of_any_shape_are_taken() -> None:
    service = await asked()
    changes = [
        {"kind": "tool", "name": "t1", "value": {"output": "none", "passages": []}},
        {"kind": "reply", "value": "Hi"},
    ]

    reply = await Browser(app_of(service)).post(
        "/api/traces/q-1/fork", {"at": 2, "change": changes}
    )

    assert reply.status == 201
    assert service.history.forks[0][2:4] == (
        (
            Change(kind="tool", name="t1", value='{"output":"none","passages":[]}'),
            Change(kind="reply", value="Hi"),
        ),
        "recorded",
    )


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"at": 1, "change": {"kind": "drop", "name": "f9"}}, 422, "bad_input"),
        ({"at": "one"}, 422, "invalid_request"),
        ({"at": -1}, 422, "invalid_request"),
        ({"at": 1, "mode": "dead"}, 422, "invalid_request"),
        ({"at": 1, "change": {"kind": "wish"}}, 422, "invalid_request"),
        (
            {"at": 1, "change": {"kind": "set", "name": "half \ud800", "value": 1}},
            422,
            "invalid_request",
        ),
        ({"at": 1, "faults": {"faults": []}}, 403, "forbidden"),
    ],
)
async def test_a_fork_that_cannot_be_is_refused(
    body: dict[str, Any], status: int, code: str
) -> None:
    service = await asked()

    reply = await Browser(app_of(service)).post("/api/traces/q-1/fork", body)

    assert (reply.status, reply.error["code"]) == (status, code)
    assert service.history.forks == []


def nested(value: object, deep: int) -> object:
    for _ in range(deep):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([{"at": 2**53}], "more than 15 digits"),
        (-(2**53), "more than 15 digits"),
        ([{"half \ud800": 1}], "half of a surrogate pair"),
        (nested("x", 32), "nested more than 32 deep"),
    ],
)
async def test_a_value_that_no_trace_holds_is_refused_with_the_reason(
    value: object, says: str
) -> None:
    service = await asked()
    change = {"kind": "tool", "name": "t1", "value": value}

    reply = await Browser(app_of(service)).post(
        "/api/traces/q-1/fork", {"at": 2, "change": change}
    )

    assert (reply.status, reply.error["code"]) == (422, "bad_input")
    assert says in reply.error["message"]
    assert service.history.forks == []


@pytest.mark.parametrize("value", [2**53 - 1, nested("x", 31)])
async def test_the_largest_and_deepest_value_is_taken(value: object) -> None:
    service = await asked()
    change = {"kind": "tool", "name": "t1", "value": value}

    reply = await Browser(app_of(service)).post(
        "/api/traces/q-1/fork", {"at": 2, "change": change}
    )

    assert reply.status == 201


async def test_a_fork_of_a_trace_that_is_not_there_is_not_found() -> None:
    reply = await Browser(app_of(FakeService())).post(
        "/api/traces/nobody/fork", {"at": 1}
    )

    assert (reply.status, reply.error["code"]) == (404, "not_found")


async def test_a_client_that_goes_away_ends_its_fork() -> None:
    service = await asked()
    service.history.held = True
    browser = Browser(app_of(service))
    browser.leave()

    reply = await browser.post("/api/traces/q-1/fork", {"at": 1})

    assert reply.status == 499
    assert service.history.begun[0].cancelled == ["the client went away"]


class Resuming(FakeService):
    """A service with a query that was interrupted."""

    def __init__(self) -> None:
        super().__init__()
        self.resumed = FakeAsked("q-1", "s-1", (), None)

    async def resume(self, query_id: str) -> FakeAsked:
        assert query_id == "q-1"
        return self.resumed


async def test_a_query_that_is_resumed_is_answered_like_one_that_is_asked() -> None:
    service = Resuming()
    service.resumed.release()
    await Browser(app_of(service)).post("/api/query", {"query": "x"})

    reply = await Browser(app_of(service)).post("/api/traces/q-1/resume", {})

    assert (reply.status, reply.json()["query_id"]) == (200, "q-1")
    assert reply.headers["content-type"] == "application/json"


async def test_faults_are_handed_on_where_the_service_takes_them() -> None:
    service = await asked()
    around = NoInterceptor()

    reply = await Browser(app_of(service, lambda _: around)).post(
        "/api/traces/q-1/fork", {"faults": {"faults": []}}
    )

    assert reply.status == 201
    assert service.history.forks[0][4] is around


async def test_two_traces_are_compared_and_one_that_is_not_there_is_not_found() -> None:
    service = await asked()
    browser = Browser(app_of(service))

    same = await browser.get("/api/traces/q-1/diff/q-1")
    missing = await Browser(app_of(service)).get("/api/traces/q-1/diff/nobody")

    assert (same.status, same.json()["differences"]) == (200, [])
    assert (missing.status, missing.error["code"]) == (404, "not_found")


async def test_a_plan_says_what_a_fork_would_call_and_begins_nothing() -> None:
    service = await asked()

    reply = await Browser(app_of(service)).post(
        "/api/traces/q-1/fork/plan", {"at": 1, "mode": "live"}
    )

    told = reply.json()
    assert reply.status == 200
    assert (told["shared"], told["models"], told["may_cost"]) == (1, ["claude"], True)
    assert told["sentence"] == "Live: claude."
    assert service.history.forks == []


async def test_a_plan_of_a_fork_that_cannot_be_is_refused_as_the_fork_is() -> None:
    reply = await Browser(app_of(await asked())).post(
        "/api/traces/q-1/fork/plan", {"at": 1, "change": {"kind": "drop", "name": "f9"}}
    )

    assert (reply.status, reply.error["code"]) == (422, "bad_input")
