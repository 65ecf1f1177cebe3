"""The documented API as the replies of the double: it refuses, thinks, caches, and keeps its own bill."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from antiphon.engine.documented.billing import Cache, bill_input, prefixes_of
from antiphon.engine.documented.request import DocumentedRequest, read_request
from antiphon.engine.documented.rules import Refusal, refusals_of
from antiphon.engine.documented.two_rounds import play_two_rounds
from antiphon.engine.documented.writing import usual_thinking, write_reply
from antiphon.engine.models import CARDS, KNOWN_MODELS
from antiphon.engine.offline.double import MESSAGES, Call, ScriptReplies
from antiphon.engine.offline.playing import message_of_script
from antiphon.engine.offline.script import Script, ScriptedReply
from antiphon.engine.offline.shapes import RefusedError
from antiphon.engine.offline.wire import delta_events, error_of
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Usage, Value

BILL = "/bill"
"""The path of the bill; DELETE clears the bill and the cache. The real API has no such path."""
_MODELS = "/v1/models"
_MOST_KEPT = 10_000
_NO_SCRIPT = Script(then="offline")
_NO_KEY = Refusal("key", "invalid x-api-key", "", 401, "authentication_error")
_NO_PATH = Refusal("path", "Not Found", "", 404, "not_found_error")

Say = Callable[[Json], Sequence[Json]]
"""A model: given a request, it returns blocks of text and tool calls."""


class Billed(Value, frozen=True, kw_only=True):
    """One reply, and its cost."""

    model: str
    usage: Usage


class DocumentedApi:
    """Satisfies `offline.double.Replies`.

    Attributes:
        billed: The billed replies, oldest first.
        refused: The refusals, oldest first.

    Args:
        says: The model.
        script: Replies that come before the model's, and breaks. The double sends a script's errors, bodies and events
            unchanged and does not bill them.
        thinks: Returns the tokens that it thinks before a reply, if it thinks.
        now: The cache's clock.
        key: The only accepted key; None: all are.
    """

    def __init__(
        self,
        says: Say = play_two_rounds,
        *,
        script: Script | None = None,
        thinks: Callable[[DocumentedRequest], int] = usual_thinking,
        now: Callable[[], float] = time.monotonic,
        key: str | None = None,
    ) -> None:
        self._says = says
        self._script = ScriptReplies(script or _NO_SCRIPT)
        self._thinks = thinks
        self._now = now
        self._key = key
        self._cache: Cache = {}
        self._asked = 0
        self.billed: deque[Billed] = deque(maxlen=_MOST_KEPT)
        self.refused: deque[Refusal] = deque(maxlen=_MOST_KEPT)

    def reply(self, call: Call) -> ScriptedReply:
        """Returns the reply to a call."""
        if call.path == BILL:
            return self._bill(call.method)
        if self._key is not None and self._key not in _keys(call):
            return self._refused(_NO_KEY)
        if call.path == _MODELS:
            return _json_reply({"data": _models(), "has_more": False})
        if call.path != MESSAGES:
            return self._refused(_NO_PATH)
        refusal = next(refusals_of(call.request), None)
        if refusal is not None:
            return self._refused(refusal)
        return self._answered(call)

    def _answered(self, call: Call) -> ScriptedReply:
        """Returns the model's reply; leaves a reply that a script breaks on purpose unchanged."""
        try:
            reply = self._script.reply(call)
            if reply is None:
                reply = ScriptedReply(content=list(self._says(call.request)))
        except RefusedError as error:
            return self._refused(Refusal("fields", str(error), ""))
        if reply.error or reply.body is not None or reply.events is not None:
            return reply
        return self._billed(reply, call.request)

    def _billed(self, reply: ScriptedReply, body: Json) -> ScriptedReply:
        asked = read_request(body)
        self._asked += 1
        said = message_of_script(reply, body, self._asked)["content"]
        written = write_reply(asked, said, self._thinks(asked))
        usage, self._cache = bill_input(
            prefixes_of(asked),
            self._cache,
            self._now(),
            asked.card.traits.least_cached,
        )
        usage = replace(
            usage,
            output_tokens=written.output_tokens,
            thinking_tokens=written.thinking_tokens,
        )
        usage = KNOWN_MODELS.priced(usage, asked.name)
        self.billed.append(Billed(model=asked.name, usage=usage))
        whole = replace(
            reply,
            text=None,
            calls=(),
            content=written.content,
            stop_reason=reply.stop_reason or written.stop_reason,
            usage=_usage_fields(usage),
        )
        if not asked.stream:
            return whole
        message = message_of_script(whole, body, self._asked)
        return replace(whole, events=list(_events(message, reply.delta_chars)))

    def _bill(self, method: str) -> ScriptedReply:
        bill = _json_reply({"billed": self.billed, "refused": self.refused})
        if method == "DELETE":
            self.billed.clear()
            self.refused.clear()
            self._cache = {}
        return bill

    def _refused(self, refusal: Refusal) -> ScriptedReply:
        self.refused.append(refusal)
        body = error_of(refusal.kind, refusal.message) | {"request_id": "req_double"}
        return _json_reply(body, refusal.status)


def _keys(call: Call) -> tuple[str | None, str]:
    token = call.headers.get("authorization", "").removeprefix("Bearer ")
    return call.headers.get("x-api-key"), token


def _json_reply(fields: Json, status: int = 200) -> ScriptedReply:
    body = msgspec.json.encode(fields, enc_hook=list).decode()
    return ScriptedReply(body=body, status=status, content_type="application/json")


def _models() -> list[Json]:
    # The API's own date for a model whose date it does not know (api/models/list).
    fields = {"type": "model", "created_at": "1970-01-01T00:00:00Z"}
    return [fields | {"id": name, "display_name": name} for name in CARDS]


def _usage_fields(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"thinking_tokens": usage.thinking_tokens},
    }


def _events(message: Json, piece_chars: int) -> Iterator[Json]:
    """Yields a message as a stream, in which only the last event counts the thinking."""
    usage: Json = message["usage"]
    counted = {name: usage[name] for name in usage if name != "output_tokens_details"}
    for event in delta_events(message | {"usage": counted}, piece_chars):
        if event["type"] == "message_delta":
            event["usage"] = usage
        yield event
