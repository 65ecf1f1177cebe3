"""How each server is shown its sources: by its profile, or found out by one small call and remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec

from antiphon.engine.fold import Reply, ReplyFold
from antiphon.engine.profile import Profile
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import CitationStyle, Reasoner
from antiphon.vocabulary.ports import Model
from antiphon.vocabulary.values import Message, Request, StoredText

PROBE_S = 20.0
_ORIGINAL = Profile()
_WORD = "heliotrope"
_SOURCE = {
    "type": "search_result",
    "source": "Probe",
    "title": "Probe",
    "content": [{"type": "text", "text": f"The word of the day is {_WORD}."}],
    "citations": {"enabled": True},
}
_QUESTION = {
    "type": "text",
    "text": "According to the search result: what is the word of the day? Answer in a sentence.",
}


class CitationStyles:
    """The servers' profiles, and what a probe found for those that say `auto`. Shared by all sessions.

    Args:
        profiles: A profile for each reasoner; one that is missing can do all that the original can.
    """

    def __init__(self, profiles: Mapping[Reasoner, Profile] | None = None) -> None:
        self._profiles = dict(profiles or {})
        self._found: dict[Reasoner, CitationStyle] = {}
        self._asking = asyncio.Lock()

    def profile(self, reasoner: Reasoner) -> Profile:
        """What the server can do."""
        return self._profiles.get(reasoner, _ORIGINAL)

    def known(self, reasoner: Reasoner) -> CitationStyle | None:
        """The style, or None where it must be found out first."""
        setting = self.profile(reasoner).citations
        return self._found.get(reasoner) if setting == "auto" else setting

    async def find(self, reasoner: Reasoner, model: Model, name: str) -> CitationStyle:
        """The style; asks the server once, and for all sessions that wait.

        A server that cannot be reached is asked again at the next call; this one goes on with `native`.
        """
        async with self._asking:
            known = self.known(reasoner)
            if known is not None:
                return known
            try:
                self._found[reasoner] = await probe_style(model, name)
            except ModelError:
                return "native"
            return self._found[reasoner]


async def probe_style(model: Model, name: str) -> CitationStyle:
    """Asks for a word that only a `search_result` block says: who can tell it, and cites it, knows such blocks.

    Raises:
        ModelError: The server failed in a way that says nothing about what it knows.
    """
    try:
        reply = await ask(model, source_request(name), PROBE_S)
    except ModelError as error:
        if error.kind in ("invalid_request", "server_error", "stream_error", "malformed"):
            return "inline"
        raise
    return "native" if _WORD in reply.text.text.lower() and reply.citations else "inline"


def source_request(name: str) -> Request:
    """A tiny request with one source, and a question that only the source answers."""
    content = tuple(StoredText(msgspec.json.encode(block).decode()) for block in (_SOURCE, _QUESTION))
    system = StoredText('[{"type":"text","text":"Answer briefly, and cite the search result."}]')
    return Request(model=name, max_tokens=200, system=system, messages=(Message(role="user", content=content),))


async def ask(model: Model, request: Request, timeout_s: float) -> Reply:
    """The whole reply to one request, without events or further attempts.

    Raises:
        ModelError: The call failed.
    """
    fold = ReplyFold()
    try:
        async with asyncio.timeout(timeout_s):
            async for event in model.stream(request, timeout_s):
                fold.add(event)
    except TimeoutError as error:
        raise ModelError("timeout", f"no complete reply within {timeout_s:g} s", retryable=True) from error
    return fold.reply()
