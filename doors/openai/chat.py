"""Chat completions (https://platform.openai.com/docs/api-reference/chat): whole, and in chunks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from antiphon.doors.openai.writing import Json, Written, steps_of
from antiphon.service import Query
from antiphon.vocabulary.values import Usage


def completion(
    model: str, now: int, completion_id: str, text: Written, usage: Usage
) -> Json:
    """Returns a whole chat completion."""
    message = {
        "role": "assistant",
        "content": text.text,
        "refusal": None,
        "annotations": _annotations(text),
    }
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": "stop",
    }
    return {
        "id": completion_id,
        "object": "chat.completion",
        "created": now,
        "model": model,
        "choices": [choice],
        "usage": usage_json(usage),
        "citations": text.citations,
    }


class Chunks:
    """The chunks of one streamed chat completion."""

    END = b"data: [DONE]\n\n"

    def __init__(
        self, model: str, now: int, completion_id: str, *, with_usage: bool
    ) -> None:
        self._head: Json = {
            "id": completion_id,
            "object": "chat.completion.chunk",
            "created": now,
            "model": model,
        }
        self._with_usage = with_usage

    async def before(self, query: Query) -> AsyncIterator[Json]:
        """Yields what the query does meanwhile, as the reasoning that clients show above the answer."""
        yield self._chunk({"role": "assistant", "content": ""})
        async for step in steps_of(query):
            yield self._chunk({"reasoning_content": f"{step}\n"})

    def answer(self, text: Written, usage: Usage) -> Iterator[Json]:
        """Yields the answer, line by line, with its sources and what it used."""
        # Some clients cannot read a line of an event that is longer than 64 KiB.
        for line in text.text.splitlines(keepends=True):
            yield self._chunk({"content": line})
        sources = self._chunk({"annotations": _annotations(text)})
        yield sources | {"citations": text.citations}
        yield self._chunk({}, "stop")
        if self._with_usage:
            yield self._head | {"choices": [], "usage": usage_json(usage)}

    def _chunk(self, delta: Json, finish_reason: str | None = None) -> Json:
        choice = {
            "index": 0,
            "delta": delta,
            "logprobs": None,
            "finish_reason": finish_reason,
        }
        return self._head | {"choices": [choice]}


def _annotations(text: Written) -> list[Json]:
    return [{"type": "url_citation", "url_citation": link} for link in text.links]


def usage_json(usage: Usage) -> Json:
    """Returns the tokens of an answer."""
    return {
        "prompt_tokens": usage.all_input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.all_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
    }
