"""Responses (https://platform.openai.com/docs/api-reference/responses): whole, and as their events."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence

from antiphon.doors.showing import Json, steps_of
from antiphon.doors.writing import Written
from antiphon.service import Query
from antiphon.vocabulary.values import Usage

RESPONSE = "resp_"
"""The prefix of a response's id, before the query's id."""


class ResponseShape:
    """One answer as a response."""

    END = b""

    def __init__(self, model: str) -> None:
        self._model = model
        self._created = int(time.time())
        self._sent = 0
        self._steps = ""

    def whole(self, text: Written) -> Json:
        """Returns the answer in one piece."""
        query_id = text.query_id
        output = [_message(query_id, "completed", [_content(text)])]
        # A text that no query made has no steps to show.
        if self._steps:
            output.insert(0, self._reasoning(query_id))
        return self._response(query_id, "completed", output) | {
            "usage": _usage(text.usage),
            "citations": text.citations,
        }

    async def before(self, query: Query) -> AsyncIterator[Json]:
        """Yields the steps of the query as the summary of its reasoning, which is the output's first item."""
        begun = self._response(query.query_id, "in_progress", [])
        yield self._event("response.created", response=begun)
        yield self._event("response.in_progress", response=begun)
        item = self._reasoning(query.query_id) | {"summary": []}
        at = {"output_index": 0, "item_id": item["id"], "summary_index": 0}
        yield self._event("response.output_item.added", output_index=0, item=item)
        part = {"type": "summary_text", "text": ""}
        yield self._event("response.reasoning_summary_part.added", part=part, **at)
        async for step in steps_of(query):
            line = f"{step}\n"
            self._steps += line
            yield self._event("response.reasoning_summary_text.delta", delta=line, **at)
        item = self._reasoning(query.query_id)
        [part] = item["summary"]
        text = self._steps
        yield self._event("response.reasoning_summary_text.done", text=text, **at)
        yield self._event("response.reasoning_summary_part.done", part=part, **at)
        yield self._event("response.output_item.done", output_index=0, item=item)

    def answer(self, text: Written) -> Iterator[Json]:
        """Yields the answer line by line, and the whole response last."""
        query_id = text.query_id
        # The message is item 1, after the reasoning that `before` sent.
        item = _message(query_id, "in_progress", [])
        at = {"output_index": 1, "item_id": item["id"], "content_index": 0}
        yield self._event("response.output_item.added", output_index=1, item=item)
        part = _content(Written(query_id, ""))
        yield self._event("response.content_part.added", part=part, **at)
        logs: Json = {"logprobs": []}
        for line in text.text.splitlines(keepends=True):
            yield self._event("response.output_text.delta", delta=line, **logs, **at)
        part = _content(text)
        for index, each in enumerate(part["annotations"]):
            place = {"annotation": each, "annotation_index": index} | at
            yield self._event("response.output_text.annotation.added", **place)
        yield self._event("response.output_text.done", text=text.text, **logs, **at)
        yield self._event("response.content_part.done", part=part, **at)
        item = _message(query_id, "completed", [part])
        yield self._event("response.output_item.done", output_index=1, item=item)
        yield self._event("response.completed", response=self.whole(text))

    def _event(self, kind: str, **fields: object) -> Json:
        self._sent += 1
        return {"type": kind, "sequence_number": self._sent - 1} | fields

    def _response(self, query_id: str, status: str, output: Sequence[Json]) -> Json:
        return {
            "id": f"{RESPONSE}{query_id}",
            "object": "response",
            "created_at": self._created,
            "status": status,
            "model": self._model,
            "output": output,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
        }

    def _reasoning(self, query_id: str) -> Json:
        summary = {"type": "summary_text", "text": self._steps}
        return {"id": f"rs_{query_id}", "type": "reasoning", "summary": [summary]}


def _message(query_id: str, status: str, content: Sequence[Json]) -> Json:
    item = {"id": f"msg_{query_id}", "type": "message", "role": "assistant"}
    return item | {"status": status, "content": content}


def _content(text: Written) -> Json:
    annotations = [{"type": "url_citation"} | link for link in text.links]
    return {"type": "output_text", "text": text.text, "annotations": annotations}


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
