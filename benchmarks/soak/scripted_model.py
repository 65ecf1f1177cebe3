"""A Messages API for measurements: a tool call, then an answer, at a set pace; a share of its replies fails.

`python -m benchmarks.soak.scripted_model --port N [--first-byte-s S] [--faults 0.01] [--seed 1]`
"""

from __future__ import annotations

import argparse
import asyncio
import random
import socket
from typing import Any

import msgspec

from antiphon import api
from antiphon.engine import Double
from antiphon.engine.offline.script import Break, Script, ScriptedCall, ScriptedReply

CALL = ScriptedCall(
    name="search_course_content", input={"query": "how does BM25 rank passages"}
)
WORDS = "BM25 ranks by how rare a word is, and by how often it stands in a passage. "
FAULTS = (
    ScriptedReply(status=529, error="overloaded_error"),
    ScriptedReply(status=500, error="api_error"),
    ScriptedReply(text=WORDS, breaks=Break(at="first_byte", how="reset")),
    ScriptedReply(text=WORDS, breaks=Break(at="text", how="end")),
    ScriptedReply(text=WORDS, breaks=Break(at="text", how="error")),
    ScriptedReply(text=WORDS, breaks=Break(at="text", how="garbage")),
)
"""Occasional failures of a server; silence is not among them, because it would cost the caller half a minute."""


class ScriptedModel:
    """Answers a request that has sources, and calls the search tool in all others."""

    def __init__(self, first_byte_s: float, faults: float, seed: int) -> None:
        self._first_byte_s = first_byte_s
        self._faults = faults
        self._chance = random.Random(seed)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = bytearray()
        more = scope["type"] == "http"
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)

        async def received() -> Any:
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        double = Double(Script(replies=(self._reply(bytes(body)),)), on_port=True)
        await double(scope, received, send)

    def _reply(self, body: bytes) -> ScriptedReply:
        if self._chance.random() < self._faults:
            return self._chance.choice(FAULTS)
        reply = ScriptedReply(calls=(CALL,), first_byte_s=self._first_byte_s)
        if b'"search_result"' in body:
            reply = msgspec.structs.replace(reply, text=WORDS * 3, calls=())
        return reply


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--first-byte-s", type=float, default=0.0)
    parser.add_argument("--faults", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    model = ScriptedModel(options.first_byte_s, options.faults, options.seed)
    with socket.create_server(("127.0.0.1", options.port), backlog=512) as listener:
        asyncio.run(api.serve_app(model, listener))


if __name__ == "__main__":
    main()
