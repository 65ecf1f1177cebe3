"""A server's profile: its abilities, and its way of citing, which one small call finds out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from antiphon.engine.account import Account
from antiphon.engine.fold import ReplyFold
from antiphon.engine.models import KNOWN_MODELS, traits_of
from antiphon.engine.reply import Reply
from antiphon.engine.request import FULL_PROFILE
from antiphon.engine.thinking import thinking_of
from antiphon.engine.time_limit import within
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import CitationStyle, Reasoner
from antiphon.vocabulary.ports import Clock, Model
from antiphon.vocabulary.values import (
    Message,
    ModelTraits,
    Profile,
    Request,
    StoredText,
)

PROBE_S = 20.0
"""Seconds for the reply to a probe, which is two sentences long."""
REFUSALS = frozenset({"invalid_request", "server_error", "stream_error", "malformed"})
"""The failures with which servers refuse unknown fields; other failures say nothing about their abilities."""
PROBE_ATTEMPTS = 2
PROBE_TOKENS = 2_000
"""Large, because a model that the table does not know may think before it answers, and its thinking counts."""
_UNUSUAL_WORD = "heliotrope"
"""A word that a model would not write unless it has read it."""
_SOURCE = {
    "type": "search_result",
    "source": "Probe",
    "title": "Probe",
    "content": [{"type": "text", "text": f"The word of the day is {_UNUSUAL_WORD}."}],
    "citations": {"enabled": True},
}
_QUESTION = {
    "type": "text",
    "text": "According to the search result: what is the word of the day? Answer in a sentence.",
}


class CitationStyles:
    """The servers' profiles, and the citation styles that probes found for those set to `auto`. Shared by all sessions.

    Args:
        profiles: A profile for each reasoner; a missing one means all abilities of the original.
    """

    def __init__(self, profiles: Mapping[Reasoner, Profile] | None = None) -> None:
        self._profiles = dict(profiles or {})
        self._found: dict[Reasoner, CitationStyle] = {}
        self._probing = asyncio.Lock()

    def profile(self, reasoner: Reasoner, traits: ModelTraits | None = None) -> Profile:
        """Returns the profile of the reasoner's server, with the traits of the model that is called there."""
        profile = self._profiles.get(reasoner, FULL_PROFILE)
        return replace(profile, model=traits)

    def known(self, reasoner: Reasoner) -> CitationStyle | None:
        """Returns the style, or None if a probe must find it out first."""
        setting = self.profile(reasoner).citations
        if setting == "auto":
            return self._found.get(reasoner)
        return setting

    async def find(
        self,
        reasoner: Reasoner,
        model: Model,
        name: str,
        clock: Clock,
        account: Account | None = None,
    ) -> CitationStyle:
        """Returns the style; probes the server once for all sessions that wait.

        If the server cannot be reached, the next call probes again; this one goes on with `native`.

        Args:
            account: The account of the call, which pays for the probe; a call that cannot also goes on with `native`.
        """
        # Sessions that begin together wait for one probe instead of making one each.
        async with self._probing:
            known = self.known(reasoner)
            if known is not None:
                return known
            if account is not None and not account.affords(source_request(name)):
                return "native"
            try:
                self._found[reasoner] = await _probe_style(model, name, clock, account)
            except ModelError:
                return "native"
            return self._found[reasoner]


async def _probe_style(
    model: Model, name: str, clock: Clock, account: Account | None
) -> CitationStyle:
    """Asks for a word that appears only in a `search_result` block: a model that answers and cites knows such blocks.

    Raises:
        ModelError: The server failed in a way that says nothing about its abilities.
    """
    try:
        probing = ask(model, source_request(name), PROBE_S, PROBE_ATTEMPTS, account)
        reply = await within(clock, PROBE_S, probing)
    except TimeoutError as error:
        raise ModelError(
            "timeout", f"no complete reply within {PROBE_S:g} s", retryable=True
        ) from error
    except ModelError as error:
        if error.kind in REFUSALS:
            return "inline"
        raise
    if _UNUSUAL_WORD in reply.text.text.lower() and reply.citations:
        return "native"
    return "inline"


def source_request(name: str) -> Request:
    """Builds a tiny request with one source, and a question that only the source answers."""
    content = [
        StoredText(msgspec.json.encode(block).decode())
        for block in (_SOURCE, _QUESTION)
    ]
    system = StoredText(
        '[{"type":"text","text":"Answer briefly, and cite the search result."}]'
    )
    message = Message(role="user", content=tuple(content))
    return Request(
        model=name,
        max_tokens=PROBE_TOKENS,
        system=system,
        messages=(message,),
        extra=thinking_of(traits_of(name), final=False).json(),
    )


async def ask(
    model: Model,
    request: Request,
    timeout_s: float,
    attempts: int = 1,
    account: Account | None = None,
) -> Reply:
    """Returns the whole reply to one request, without events.

    Args:
        timeout_s: Seconds that the caller will wait; the caller enforces this limit.
        attempts: Attempts in all, without pauses, if the same request may pass: a server that is starting, or that
            closes idle connections, does not lack an ability.
        account: The account that pays; None: nobody counts the usage.

    Raises:
        ModelError: The last attempt failed.
    """
    account = account or Account(KNOWN_MODELS, request.model)
    for _ in range(attempts - 1):
        try:
            return await _reply(model, request, timeout_s, account)
        except ModelError as error:
            if not error.retryable or not account.affords(request):
                raise
    return await _reply(model, request, timeout_s, account)


async def _reply(
    model: Model, request: Request, timeout_s: float, account: Account
) -> Reply:
    fold = ReplyFold()
    account.debit(request, fold)
    try:
        async for event in model.stream(request, timeout_s):
            fold.add(event)
        reply = fold.reply()
    except ModelError as error:
        account.credit(unbilled=error.unbilled)
        raise
    account.credit()
    return reply
