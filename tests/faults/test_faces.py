"""The model is down, slow or cut off while each door streams: each still delivers a whole answer in its own format."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from ag_ui.core import Event, RunFinishedEvent, TextMessageContentEvent
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from tests.tenants import Site, site

QUESTION = "What are logs?"
ASKED: list[ChatCompletionMessageParam] = [{"role": "user", "content": QUESTION}]
DEADLINE_S = 3.0
NOTE = "\n\n> Note: "

Face = Callable[[AsyncOpenAI, httpx2.AsyncClient], Awaitable[str]]


def broken(at: str, how: str) -> dict[str, Any]:
    return {
        "text": "Logs are files that only grow. " * 9,
        "breaks": {"at": at, "how": how},
    }


FAULTS: dict[str, dict[str, Any]] = {
    "down": {"status": 529, "error": "overloaded_error"},
    "refusing": {"status": 401, "error": "authentication_error"},
    "silent": broken("first_byte", "stall"),
    "silent in its text": broken("text", "stall"),
    "slow": {"text": "Logs only grow. " * 40, "between_s": 0.5, "delta_chars": 4},
    "cut in its text": broken("text", "reset"),
    "ended early": broken("message_stop", "end"),
    "failing in its text": broken("text", "error"),
    "garbage": broken("text", "garbage"),
}


async def chat(sdk: AsyncOpenAI, _: httpx2.AsyncClient) -> str:
    reply = await sdk.chat.completions.create(model="antiphon", messages=ASKED)
    assert reply.choices[0].finish_reason == "stop"
    return reply.choices[0].message.content or ""


async def chat_streamed(sdk: AsyncOpenAI, _: httpx2.AsyncClient) -> str:
    stream = await sdk.chat.completions.create(
        model="antiphon", messages=ASKED, stream=True
    )
    choices = [chunk.choices[0] async for chunk in stream]
    assert choices[-1].finish_reason == "stop"
    return "".join(choice.delta.content or "" for choice in choices)


async def response(sdk: AsyncOpenAI, _: httpx2.AsyncClient) -> str:
    async with sdk.responses.stream(model="antiphon", input=QUESTION) as stream:
        final = await stream.get_final_response()
    assert final.status == "completed"
    return final.output_text


async def run(_: AsyncOpenAI, rest: httpx2.AsyncClient) -> str:
    message = {"id": "m", "role": "user", "content": QUESTION}
    body = {"threadId": "t", "runId": "r", "messages": [message]}
    reply = await rest.post("/agui", json=body)
    event_of: TypeAdapter[Event] = TypeAdapter(Event)
    events = [
        event_of.validate_json(each.removeprefix("data: "))
        for each in reply.text.split("\n\n")
        if each.startswith("data: ")
    ]
    assert isinstance(events[-1], RunFinishedEvent)
    assert events[-1].outcome is None
    return "".join(
        each.delta for each in events if isinstance(each, TextMessageContentEvent)
    )


FACES: list[Face] = [chat, chat_streamed, response, run]


async def asked_by_each(at: Site) -> list[str]:
    async with AsyncOpenAI(
        base_url=f"{at.url}/v1", api_key=at.key("acme"), max_retries=0
    ) as sdk:
        rest = at.tenant("acme")
        return await asyncio.gather(*[face(sdk, rest) for face in FACES])


async def search(query: str) -> str:
    """Searches."""
    return "Logs are files that only grow."


@pytest.mark.parametrize("fault", FAULTS)
async def test_every_door_delivers_an_answer_that_says_the_model_gave_none(
    tmp_path: Path, fault: str
) -> None:
    script = {"replies": [FAULTS[fault]], "then": "last"}
    async with site(tmp_path, search, script=script, deadline_s=DEADLINE_S) as at:
        texts = await asked_by_each(at)

    for text in texts:
        answer, _, notes = text.partition(NOTE)
        assert answer.strip()
        assert notes


async def test_every_door_delivers_an_answer_though_the_tool_fails(
    tmp_path: Path,
) -> None:
    async def fails(query: str) -> str:
        """Fails."""
        raise OSError("The disk is gone.")

    calls = {"calls": [{"name": "fails", "input": {"query": "logs"}}]}
    script = {
        "replies": [{**calls, "times": len(FACES)}, {"text": "So."}],
        "then": "last",
    }
    async with site(tmp_path, fails, script=script) as at:
        texts = await asked_by_each(at)

    for text in texts:
        assert text.startswith("So.")
        assert "failed" in text.partition(NOTE)[2]
