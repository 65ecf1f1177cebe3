"""A service whose model accepts calls and never answers: what callers get, and what their hurry does to others."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import STARTING_S, Server

ASKED = {"query": "What is applemailbox7 in the Apple course?"}
CIRCUIT_FAILURES = 5


@pytest.fixture
def caller(stuck_server: Server) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=stuck_server.url, timeout=STARTING_S) as calling:
        yield calling


def test_a_search_replaces_a_hanging_model_and_a_strict_caller_refuses_that(
    caller: httpx2.Client,
) -> None:
    def ask(strict: bool) -> httpx2.Response:
        return caller.post(
            "/api/query", json=ASKED | {"deadline_s": 3.0, "strict": strict}
        )

    with ThreadPoolExecutor(2) as pool:
        mild, strict = pool.map(ask, (False, True))

    answer: dict[str, Any] = mild.json()
    assert (mild.status_code, answer["reasoner"]) == (200, "offline")
    assert answer["citations"] != []
    assert answer["uncertainty"]["confidence"] == "medium"
    assert strict.status_code in (502, 504)
    assert strict.json()["answer"] == answer["answer"]


def test_callers_in_a_hurry_do_not_keep_the_others_from_the_model(
    caller: httpx2.Client,
) -> None:
    def hurry(_: int) -> httpx2.Response:
        return caller.post("/api/query", json=ASKED | {"deadline_s": 1.0})

    with ThreadPoolExecutor(8) as pool:
        hurried = list(pool.map(hurry, range(CIRCUIT_FAILURES + 2)))
    next_id = hurry(0).json()["query_id"]
    first = caller.get(f"/api/traces/{next_id}").json()["events"][0]["event"]

    assert {reply.status_code for reply in hurried} == {200}
    assert first["provider_open"] is False
