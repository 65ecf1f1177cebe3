"""Responses (https://platform.openai.com/docs/api-reference/responses): whole, and as their events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

from antiphon.doors.openai.writing import Json, Written, steps_of
from antiphon.service import Query
from antiphon.vocabulary.values import Usage

RESPONSE = "resp_"
"""The beginning of a response's id, before that of its query."""


def response(
    model: str,
    now: int,
    query_id: str,
    output: Sequence[Json],
    usage: Usage | None = None,
    citations: Sequence[Json] = (),
) -> Json:
    """Returns a response: complete with its usage, and under way without."""
    return {
        "id": f"{RESPONSE}{query_id}",
        "object": "response",
        "created_at": now,
        "status": "in_progress" if usage is None else "completed",
        "model": model,
        "output": list(output),
        "usage": None if usage is None else _usage(usage),
        "citations": list(citations),
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": False,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
    }


def message(query_id: str, text: Written) -> Json:
    """Returns the answer as the item that clients read."""
    return _message(query_id, "completed", [_content(text.text, _annotations(text))])


class ResponseEvents:
    """The events of one streamed response."""

    END = b""

    def __init__(self, model: str, now: int, query_id: str) -> None:
        self._model, self._now, self._query_id = model, now, query_id
        self._number = -1
        self._steps = ""

    async def before(self, query: Query) -> AsyncIterator[Json]:
        """Yields what the query does meanwhile, as the summary of its reasoning."""
        begun = response(self._model, self._now, self._query_id, ())
        yield self._event("response.created", response=begun)
        yield self._event("response.in_progress", response=begun)
        at = {"output_index": 0, "item_id": self._reasoning()["id"], "summary_index": 0}
        item = self._reasoning() | {"summary": [], "status": "in_progress"}
        yield self._event("response.output_item.added", output_index=0, item=item)
        empty = {"type": "summary_text", "text": ""}
        yield self._event("response.reasoning_summary_part.added", part=empty, **at)
        async for step in steps_of(query):
            line = f"{step}\n"
            self._steps += line
            yield self._event("response.reasoning_summary_text.delta", delta=line, **at)
        text = self._steps
        yield self._event("response.reasoning_summary_text.done", text=text, **at)
        part = empty | {"text": text}
        yield self._event("response.reasoning_summary_part.done", part=part, **at)
        item = self._reasoning()
        yield self._event("response.output_item.done", output_index=0, item=item)

    def answer(self, text: Written, usage: Usage) -> Iterator[Json]:
        """Yields the answer, line by line, and the whole response last."""
        done = message(self._query_id, text)
        item = _message(self._query_id, "in_progress", [])
        at = {"output_index": 1, "item_id": item["id"], "content_index": 0}
        yield self._event("response.output_item.added", output_index=1, item=item)
        part = _content("", [])
        yield self._event("response.content_part.added", part=part, **at)
        for line in text.text.splitlines(keepends=True):
            yield self._event(
                "response.output_text.delta", delta=line, logprobs=[], **at
            )
        for index, each in enumerate(_annotations(text)):
            yield self._event(
                "response.output_text.annotation.added",
                annotation=each,
                annotation_index=index,
                **at,
            )
        yield self._event(
            "response.output_text.done", text=text.text, logprobs=[], **at
        )
        part = done["content"][0]
        yield self._event("response.content_part.done", part=part, **at)
        yield self._event("response.output_item.done", output_index=1, item=done)
        output = [self._reasoning(), done]
        whole = response(
            self._model, self._now, self._query_id, output, usage, text.citations
        )
        yield self._event("response.completed", response=whole)

    def _event(self, kind: str, **fields: object) -> Json:
        self._number += 1
        return {"type": kind, "sequence_number": self._number} | fields

    def _reasoning(self) -> Json:
        return {
            "id": f"rs_{self._query_id}",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": self._steps}],
            "status": "completed",
        }


def _message(query_id: str, status: str, content: list[Json]) -> Json:
    return {
        "id": f"msg_{query_id}",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": content,
    }


def _content(text: str, annotations: list[Json]) -> Json:
    return {
        "type": "output_text",
        "text": text,
        "annotations": annotations,
        "logprobs": [],
    }


def _annotations(text: Written) -> list[Json]:
    return [{"type": "url_citation"} | link for link in text.links]


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.all_input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
        "total_tokens": usage.all_tokens,
    }
