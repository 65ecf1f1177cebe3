"""Questions that get their answers later, in a service of one process."""

from __future__ import annotations

import time

import httpx2

QUESTION = {"query": "What is applemailbox7 in the Apple course?"}


def test_a_question_is_asked_now_and_its_answer_fetched_later(
    client: httpx2.Client,
) -> None:
    begun = client.post("/api/queries", json=QUESTION)
    place = begun.headers["location"]
    state = client.get(place).json()
    ends_at = time.monotonic() + 60
    while state["answer"] is None and time.monotonic() < ends_at:
        time.sleep(0.02)
        state = client.get(place).json()
    told = client.get(f"{place}/events", headers={"Last-Event-ID": "1"}).text
    over = client.post(f"{place}/cancel")

    assert (begun.status_code, begun.json()["status"]) == (202, "queued")
    assert place == f"/api/queries/{begun.json()['query_id']}"
    assert (state["status"], state["session_id"]) == (
        "answered",
        begun.json()["session_id"],
    )
    assert state["answer"]["query_id"] == begun.json()["query_id"]
    assert told.startswith("event: round_opened\nid: 2\n")
    assert "event: query_closed" in told
    assert over.status_code == 409


def test_a_question_sent_again_with_its_key_is_the_same_one(
    client: httpx2.Client,
) -> None:
    named = {"Idempotency-Key": "asked-later"}

    first = client.post("/api/queries", json=QUESTION, headers=named)
    again = client.post("/api/queries", json=QUESTION, headers=named)
    other = client.post("/api/queries", json={"query": "Else?"}, headers=named)

    assert first.json()["query_id"] == again.json()["query_id"]
    assert (again.status_code, other.status_code) == (202, 409)


def test_a_question_that_was_never_asked_has_no_state(client: httpx2.Client) -> None:
    assert client.get("/api/queries/nothing").status_code == 404
