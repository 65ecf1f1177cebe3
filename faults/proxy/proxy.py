"""The proxy: breaks the replies of a model's server by a plan, and has the double play them to the client."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import httpx2
import msgspec
from msgspec.structs import replace

from antiphon.engine import (
    GARBAGE,
    Act,
    Call,
    Played,
    ScriptedReply,
    error_of,
    read_object,
    read_whole,
    sse_of,
)
from antiphon.faults.plan import Fault, Kind
from antiphon.faults.ports.calls import broken_stream
from antiphon.faults.ports.injection import FOREVER_S, QueryFaults
from antiphon.faults.ports.replies import corrupted, fitting_stop
from antiphon.faults.proxy.forms import UNREADABLE, Form, form_of
from antiphon.faults.proxy.recording import Exchange, whole
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json

_MOST_KEPT = 1_000
_WAITS_S: dict[Kind, float] = {"hang": FOREVER_S, "slow": 5.0}
"""Seconds that the server takes; the client's patience is not known."""
_REFUSALS: dict[Kind, ScriptedReply] = {
    "rate_limit": ScriptedReply(status=429, error="rate_limit_error", message="too many requests"),
    "overload": ScriptedReply(status=529, error="overloaded_error", message="overloaded"),
    "raise": ScriptedReply(status=500, error="api_error", message="internal server error"),
    "oversized": ScriptedReply(status=400, error="invalid_request_error", message="prompt is too long"),
    "empty": ScriptedReply(body="", content_type="text/html"),
    "malformed": ScriptedReply(body="<html>Bad Gateway</html>", content_type="text/html"),
}  # fmt: skip
# The proxy sends the body whole and uncompressed, so it sets length and coding itself.
_OF_ONE_HOP = (
    *("host", "connection", "keep-alive", "te", "upgrade", "expect", "date", "server"),
    *("transfer-encoding", "content-length", "content-encoding", "accept-encoding"),
)


class _Piece(NamedTuple):
    """A piece of a reply, and its places in a stream."""

    act: Act
    places: Sequence[str] = ()


class FaultProxy:
    """Satisfies `engine.offline.double.Replies`: forwards calls to a server, and breaks its replies.

    It requests whole replies from the server. A client that wants a stream gets one made from the whole reply, so that
    replies can be made wrong in the same ways in all protocols.

    Args:
        upstream: The client of the server at its `base_url`, the only one that the proxy calls.
        note: Called with each exchange with a model.

    Attributes:
        injected: The faults and their effects.
        exchanges: The exchanges so far, oldest first.
    """

    def __init__(
        self, upstream: httpx2.AsyncClient, note: Callable[[Exchange], object]
    ) -> None:
        self._upstream = upstream
        self._note = note
        self.begin(())

    def begin(self, faults: Sequence[Fault]) -> None:
        """Starts over with these faults."""
        self.injected = QueryFaults(faults)
        self.exchanges: deque[Exchange] = deque(maxlen=_MOST_KEPT)

    async def reply(self, call: Call) -> ScriptedReply | Played:
        """Returns the reply to a call; passes a reply that is not a model's on unchanged."""
        form = form_of(call.path)
        passing = _Passing(call, self._upstream, self.injected)
        exchanges, started = self.exchanges, time.time()
        try:
            if form is None or not call.request:
                return await passing.asked(call.body)
            reply = await passing.broken(form)
        except (httpx2.HTTPError, ModelError, *UNREADABLE) as error:
            # The message says who failed, so that nobody takes this for an injected fault.
            why = f"antiphon faults serve: no reply of the upstream's: {error}"
            reply = ScriptedReply(status=502, error="api_error", message=why)
        exchange = Exchange(
            request=call.request,
            response=passing.sent,
            status=reply.status,
            started=round(started, 3),
            seconds=round(time.time() - started, 3),
            fault=", ".join(passing.fired) or None,
        )
        exchanges.append(exchange)
        self._note(exchange)
        return reply


@dataclass
class _Passing:
    """One call on its way through the proxy.

    Attributes:
        fired: The faults that fired on it.
        sent: The reply, if the client gets it whole.
    """

    call: Call
    upstream: httpx2.AsyncClient
    injected: QueryFaults
    fired: list[str] = field(default_factory=list)
    sent: Json | None = None

    async def asked(self, body: bytes) -> Played:
        """Returns the server's own reply."""
        base = self.upstream.base_url
        # Appended to the server's base path, so that no client's path leads to another server.
        path = base.path.rstrip("/") + self.call.path
        async with self.upstream.stream(
            self.call.method,
            base.copy_with(path=path, query=self.call.query or None),
            content=body,
            headers={**_kept(self.call.headers), "accept-encoding": "identity"},
        ) as response:
            body = await read_whole(response)
        return Played(response.status_code, _kept(response.headers), [Act(send=body)])

    async def broken(self, form: Form) -> ScriptedReply | Played:
        """Returns the model's reply, broken if a fault fires."""
        late = self._traverse("model.request")
        if late is not None and late.kind not in _WAITS_S:
            return _refusal(late)
        wrong = self._traverse("model.content")
        replied = await self.asked(msgspec.json.encode(whole(self.call.request)))
        [act] = replied.acts
        self.sent = read_object(act.send)
        if replied.status != 200:
            return replied
        if wrong is not None:
            self.sent = self._corrupted(form, self.sent, wrong)
        is_stream = self.call.request.get("stream") is True
        acts = await self._acts(form if is_stream else None, self.sent)
        if late is not None:
            acts.insert(0, Act(late.seconds(_WAITS_S[late.kind])))
        kind = "text/event-stream" if is_stream else "application/json"
        headers = {**replied.headers, "content-type": kind}
        return Played(replied.status, headers, acts)

    async def _acts(self, form: Form | None, reply: Json) -> list[Act]:
        """Returns the acts that send a reply, which breaks on its way if a fault fires."""
        pieces = broken_stream(
            _pieces(form, reply),
            lambda piece: piece.places,
            lambda place: self._traverse(f"model.stream.{place}"),
            _replaced,
        )
        acts = [piece.act async for piece in pieces]
        # A stream that broke did not arrive whole; one that was only slow did.
        if any(".stream." in fault and ":slow" not in fault for fault in self.fired):
            self.sent = None
        return acts

    def _traverse(self, point: str) -> Fault | None:
        fault = self.injected.traverse(point)
        if fault is not None:
            self.fired.append(f"{point}:{fault.kind}")
        return fault

    def _corrupted(self, form: Form, reply: Json, wrong: Fault) -> Json:
        [tool, *_] = self.call.request.get("tools") or [{}]
        name = tool.get("name") or tool.get("function", {}).get("name", "no_such_tool")
        made = corrupted(form.blocks(reply), wrong.kind, str(reply.get("id")), name)
        stop = made.stop_reason or fitting_stop(made.blocks)
        return form.holding(reply, made.blocks, stop)


async def _pieces(form: Form | None, reply: Json) -> AsyncIterator[_Piece]:
    """Yields a reply as a stream in its form, or in two pieces if there is no form."""
    if form is not None:
        for sent, places in form.stream(reply):
            yield _Piece(Act(send=sent), places)
        return
    body = msgspec.json.encode(reply)
    half = len(body) // 2
    yield _Piece(Act(send=body[:half]))
    yield _Piece(Act(send=body[half:]), ["before_end"])


async def _replaced(piece: _Piece, fault: Fault) -> Sequence[_Piece]:
    """Returns the replacement of a piece of a reply."""
    if fault.kind in _WAITS_S:
        return [_Piece(piece.act._replace(wait_s=fault.seconds(_WAITS_S[fault.kind])))]
    if fault.kind == "duplicate":
        return [piece, piece]
    if fault.kind == "malformed":
        return [_Piece(Act(send=GARBAGE))]
    if fault.kind == "drop":
        return [_Piece(Act(how="reset"))]
    refusal = _REFUSALS[fault.kind]
    error = error_of(refusal.error or "", refusal.message)
    return [_Piece(Act(send=sse_of(error), how="end"))]


def _refusal(fault: Fault) -> ScriptedReply | Played:
    """Returns the replacement of a whole reply."""
    if fault.kind == "drop":
        return Played(0, {}, [Act(how="reset")])
    headers = {"retry-after": f"{fault.for_s:g}"} if fault.for_s else {}
    return replace(_REFUSALS[fault.kind], headers=headers)


def _kept(headers: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers that do not belong to a single connection."""
    return {name: headers[name] for name in headers if name.lower() not in _OF_ONE_HOP}
