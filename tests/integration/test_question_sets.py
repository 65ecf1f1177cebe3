"""Saved sets of questions: as each store keeps them, and over real HTTP with two tenants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from antiphon.service import delete_with_proof
from antiphon.traces import Redaction
from antiphon.vocabulary.ports import WholeTraceStore
from antiphon.vocabulary.question_sets import (
    MOST_QUESTIONS,
    MOST_SET_CHARS,
    MOST_SETS,
    Comparison,
    QuestionSet,
    SavedQuestion,
)
from tests.story import NOON, answered, placed
from tests.tenants import Site, ask, site
from tests.trace_stores import kind, nats_url, opened, store

__all__ = ["kind", "nats_url", "store"]

SAVED = QuestionSet(
    set_id="s1",
    name="Ranking",
    at=NOON,
    questions=(
        SavedQuestion(question="What is recall?", earlier=("Hello",), rating="down"),
    ),
)
ASKED = QuestionSet(
    set_id="r1",
    name="Ranking",
    at=NOON + 1,
    questions=(SavedQuestion(question="What is recall?", left="q1", right="q2"),),
    comparison=Comparison(of="s1", left={}, right={"max_rounds": "1"}),
)


async def test_sets_are_kept_replaced_and_deleted_for_their_tenant_alone(
    kind: str, tmp_path: Path, nats_url: str
) -> None:
    hidden = "Frau Zwiesel from Gera"
    redaction = Redaction(secrets=[hidden])
    async with opened(kind, tmp_path, nats_url, redaction, prefix="sets") as store:
        ours, theirs = store.seen_by("acme"), store.seen_by("beta")
        await ours.question_sets.put(SAVED)
        await ours.question_sets.put(ASKED)
        assert await ours.question_sets.all() == [ASKED, SAVED]
        assert await theirs.question_sets.all() == []

        await theirs.question_sets.delete("s1")
        await theirs.question_sets.put(SAVED)
        await ours.question_sets.delete("r1")

        found = QuestionSet(
            set_id="s1",
            name=hidden,
            at=NOON,
            questions=(SavedQuestion(question=hidden, earlier=(hidden,), note=hidden),),
        )
        stored = await ours.question_sets.put(found)
        assert hidden not in str(stored)
    # What another process, or another node, finds.
    async with opened(kind, tmp_path, nats_url, prefix="sets") as store:
        assert await store.seen_by("acme").question_sets.all() == [stored]
        assert await store.seen_by("beta").question_sets.all() == [SAVED]
        assert await store.question_sets.all() == []


async def test_a_set_outlives_the_trace_of_its_question_and_the_proof_says_so(
    tmp_path: Path,
) -> None:
    async with opened("sqlite", tmp_path, "") as store:
        await store.question_sets.put(SAVED)
        for query_id in ("q1", "q2"):
            events = answered(SAVED.questions[0].question, "It is a share.")
            await store.append(query_id, 0, placed(query_id, events, at=NOON))

        kept = await delete_with_proof(store, tmp_path, ["q1", "q2"])
        await store.append("q1", 0, placed("q1", events, at=NOON))
        await store.question_sets.delete("s1")
        gone = await delete_with_proof(store, tmp_path, ["q1"])

        assert kept.still_found == (("traces.sqlite", 1),)
        assert gone.nothing_is_left


def body(*questions: str, **more: Any) -> dict[str, Any]:
    return {"name": "Ranking", "questions": [{"question": q} for q in questions]} | more


async def sets_of(client: httpx2.AsyncClient) -> list[dict[str, Any]]:
    reply = await client.get("/api/question-sets")
    assert reply.status_code == 200, reply.text
    found: list[dict[str, Any]] = reply.json()["sets"]
    return found


async def test_a_comparison_is_two_ordinary_traces_and_no_other_tenant_sees_it(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        client, others = at.tenant("acme"), at.tenant("beta")
        left = (await ask(client)).json()["query_id"]
        change = {"kind": "setting", "name": "max_rounds", "value": 1}
        forked = await client.post(
            f"/api/traces/{left}/fork", json={"change": change, "mode": "live"}
        )
        right = forked.json()["query_id"]
        compared = body(
            "What is BM25?",
            comparison={"of": "s1", "left": {}, "right": {"max_rounds": "1"}},
        )
        compared["questions"][0] |= {"left": left, "right": right, "verdict": "left"}

        reply = await client.put("/api/question-sets/r1", json=compared)

        assert reply.status_code == 200, reply.text
        assert await sets_of(client) == [reply.json()]
        stored = reply.json()["questions"][0]
        assert (stored["left"], stored["right"]) == (left, right)
        for each in (left, right):
            replayed = await client.post(f"/api/traces/{each}/replay")
            assert replayed.json()["divergence"] is None
        assert await sets_of(others) == []
        assert (await others.delete("/api/question-sets/r1")).status_code == 200
        assert len(await sets_of(client)) == 1
        assert (await client.delete("/api/question-sets/r1")).status_code == 200
        assert await sets_of(client) == []
        assert (await client.get(f"/api/traces/{left}")).status_code == 200


async def test_a_key_that_may_only_ask_sees_and_saves_no_sets(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        reader = at.tenant("acme", "ask")

        for method in ("get", "put", "delete"):
            path = "/api/question-sets" + ("" if method == "get" else "/s1")
            assert (await getattr(reader, method)(path)).status_code == 403


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (body(), "A set holds 1 to 50 questions, and this one has 0."),
        (body(*["Why?"] * (MOST_QUESTIONS + 1)), "and this one has 51."),
        (body(*["Why?"] * MOST_QUESTIONS), ""),
        (body("Why?", " "), "Question 2 is empty: leave it out."),
        (body("x" * 8_001), "Question 1 has 8,001 characters, the most is 8,000."),
        (body(*["x" * 8_000] * 8), f"the most of a set is {MOST_SET_CHARS:,}"),
        (
            {
                "name": "Long",
                "questions": [{"question": "x", "earlier": [""] * 60_000}],
            },
            f"the most of a set is {MOST_SET_CHARS:,}",
        ),
        (body("Why?", name=" "), "The name is empty"),
        (body("Why?", name="x" * 121), "`name` may have 120 characters at most."),
        (body("Why?", runs=[]), "runs"),
        (body("Why?") | {"questions": "Why?"}, "questions"),
        (body("Why?", comparison={"of": "s1", "left": {"model": 5}}), "model"),
    ],
)
async def test_a_set_is_bounded_and_refused_with_what_is_wrong(
    tmp_path: Path, sent: dict[str, Any], said: str
) -> None:
    async with site(tmp_path) as at:
        reply = await at.client().put("/api/question-sets/s1", json=sent)

        assert reply.status_code == (422 if said else 200)
        assert said in reply.text


async def test_one_set_too_many_is_refused_and_one_that_is_there_is_replaced(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        client = at.client()
        await fill(at, MOST_SETS)

        more = await client.put("/api/question-sets/new", json=body("Why?"))
        same = await client.put("/api/question-sets/s7", json=body("Why?"))

        assert more.status_code == 422
        assert "delete one first" in more.text
        assert same.status_code == 200
        assert len(await sets_of(client)) == MOST_SETS


async def fill(at: Site, count: int) -> None:
    sets = at.house.store.question_sets
    for number in range(count):
        one = QuestionSet(
            set_id=f"s{number}", name="Set", at=NOON, questions=SAVED.questions
        )
        await sets.put(one)


async def test_a_store_of_both_kinds_is_empty_at_first(store: WholeTraceStore) -> None:
    assert await store.question_sets.all() == []
