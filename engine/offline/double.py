"""A test double of the Messages API, whose replies come from a script or elsewhere and go over the real wire."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, NamedTuple, Protocol

import msgspec

from antiphon.engine.in_process import Receive, Scope, Send, reset
from antiphon.engine.offline.app import OfflineMessagesApi, body_of
from antiphon.engine.offline.playing import Played, played
from antiphon.engine.offline.script import Script, ScriptedReply, When
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.typed import prepared

MESSAGES = "/v1/messages"
Sleep = Callable[[float], Awaitable[None]]

_OVER = ScriptedReply(
    status=500,
    error="api_error",
    message="the script is over",
    headers={"x-should-retry": "false"},
)
_TOO_LARGE = ScriptedReply(
    status=413,
    error="request_too_large",
    message="The request is larger than 32 MB.",
)
# The program that starts the double can check with this that it is up.
_ALIVE = ScriptedReply(body='{"status":"ok"}', content_type="application/json")


class Call(NamedTuple):
    """A received request, with its headers by lower-case name, and its body also as a JSON object."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    request: Json
    query: bytes = b""


Said = ScriptedReply | Played | None


class Replies(Protocol):
    """The source of replies."""

    def reply(self, call: Call) -> Said | Awaitable[Said]:
        """Returns the reply; None to let the offline reasoner reply."""


class ScriptReplies:
    """Satisfies `Replies` with a script."""

    def __init__(self, script: Script) -> None:
        self._script = script
        # Repeated replies are written out, so that each request takes one entry.
        self._left: list[ScriptedReply] = []
        for reply in script.replies:
            self._left += [reply] * reply.times

    def reply(self, call: Call) -> ScriptedReply | None:
        """Takes the first remaining reply that is meant for the request."""
        if call.path != MESSAGES:
            return _ALIVE
        for at, reply in enumerate(self._left):
            if reply.when is None or _is_meant(reply.when, call.request, call.body):
                return self._left.pop(at)
        if self._script.then == "offline":
            return None
        if self._script.then == "last" and self._script.replies:
            return self._script.replies[-1]
        return _OVER


class Double:
    """An ASGI application that plays a script.

    Attributes:
        requests: The bodies of the requests to `/v1/messages` so far, as JSON objects; not kept on a port.

    Args:
        replies: The script, or another source of replies.
        sleep: Waits; tests may pass their own time.
        on_port: It listens on a port, perhaps for days, so it keeps no requests.
    """

    def __init__(
        self,
        replies: Script | Replies,
        sleep: Sleep = asyncio.sleep,
        *,
        on_port: bool = False,
    ) -> None:
        if isinstance(replies, Script):
            replies = ScriptReplies(replies)
        self._on_port = on_port
        self._replies = replies
        self._offline = OfflineMessagesApi()
        self._sleep = sleep
        self._asked = 0
        self.requests: list[Json] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = await body_of(receive)
        if body is None:
            await self._play(played(_TOO_LARGE, {}, 0), scope, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        call = Call(
            scope["method"],
            scope["path"],
            headers,
            body,
            _object(body),
            scope["query_string"],
        )
        if call.path == MESSAGES:
            self._asked += 1
            # On a port nobody could read them.
            if not self._on_port:
                self.requests.append(call.request)
        said = self._replies.reply(call)
        reply = await said if isawaitable(said) else said
        if reply is None:
            # The body can be read only once, so it is replayed.
            await self._offline(scope, _receive(body), send)
            return
        if isinstance(reply, ScriptedReply):
            reply = played(reply, call.request, self._asked)
        await self._play(reply, scope, send)

    async def _play(self, reply: Played, scope: Scope, send: Send) -> None:
        answer = _Answer(send, reply)
        for act in reply.acts:
            await self._wait(act.wait_s)
            if act.send:
                await answer.send(act.send)
                await asyncio.sleep(0)  # separate pieces must arrive separately
            if act.how == "stall":
                await asyncio.Future()  # never done: the client must give up
            elif act.how == "reset":
                reset(scope)
            elif act.how == "end":
                break
        await answer.end()

    async def _wait(self, seconds: float) -> None:
        if seconds > 0:
            await self._sleep(seconds)


class _Answer:
    """One response, whose head is sent with its first byte."""

    def __init__(self, send: Send, reply: Played) -> None:
        self._send = send
        self._status = reply.status
        self._headers = [
            (name.lower().encode(), value.encode())
            for name, value in reply.headers.items()
        ]
        self._begun = False

    async def begin(self) -> None:
        if not self._begun:
            self._begun = True
            await self._send(
                {
                    "type": "http.response.start",
                    "status": self._status,
                    "headers": self._headers,
                }
            )

    async def send(self, piece: bytes) -> None:
        await self.begin()
        await self._send(
            {"type": "http.response.body", "body": piece, "more_body": True}
        )

    async def end(self) -> None:
        await self.begin()
        await self._send(
            {"type": "http.response.body", "body": b"", "more_body": False}
        )


def _receive(body: bytes) -> Receive:
    async def receive() -> Scope:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _object(body: bytes) -> Json:
    try:
        return msgspec.json.decode(body, type=prepared(dict[str, Any]))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}


def _is_meant(when: When, request: Json, body: bytes) -> bool:
    choice = request.get("tool_choice") or {}
    may_call = bool(request.get("tools")) and choice.get("type") != "none"
    if when.tools not in (None, may_call):
        return False
    if when.contains is None:
        return True
    return when.contains in body.decode("utf-8", "replace")
