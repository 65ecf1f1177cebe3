"""Who may ask by the door for OpenAI's clients, and what a conversation that they keep leaves in the store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam

from antiphon.composition.intake import EXCHANGES_REMEMBERED, TOLD_CHARS
from antiphon.service import Question
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.events import QueryReceived
from antiphon.vocabulary.values import Exchange
from tests.small_service import house
from tests.tenants import SCRIPT, Site, share_of, site

ASKED: list[ChatCompletionMessageParam] = [{"role": "user", "content": "What is BM25?"}]


@asynccontextmanager
async def sdk(at: Site, key: str) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(
        base_url=f"{at.url}/v1", api_key=key, max_retries=0
    ) as client:
        yield client


async def asked(client: AsyncOpenAI, **more: Any) -> openai.types.chat.ChatCompletion:
    reply = await client.chat.completions.create(
        model="antiphon", messages=ASKED, **more
    )
    assert isinstance(reply, openai.types.chat.ChatCompletion)
    return reply


async def test_a_question_counts_against_the_share_of_its_key_and_a_task_does_not(
    tmp_path: Path,
) -> None:
    task = '### Task:\n{"title": ""}<chat_history>\nUSER: Hello'
    async with site(tmp_path) as at:
        key = at.key("acme", "ask", requests=1)
        async with sdk(at, key) as client:
            await client.chat.completions.create(
                model="antiphon", messages=[{"role": "user", "content": task}]
            )
            await asked(client)
            with pytest.raises(openai.RateLimitError) as refused:
                await asked(client)
        used = (await share_of(at.client(key)))["used"]["requests"]

    assert used == 1
    assert refused.value.type == "rate_limit_error"
    assert int(refused.value.response.headers["retry-after"]) > 0


async def test_every_route_refuses_a_missing_key_and_one_that_may_not_ask(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        for key, refusal in (
            (at.key("acme", "documents"), openai.PermissionDeniedError),
            ("none", openai.AuthenticationError),
        ):
            async with sdk(at, key) as client:
                for call in (
                    asked(client),
                    asked(client, stream=True),
                    client.responses.create(model="antiphon", input="What is BM25?"),
                    client.models.list(),
                    client.models.retrieve("antiphon"),
                ):
                    with pytest.raises(refusal):
                        await call


async def test_a_tenant_cannot_continue_from_another_tenants_response(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        async with sdk(at, at.key("acme", "ask")) as theirs:
            first = await theirs.responses.create(model="antiphon", input="A secret?")
        async with sdk(at, at.key("other", "ask")) as client:
            with pytest.raises(openai.NotFoundError):
                await client.responses.create(
                    model="antiphon", input="And why?", previous_response_id=first.id
                )


async def test_a_question_with_an_idempotency_key_is_asked_once(tmp_path: Path) -> None:
    headers = {"Idempotency-Key": "mine"}
    earlier: list[ChatCompletionMessageParam] = [
        *ASKED,
        {"role": "assistant", "content": "A formula."},
        *ASKED,
    ]
    async with site(tmp_path) as at, sdk(at, at.key("acme", "ask")) as client:
        first = await asked(client, extra_headers=headers)
        again = await asked(client, extra_headers=headers)
        # The conversation is part of the question.
        with pytest.raises(openai.ConflictError):
            await client.chat.completions.create(
                model="antiphon", messages=earlier, extra_headers=headers
            )

    assert first.id == again.id


async def test_the_query_sees_a_conversation_that_its_caller_keeps_and_the_service_does_not_keep_it(
    tmp_path: Path,
) -> None:
    told = [
        Exchange(question=f"Question {number}?", answer="x" * (TOLD_CHARS + 1))
        for number in range(EXCHANGES_REMEMBERED + 2)
    ]
    async with house(tmp_path, SCRIPT) as at:
        answer = await at.service.ask(Question(query="And why?", told=told))
        [first, *_] = await at.trace(answer)
        kept = await at.store.conversations(10)
        with pytest.raises(NotFoundError):
            await at.store.exchanges(answer.session_id, 5)

    assert isinstance(first.event, QueryReceived)
    assert answer.session_id == first.event.session_id == ""
    assert [each.question for each in first.event.history] == [
        f"Question {number}?" for number in range(2, EXCHANGES_REMEMBERED + 2)
    ]
    assert {len(each.answer) for each in first.event.history} == {TOLD_CHARS}
    assert list(kept) == []
