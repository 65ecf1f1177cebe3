"""Chat completions (https://platform.openai.com/docs/api-reference/chat): whole, and in chunks."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator

from antiphon.doors.showing import Json, steps_of
from antiphon.doors.writing import Written
from antiphon.service import Query
from antiphon.vocabulary.values import Usage


class Completion:
    """One answer as a chat completion."""

    END = b"data: [DONE]\n\n"

    def __init__(self, model: str, *, with_usage: bool) -> None:
        self._model = model
        self._created = int(time.time())
        self._with_usage = with_usage

    def whole(self, text: Written) -> Json:
        """Returns the answer in one piece."""
        message: Json = {"role": "assistant", "content": text.text, "refusal": None}
        message["annotations"] = _annotations(text)
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return self._head(text.query_id, "chat.completion") | {
            "choices": [choice],
            "usage": _usage(text.usage),
            "citations": text.citations,
        }

    async def before(self, query: Query) -> AsyncIterator[Json]:
        """Yields the steps of the query as reasoning, which clients show above the answer."""
        yield self._chunk(query.query_id, {"role": "assistant", "content": ""})
        async for step in steps_of(query):
            yield self._chunk(query.query_id, {"reasoning_content": f"{step}\n"})

    def answer(self, text: Written) -> Iterator[Json]:
        """Yields the answer line by line, then its sources and its usage."""
        # Some clients cannot read an event line longer than 64 KiB.
        for line in text.text.splitlines(keepends=True):
            yield self._chunk(text.query_id, {"content": line})
        sources = self._chunk(text.query_id, {"annotations": _annotations(text)})
        yield sources | {"citations": text.citations}
        yield self._chunk(text.query_id, {}, "stop")
        if self._with_usage:
            head = self._head(text.query_id, "chat.completion.chunk")
            yield head | {"choices": [], "usage": _usage(text.usage)}

    def _chunk(self, query_id: str, delta: Json, ended: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": ended}
        return self._head(query_id, "chat.completion.chunk") | {"choices": [choice]}

    def _head(self, query_id: str, kind: str) -> Json:
        return {
            "id": f"chatcmpl-{query_id}",
            "object": kind,
            "created": self._created,
            "model": self._model,
        }


def _annotations(text: Written) -> list[Json]:
    return [{"type": "url_citation", "url_citation": link} for link in text.links]


def _usage(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.all_input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.all_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
    }
