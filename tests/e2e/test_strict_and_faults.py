"""Callers who take an answer by the model or none, callers who send fault plans, and budgets: over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import STARTING_S, serving

ASKED = {"query": "What is applemailbox7 in the Apple course?"}
AWAY = [
    {"point": f"{model}.request", "kind": "malformed", "times": 0}
    for model in ("model", "fallback")
]
SILENT = [
    {"point": f"{model}.request", "kind": "hang", "times": 0}
    for model in ("model", "fallback")
]
OWN = ("query_id", "session_id", "duration_ms")
"""What two answers to the same question do not share."""


@pytest.fixture(scope="module")
def breakable(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx2.Client]:
    """A caller of a service that takes fault plans."""
    with (
        serving(
            data_dir, tmp_path_factory.mktemp("breakable"), "--allow-faults"
        ) as server,
        httpx2.Client(base_url=server.url, timeout=STARTING_S) as calling,
    ):
        yield calling


def ask(client: httpx2.Client, **fields: Any) -> httpx2.Response:
    return client.post("/api/query", json=ASKED | fields)


def shared(reply: httpx2.Response) -> dict[str, Any]:
    """The answer's body without the fields that differ from answer to answer."""
    return {name: value for name, value in reply.json().items() if name not in OWN}


def doubts(reply: httpx2.Response) -> set[str]:
    return {doubt["kind"] for doubt in reply.json()["uncertainty"]["indicators"]}


def test_a_strict_caller_gets_200_if_the_model_answered(
    client: httpx2.Client,
) -> None:
    reply = ask(client, strict=True)

    assert (reply.status_code, reply.json()["status"]) == (200, "answered")


def test_a_strict_caller_gets_502_with_the_same_body_if_no_model_could_be_asked(
    breakable: httpx2.Client,
) -> None:
    plan = {"faults": AWAY}

    mild, strict = ask(breakable, faults=plan), ask(breakable, faults=plan, strict=True)

    assert (mild.status_code, strict.status_code) == (200, 502)
    assert shared(strict) == shared(mild)
    assert (strict.json()["status"], strict.json()["citations"] != []) == (
        "partial",
        True,
    )
    assert strict.headers["content-type"] == "application/json"


@pytest.mark.parametrize("kind", ["overload", "malformed", "drop"])
def test_a_strict_caller_gets_502_if_another_reasoner_answered_in_the_models_place(
    breakable: httpx2.Client, kind: str
) -> None:
    plan = {"faults": [{"point": "model.request", "kind": kind, "times": 0}]}

    mild, strict = ask(breakable, faults=plan), ask(breakable, faults=plan, strict=True)

    assert (mild.status_code, strict.status_code) == (200, 502)
    assert strict.json()["citations"] != []
    assert "fallback_reasoner" in doubts(strict)


def test_a_strict_caller_gets_502_if_nothing_could_be_looked_up(
    breakable: httpx2.Client,
) -> None:
    unsearched = ask(breakable, max_rounds=0, strict=True)

    assert unsearched.status_code == 502
    assert doubts(unsearched) == {"not_searched"}
    assert unsearched.json()["uncertainty"]["confidence"] == "low"


def test_a_strict_caller_gets_504_with_the_same_body_if_time_ran_out(
    breakable: httpx2.Client,
) -> None:
    plan = {"faults": SILENT}

    mild, strict = (
        ask(breakable, faults=plan, deadline_s=1, strict=each) for each in (False, True)
    )

    assert (mild.status_code, strict.status_code) == (200, 504)
    assert "deadline" in doubts(strict)
    # Which of two clocks rings first, the call's or the query's, may differ; the answer does not.
    assert shared(strict) | {"uncertainty": 0} == shared(mild) | {"uncertainty": 0}
    assert strict.json()["duration_ms"] < 1_000


def test_a_service_that_takes_no_fault_plans_refuses_one(
    client: httpx2.Client,
) -> None:
    reply = ask(client, faults={"faults": AWAY})

    assert reply.status_code == 403
    assert "--allow-faults" in reply.json()["error"]["message"]


def test_a_fault_plan_breaks_its_own_query_and_no_other(
    breakable: httpx2.Client,
) -> None:
    broken = ask(
        breakable,
        faults={
            "faults": [
                {"point": "tool.search_course_content", "kind": "raise", "times": 0}
            ]
        },
    )
    whole = ask(breakable)

    assert "tool_substituted" in doubts(broken)
    assert doubts(whole) == set()


def test_other_queries_still_call_a_model_that_fails_by_a_fault_plan(
    breakable: httpx2.Client,
) -> None:
    for _ in range(6):
        assert "fallback_reasoner" in doubts(
            ask(breakable, faults={"faults": AWAY[:1]})
        )

    assert doubts(ask(breakable)) == set()


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"faults": [{"point": "clock.now", "kind": "melt"}]}, "$.faults[0].kind"),
        ({"faults": [{"kind": "hang"}]}, "`point`"),
        ({"faults": "all of them"}, "array"),
        ({"faults": [{"point": "model.request", "kind": "hang", "nth": 0}]}, "nth"),
        (
            {"faults": [{"point": "model.request", "kind": "hang", "for_s": -1}]},
            "for_s",
        ),
        ({"faults": [{"point": "nowhere", "kind": "hang"}]}, "no point 'nowhere'"),
        (
            {"faults": [{"point": "clock.now", "kind": "hang"}]},
            "`hang` cannot happen at 'clock.now'",
        ),
        ({"faults": [{"point": "library.search", "kind": "raise"}]}, "running service"),
        ({"faults": [{"point": "model.request", "kind": "hang"}] * 51}, "51"),
        ({"mistake": 1}, "unknown field"),
        ([], "object"),
    ],
)
def test_an_invalid_fault_plan_gets_422_and_the_reason(
    breakable: httpx2.Client, plan: object, words: str
) -> None:
    reply = ask(breakable, faults=plan)

    assert reply.status_code == 422
    assert words in reply.json()["error"]["message"]


def test_a_query_that_may_spend_nothing_answers_from_what_a_search_finds(
    client: httpx2.Client,
) -> None:
    reply = ask(client, max_total_tokens=0)

    answer = reply.json()
    assert (reply.status_code, answer["status"], answer["usage"]["calls"]) == (
        200,
        "partial",
        0,
    )
    assert "applemailbox7" in answer["answer"]
    assert "budget" in doubts(reply)


def test_a_query_that_may_spend_enough_is_none_the_worse_for_it(
    client: httpx2.Client,
) -> None:
    assert shared(ask(client, max_total_tokens=100_000, max_cost_usd=1.0)) == shared(
        ask(client)
    )


@pytest.mark.parametrize(
    ("wish", "status", "words"),
    [
        (
            {"max_total_tokens": -1},
            422,
            "`max_total_tokens` is -1, it must be from 0 to 10,000,000",
        ),
        ({"max_total_tokens": 1.5}, 422, "max_total_tokens"),
        ({"max_total_tokens": True}, 422, "max_total_tokens"),
        ({"max_cost_usd": -0.1}, 422, "`max_cost_usd` is -0.1"),
        ({"max_cost_usd": "free"}, 422, "max_cost_usd"),
    ],
)
def test_the_refusal_of_an_invalid_budget_says_what_it_may_be(
    client: httpx2.Client, wish: dict[str, object], status: int, words: str
) -> None:
    reply = ask(client, **wish)

    assert (reply.status_code, words in reply.json()["error"]["message"]) == (
        status,
        True,
    ), reply.text
