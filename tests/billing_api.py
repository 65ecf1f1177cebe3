"""The documented Messages API, which bills its requests even if it never gets to answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from antiphon.dispatcher import course_tools
from antiphon.engine import DocumentedApi, Profile, ScriptedReply
from antiphon.engine.offline.double import MESSAGES, Call
from antiphon.faults.runs.small_library import SmallLibrary, WordEmbedder
from tests.tenants import Site, site

NEVER_S = 3_600.0
_NO_USAGE = {
    "input_tokens": 0,
    "output_tokens": 0,
    "cache_read_input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "output_tokens_details": {"thinking_tokens": 0},
}


class BillingApi:
    """Satisfies `offline.double.Replies`; bills each request at once, even if the reply never arrives.

    Attributes:
        asked: Set at every request for a reply.
        answers: False delays every reply for ever.
        reports: False leaves the usage out of the replies.
    """

    def __init__(self, api: DocumentedApi | None = None) -> None:
        self.api = api or DocumentedApi()
        self.asked = asyncio.Event()
        self.calls = 0
        self.answers = True
        self.reports = True

    def reply(self, call: Call) -> ScriptedReply:
        reply = self.api.reply(call)
        if call.path != MESSAGES:
            return reply
        self.calls += 1
        self.asked.set()
        if not self.answers:
            reply = replace(reply, first_byte_s=NEVER_S)
        if not self.reports:
            reply = without_usage(reply)
        return reply

    @property
    def dollars(self) -> float:
        """The dollars billed so far."""
        return sum(billed.usage.cost_usd or 0.0 for billed in self.api.billed)

    @property
    def tokens(self) -> int:
        """The tokens billed so far."""
        return sum(
            billed.usage.all_input_tokens + billed.usage.output_tokens
            for billed in self.api.billed
        )


@asynccontextmanager
async def billed(
    folder: Path,
    api: BillingApi,
    profile: Profile | None = None,
    **settings: Any,
) -> AsyncIterator[Site]:
    """The service over HTTP, in front of an API that keeps its own bill.

    Args:
        profile: The known capabilities of the API; None for all.
    """
    tools = course_tools(SmallLibrary(WordEmbedder()))
    async with site(folder, *tools, script=api, profile=profile, **settings) as at:
        yield at


def without_usage(reply: ScriptedReply) -> ScriptedReply:
    """Returns the reply of a server that does not report its usage."""
    events = None
    if reply.events is not None:
        events = []
        for event in reply.events:
            if "usage" in event:
                event = event | {"usage": _NO_USAGE}
            if event["type"] == "message_start":
                event = event | {"message": event["message"] | {"usage": _NO_USAGE}}
            events.append(event)
    return replace(reply, usage=_NO_USAGE, events=events)
