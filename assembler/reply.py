"""The answer as the model gave it: its citations resolved, and its own reasons for doubt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from antiphon.assembler.answer_state import AnswerState, Incident
from antiphon.assembler.citations import Resolved, resolve
from antiphon.assembler.drafts import Draft, draft_statement
from antiphon.assembler.foreign_links import without_foreign_links
from antiphon.assembler.led_astray import (
    MOST_ORDERS,
    Order,
    adverts_followed,
    contradictions,
    earlier_topic,
    orders_shown,
)
from antiphon.assembler.lost_support import lost_support
from antiphon.assembler.support import (
    READS_QUANTITIES,
    unsupported_citations,
    unsupported_sentences,
)
from antiphon.language.answer_text import DECLINED, answer_of
from antiphon.vocabulary.events import (
    CLOSEST_FOUND,
    LOOSE_FIT,
    NOT_SEARCHED,
    NOTHING_FOUND,
    PART_MISSING,
    BreakerTripped,
    BriefingPrepared,
    ReasoningCompleted,
    Recorded,
    RecoveryStarted,
)
from antiphon.vocabulary.values import Fact, Indicator

CUT_OFF = frozenset({"max_tokens", "model_context_window_exceeded", "pause_turn"})
_DECLINED = {NOT_SEARCHED: "not_searched", NOTHING_FOUND: "no_evidence"}
"""The doubts about replies in which the offline reasoner says that it has no answer, by stop reason."""
_UNSURE = {
    CLOSEST_FOUND: "closest_found",
    LOOSE_FIT: "loose_fit",
    PART_MISSING: "part_missing",
}
"""The doubts about its replies that cite something which may not be the answer, by stop reason."""
_NOTHING_FOUND = re.compile(
    r"\bnot (?:in|part of|covered|mentioned|found|discussed|addressed|available)\b"
    r"|\b(?:could|can|did|do|does|was|were)(?:n[o'\u2019]t| not|not) (?:\w+ )?"
    r"(?:find|cover|contain|mention|discuss|include|address|say|appear|able)"
    r"|\bno (?:\w+ )?(?:information|mention|material|evidence|results?|match\w*|lessons?|courses?|passages?)\b"
    # Not "there is no lesson text" or "no information is lost": there the noun is part of another statement.
    r"(?=\W*$|\s*[.,;:!?)]| (?:on|about|of|in|for|here|to|that|which|from|at all|was|were|has|have|seems?|appears?"
    r"|(?:is|are) (?:given|found|available|there|here|in)"
    r"|(?:cover|mention|discuss|speak|say|tell|address|deal|contain|include|describe|explain|treat|teach|talk)\w*)\b)"
    r"|\bnothing (?:\w+ )?(?:in|about|on|found|relevant)\b|\bunable to find\b|\bnone of (?:the|these)\b",
    re.IGNORECASE,
)
_OPENING_CHARS = 300
"""Only the beginning of an answer shows that it found nothing; further on the same words may concern a detail."""


def draft_from_reply(
    state: AnswerState, recorded: Recorded[ReasoningCompleted]
) -> Draft:
    """Drafts the answer that the reply gives."""
    reply = recorded.event
    answer = answer_of(reply, state.rules)
    doubts = [*doubts_of_ending(state, recorded), *_doubts_of_review(state, recorded)]
    if not answer.text:
        has_declined = reply.stop_reason == "refusal"
        why = DECLINED if has_declined else "the model gave no answer"
        statement = draft_statement(state, why, recorded.seq)
        return Draft(text=statement.text, doubts=(*doubts, *statement.doubts))
    facts = {fact.id: fact for fact in state.facts}
    speaker = state.speaker_of(reply.call_id) or reply.model
    doubts += _doubts_of_speaker(state, recorded, speaker)
    # Without a briefing there is no table of sources, so no citation can resolve.
    briefing = state.briefing_of(reply.call_id)
    if briefing is None:
        resolved = resolve(reply.citations, answer, (), facts)
    else:
        resolved = resolve(reply.citations, answer, briefing.event.sources, facts)
        doubts += _doubts_of_briefing(state, briefing, answer.text, resolved)
    doubts += _doubts_of_evidence(state, recorded, answer.text, resolved)
    doubts += _doubts_of_claims(state, recorded, answer.text, resolved)
    doubts += _doubts_of_sources(state, facts, answer.text, resolved)
    shown = without_foreign_links(answer.text, resolved.citations, state)
    if shown.removed:
        doubts.append(state.doubt("foreign_link", recorded.seq, count=shown.removed))
    return Draft(
        text=shown.text,
        citations=shown.citations,
        doubts=tuple(doubts),
        reasoner=speaker,
    )


def doubts_of_ending(
    state: AnswerState, recorded: Recorded[ReasoningCompleted]
) -> list[Indicator]:
    """Returns the doubt that the reply's stop reason gives rise to, if any."""
    if recorded.event.stop_reason in CUT_OFF:
        return [state.doubt("truncated", recorded.seq)]
    if recorded.event.stop_reason == "refusal":
        return [state.doubt("refused", recorded.seq)]
    return []


def _doubts_of_speaker(
    state: AnswerState, reply: Recorded[ReasoningCompleted], speaker: str
) -> list[Indicator]:
    """Returns the doubt that a reasoner other than the wanted one answered; it rests on the cause, if that is known."""
    seq = _handed_over_at(state, reply.event.call_id)
    if seq is not None:
        return [state.doubt("fallback_reasoner", seq, reasoner=speaker)]
    # A service that resumes or forks another's query may answer with another reasoner than the one it began with.
    if not state.wanted or {speaker, reply.event.model}.intersection(state.wanted):
        return []
    wanted = state.wanted[0]
    return [state.doubt("another_reasoner", reply.seq, wanted=wanted, reasoner=speaker)]


def _handed_over_at(state: AnswerState, call_id: str) -> int | None:
    """Returns the `seq` of the event that led to the fallback reasoner; None if the model itself was called."""
    # The first cause counts: later events, such as a second failure, did not change the speaker.
    for incident in state.incidents:
        if _hands_over(incident.event):
            return incident.seq
    return dict(state.fallback_calls).get(call_id)


def _hands_over(event: Incident) -> bool:
    if isinstance(event, RecoveryStarted):
        return event.level == "response"
    return isinstance(event, BreakerTripped) and event.limit == "provider_open"


def _doubts_of_briefing(
    state: AnswerState,
    briefing: Recorded[BriefingPrepared],
    text: str,
    resolved: Resolved,
) -> list[Indicator]:
    """Returns the doubts about material that the briefing left out."""
    doubts: list[Indicator] = []
    # Decayed items were not wanted, and repeated ones are elsewhere: only those that did not fit are missing.
    cut = [item for item in briefing.event.dropped if item.rule == "budget"]
    if cut:
        doubts.append(state.doubt("context_compressed", briefing.seq, count=len(cut)))
    lost = lost_support(text, resolved.citations, briefing.event, state.facts)
    if lost:
        doubts.append(state.doubt("fact_lost", briefing.seq, count=lost))
    return doubts


def _doubts_of_evidence(
    state: AnswerState,
    recorded: Recorded[ReasoningCompleted],
    text: str,
    resolved: Resolved,
) -> list[Indicator]:
    """Returns the doubts about the answer's evidence as a whole."""
    doubts: list[Indicator] = []
    if resolved.unresolved:
        doubts.append(
            state.doubt("unresolved_citation", recorded.seq, count=resolved.unresolved)
        )
    # A cited answer rests on something, but may leave out whole parts of the question.
    if resolved.citations:
        unsure = _UNSURE.get(recorded.event.stop_reason)
        if unsure is not None:
            doubts.append(state.doubt(unsure, recorded.seq))
        if state.open_parts:
            doubts.append(
                state.doubt(
                    "weak_evidence",
                    state.rounds[-1].seq,
                    parts="; ".join(state.open_parts),
                )
            )
        return doubts
    # Another program has its own way to cite, if any: the lack of our citations shows nothing about its model.
    if state.imported:
        why = "another program gave it, and it cites nothing that was found"
        doubts.append(state.doubt("not_verified", recorded.seq, why=why))
        return doubts
    kind = _DECLINED.get(recorded.event.stop_reason)
    if kind is None:
        kind = _doubt_without_citation(state, text)
    doubts.append(state.doubt(kind, recorded.seq))
    return doubts


def _doubts_of_claims(
    state: AnswerState,
    recorded: Recorded[ReasoningCompleted],
    text: str,
    resolved: Resolved,
) -> list[Indicator]:
    """Returns the doubts about single sentences of a cited answer, and about the topic of the whole."""
    if not resolved.citations:
        return []
    facts = {fact.id: fact for fact in state.facts}
    said = [state.question]
    for exchange in state.history:
        said += (exchange.question, exchange.answer)
    checks = {
        "unsupported_citation": unsupported_citations(
            text, resolved.citations, facts, state.question, state.rules
        ),
        "unsupported_claim": unsupported_sentences(
            text, resolved.citations, facts, said, state.rules
        ),
    }
    doubts: list[Indicator] = []
    for kind, found in checks.items():
        for claim, why in found:
            doubts.append(state.doubt(kind, recorded.seq, claim=claim, why=why))
    other = earlier_topic(
        state.question, state.history, text, resolved.citations, facts
    )
    if other is not None:
        doubts.append(state.doubt("earlier_topic", recorded.seq, question=other))
    return doubts


def _doubts_of_sources(
    state: AnswerState, facts: Mapping[str, Fact], text: str, resolved: Resolved
) -> list[Indicator]:
    """Returns the doubts about sources that may have led the answer astray, or that another contradicts."""
    doubts = _doubts_of_shown(
        state, "instruction_in_source", partial(orders_shown, facts=facts)
    )
    if state.rules < READS_QUANTITIES:
        return doubts
    followed = partial(
        adverts_followed, facts=facts, question=state.question, answer=text
    )
    doubts += _doubts_of_shown(state, "advertisement", followed)
    found_at: dict[str, int] = {}
    for settled in state.rounds:
        for fact in settled.event.facts:
            found_at.setdefault(fact.id, settled.seq)
    for found in contradictions(resolved.citations, facts):
        seq = found_at[found.other_fact]
        doubts.append(state.doubt("contradiction", seq, **found._asdict()))
    return doubts


def _doubts_of_shown(
    state: AnswerState,
    kind: str,
    found_in: Callable[[BriefingPrepared], Iterator[Order]],
) -> list[Indicator]:
    """Returns the doubts about orders in the briefings, each at the first briefing that held it."""
    first_shown: dict[Order, int] = {}
    for briefing in state.briefings:
        for order in found_in(briefing.event):
            first_shown.setdefault(order, briefing.seq)
    return [
        state.doubt(kind, seq, words=order.words, source=order.source)
        for order, seq in list(first_shown.items())[:MOST_ORDERS]
    ]


def _doubt_without_citation(state: AnswerState, text: str) -> str:
    """Returns the kind of doubt for an answer that cites nothing."""
    # The order matters: an answer that says itself that it found nothing is not one that fails to cite.
    if _NOTHING_FOUND.search(text[:_OPENING_CHARS]):
        return "no_evidence"
    if state.facts:
        return "uncited_claim"
    if state.rounds:
        return "no_evidence"
    return "general_knowledge"


def _doubts_of_review(
    state: AnswerState, recorded: Recorded[ReasoningCompleted]
) -> list[Indicator]:
    """Returns a doubt for each reviewer who did not accept the reply, or who never judged it."""
    doubts: list[Indicator] = []
    unheard = list(state.reviewers)
    for review in state.reviews:
        judgement = review.event
        if (
            judgement.call_id != recorded.event.call_id
            or judgement.reviewer not in unheard
        ):
            continue
        unheard.remove(judgement.reviewer)
        if not judgement.accepted:
            why = judgement.why or f"{judgement.reviewer} did not accept it"
            doubts.append(state.doubt("not_verified", review.seq, why=why))
    for reviewer in unheard:
        doubts.append(
            state.doubt(
                "not_verified", recorded.seq, why=f"{reviewer} did not judge it"
            )
        )
    return doubts
