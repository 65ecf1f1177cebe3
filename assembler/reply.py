"""The answer as the model gave it: its citations resolved, and its own signs of doubt read."""

from __future__ import annotations

import re

from antiphon.assembler.citations import Resolved, answer_of, resolve
from antiphon.assembler.draft import Draft
from antiphon.assembler.lost import lost_support
from antiphon.assembler.plain import plain
from antiphon.assembler.seen import Seen
from antiphon.assembler.uncertainty import indicator
from antiphon.vocabulary.events import BreakerTripped, BriefingPrepared, ReasoningCompleted, Recorded, RecoveryStarted
from antiphon.vocabulary.values import Indicator

CUT_OFF = frozenset({"max_tokens", "model_context_window_exceeded", "pause_turn"})
_NOTHING_FOUND = re.compile(
    r"\bnot (?:in|part of|covered|mentioned|found|discussed|addressed|available)\b"
    r"|\b(?:could|can|did|do|does|was|were)(?:n[o'\u2019]t| not|not) (?:\w+ )?"
    r"(?:find|cover|contain|mention|discuss|include|address|say|appear|able)"
    r"|\bno (?:\w+ )?(?:information|mention|material|evidence|results?|match\w*|lessons?|courses?|passages?)\b"
    r"|\bnothing (?:\w+ )?(?:in|about|on|found|relevant)\b|\bunable to find\b|\bnone of (?:the|these)\b",
    re.IGNORECASE,
)
_OPENING_CHARS = 300
"""Only how an answer begins shows that it found nothing; further on the same words may tell of a detail."""


def from_reply(seen: Seen, said: Recorded[ReasoningCompleted]) -> Draft:
    """The draft that the reply makes."""
    reply = said.event
    answer = answer_of(reply.text.text)
    doubts = _ending(said)
    if not answer.text:
        why = "the model declined to answer" if reply.stop_reason == "refusal" else "the model gave no answer"
        return _doubted(plain(seen, why, said.seq), doubts)
    shown = seen.briefing_of(reply.call_id)
    table = shown.event.sources if shown else ()
    resolved = resolve(reply.citations, answer, table, {fact.id: fact for fact in seen.facts})
    speaker = seen.speaker_of(reply.call_id) or reply.model
    doubts += [*_away(seen, reply.call_id, speaker), *_compressed(shown), *_lost(seen, shown, answer.text, resolved)]
    doubts += _evidence(seen, said, answer.text, resolved)
    return Draft(text=answer.text, citations=resolved.citations, doubts=tuple(doubts), reasoner=speaker)


def _doubted(draft: Draft, doubts: list[Indicator]) -> Draft:
    return Draft(text=draft.text, doubts=(*doubts, *draft.doubts))


def _ending(said: Recorded[ReasoningCompleted]) -> list[Indicator]:
    if said.event.stop_reason in CUT_OFF:
        return [indicator("truncated", said.seq)]
    return [indicator("refused", said.seq)] if said.event.stop_reason == "refusal" else []


def _away(seen: Seen, call_id: str, speaker: str) -> list[Indicator]:
    """The sign that another reasoner than the wanted one spoke; it rests on what led to that, where it was heard."""
    for trouble in seen.troubles:
        event = trouble.event
        recovered = isinstance(event, RecoveryStarted) and event.level == "response"
        if recovered or (isinstance(event, BreakerTripped) and event.limit == "provider_open"):
            return [indicator("fallback_reasoner", trouble.seq, reasoner=speaker)]
    asked_at = dict(seen.fallback_calls).get(call_id)
    return [] if asked_at is None else [indicator("fallback_reasoner", asked_at, reasoner=speaker)]


def _compressed(shown: Recorded[BriefingPrepared] | None) -> list[Indicator]:
    """What did not fit; what decayed was not wanted, and what is repeated stands elsewhere."""
    cut = [item for item in shown.event.dropped if item.rule == "budget"] if shown else []
    return [indicator("context_compressed", shown.seq, count=len(cut))] if shown and cut else []


def _lost(seen: Seen, shown: Recorded[BriefingPrepared] | None, text: str, resolved: Resolved) -> list[Indicator]:
    """Sentences of the answer that rest on what this call was not shown."""
    lost = lost_support(text, resolved.citations, shown.event, seen.facts) if shown else 0
    return [indicator("fact_lost", shown.seq, count=lost)] if shown and lost else []


def _evidence(seen: Seen, said: Recorded[ReasoningCompleted], text: str, resolved: Resolved) -> list[Indicator]:
    doubts: list[Indicator] = []
    if resolved.unresolved:
        doubts.append(indicator("unresolved_citation", said.seq, count=resolved.unresolved))
    if resolved.citations:
        return [*doubts, *_open_parts(seen)]
    if _NOTHING_FOUND.search(text[:_OPENING_CHARS]) or (seen.rounds and not seen.facts):
        return [*doubts, indicator("no_evidence", said.seq)]
    return [*doubts, indicator("uncited_claim" if seen.facts else "general_knowledge", said.seq)]


def _open_parts(seen: Seen) -> list[Indicator]:
    """The parts of the question that nothing found serves."""
    last = seen.rounds[-1] if seen.rounds else None
    if last is None or not last.event.open_parts:
        return []
    return [indicator("weak_evidence", last.seq, parts="; ".join(last.event.open_parts))]
