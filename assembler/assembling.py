"""Builds the answer out of what was seen: by the mode asked for, or the next plainer one that can be had."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.assembler.doubts import doubts_of
from antiphon.assembler.draft import Draft
from antiphon.assembler.partial import partial
from antiphon.assembler.plain import plain
from antiphon.assembler.reply import from_reply
from antiphon.assembler.seen import Seen
from antiphon.assembler.uncertainty import confidence, without_repeats
from antiphon.vocabulary.events import AnswerRequested, Recorded, ResponseAssembled
from antiphon.vocabulary.values import Citation


def assemble(seen: Seen, said: Recorded[AnswerRequested]) -> ResponseAssembled:
    """The answer that was asked for."""
    draft = _draft(seen, said)
    indicators = without_repeats((*doubts_of(seen), *draft.doubts))
    cited = _sources(draft.citations)
    return ResponseAssembled(
        answer=draft.text,
        sources=tuple(cited),
        source_links=tuple(cited.values()),
        citations=draft.citations,
        confidence=confidence(indicators),
        indicators=indicators,
        rounds=len({settled.event.round for settled in seen.rounds}),
        reasoner=draft.reasoner,
        calls=len(seen.replies),
        usage=seen.usage,
        summaries=len(seen.summaries),
        summary_usage=seen.summary_usage,
    )


def said_again(answer: ResponseAssembled, seen: Seen) -> ResponseAssembled:
    """The same answer, with the doubts that have come since."""
    indicators = without_repeats((*answer.indicators, *doubts_of(seen)))
    return replace(answer, indicators=indicators, confidence=confidence(indicators))


def _draft(seen: Seen, said: Recorded[AnswerRequested]) -> Draft:
    asked = said.event
    if asked.mode == "plain":
        return plain(seen, asked.why, said.seq)
    reply = seen.reply_of(asked.call_id) if asked.mode == "reply" else None
    return from_reply(seen, reply) if reply else partial(seen, asked.why, said.seq)


def _sources(citations: tuple[Citation, ...]) -> dict[str, str | None]:
    """What is cited, in order of first citation, each with its first link."""
    cited: dict[str, str | None] = {}
    for citation in citations:
        cited[citation.source] = cited.get(citation.source) or citation.link
    return cited
